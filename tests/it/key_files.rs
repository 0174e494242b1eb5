//! Where keys may come from, who else may see them, and what is closed to others.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use crate::hostile::Hostile;
use crate::log::Lines;
use crate::scenario::{Running, Scenario};

const KEY: &str = "gateway-token-4711";

/// A folder with one job, these keys, and an upstream that says hello.
fn folder(keys: &str) -> (Scenario, Hostile) {
    let upstream = Hostile::start();
    upstream.answer("hello");
    let settings = format!(
        "keys: {{ main: {keys} }}\nupstream: {{ base_url: \"{}\" }}\nretry: {{ max_attempts: 1 }}\n\
         rules: {{ peaks: {{ windows: [] }} }}\n",
        upstream.url()
    );
    let job = "cron: \"0 5 29 2 *\"\ntimezone: UTC\nprompt: { text: hi }\n";
    let scenario = Scenario::new()
        .file("offpeak.yaml", &settings)
        .file("jobs/digest.yaml", job);
    (scenario, upstream)
}

/// A key file with a mode.
fn key_file(scenario: &Scenario, name: &str, mode: u32) -> PathBuf {
    scenario.write(name, format!("{KEY}\n"));
    let path = scenario.path().join(name);
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    path
}

#[track_caller]
fn assert_sent(upstream: &Hostile) {
    let requests = upstream.requests();
    let header = format!("x-api-key: {KEY}\r\n");
    assert!(
        requests.len() == 1 && requests[0].contains(&header),
        "{requests:?}"
    );
}

/// A daemon, once its plan stands, and all that it has said.
fn daemon(scenario: &Scenario) -> (Running, String) {
    let mut running = scenario.start(&["daemon"]);
    let mut lines = Lines::of(running.stderr());
    lines.until("plan stands");
    (running, lines.seen().to_owned())
}

