//! `tandem models`: which model each role is bound to, and whether it answers.

use std::collections::BTreeMap;

use serde_json::json;
use tandem_shared::role::Role;

use crate::cli::OutputFormat;
use crate::exit::Exit;
use crate::front::{say, words};
use crate::scene::{Failure, Scene};
use crate::session::{Attendance, SetupError, model_exit};
use crate::wiring;

/// Asks each provider once. The exit code is that of the first role whose provider does not answer.
pub async fn run(scene: &Scene) -> Result<Exit, Failure> {
    let setup = scene.setup(Attendance::Unattended)?;
    let config = &setup.loaded.config;
    if config.binding(Role::Planner).is_none() {
        return Err(SetupError::NoModel.into());
    }
    let router = wiring::router(config, &setup.machine.env, &setup.route).map_err(SetupError::from)?;
    let mut asked: BTreeMap<String, Result<Vec<String>, (String, Exit)>> = BTreeMap::new();
    let mut exit = Exit::Done;
    for role in Role::ALL {
        let Some(bound) = config.binding(role) else { continue };
        if !asked.contains_key(&bound.provider) {
            let answer = router.probe(role).await.map_err(|error| (error.to_string(), model_exit(&error)));
            asked.insert(bound.provider.clone(), answer);
        }
        let state = match asked.get(&bound.provider) {
            Some(Ok(models)) if models.contains(&bound.model) => "answers".to_owned(),
            Some(Ok(_)) => "answers, but does not list this model".to_owned(),
            Some(Err((error, code))) => {
                exit = if exit == Exit::Done { *code } else { exit };
                words::one_line(error)
            }
            None => continue,
        };
        let name = format!("{}/{}", bound.provider, bound.model);
        let by = if bound.named_by == role { String::new() } else { format!(" (as {})", bound.named_by) };
        match scene.global.output_format {
            OutputFormat::Text => say(&format!("{role:<10}  {name}{by}: {state}\n")),
            OutputFormat::Json | OutputFormat::StreamJson => {
                let row = json!({ "role": role, "model": name, "named_by": bound.named_by, "state": state });
                say(&format!("{row}\n"));
            }
        }
    }
    Ok(exit)
}
