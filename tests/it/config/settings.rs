//! What `offpeak.yaml` means, and what is said when files cannot be read.

use std::time::Duration;

use offpeak::config::{
    Auth, Config, DEFAULTS, DeadmanConfig, KeySource, NotifyConfig, NotifyWay, OWN_VARIABLES,
    Options, WebhookFormat, load,
};
use offpeak::engine::alert::Change;
use offpeak::job::{GroupId, KeyId};
use offpeak::schedule::defer::OnExhausted;
use offpeak::schedule::{DeferRule, PeakWindow};

use super::{Folder, job, wrong};

const EVERY_DAY: [bool; 7] = [true; 7];

fn seconds(count: u64) -> Duration {
    Duration::from_secs(count)
}

#[test]
fn without_settings_the_built_in_defaults_hold() {
    let folder = Folder::new(&[("jobs/a.yaml", &job(""))]);
    let config = load(&folder.options()).unwrap();
    assert_eq!(config.folder, folder.path());
    assert_eq!(
        config.keys[&KeyId::new("main")].source,
        KeySource::Env("ANTHROPIC_API_KEY".into())
    );
    assert_eq!(
        (
            config.upstream.base_url.as_str(),
            config.upstream.version.as_str()
        ),
        ("https://api.anthropic.com", "2023-06-01")
    );
    assert_eq!(
        (config.upstream.auth, config.upstream.connect),
        (Auth::ApiKey, seconds(10))
    );
    assert_eq!(
        (config.upstream.first_byte, config.upstream.idle),
        (seconds(300), seconds(120))
    );
    assert_eq!(config.upstream.max_answer_bytes, 32 * 1_024 * 1_024);
    assert_eq!(
        (
            config.plan.min_gap,
            config.comfortable_gap,
            config.plan.grace
        ),
        (seconds(900), seconds(2_700), seconds(20))
    );
}

#[test]
fn without_settings_the_built_in_rules_and_policies_hold() {
    let folder = Folder::new(&[("jobs/a.yaml", &job(""))]);
    let config = load(&folder.options()).unwrap();
    assert_eq!(config.plan.peaks.zone().name(), "Asia/Tokyo");
    let windows = [(420, 540), (1_080, 1_380)].map(|(start, end)| PeakWindow {
        start,
        end,
        days: EVERY_DAY,
    });
    assert_eq!(config.plan.peaks.windows(), windows);
    let group = &config.plan.groups[&GroupId::new("main")];
    assert!(group.pickup.is_none());
    assert_eq!(
        (group.guard.budget.calls(), group.guard.budget.per()),
        (30, seconds(60))
    );
    let breaker = group.guard.breaker;
    assert_eq!(
        (breaker.min_samples.get(), breaker.failure_ratio),
        (10, 0.5)
    );
    assert_eq!(
        (breaker.window, breaker.cooldown, breaker.stale_after),
        (seconds(120), seconds(60), seconds(600))
    );
    let planned = config.plan.jobs.values().next().unwrap();
    assert_eq!(
        (planned.retry.max_attempts(), planned.retry.base_delay()),
        (3, seconds(1))
    );
    assert_eq!(
        (planned.retry.max_delay(), planned.retry.jitter_ratio()),
        (seconds(30), 0.5)
    );
    assert_eq!(
        (
            planned.defer.rule,
            planned.defer.max,
            planned.defer.on_exhausted
        ),
        (DeferRule::NextSlot, 3, OnExhausted::Defer)
    );
    assert_eq!(planned.defer.expires_after, seconds(86_400));
    assert_eq!(
        (
            planned.job.template.model.as_str(),
            planned.job.template.max_tokens
        ),
        ("claude-sonnet-5-5", 4_000)
    );
    assert_eq!(planned.job.timeout, seconds(600));
    assert_eq!(
        (config.store.path, config.store.keep),
        (folder.path().join(".offpeak"), seconds(400 * 86_400))
    );
    assert!(config.notify.is_empty() && config.deadman.is_none());
}

