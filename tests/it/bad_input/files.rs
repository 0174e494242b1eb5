//! Which files of a folder are jobs, which are told of, and which are left out on purpose.

use super::{JOB, reading};
use crate::scenario::Scenario;

/// The jobs, and everything that could not be read.
fn found(scenario: &Scenario) -> (Vec<String>, Vec<String>) {
    let reading = reading(scenario);
    assert!(reading.mistakes.is_empty(), "{:?}", reading.mistakes);
    let jobs = reading.config.plan.jobs.keys().map(ToString::to_string);
    let unreadable = reading.unreadable.iter().map(ToString::to_string);
    (jobs.collect(), unreadable.collect())
}

#[test]
fn a_job_file_may_end_in_either_yaml_in_any_case() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", JOB)
        .file("jobs/b.YAML", JOB)
        .file("jobs/c.yml", JOB)
        .file("jobs/d.Yml", JOB);
    let (jobs, unreadable) = found(&scenario);
    assert_eq!(jobs, ["a", "b", "c", "d"]);
    assert!(unreadable.is_empty(), "{unreadable:?}");
}

#[test]
fn hidden_files_and_copies_of_editors_are_left_out() {
    let mut scenario = Scenario::new().file("jobs/a.yaml", JOB);
    for name in [
        ".hidden.yaml",
        "a.yaml~",
        "a.yaml.bak",
        "#a.yaml#",
        "a.yaml.swp",
        "b.yaml.off",
        "notes.md",
        "x.xml",
        "prompts/p.md",
    ] {
        scenario = scenario.file(&format!("jobs/{name}"), "not: a job");
    }
    assert_eq!(found(&scenario), (vec!["a".to_owned()], Vec::new()));
}

#[test]
fn what_looks_like_a_job_file_and_is_not_read_is_told() {
    let scenario = Scenario::new()
        .file("jobs/a.yaml", JOB)
        .file("jobs/b.ymal", JOB)
        .file("jobs/c.yam", JOB)
        .file("jobs/d.yaml/e.yaml", JOB);
    let (jobs, unreadable) = found(&scenario);
    assert_eq!(jobs, ["a"]);
    let misnamed = "this looks like a job file, and only *.yaml and *.yml are read; \
                    rename it, or give it a name that ends otherwise, such as `.off`";
    assert_eq!(
        unreadable,
        [
            format!("jobs/b.ymal: {misnamed}"),
            format!("jobs/c.yam: {misnamed}"),
            "jobs/d.yaml: this folder has a job file's name, and folders within a folder of jobs are not read; \
             move its files up, or give it another name"
                .to_owned(),
        ]
    );
}

#[cfg(unix)]
#[test]
fn links_that_lead_nowhere_are_told_and_stop_no_other_file() {
    use std::os::unix::fs::symlink;
    let scenario = Scenario::new().file("jobs/a.yaml", JOB);
    symlink("loop.yaml", scenario.path().join("jobs/loop.yaml")).unwrap();
    symlink("gone.yaml", scenario.path().join("jobs/none.yaml")).unwrap();
    let (jobs, unreadable) = found(&scenario);
    assert_eq!(jobs, ["a"]);
    assert_eq!(
        unreadable,
        [
            "jobs/loop.yaml: cannot be read: it is a link that leads back to itself; mend the link, or take it away",
            "jobs/none.yaml: cannot be read: it is a link to a file that is not there; mend the link, or take it away",
        ]
    );
}

#[cfg(unix)]
#[test]
fn a_file_that_may_not_be_read_says_who_must_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let scenario = Scenario::new()
        .file("jobs/a.yaml", JOB)
        .file("jobs/b.yaml", JOB);
    let path = scenario.path().join("jobs/b.yaml");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        // The superuser may read everything.
        return;
    }
    let (jobs, unreadable) = found(&scenario);
    assert_eq!(jobs, ["a"]);
    assert_eq!(
        unreadable,
        [
            "jobs/b.yaml: cannot be read: permission denied; let the user who runs offpeak read it and enter the folders above it"
        ]
    );
}

#[test]
fn a_mark_of_byte_order_and_any_line_end_are_no_mistake() {
    for text in [
        format!("\u{feff}{JOB}"),
        JOB.replace('\n', "\r\n"),
        JOB.replace('\n', "\r"),
        format!("---\n{JOB}...\n"),
        format!("%YAML 1.2\n---\n{JOB}"),
        JOB.replace("cron: ", "cron: !!str "),
        format!("x: &x {{ text: hello }}\n{JOB}").replace("x: &x { text: hello }\n", ""),
    ] {
        let scenario = Scenario::new().file("jobs/a.yaml", &text);
        assert_eq!(
            found(&scenario),
            (vec!["a".to_owned()], Vec::new()),
            "{text:?}"
        );
    }
}

#[test]
fn a_place_is_right_whatever_the_line_ends_are() {
    for end in ["\n", "\r\n", "\r"] {
        let text = format!("{JOB}modle: x\n").replace('\n', end);
        let reading = reading(&Scenario::new().file("jobs/a.yaml", &text));
        let lines: Vec<String> = reading.mistakes.iter().map(ToString::to_string).collect();
        assert_eq!(
            lines,
            ["jobs/a.yaml:4:1: bad-field: unknown field `modle`; did you mean `model`?"],
            "{end:?}"
        );
    }
}

#[test]
fn jobs_may_share_their_fields_by_anchor_and_merge() {
    let text = "jobs:\n  - &first\n    id: a\n    cron: \"0 5 * * *\"\n    timezone: Asia/Tokyo\n    prompt: { text: hello }\n  \
                - <<: *first\n    id: b\n    cron: \"0 6 * * *\"\n";
    let (jobs, unreadable) = found(&Scenario::new().file("jobs/list.yaml", text));
    assert_eq!(jobs, ["a", "b"]);
    assert!(unreadable.is_empty(), "{unreadable:?}");
}
