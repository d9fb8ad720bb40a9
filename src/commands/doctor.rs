//! `tandem doctor`: what this machine offers, what the endpoint of each role can do, and the settings that follow.

use std::io::IsTerminal as _;
use std::process::Command;

use serde_json::{Value, json};
use tandem_executor::cage::{Found, Part};
use tandem_router::{Examination, Finding, Router, Scope, ToolProtocol, Verdict, WindowPlan};
use tandem_shared::role::Role;

use crate::cli::OutputFormat;
use crate::config::{Config, Endpoint, RoleBinding};
use crate::exit::Exit;
use crate::front::{say, tell, words};
use crate::machine::Machine;
use crate::scene::{Failure, Scene};
use crate::session::{Attendance, SetupError, model_exit};
use crate::wiring;

/// What the kernel says of ways to cage a command, and where.
const SANDBOX: &[(&str, &str)] = &[
    ("security modules", "/sys/kernel/security/lsm"),
    ("user namespaces, at most", "/proc/sys/user/max_user_namespaces"),
    ("unprivileged user namespaces", "/proc/sys/kernel/unprivileged_userns_clone"),
    ("AppArmor on user namespaces", "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
];

/// Roles that ask the same model at the same endpoint: it is examined once.
struct Group {
    roles: Vec<Role>,
    bound: RoleBinding,
    endpoint: Endpoint,
}

/// Examines. The exit code is that of the first endpoint that its roles cannot work with.
pub async fn run(scene: &Scene, role: Option<String>, window: bool) -> Result<Exit, Failure> {
    let as_text = scene.global.output_format == OutputFormat::Text;
    let machine = machine_rows(&scene.machine);
    if as_text {
        say("this machine\n");
        machine.iter().for_each(|(name, value)| say(&format!("  {name:<30}  {value}\n")));
    }
    let setup = scene.setup(Attendance::Unattended)?;
    let config = &setup.loaded.config;
    let groups = groups(config, role.as_deref());
    if groups.is_empty() {
        return Err(SetupError::NoModel.into());
    }
    let router = wiring::router(config, &setup.machine.env, &setup.route).map_err(SetupError::from)?;
    let mut exit = Exit::Done;
    let mut rows = Vec::new();
    let mut blocks: Vec<String> = Vec::new();
    for group in &groups {
        let plan = window.then(|| plan(config, group));
        let examination = examine(&router, group, plan, as_text).await;
        let code = examination.fault.as_ref().map_or(Exit::Done, model_exit);
        exit = if exit == Exit::Done { code } else { exit };
        let block = block(group, &examination);
        if as_text {
            say(&verdict(&examination));
        } else {
            rows.push(row(group, &examination, &block));
        }
        blocks.push(block);
    }
    if as_text {
        blocks.iter().filter(|block| !block.is_empty()).for_each(|block| say(&format!("\n{block}")));
    } else {
        let machine: serde_json::Map<String, Value> =
            machine.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect();
        say(&format!("{}\n", json!({ "machine": machine, "endpoints": rows, "exit": exit.code() })));
    }
    Ok(exit)
}

/// The roles that are bound, by model; only that of `only` if it is given.
fn groups(config: &Config, only: Option<&str>) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for role in Role::ALL.into_iter().filter(|role| only.is_none_or(|only| only == role.as_str())) {
        let Some(bound) = config.binding(role) else { continue };
        let Some(endpoint) = config.endpoint(&bound.provider) else { continue };
        let same =
            |group: &&mut Group| group.bound.provider == bound.provider && group.bound.model == bound.model;
        match groups.iter_mut().find(same) {
            Some(group) => group.roles.push(role),
            None => groups.push(Group { roles: vec![role], bound, endpoint }),
        }
    }
    groups
}

async fn examine(router: &Router, group: &Group, plan: Option<WindowPlan>, as_text: bool) -> Examination {
    let scope = match group.roles.iter().any(|role| matches!(role, Role::Planner | Role::Executor)) {
        true => Scope::Tools,
        false => Scope::Words,
    };
    if as_text {
        let key = &group.endpoint.key;
        say(&format!("\n{}: {} at {}\n", roles(group), name(group), group.endpoint.base_url));
        say(&format!("  the key comes from {key}, and goes to this endpoint only\n"));
    }
    if let Some(plan) = plan {
        tell(&cost(group, plan));
    }
    let told = |finding: &Finding| {
        if as_text {
            say(&line(finding));
        }
    };
    let Some(first) = group.roles.first() else {
        return router.examine(Role::Planner, scope, plan, &told).await;
    };
    router.examine(*first, scope, plan, &told).await
}

fn plan(config: &Config, group: &Group) -> WindowPlan {
    WindowPlan::around(group.bound.context_window.unwrap_or(config.context.window))
}

/// What the measurement of the window takes, before it begins.
fn cost(group: &Group, plan: WindowPlan) -> String {
    let tokens = plan.tokens();
    let money = group.bound.price.map_or_else(
        || "the price of this model is not known".to_owned(),
        |price| format!("${:.2} at its price", tokens as f64 / 1_000_000.0 * price.input),
    );
    format!(
        "measuring the window of {} takes at most {} requests with {tokens} prompt tokens in all; {money}\n",
        name(group),
        plan.requests()
    )
}

fn roles(group: &Group) -> String {
    group.roles.iter().map(|role| role.as_str()).collect::<Vec<_>>().join(", ")
}

fn name(group: &Group) -> String {
    format!("{}/{}", group.bound.provider, group.bound.model)
}