#[test]
fn the_defaults_are_a_right_settings_file_themselves() {
    assert!(wrong(&[("offpeak.yaml", DEFAULTS), ("jobs/a.yaml", &job(""))]).is_empty());
}

/// A settings file that changes a little of everything.
const CHANGED: &str = r#"
keys: { main: { file: secrets/key }, archive: { env: B, group: main }, other: { env: C } }
upstream: { base_url: "http://127.0.0.1:8080/prefix", auth: bearer, timeouts: { idle: 30s }, max_answer_bytes: 8m }
rules: { min_gap: 30m, peaks: { timezone: Europe/Berlin, windows: ["23:00-01:00"], days: mon-fri } }
budget: { calls: 5 }
breaker: { cooldown: 2m }
retry:
defer: { pickup: { other: ["30 5 * * *", "30 6 * * *"] } }
store: { path: state }
notify: { ops: { webhook_env: OPS_WEBHOOK_URL, format: slack, on: [failed], timeout: 5s }, me: { command: [tell, me] } }
deadman: { url_env: DEADMAN_URL }
daemon: { grace: 5s }
"#;

fn changed() -> (Folder, Config) {
    let folder = Folder::new(&[("conf/night.yaml", CHANGED), ("jobs/a.yaml", &job(""))]);
    let options = Options {
        config_file: Some(folder.path().join("conf/night.yaml")),
        ..folder.options()
    };
    let config = load(&options).expect("right settings");
    (folder, config)
}

#[test]
fn settings_change_keys_upstream_and_rules() {
    let (folder, config) = changed();
    assert_eq!(
        config.keys[&KeyId::new("main")].source,
        KeySource::File(folder.path().join("conf/secrets/key"))
    );
    assert_eq!(
        config.keys[&KeyId::new("archive")].group,
        GroupId::new("main")
    );
    assert_eq!(
        (
            config.upstream.auth,
            config.upstream.idle,
            config.upstream.connect
        ),
        (Auth::Bearer, seconds(30), seconds(10))
    );
    assert_eq!(config.upstream.max_answer_bytes, 8 * 1_024 * 1_024);
    assert_eq!(
        (config.plan.min_gap, config.comfortable_gap),
        (seconds(1_800), seconds(2_700))
    );
    let before = PeakWindow {
        start: 1_380,
        end: 1_440,
        days: [true, true, true, true, true, false, false],
    };
    let after = PeakWindow {
        start: 0,
        end: 60,
        days: [false, true, true, true, true, true, false],
    };
    assert_eq!(
        config.plan.peaks.windows(),
        [before, after],
        "the part after midnight belongs to the day after"
    );
}

#[test]
fn variables_of_keys_and_webhooks_are_the_secret_ones() {
    let folder = Folder::new(&[("jobs/a.yaml", &job(""))]);
    let config = folder.read().config;
    assert_eq!(config.secret_variables(), OWN_VARIABLES);
    // A key in a file has no variable, and a variable of two keys is named once.
    let settings = "keys: { main: { file: secrets/key }, a: { env: B, group: main }, c: { env: B } }\n\
                    notify: { ops: { webhook_env: A_URL }, me: { command: [tell] } }\n\
                    deadman: { url_env: D_URL }\n";
    let folder = Folder::new(&[
        ("offpeak.yaml", settings),
        ("secrets/key", "sk"),
        ("jobs/a.yaml", &job("")),
    ]);
    let reading = folder.read();
    assert_eq!(reading.mistakes, []);
    let mut expected = [&OWN_VARIABLES[..], &["A_URL", "B", "D_URL"]].concat();
    expected.sort_unstable();
    assert_eq!(reading.config.secret_variables(), expected);
}

