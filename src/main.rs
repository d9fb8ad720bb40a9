//! The binary: parses the command line and hands over.

use std::process::ExitCode;

use clap::Parser as _;

fn main() -> ExitCode {
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
