//! `tandem config` and `tandem trust`.

use crate::cli::Config;
use crate::config;
use crate::exit::Exit;
use crate::front::{EVENTS_SCHEMA, say, tell};
use crate::scene::{Failure, Scene};

/// `tandem config`.
pub fn run(scene: &Scene, what: &Config) -> Result<Exit, Failure> {
    match what {
        Config::Show => say(&config::show(&config::load(&scene.input)?)),
        Config::Explain { key } => {
            say(&format!("{}\n", config::explain(&config::load(&scene.input)?, key)?.trim_end()));
        }
        Config::Schema { events } => return Ok(schema(*events)),
        Config::Path => say(&format!("{}\n", config::paths(&scene.input).to_string().trim_end())),
    }
    Ok(Exit::Done)
}

/// `tandem config schema`: needs no folder and no configuration.
pub fn schema(events: bool) -> Exit {
    say(&if events { EVENTS_SCHEMA.to_owned() } else { config::schema() });
    Exit::Done
}

/// `tandem trust`: shows the project's file and what it would set, and trusts exactly this content. The command is the
/// person's answer; there is no further question.
pub fn trust(scene: &Scene) -> Result<Exit, Failure> {
    let Some(review) = config::review(&scene.input)? else {
        let path = config::project_file(&scene.input.root);
        return Err(Failure::new(format!("there is no {}", path.display()), Exit::Usage));
    };
    tell(&format!("{}:\n{}\n", review.path.display(), crate::front::words::indented(&review.text)));
    for key in &review.protected {
        tell(&format!("  line {}: {} {}\n", key.line, key.key, key.why));
    }
    if review.trusted {
        say("already trusted as it stands\n");
        return Ok(Exit::Done);
    }
    scene.input.trust.trust(&scene.input.root, &review.digest)?;
    say(&format!("trusted as it stands now ({})\n", review.digest.short()));
    Ok(Exit::Done)
}