fn line(finding: &Finding) -> String {
    let verdict = match finding.verdict {
        Verdict::Good => "ok",
        Verdict::Odd => "odd",
        Verdict::Bad => "BAD",
    };
    let (found, means) = (words::one_line(&finding.found), words::one_line(&finding.means));
    format!("  {verdict:<4} {:<20} {found:<42}  {means}\n", finding.probe)
}

fn verdict(examination: &Examination) -> String {
    let requests = examination.requests;
    match &examination.fault {
        None => format!("  works, by {requests} requests\n"),
        Some(fault) => {
            format!("  does not work, by {requests} requests: {}\n", words::clean(&fault.to_string()))
        }
    }
}

/// The settings that follow, ready to be pasted. A table that the configuration may hold already is not opened again.
fn block(group: &Group, examination: &Examination) -> String {
    let mut text = String::new();
    let quirks = toml::Value::try_from(&examination.quirks)
        .ok()
        .filter(|quirks| quirks.as_table().is_some_and(|quirks| !quirks.is_empty()));
    if let Some(quirks) = quirks {
        let of_provider = toml::Table::from_iter([("quirks".to_owned(), quirks)]);
        let providers = toml::Table::from_iter([(group.bound.provider.clone(), of_provider.into())]);
        let whole = toml::Table::from_iter([("providers".to_owned(), toml::Value::from(providers))]);
        text.push_str(&format!(
            "# as found with {}\n{}",
            name(group),
            toml::to_string(&whole).unwrap_or_default()
        ));
    }
    if let Some(protocol) = examination.tool_protocol.filter(|found| *found != group.endpoint.tool_protocol) {
        let protocol = match protocol {
            ToolProtocol::Native => "native",
            ToolProtocol::Schema => "schema",
        };
        text.push_str(&format!(
            "# in [providers.{}]: tool_protocol = \"{protocol}\"\n",
            group.bound.provider
        ));
    }
    if let Some(window) = examination.window {
        let role = group.bound.named_by;
        text.push_str(&format!("# in [roles.{role}]: context_window = {window}\n"));
    }
    text
}

fn row(group: &Group, examination: &Examination, block: &str) -> Value {
    json!({
        "roles": group.roles,
        "model": name(group),
        "base_url": group.endpoint.base_url,
        "key": group.endpoint.key.to_string(),
        "findings": examination.findings,
        "quirks": examination.quirks,
        "tool_protocol": examination.tool_protocol,
        "context_window": examination.window,
        "config": block,
        "requests": examination.requests,
        "works": examination.fault.is_none(),
        "fault": examination.fault.as_ref().map(ToString::to_string),
    })
}

fn machine_rows(machine: &Machine) -> Vec<(&'static str, String)> {
    let set = |name: &str| machine.env.get(name).filter(|value| !value.is_empty());
    let terminal = |is: bool| if is { "a terminal" } else { "no terminal" };
    let colours = match (set("NO_COLOR"), set("TERM").map(String::as_str), set("COLORTERM")) {
        (Some(_), _, _) => "switched off by NO_COLOR".to_owned(),
        (None, None | Some("dumb"), _) => "none: TERM is dumb or not set".to_owned(),
        (None, Some(term), None) => format!("TERM is {term}"),
        (None, Some(term), Some(depth)) => format!("TERM is {term}, COLORTERM is {depth}"),
    };
    let mut rows = vec![
        ("tandem", crate::VERSION.to_owned()),
        ("standard input", terminal(std::io::stdin().is_terminal()).to_owned()),
        ("standard output", terminal(std::io::stdout().is_terminal()).to_owned()),
        ("colours", words::one_line(&colours)),
        ("git", git(machine)),
    ];
    rows.extend(SANDBOX.iter().map(|(name, path)| (*name, kernel(path))));
    rows.extend(cage(&tandem_executor::cage::survey(&machine.launcher)));
    rows
}

/// What commands are held by, and what that means for them.
fn cage(found: &Found) -> [(&'static str, String); 4] {
    let part = |part: &Part, has: &str, lacks: &str| match part {
        Part::Has => format!("yes: {has}"),
        Part::Lacks(why) => format!("NO ({}): {lacks}", words::one_line(why)),
    };
    let landlock = match found.landlock {
        Some(version) => {
            format!("version {version}: commands write only in the project, in caches and in temporary files")
        }
        None => "NO: nothing but namespaces keeps commands from writing elsewhere".to_owned(),
    };
    let follows = match (found.missing().is_empty(), found.confines()) {
        (true, _) => "whole",
        (false, true) => {
            "in parts: commands run in what there is; commands.sandbox = \"require\" refuses that"
        }
        (false, false) => {
            "NONE: a command that you allow can do what you can do, and even looking is asked for"
        }
    };
    [
        (
            "cage: namespaces",
            part(
                &found.namespaces,
                "git's hooks and settings are read-only, keys are masked, the network is cut but for this machine's own",
                "git's hooks and settings are put back afterwards, keys are fenced off by Landlock if at all, and local \
                 servers cannot be reached while the network is cut",
            ),
        ),
        ("cage: Landlock", landlock),
        (
            "cage: system calls",
            part(
                &found.syscalls,
                "no looking into other processes, no mounts",
                "nothing keeps commands from tracing other processes",
            ),
        ),
        ("cage", follows.to_owned()),
    ]
}

fn git(machine: &Machine) -> String {
    let Some(program) = machine.find_program("git") else { return "not found in PATH".to_owned() };
    match Command::new(program).arg("--version").output() {
        Ok(output) => words::one_line(&String::from_utf8_lossy(&output.stdout)),
        Err(error) => format!("does not start: {error}"),
    }
}

/// What a file of the kernel says; not every kernel has every one.
fn kernel(path: &str) -> String {
    std::fs::read_to_string(path).map_or_else(|_| format!("not told ({path})"), |text| words::one_line(&text))
}
