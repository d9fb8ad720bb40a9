//! Eight runs at once in one folder: all complete, each with its own conversation and its own session.

use serde_json::json;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::request::Request;
use crate::support::script::Script;
use crate::support::server::Server;

/// The number of the job that a request is about.
fn job(request: &Request) -> String {
    let text = request.text();
    let (_, rest) = text.split_once("do job ").unwrap_or_default();
    rest.chars().take_while(char::is_ascii_digit).collect()
}

#[test]
fn eight_runs_in_one_folder_all_complete() {
    // The model reads, writes the job's own file and says so, whatever the other runs do.
    let mind = |request: &Request| {
        let job = job(request);
        match request.results().len() {
            0 => Reply::call("read_file", json!({ "path": "src/lib.rs" })),
            1 => Reply::call(
                "write_file",
                json!({ "path": format!("job{job}.txt"), "content": format!("{job}\n") }),
            ),
            _ => Reply::text(&format!("job {job} is done")),
        }
    };
    let server = Server::start(Script::new().think("executor", mind));
    let world = sums::world();
    world.bind(&server, "");
    let jobs: Vec<usize> = (1..=8).collect();
    let running: Vec<_> = jobs
        .iter()
        .map(|job| {
            let prompt = format!("do job {job}");
            let args = ["run", "--no-plan", "--approval", "auto-edit", &prompt];
            let mut running = world.tandem(&args).spawn();
            running.close();
            running
        })
        .collect();
    for (job, running) in jobs.iter().zip(running) {
        let ran = running.wait().expect(0);
        assert!(ran.stdout.contains(&format!("job {job} is done\n")), "{}", ran.all());
        assert_eq!(world.read(&format!("job{job}.txt")), format!("{job}\n"));
    }
    assert_eq!(server.of("executor").len(), 24);
    let listed = world.tandem(&["sessions", "list"]).run().expect(0).stdout;
    for job in jobs {
        assert!(listed.contains(&format!("do job {job}")), "{listed}");
    }
}
