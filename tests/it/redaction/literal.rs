//! A secret that stands in the user's own files: every finding about it, and none repeats it.

use super::mark::Mark;
use crate::scenario::Scenario;

/// Settings in which a secret stands where it must not; `K` is the secret.
const SETTINGS: [&str; 17] = [
    "keys: { main: 'K' }",
    "keys: { main: { key: 'K' } }",
    "keys: { main: { env: 'K' } }",
    "keys: { main: { credential: 'K' } }",
    "keys: { main: { env: A, value: 'K' } }",
    "keys: { main: { env: A, tail: 'K' } }",
    "keys: { main: { file: A, allow_exposed: 'K' } }",
    "keys: { main: { env: A }, 'x': ['K'] }",
    "notify: { ops: 'https://hooks.example/K' }",
    "notify: { ops: { webhook: 'https://hooks.example/K' } }",
    "notify: { ops: { webhook_env: 'https://hooks.example/K' } }",
    "notify: { ops: { webhook_env: A, format: 'K' } }",
    "deadman: { url: 'https://ping.example/K' }",
    "upstream: { base_url: 'https://me:K@gateway.example' }",
    "upstream: { base_url: 'https://gateway.example/?key=K' }",
    "upstream: { base_url: 'https://gateway.example/#K' }",
    "upstream: { base_url: 'https://gateway.example:K' }",
];

const JOB: &str = "cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hello }\n";

/// Every command that reads the settings, in every form in which it can speak.
const COMMANDS: [&str; 13] = [
    "validate",
    "validate --format json",
    "validate --format github",
    "validate --format sarif",
    "validate --fix --dry-run",
    "validate --fix",
    "config",
    "config --format json",
    "plan",
    "dry-run a",
    "run a",
    "daemon",
    "status",
];

#[track_caller]
fn tell_nothing(mark: &Mark, scenario: &Scenario, what: &str) {
    let mut told = false;
    for command in COMMANDS {
        let args: Vec<&str> = command.split(' ').collect();
        let done = super::unsaid(
            mark,
            &format!("`{command}` over {what}"),
            scenario.run(&args),
        );
        // The daemon ends at once, because it refuses such settings.
        assert!(
            [1, 2].contains(&done.code) || command == "status",
            "{command} over {what}: {}",
            done.code
        );
        told |= done.stdout.contains("literal-secret") || done.stderr.contains("literal-secret");
        told |= done.stderr.contains("offpeak.yaml") || done.stdout.contains("offpeak.yaml");
    }
    assert!(told, "nothing is told of {what}");
}

#[test]
fn secret_in_the_settings_is_repeated_by_no_command_in_no_format() {
    let mark = Mark::new();
    let secret = mark.key.replace('"', "!");
    for settings in SETTINGS {
        let text = settings.replace('K', &secret) + "\n";
        let scenario = Scenario::new()
            .file("offpeak.yaml", &text)
            .file("jobs/a.yaml", JOB)
            .env("RUST_LOG", "trace");
        tell_nothing(&mark, &scenario, settings);
    }
}

/// A key of the API is known by how it begins, wherever in a file it stands; a mended line beside it shows it neither.
#[test]
fn key_of_the_api_anywhere_in_a_file_is_repeated_by_no_command() {
    let mark = Mark::new();
    let key = format!(
        "sk-ant-api03-{}",
        mark.key[3..].trim_end_matches(['/', '&', '"', '~'])
    );
    let peak = "cron: \"30 7 * * *\"";
    for job in [
        JOB.replace("hello", &key),
        format!("{JOB}# {key}\n"),
        JOB.replace(
            "cron: \"0 5 * * *\"",
            &format!("description: {key}\n{peak} # {key}"),
        ),
        format!("{JOB}{key}: 1\n"),
        format!("{JOB}model: {key}\n"),
        format!("{JOB}request: {{ metadata: {{ user_id: {key} }} }}\n"),
        format!("{JOB}key: {key}\n"),
        format!("{JOB}accept: {{ {key}: because }}\n"),
    ] {
        let scenario = Scenario::new()
            .file("offpeak.yaml", "keys: { main: { env: A } }\n")
            .file("jobs/a.yaml", &job)
            .env("RUST_LOG", "trace");
        for command in COMMANDS {
            let args: Vec<&str> = command.split(' ').collect();
            let done = super::unsaid(
                &mark,
                &format!("`{command}` over {job:?}"),
                scenario.run(&args),
            );
            if command == "validate" {
                done.exits(1).says("literal-secret");
            }
        }
    }
}
