//! What is shipped beside the program agrees with it: options, exit codes, times and paths.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use clap::Parser;
use offpeak::cli::{Args, Exit};
use offpeak::config::{Options, read};
use serde_json::Value;

use crate::scenario::repository;

const UNITS: [&str; 2] = ["offpeak.service", "offpeak-user.service"];

/// The longest drain: a request, the delivery of its answer, and the last writes.
fn longest_drain() -> Duration {
    let folder = tempfile::tempdir().unwrap();
    let grace = read(&Options::new(folder.path())).config.plan.grace;
    grace * 2 + Duration::from_secs(30)
}

fn shipped(path: &str) -> String {
    let path = repository().join("packaging").join(path);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The values of one name in a unit, in order.
fn values(unit: &str, name: &str) -> Vec<String> {
    let text = shipped(&format!("systemd/{unit}"));
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    let values = lines.filter_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    values.map(str::to_owned).collect()
}

fn value(unit: &str, name: &str) -> String {
    let values = values(unit, name);
    assert_eq!(values.len(), 1, "{unit}: {name}");
    values.into_iter().next().unwrap()
}

fn span(text: &str) -> Duration {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap());
    let number: u64 = number.parse().unwrap();
    match unit {
        "s" => Duration::from_secs(number),
        "min" | "m" => Duration::from_mins(number),
        _ => panic!("{text}"),
    }
}

/// The command line is one that the program takes.
fn is_taken(words: &[&str]) {
    let parsed = Args::try_parse_from(words);
    assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
}

#[test]
fn units_start_a_daemon_with_options_that_there_are() {
    for unit in UNITS {
        let command = value(unit, "ExecStart");
        let words: Vec<&str> = command.split(' ').collect();
        assert_eq!(words[0], "/usr/local/bin/offpeak");
        assert_eq!(*words.last().unwrap(), "daemon");
        is_taken(&words);
    }
}

#[test]
fn units_leave_a_drain_its_time_and_a_locked_store_too() {
    for unit in UNITS {
        assert!(
            span(&value(unit, "TimeoutStopSec")) > longest_drain(),
            "{unit}"
        );
        // A store that another process locks is waited for ten seconds at a time.
        assert!(
            span(&value(unit, "WatchdogSec")) >= Duration::from_mins(1),
            "{unit}"
        );
        assert_eq!(value(unit, "Type"), "notify-reload");
    }
}

#[test]
fn units_start_again_for_ever_after_whatever_was_no_stop() {
    for unit in UNITS {
        assert_eq!(value(unit, "Restart"), "on-failure");
        // A disk without room at a boot, or files that somebody is about to mend, end by themselves.
        assert_eq!(value(unit, "StartLimitIntervalSec"), "0", "{unit}");
        // A slot is on time for a minute.
        assert!(span(&value(unit, "RestartSec")) < Duration::from_secs(30));
        let stops = value(unit, "SuccessExitStatus");
        let stops: BTreeSet<String> = stops.split(' ').map(str::to_owned).collect();
        let told = [Exit::Interrupted, Exit::Terminated].map(|exit| exit.code().to_string());
        assert_eq!(stops, told.into(), "{unit}");
    }
}

#[test]
fn unit_of_the_system_keeps_its_promises_of_safety() {
    let unit = UNITS[0];
    for (name, expected) in [
        ("DynamicUser", "yes"),
        ("StateDirectory", "offpeak"),
        ("ProtectSystem", "strict"),
        ("NoNewPrivileges", "yes"),
        ("CapabilityBoundingSet", ""),
        ("RestrictAddressFamilies", "AF_UNIX AF_INET AF_INET6"),
        ("UMask", "0077"),
        (
            "Environment",
            "MALLOC_ARENA_MAX=1 MALLOC_TRIM_THRESHOLD_=131072 MALLOC_TOP_PAD_=0",
        ),
        ("LimitCORE", "0"),
    ] {
        assert_eq!(value(unit, name), expected);
    }
    // The working folder is the only place that can be written to.
    let folder = format!("/var/lib/{}", value(unit, "StateDirectory"));
    assert_eq!(value(unit, "WorkingDirectory"), folder);
    assert!(value(unit, "ExecStart").contains(&format!(" -C {folder} ")));
    // The credential's name, in the unit and in what it tells to write into offpeak.yaml.
    let credential = value(unit, "LoadCredential");
    let (name, _) = credential.split_once(':').unwrap();
    let written = format!("credential: {name} ");
    assert!(shipped(&format!("systemd/{unit}")).contains(&written));
}