#[test]
fn settings_change_policies_and_leave_the_rest() {
    let (folder, config) = changed();
    let groups: Vec<_> = config
        .plan
        .groups
        .iter()
        .map(|(name, group)| (name.as_str(), group.pickup.is_some()))
        .collect();
    assert_eq!(groups, [("main", false), ("other", true)]);
    let pickup = config.plan.groups[&GroupId::new("other")]
        .pickup
        .clone()
        .unwrap();
    assert_eq!(
        (pickup.exprs().len(), pickup.zone().name()),
        (2, "Europe/Berlin")
    );
    assert_eq!(
        config.plan.groups[&GroupId::new("main")]
            .guard
            .budget
            .calls(),
        5
    );
    assert_eq!(
        config.plan.groups[&GroupId::new("main")]
            .guard
            .breaker
            .cooldown,
        seconds(120)
    );
    let ops = NotifyConfig {
        way: NotifyWay::Webhook {
            address_env: "OPS_WEBHOOK_URL".to_owned(),
            format: WebhookFormat::Slack,
        },
        on: [Change::Failed].into(),
        timeout: seconds(5),
    };
    let me = NotifyConfig {
        way: NotifyWay::Command(vec!["tell".to_owned(), "me".to_owned()]),
        on: Change::ALL.into(),
        timeout: seconds(10),
    };
    assert_eq!(
        config.notify,
        [("me".to_owned(), me), ("ops".to_owned(), ops)].into()
    );
    let deadman = DeadmanConfig {
        url_env: "DEADMAN_URL".to_owned(),
        timeout: seconds(10),
    };
    assert_eq!(config.deadman, Some(deadman));
    assert_eq!(
        (config.plan.grace, config.store.path),
        (seconds(5), folder.path().join("state"))
    );
}

#[test]
fn pickup_slots_of_all_groups_have_a_place_in_the_file() {
    let text = "defaults: { timezone: UTC }\ndefer:\n  pickup:\n    - \"30 5 * * *\"\n";
    let folder = Folder::new(&[("offpeak.yaml", text), ("jobs/a.yaml", &job(""))]);
    let reading = folder.read();
    let main = GroupId::new("main");
    assert_eq!(
        reading.sources.pickup_place(&main, 0).unwrap().to_string(),
        "offpeak.yaml:4:7"
    );
    assert_eq!(
        reading.config.plan.groups[&main]
            .pickup
            .as_ref()
            .unwrap()
            .zone()
            .name(),
        "UTC"
    );
}

#[test]
fn the_store_follows_flag_then_state_directory_then_setting() {
    let folder = Folder::new(&[("jobs/a.yaml", &job(""))]);
    let environment = [("STATE_DIRECTORY", "/var/lib/offpeak:/var/lib/x")]
        .into_iter()
        .collect();
    let mut options = Options {
        environment,
        ..folder.options()
    };
    assert_eq!(
        load(&options).unwrap().store.path.to_str(),
        Some("/var/lib/offpeak")
    );
    options.store = Some("/flag".into());
    assert_eq!(load(&options).unwrap().store.path.to_str(), Some("/flag"));
}

#[test]
fn a_folder_without_jobs_says_what_to_do() {
    let help = "create a job such as jobs/daily-digest.yaml, or run `offpeak init`";
    assert_eq!(
        wrong(&[]),
        [format!("jobs: there is no such folder; {help}")]
    );
    assert_eq!(
        wrong(&[("jobs/readme.txt", "")]),
        [format!(
            "jobs: there are no job files (*.yaml) in this folder; {help}"
        )]
    );
}

#[test]
fn files_that_cannot_be_read_are_no_mistakes_of_the_user() {
    let folder = Folder::new(&[
        ("jobs/a.yaml", "cron: */5 * * * *\n"),
        ("jobs/b.yaml", &job("")),
    ]);
    std::fs::write(folder.path().join("jobs/c.yaml"), b"a: \xff").unwrap();
    let options = Options {
        config_file: Some(folder.path().join("none.yaml")),
        jobs: vec![folder.path().join("jobs"), folder.path().join("gone.yaml")],
        ..folder.options()
    };
    let reading = offpeak::config::read(&options);
    let lines: Vec<String> = reading.unreadable.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "none.yaml: cannot be read: no such file; look at the name, or leave it out",
            "jobs/a.yaml:1:7: this is no YAML: a value cannot begin with `*` without quotes; put it in quotes: `cron: \"*/5 * * * *\"`",
            "jobs/c.yaml: cannot be read: it is not UTF-8 text: the byte 0xFF stands in line 1, column 4; save the file as UTF-8",
            "gone.yaml: cannot be read: no such file; look at the name, or leave it out",
        ]
    );
    assert!(reading.mistakes.is_empty());
    assert_eq!(
        reading.config.plan.jobs.len(),
        1,
        "the others are there to be linted"
    );
    let errors = load(&options).unwrap_err();
    assert_eq!(
        (errors.unreadable.len(), errors.to_string().lines().count()),
        (4, 4)
    );
}

