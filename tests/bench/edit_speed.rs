//! What an edit costs beside reading and writing the file: `cargo run --release --example edit_speed`.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use tandem_executor::edit::{Extent, Wanted, edit};

/// Runs of which the fastest counts; the others were disturbed.
const RUNS: usize = 7;

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("file");
    let line = |n: usize| format!("        let value_{n} = compute({n}, \"of a line of usual length\");\n");
    let of_lines = |count: usize| (0..count).map(line).collect::<String>();

    let large = of_lines(10_000_000 / line(100_000).len());
    let crlf = large.replace('\n', "\r\n");
    let code = of_lines(10_000);
    let old = format!("{}{}", line(9_000), line(9_001));
    let unindented: String = old.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    let new = "let value_9000 = 1;\n";
    for (name, file, old) in [
        ("exact edit, 10 MB", &large, &old),
        ("exact edit, 10 MB with CRLF", &crlf, &old),
        ("fuzzy edit, 10,000 lines", &code, &unindented),
        ("text that is not there, 10,000 lines", &code, &unindented.replace("9001", "x9001")),
    ] {
        report(name, &path, file.as_bytes(), old.as_bytes(), new.as_bytes())?;
    }
    Ok(())
}

fn report(name: &str, path: &Path, file: &[u8], old: &[u8], new: &[u8]) -> Result<(), Box<dyn Error>> {
    let wanted = Wanted { old, new, extent: Extent::One, near_line: None };
    let (mut found, mut editing, mut disk) = (String::new(), Duration::MAX, Duration::MAX);
    for _ in 0..RUNS {
        let start = Instant::now();
        let edited = edit(file, &wanted);
        editing = editing.min(start.elapsed());
        found = edited.map_or_else(|refused| format!("{refused:?}"), |edited| edited.pass.to_owned());
        let start = Instant::now();
        std::fs::write(path, file)?;
        let read = std::fs::read(path)?;
        disk = disk.min(start.elapsed());
        drop(read);
    }
    println!(
        "{name:38} {found:12} {editing:>10.2?}   reading and writing the file {disk:>10.2?}   ratio {:.2}",
        editing.as_secs_f64() / disk.as_secs_f64()
    );
    Ok(())
}