// `.offpeak` that root had restored with mode 700 was closed to the service.
#[test]
fn what_root_restores_is_given_to_the_service() {
    let readme = fs::read_to_string(repository().join("README.md")).unwrap();
    let steps = readme.split("systemctl stop offpeak").nth(1).unwrap();
    let (steps, _) = steps.split_once("systemctl start offpeak").unwrap();
    let at = |step: &str| {
        steps
            .find(step)
            .unwrap_or_else(|| panic!("{step}: {steps}"))
    };
    let given = at("chown -R --reference=.offpeak.damaged .offpeak");
    // Whoever opens the store makes files beside it.
    assert!(at("cp backup.db") < given && at("offpeak store check") < given);
    let folder = format!("/var/lib/{}", value(UNITS[0], "StateDirectory"));
    let way = format!("chown -R --reference={folder}/ {folder}/.offpeak");
    for path in ["systemd/offpeak.service", "README.md"] {
        assert!(shipped(path).contains(&way), "{path}");
    }
}

/// The instructions of the Dockerfile, continued lines joined.
fn instructions() -> Vec<(String, String)> {
    let text = shipped("docker/Dockerfile").replace("\\\n", " ");
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.split_once(' '))
        .map(|(name, rest)| (name.to_owned(), rest.trim().to_owned()))
        .collect()
}

fn of_name(name: &str) -> Vec<String> {
    let all = instructions().into_iter();
    all.filter(|(it, _)| it == name)
        .map(|(_, rest)| rest)
        .collect()
}

/// What is copied from the repository, and not from another stage.
fn copied() -> Vec<String> {
    let copies = of_name("COPY").into_iter();
    let ours = copies.filter(|rest| !rest.starts_with("--from"));
    ours.flat_map(|rest| {
        let words: Vec<String> = rest.split(' ').map(str::to_owned).collect();
        words[..words.len() - 1].to_vec()
    })
    .collect()
}

#[test]
fn image_is_built_from_files_that_there_are_and_from_all_that_the_source_includes() {
    let copied = copied();
    assert!(copied.contains(&"src".to_owned()), "{copied:?}");
    let ignored = shipped("docker/Dockerfile.dockerignore");
    for path in &copied {
        assert!(repository().join(path).exists(), "{path}");
        assert!(
            ignored.lines().any(|line| line == format!("!{path}")),
            "{path}"
        );
    }
    let mut folders = vec![repository().join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let text = fs::read_to_string(&path).unwrap_or_default();
            for (_, rest) in text
                .match_indices("include_str!(\"")
                .map(|(at, it)| (at, &text[at + it.len()..]))
            {
                let name = rest.split('"').next().unwrap();
                let included = path.parent().unwrap().join(name).canonicalize().unwrap();
                let inside = included
                    .strip_prefix(repository().canonicalize().unwrap())
                    .unwrap();
                let top = inside.iter().next().unwrap().to_str().unwrap();
                assert!(
                    copied.contains(&top.to_owned()),
                    "{}: {name}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn image_runs_the_daemon_as_nobody_special_and_holds_no_secret() {
    let words = |name: &str| -> Vec<String> {
        let rest = of_name(name).pop().unwrap();
        serde_json::from_str(&rest).unwrap()
    };
    let (entry, default) = (words("ENTRYPOINT"), words("CMD"));
    assert_eq!(entry[..2], ["/usr/bin/tini", "--"]);
    let line: Vec<&str> = entry[2..]
        .iter()
        .chain(&default)
        .map(String::as_str)
        .collect();
    is_taken(&line);
    assert_eq!(of_name("USER"), ["10001:10001"]);
    assert_eq!(of_name("STOPSIGNAL"), ["SIGTERM"]);
    let settings = of_name("ENV");
    assert!(settings.iter().all(|line| line.starts_with("MALLOC_")));
    assert_eq!((settings.len(), of_name("ARG").len()), (1, 0));
}

#[test]
fn compose_file_gives_the_drain_its_time_and_the_key_as_a_file() {
    let file: Value = serde_yaml::from_str(&shipped("docker/compose.yaml")).unwrap();
    let service = &file["services"]["offpeak"];
    let stop = span(service["stop_grace_period"].as_str().unwrap());
    assert!(stop > longest_drain());
    // It gave up after five starts that were refused, and the units try for ever.
    assert_eq!(service["restart"], value(UNITS[0], "Restart").as_str());
    assert_eq!(service["read_only"], true);
    assert_eq!(service["cap_drop"][0], "ALL");
    let built = repository()
        .join("packaging/docker")
        .join(service["build"]["context"].as_str().unwrap())
        .join(service["build"]["dockerfile"].as_str().unwrap());
    assert!(built.exists(), "{}", built.display());
    let secret = service["secrets"][0].as_str().unwrap();
    assert!(file["secrets"][secret]["file"].is_string());
    assert!(shipped("docker/compose.yaml").contains(&format!("file: /run/secrets/{secret}")));
    let mounted: Vec<&str> = service["volumes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    // Both folders that the image's command line names outlive the container.
    for folder in ["/work", "/state"] {
        assert!(
            mounted.iter().any(|it| it.ends_with(&format!(":{folder}"))),
            "{folder}"
        );
    }
    assert!(file["volumes"].get("state").is_some());
}
