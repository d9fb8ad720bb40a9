//! One test for each scenario folder, so that a failing scenario is named.

use std::collections::BTreeSet;

use crate::support::scenario;

macro_rules! scenarios {
    ($($name:ident),* $(,)?) => {
        $(#[test]
        fn $name() {
            scenario::play(&stringify!($name).replace('_', "-"));
        })*

        const LISTED: &[&str] = &[$(stringify!($name)),*];
    };
}

scenarios![
    a_file_outside_the_plan_is_asked_for,
    a_sample_session,
    agents_files_are_read,
    announced_but_not_done,
    authentication_fails,
    changing_results_are_progress,
    check_edited_in_the_run,
    check_fails_then_passes,
    check_green_before,
    check_never_passes,
    claims_a_step_done_without_doing,
    claims_done_without_doing,
    critique_causes_one_revision,
    denied_without_a_terminal,
    endless_call,
    environment_names_the_model,
    exec_from_edited_file,
    failed_edits_and_commands_are_explained,
    flags_name_models,
    hallucinated_writes,
    ids_that_are_empty_or_repeat,
    malformed_arguments,
    malformed_plan_file,
    max_rounds,
    misplaced_config_key,
    missing_key,
    no_plan_goes_straight_to_the_executor,
    nobody_answers,
    nothing_configured,
    outside_the_root,
    plan_approve_execute,
    plan_in_words_only,
    plan_only,
    print_mode_answers_only,
    profile_switch,
    profile_switch_in_a_session,
    prompt_from_stdin,
    question_costs_one_request,
    rate_limit_is_waited_for,
    reject,
    revise,
    server_fails,
    session_over_a_pipe,
    silent_server,
    six_failing_rounds,
    stale_plan,
    strict_denies_undeclared_commands,
    thinking_always,
    thinking_precedes_the_first_action,
    thinking_waits_for_the_first_look,
    three_servers,
    trusted_project_config,
    unknown_config_key,
    untrusted_project_config,
    untrusted_text_is_fenced,
    wider_approval_by_project_is_refused,
    write_denied_without_a_terminal,
];

#[test]
fn every_folder_is_listed() {
    let folders: BTreeSet<String> = std::fs::read_dir(scenario::folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().replace('-', "_"))
        .collect();
    let listed: BTreeSet<String> = LISTED.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(listed, folders);
}
