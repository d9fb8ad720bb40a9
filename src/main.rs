//! The binary: parses the command line and hands over.

#[cfg(target_os = "linux")]
use std::os::fd::AsFd as _;
use std::process::ExitCode;

use clap::Parser as _;

/// What no command ends with by itself, so that people who start the launcher by hand see that nothing was run.
const NOT_LAUNCHED: u8 = 125;

fn main() -> ExitCode {
    // Before anything else: the launcher must have one thread, and nothing that it could hand on.
    if std::env::args_os().nth(1).is_some_and(|first| first == tandem_executor::cage::LAUNCH) {
        return launch();
    }
    let cli = match tandem::cli::Cli::try_parse_from(tandem::cli::with_settings_first(std::env::args_os())) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version go to standard output with code 0, mistakes to standard error with code 2.
            let _ = error.print();
            return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2));
        }
    };
    ExitCode::from(tandem::commands::run(cli).code())
}

/// Becomes a command in its cage. Whoever started it hears why that failed over standard input, which is a socket.
#[cfg(target_os = "linux")]
fn launch() -> ExitCode {
    let done = std::io::stdin()
        .as_fd()
        .try_clone_to_owned()
        .map_err(|error| error.to_string())
        .and_then(tandem_executor::cage::launch);
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("tandem: {why}");
            ExitCode::from(NOT_LAUNCHED)
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn launch() -> ExitCode {
    eprintln!("tandem: only Linux has a cage for commands");
    ExitCode::from(NOT_LAUNCHED)
}
