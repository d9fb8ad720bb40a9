//! The beginning of a request stays the same from round to round, so that a provider's prefix cache holds.

use serde_json::json;

use crate::sums;
use crate::support::reply::Reply;
use crate::support::script::Script;
use crate::support::server::Server;

#[test]
fn each_request_begins_as_the_one_before_it() {
    let read = |path: &str| Reply::call("read_file", json!({ "path": path }));
    let list = Reply::call("list_dir", json!({ "path": "src" }));
    let replies =
        [read("src/lib.rs"), list, read("README.md"), Reply::text("It subtracts."), Reply::text("It adds.")];
    let server = Server::start(Script::new().say("planner", replies));
    let world = sums::world();
    world.bind(&server, "");
    world.tandem(&["-p", "what does add do?"]).run().expect(0);
    world.tandem(&["resume", "", "what should it do?"]).run().expect(0);
    let requests = server.of("planner");
    assert_eq!(requests.len(), 5);
    for pair in requests.windows(2) {
        let [earlier, later] = pair else { unreachable!("windows of two") };
        assert_eq!(earlier.body["tools"], later.body["tools"], "request {}", later.number);
        let equal = earlier.messages().iter().zip(later.messages()).take_while(|(a, b)| a == b).count();
        // At most one moving note at the end is not carried on.
        let kept = earlier.messages().len() - 1;
        assert!(equal >= kept, "request {} keeps {equal} of {kept} messages", later.number);
    }
}
