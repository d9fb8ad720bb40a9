//! A small project with a fault in it, and the model's way of mending it: what most of these tests work on.

use serde_json::json;

use crate::support::reply::Reply;
use crate::support::world::World;

pub const LIB: &str = "/// Adds two numbers.\npub fn add(a: i64, b: i64) -> i64 {\n    a - b\n}\n";

/// [`LIB`] with the fault mended.
pub fn mended() -> String {
    LIB.replace("a - b", "a + b")
}

/// The project, as a repository.
pub fn world() -> World {
    let world = World::with(&[("src/lib.rs", LIB), ("README.md", "# sums\n\nAdds numbers.\n")]);
    world.commit_all();
    world
}

/// The planner's reply that hands in the plan.
pub fn plan() -> Reply {
    let step = json!({
        "what": "Fix the operator in add", "files": ["src/lib.rs"], "check": "grep -q 'a + b' src/lib.rs",
    });
    Reply::call("submit_plan", json!({ "goal": "Make add add", "steps": [step] }))
}

/// The executor's replies that carry the plan out.
pub fn execution() -> Vec<Reply> {
    vec![
        Reply::call("read_file", json!({ "path": "src/lib.rs" })),
        Reply::call("edit_file", json!({ "path": "src/lib.rs", "old": "a - b", "new": "a + b" })),
        Reply::call("update_step", json!({ "step": 1, "status": "done", "note": "mended" })),
        Reply::text("add now adds."),
    ]
}
