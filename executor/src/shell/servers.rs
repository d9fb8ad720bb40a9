//! Commands that start a server and never end by themselves: they go to the background, where their output can be read.

use super::script::{Script, Simple};

/// A program that serves, with the operands that make it do so (alternatives by place); without operands it always does.
struct Server {
    names: &'static [&'static str],
    operands: &'static [&'static [&'static str]],
}

const fn server(names: &'static [&'static str], operands: &'static [&'static [&'static str]]) -> Server {
    Server { names, operands }
}

const SERVERS: &[Server] = &[
    server(&["flask"], &[&["run"]]),
    server(&["python", "python3"], &[&["app.py", "server.py"]]),
    server(&["python", "python3"], &[&["manage.py"], &["runserver"]]),
    server(&["manage.py", "django-admin"], &[&["runserver"]]),
    server(&["uvicorn", "hypercorn", "daphne"], &[]),
    server(&["gunicorn"], &[]),
    server(&["npm", "yarn", "pnpm", "bun"], &[&["start", "dev", "serve"]]),
    server(&["npm", "yarn", "pnpm", "bun"], &[&["run"], &["start", "dev", "serve"]]),
    server(&["node"], &[&["server", "server.js", "server.mjs", "server.cjs"]]),
    server(&["nodemon"], &[]),
    server(&["next"], &[&["dev", "start"]]),
    server(&["vite"], &[&["dev", "serve", "preview"]]),
    server(&["rails"], &[&["server", "s"]]),
    server(&["php"], &[&["artisan"], &["serve"]]),
    server(&["artisan"], &[&["serve"]]),
    server(&["hugo"], &[&["server", "serve"]]),
    server(&["jekyll"], &[&["serve", "server"]]),
];

/// Modules that `python -m` serves with.
const MODULES: &[&str] = &["http.server", "uvicorn", "gunicorn", "hypercorn", "daphne"];

/// Options of the programs above that only tell something.
const TELLS: &[&str] = &["--help", "-h", "--version", "-V", "--check", "--check-config"];

/// Whether a part of `script` starts a server in the foreground. One that is bounded by `timeout`, feeds a pipe or runs in
/// the background already does not hold anything up.
pub fn starts_server(script: &Script) -> bool {
    let feeds = |at: usize| script.commands.iter().any(|simple| simple.upstream.contains(&at));
    let in_words = |at: usize| script.commands.iter().any(|simple| simple.inner.contains(&at));
    script.commands.iter().enumerate().any(|(at, simple)| {
        let bounded = simple.via.as_deref() == Some("timeout");
        !simple.background && !bounded && !feeds(at) && !in_words(at) && is_server(simple)
    })
}

/// Programs that start the program behind them, with the word between, if any.
const LAUNCHERS: &[(&str, Option<&str>)] = &[
    ("bundle", Some("exec")),
    ("poetry", Some("run")),
    ("pipenv", Some("run")),
    ("uv", Some("run")),
    ("npx", None),
];

fn is_server(simple: &Simple) -> bool {
    let launcher = LAUNCHERS.iter().find(|(name, _)| *name == simple.name());
    if let Some((_, between)) = launcher {
        let operands = simple.args().iter().skip_while(|word| word.text.starts_with('-'));
        let mut words = operands.cloned().peekable();
        if between.is_none() || words.next_if(|word| Some(word.text.as_str()) == *between).is_some() {
            return is_server(&Simple { words: words.collect(), ..Simple::default() });
        }
        return false;
    }
    let args: Vec<String> = simple.args().iter().map(|word| word.text.to_ascii_lowercase()).collect();
    if args.iter().any(|arg| TELLS.contains(&arg.as_str())) {
        return false;
    }
    let name = simple.name().to_ascii_lowercase();
    if matches!(name.as_str(), "python" | "python3") {
        let module = args.iter().position(|arg| arg == "-m").and_then(|at| args.get(at + 1..));
        if let Some([module, rest @ ..]) = module {
            let flask = module == "flask" && rest.iter().any(|arg| arg == "run");
            return flask || MODULES.contains(&module.as_str());
        }
    }
    let operands: Vec<&str> = args.iter().filter(|arg| !arg.starts_with('-')).map(String::as_str).collect();
    SERVERS.iter().any(|row| {
        row.names.contains(&name.as_str())
            && row.operands.iter().enumerate().all(|(at, alternatives)| {
                let there = operands.get(at).map(|operand| operand.rsplit('/').next().unwrap_or(operand));
                there.is_some_and(|operand| alternatives.contains(&operand))
            })
    })
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    #[test]
    fn servers_are_told_by_parsed_words() {
        for command in [
            "flask run --port 5000",
            "FLASK run",
            "python app.py",
            "python3 ./src/app.py",
            "python manage.py runserver 0.0.0.0:8000",
            "./manage.py runserver",
            "uvicorn main:app --reload",
            "python -m uvicorn main:app",
            "gunicorn -w 4 app:app",
            "python3 -m http.server 8000",
            "npm start",
            "npm run dev",
            "yarn dev",
            "yarn serve",
            "pnpm run start",
            "node server",
            "node src/server.js",
            "nodemon index.js",
            "next dev",
            "rails server",
            "bundle exec rails s",
            "php artisan serve",
            "npx vite dev",
            "hugo server -D",
            "jekyll serve",
            "cd web && npm run dev",
            "PORT=1 env X=2 uvicorn a:b",
        ] {
            assert!(starts_server(&parse(command)), "{command}");
        }
        for command in [
            "grep uvicorn README.md",
            "echo flask run",
            "pip install gunicorn",
            "npm run build",
            "npm test",
            "python script.py",
            "python -m http",
            "uvicorn --help",
            "cat app.py",
            "hugo",
            "next build",
            "timeout 5 uvicorn a:b",
            "uvicorn a:b &",
            "npm start | head -3",
            "git commit -m 'npm start'",
            "node --version",
        ] {
            assert!(!starts_server(&parse(command)), "{command}");
        }
    }
}
