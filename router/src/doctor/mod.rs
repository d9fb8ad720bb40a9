//! Finds out by asking how an endpoint behaves, and which settings follow from it.

mod finding;
mod exchange;
mod texts;
mod patient;
mod words;
mod tools;
mod window;

use tandem_shared::role::Role;

pub use finding::{Examination, Finding, Scope, Verdict};
pub use window::WindowPlan;

use crate::router::Router;
use patient::Patient;

impl Router {
    /// Examines the endpoint of a role with about five short requests, and ten more for tools. The endpoint's configured
    /// quirks are not applied: what is measured is what it does to the common form. `told` hears each finding at once.
    pub async fn examine(
        &self,
        role: Role,
        scope: Scope,
        window: Option<WindowPlan>,
        told: &(dyn Fn(&Finding) + Send + Sync),
    ) -> Examination {
        let Some(candidate) = self.candidate(role) else {
            return Examination::impossible(format!("no model is bound to the role {role}"));
        };
        let mut patient = Patient::new(role, candidate, told);
        if let Err(fault) = words::examine(&mut patient).await {
            return patient.fail(fault);
        }
        if scope == Scope::Tools
            && let Err(fault) = tools::examine(&mut patient).await
        {
            return patient.fail(fault);
        }
        if let Some(plan) = window
            && let Err(fault) = window::measure(&mut patient, plan).await
        {
            return patient.fail(fault);
        }
        patient.connections();
        patient.done(scope)
    }
}