#[test]
fn a_file_in_place_of_a_folder_is_no_job_and_is_named() {
    let folder = Folder::new(&[("jobs", &job(""))]);
    assert_eq!(
        unreadable(&folder.options()),
        [
            "jobs: cannot be read: it is no folder; make it a folder of job files, or name it as a job file on the command line"
        ]
    );
    let file = folder.path().join("jobs");
    let options = Options {
        folder: file.clone(),
        ..folder.options()
    };
    let message = format!("jobs: the working folder {} is no folder; ", file.display());
    assert!(unreadable(&options)[0].starts_with(&message));
}

// Such an `offpeak.yaml` was passed over, and the built-in defaults held without a word.
#[cfg(unix)]
#[test]
fn settings_and_jobs_that_are_there_and_cannot_be_read_are_not_passed_over() {
    use std::os::unix::fs::symlink;
    let folder = Folder::new(&[]);
    symlink("offpeak.yaml", folder.path().join("offpeak.yaml")).unwrap();
    symlink("jobs", folder.path().join("jobs")).unwrap();
    let lines = unreadable(&folder.options());
    assert_eq!(lines.len(), 2, "{lines:?}");
    assert_eq!(
        lines[0],
        "offpeak.yaml: cannot be read: it is a link that leads back to itself; mend the link, or take it away"
    );
    let start = "jobs: cannot be read: too many levels of symbolic links";
    assert!(lines[1].starts_with(start), "{}", lines[1]);
    std::fs::remove_file(folder.path().join("offpeak.yaml")).unwrap();
    symlink("gone", folder.path().join("offpeak.yaml")).unwrap();
    assert_eq!(
        unreadable(&folder.options())[0],
        "offpeak.yaml: cannot be read: it is a link to a file that is not there; mend the link, or take it away"
    );
}

#[cfg(unix)]
#[test]
fn an_unreadable_working_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(&[("jobs/a.yaml", &job("")), ("offpeak.yaml", "")]);
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o000)).unwrap();
    let lines = unreadable(&folder.options());
    // The superuser may read everything.
    let superuser = std::fs::read_dir(folder.path()).is_ok();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o700)).unwrap();
    if superuser {
        assert!(lines.is_empty(), "{lines:?}");
    } else {
        let denied = ["offpeak.yaml", "jobs"];
        let denied = denied.map(|name| format!("{name}: cannot be read: permission denied"));
        assert_eq!(lines, denied);
    }
}

fn unreadable(options: &Options) -> Vec<String> {
    let reading = offpeak::config::read(options);
    reading.unreadable.iter().map(ToString::to_string).collect()
}

#[cfg(unix)]
#[test]
fn an_unreadable_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new(&[("jobs/a.yaml", &job(""))]);
    let jobs = folder.path().join("jobs");
    std::fs::set_permissions(&jobs, std::fs::Permissions::from_mode(0o000)).unwrap();
    let reading = folder.read();
    // The superuser may read everything.
    let superuser = std::fs::read_dir(&jobs).is_ok();
    std::fs::set_permissions(&jobs, std::fs::Permissions::from_mode(0o700)).unwrap();
    let lines: Vec<String> = reading.unreadable.iter().map(ToString::to_string).collect();
    if superuser {
        assert!(lines.is_empty(), "{lines:?}");
    } else {
        assert_eq!(lines, ["jobs: cannot be read: permission denied"]);
    }
}
