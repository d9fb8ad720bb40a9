//! Names the commit in the version, where there is one to name, and links the binary small.

use std::process::Command;

fn main() {
    let version = env!("CARGO_PKG_VERSION");
    let version = match output("git", &["rev-parse", "--short=12", "HEAD"]) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    };
    println!("cargo::rustc-env=TANDEM_VERSION={version}");
    // The reflog of HEAD changes with each commit and checkout.
    if let Some(log) = output("git", &["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={log}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    if packs_relocations() {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    if let Err(error) = leave_out_unwind_tables() {
        println!("cargo::warning=the binary keeps its unwind tables: {error}");
    }
}

/// A release aborts at a panic and never unwinds, so that the tables for it, almost 1 MB, are of no use; the compiler cannot
/// be told so for one profile alone, but the linker can.
fn leave_out_unwind_tables() -> std::io::Result<()> {
    let variable = |key: &str| std::env::var(key).unwrap_or_default();
    let linux = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if !linux || variable("PROFILE") != "release" {
        return Ok(());
    }
    let script = std::path::Path::new(&variable("OUT_DIR")).join("no-unwind-tables.ld");
    let discard = "SECTIONS { /DISCARD/ : { *(.eh_frame .eh_frame_hdr .gcc_except_table .gcc_except_table.*) } } INSERT AFTER .text;\n";
    std::fs::write(&script, discard)?;
    println!("cargo::rustc-link-arg-bins=-Wl,--no-eh-frame-hdr,-T,{}", script.display());
    Ok(())
}

/// Relocations in packed form make the binary about 0.4 MB smaller. glibc reads them from version 2.36 on, and a linker
/// that does not know the option only warns.
fn packs_relocations() -> bool {
    let target = |key: &str| std::env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    let native = std::env::var("HOST").ok() == std::env::var("TARGET").ok();
    if !native || target("OS") != "linux" || target("ENV") != "gnu" {
        return false;
    }
    let glibc = output("getconf", &["GNU_LIBC_VERSION"]).unwrap_or_default();
    let number = glibc.rsplit(' ').next().unwrap_or_default();
    let mut parts = number.split('.').map(|part| part.parse::<u32>().unwrap_or_default());
    (parts.next(), parts.next()) >= (Some(2), Some(36))
}

fn output(program: &str, args: &[&str]) -> Option<String> {
    let output = Command::new(program).args(args).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}
