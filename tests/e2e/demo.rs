//! `tandem demo`: the whole job on a bundled crate, with only the model scripted.

use crate::support::run::Launch;
use crate::support::world::World;

/// Cargo's own home, since a run's home is empty.
pub fn with_cargo(mut launch: Launch) -> Launch {
    let home = std::env::var("HOME").unwrap_or_default();
    for (name, usual) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
        launch = launch.env(name, std::env::var(name).unwrap_or_else(|_| format!("{home}/{usual}")));
    }
    launch
}

#[test]
fn the_demo_proves_its_step_and_says_that_the_model_is_scripted() {
    let world = World::new();
    let ran = with_cargo(world.tandem(&["demo", "--yes"])).run().expect(0);
    let said = format!("{}{}", ran.stdout, ran.stderr);
    assert!(said.lines().next().is_some_and(|line| line.contains("script")), "{}", ran.all());
    assert!(said.contains("1. proven: "), "{}", ran.all());
    assert!(world.tree().is_empty(), "the folder that it was started in is left alone");
}

#[test]
fn the_demos_folder_is_kept_on_request_and_named() {
    let world = World::new();
    let left = || std::fs::read_dir(world.path("cache")).unwrap().count();
    let demo =
        |args: &[&str]| with_cargo(world.tandem(args)).env("TMPDIR", world.path("cache")).run().expect(0);
    demo(&["demo", "--yes"]);
    assert_eq!(left(), 0, "without the flag nothing stays");
    let ran = demo(&["demo", "--keep", "--yes"]);
    let kept = ran.stderr.lines().find_map(|line| line.strip_prefix("kept ")).unwrap();
    assert!(std::path::Path::new(kept).join("figures/Cargo.toml").is_file(), "{}", ran.all());
    std::fs::remove_dir_all(kept).unwrap();
    assert_eq!(left(), 0, "{kept} was all that was kept");
}

#[test]
fn without_a_yes_and_without_a_terminal_the_demo_changes_nothing() {
    let ran = with_cargo(World::new().tandem(&["demo"])).run().expect(3);
    assert!(!format!("{}{}", ran.stdout, ran.stderr).contains("proven"), "{}", ran.all());
}

#[test]
fn without_cargo_the_demo_says_what_is_missing() {
    let world = World::new();
    let ran = world.tandem(&["demo", "--yes"]).env("PATH", world.path("home")).run();
    assert_ne!(ran.code, 0, "{}", ran.all());
    assert!(ran.stderr.contains("cargo"), "{}", ran.all());
}