#[test]
fn credential_of_systemd_is_read_from_its_folder() {
    let (scenario, upstream) = folder("{ credential: anthropic }");
    key_file(&scenario, "credentials/anthropic", 0o400);
    let credentials = scenario.path().join("credentials");
    let scenario = scenario.env("CREDENTIALS_DIRECTORY", &credentials.display().to_string());
    scenario
        .run(&["config"])
        .exits(0)
        .says("key       main: group main, credential anthropic: set");
    let shown = scenario
        .run(&["config", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(shown["keys"]["main"]["source"], "credential anthropic");
    scenario.run(&["validate"]).exits(0);
    scenario.run(&["dry-run", "digest"]).exits(0);
    scenario.run(&["run", "digest"]).exits(0).says("succeeded");
    assert_sent(&upstream);
    let (running, log) = daemon(&scenario);
    running.signal("TERM");
    running.wait().exits(0);
    assert!(!log.contains(KEY), "{log}");
}

#[test]
fn missing_credential_says_what_the_unit_needs_and_is_not_the_linters_business() {
    let (scenario, upstream) = folder("{ credential: anthropic }");
    scenario.run(&["validate"]).exits(0);
    scenario.run(&["dry-run", "digest"]).exits(0);
    scenario
        .run(&["config"])
        .exits(0)
        .says("credential anthropic: not set");
    let way_out = "LoadCredential=anthropic:/path/to/the/key";
    for command in [&["run", "digest"][..], &["daemon"]] {
        let done = scenario.run(command).exits(2).complains(way_out);
        assert!(
            done.stderr.contains("must run under systemd"),
            "{}",
            done.stderr
        );
    }
    fs::create_dir(scenario.path().join("credentials")).unwrap();
    let scenario = scenario.env("CREDENTIALS_DIRECTORY", "credentials");
    let done = scenario.run(&["run", "digest"]).exits(2).complains(way_out);
    assert!(
        done.stderr.contains("is not in credentials"),
        "{}",
        done.stderr
    );
    assert!(upstream.requests().is_empty());
}

#[test]
fn exposed_key_file_is_refused_with_the_way_out() {
    let (scenario, upstream) = folder("{ file: secrets/key }");
    let refused = |mode, text: &str| {
        key_file(&scenario, "secrets/key", mode);
        for command in [&["run", "digest"][..], &["daemon"]] {
            scenario.run(command).exits(2).complains(text);
        }
    };
    refused(0o644, "can be read by others (mode 644); run: chmod 600 ");
    refused(0o602, "is open to others (mode 602); run: chmod 600 ");
    refused(
        0o660,
        "can be changed by its group (mode 660); run: chmod 600 ",
    );
    assert!(upstream.requests().is_empty());
    for mode in [0o600, 0o440, 0o640] {
        key_file(&scenario, "secrets/key", mode);
        scenario.run(&["run", "digest"]).exits(0);
        assert_sent(&upstream);
    }
}

#[test]
fn key_file_that_may_be_exposed_is_used_and_told_at_each_start() {
    let (scenario, upstream) = folder("{ file: key, allow_exposed: true }");
    key_file(&scenario, "key", 0o644);
    let warning = "can be read by others (mode 644), and `allow_exposed` takes it all the same";
    scenario.run(&["run", "digest"]).exits(0).complains(warning);
    assert_sent(&upstream);
    let (running, log) = daemon(&scenario);
    assert_eq!(log.matches(warning).count(), 1, "{log}");
    running.signal("TERM");
    running.wait().exits(0);
    key_file(&scenario, "key", 0o600);
    let done = scenario.run(&["run", "digest"]).exits(0);
    assert!(!done.stderr.contains("allow_exposed"), "{}", done.stderr);
}

/// Only root can give a file away; what is decided of one is tested beside the code too.
#[test]
fn key_file_of_another_user_is_refused() {
    let (scenario, upstream) = folder("{ file: key }");
    let key = key_file(&scenario, "key", 0o600);
    if chown(&key, Some(54_321), None).is_err() {
        scenario.run(&["run", "digest"]).exits(0);
        return assert_sent(&upstream);
    }
    let text = "belongs to another user (uid 54321); run: chown ";
    scenario.run(&["run", "digest"]).exits(2).complains(text);
    assert!(upstream.requests().is_empty());
}

#[test]
fn file_behind_a_link_is_the_one_that_counts() {
    let (scenario, upstream) = folder("{ file: link }");
    let link = scenario.path().join("link");
    symlink(key_file(&scenario, "real", 0o600), &link).unwrap();
    scenario.run(&["run", "digest"]).exits(0);
    assert_sent(&upstream);
    key_file(&scenario, "real", 0o644);
    scenario
        .run(&["run", "digest"])
        .exits(2)
        .complains("link can be read by others");
    fs::remove_file(scenario.path().join("real")).unwrap();
    scenario
        .run(&["run", "digest"])
        .exits(2)
        .complains("no such file");
    fs::remove_file(&link).unwrap();
    let made = std::process::Command::new("mkfifo").arg(&link).status();
    assert!(made.unwrap().success());
    scenario
        .run(&["run", "digest"])
        .exits(2)
        .complains("it is no regular file");
}

#[test]
fn nothing_of_a_process_goes_into_a_core_file() {
    let (scenario, _upstream) = folder("{ env: K }");
    let scenario = scenario.env("K", KEY);
    let (running, _) = daemon(&scenario);
    let process = Path::new("/proc").join(running.id().to_string());
    let limits = fs::read_to_string(process.join("limits")).unwrap();
    let core = limits
        .lines()
        .find(|line| line.starts_with("Max core file size"));
    let words: Vec<&str> = core.unwrap().split_whitespace().collect();
    assert_eq!(words[4..6], ["0", "0"], "{limits}");
    // The memory of a process that must not be dumped is closed to everybody but root.
    if !is_root() {
        fs::read(process.join("environ")).unwrap_err();
    }
    running.signal("TERM");
    running.wait().exits(0);
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Everything that a command sees of its parent: variables, open files, and what it can read of the process.
const SPY: &str = "#!/bin/sh\nenv; ls -l /proc/self/fd; tr '\\000' ' ' < /proc/self/cmdline\n";

// Only the variables that the settings name were withheld, and the credentials' folder was not.
#[test]
fn commands_inherit_no_secret_no_socket_and_no_file() {
    let (scenario, upstream) = folder("{ env: K }");
    let settings = scenario.read("offpeak.yaml");
    let more = "notify: { ops: { webhook_env: HOOK } }\ndeadman: { url_env: PING }\n";
    scenario.write("offpeak.yaml", settings + more);
    scenario.write("jobs/spy", SPY);
    fs::set_permissions(
        scenario.path().join("jobs/spy"),
        Permissions::from_mode(0o755),
    )
    .unwrap();
    let job = "cron: \"0 5 29 2 *\"\ntimezone: UTC\nnotify: ops\ninputs: { seen: { command: [./spy] } }\n\
               prompt: { text: \"{{ seen }}\" }\noutput: { command: [sh, -c, env > out.txt] }\n";
    scenario.write("jobs/digest.yaml", job);
    let secrets = [
        "K",
        "HOOK",
        "PING",
        "ANTHROPIC_API_KEY",
        "CREDENTIALS_DIRECTORY",
        "NOTIFY_SOCKET",
        "WATCHDOG_PID",
        "WATCHDOG_USEC",
    ];
    let scenario = scenario
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("KEPT", "yes");
    let scenario = secrets
        .iter()
        .fold(scenario, |scenario, name| scenario.env(name, KEY));
    scenario.run(&["run", "digest"]).exits(0);
    let requests = upstream.requests();
    let (head, seen) = requests[0].split_once("\r\n\r\n").unwrap();
    assert!(head.contains(KEY), "{head}");
    for seen in [seen, &scenario.read("out.txt")] {
        assert!(seen.contains("KEPT=yes"), "{seen}");
        assert!(!seen.contains(KEY), "{seen}");
        for name in secrets {
            assert!(!seen.contains(&format!("{name}=")), "{name}: {seen}");
        }
    }
    assert!(
        !seen.contains("offpeak.db") && !seen.contains("socket:"),
        "{seen}"
    );
}

/// The job whose input says its process id and then never ends, whatever it is told.
fn stubborn(scenario: &Scenario) {
    let script = "trap '' TERM INT; echo $$ > pid; while :; do sleep 1; done";
    let job = format!(
        "cron: \"0 5 29 2 *\"\ntimezone: UTC\ninputs: {{ log: {{ command: [sh, -c, \"{script}\"], timeout: 1h }} }}\n\
         prompt: {{ text: \"{{{{ log }}}}\" }}\n"
    );
    scenario.write("jobs/digest.yaml", job);
    let settings = scenario.read("offpeak.yaml");
    scenario.write("offpeak.yaml", settings + "daemon: { grace: 1s }\n");
}

#[test]
fn stop_ends_an_input_command_that_ignores_signals() {
    let (scenario, _upstream) = folder("{ env: K }");
    stubborn(&scenario);
    let scenario = scenario
        .env("K", KEY)
        .env("PATH", "/usr/local/bin:/usr/bin:/bin");
    let running = scenario.start(&["run", "digest"]);
    let pid = scenario.path().join("jobs/pid");
    let pid = loop {
        match fs::read_to_string(&pid) {
            Ok(text) if text.ends_with('\n') => break text,
            _ => std::thread::yield_now(),
        }
    };
    running.signal("TERM");
    running.signal("TERM");
    let done = running.wait();
    assert!(
        [75, 143].contains(&done.code),
        "{}: {}",
        done.code,
        done.stderr
    );
    let stat = Path::new("/proc").join(pid.trim()).join("stat");
    while fs::read_to_string(&stat).is_ok_and(|stat| !stat.contains(") Z ")) {
        std::thread::yield_now();
    }
}
