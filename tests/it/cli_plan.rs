//! `plan` as its users see it.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::scenario::{Done, Scenario, repository};

fn plan(scenario: &Scenario, args: &[&str]) -> Done {
    scenario.run(&[&["plan", "--from", "2026-12-01"], args].concat())
}

fn rotation() -> Scenario {
    Scenario::new()
        .job("digest", "0 2 * * *")
        .job("review", "45 2 * * tue,fri")
}

#[test]
fn a_day_is_drawn_with_its_jobs_and_a_last_line() {
    let done = plan(&rotation(), &["--days", "1"]).exits(0);
    assert_eq!(done.stderr, "");
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn blocks_are_drawn_where_the_locale_has_them() {
    let scenario = rotation().env("LANG", "en_US.UTF-8");
    plan(&scenario, &["--days", "1"])
        .exits(0)
        .says("\u{2501}\u{2501}b\u{2501}\u{2501}")
        .says("\u{2591}");
}

#[test]
fn a_pipe_has_no_colour() {
    let done = plan(&rotation(), &[]).exits(0);
    assert!(!done.stdout.contains('\u{1b}'));
}

#[test]
fn collisions_and_peak_firings_are_marked_and_exit_with_1() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .job("b", "5 5 * * tue")
        .job("c", "0 7 * * wed");
    let done = plan(&scenario, &["--days", "2"]).exits(1);
    insta::assert_snapshot!(done.stdout);
}

#[test]
fn groups_without_slots_and_disabled_jobs_are_named() {
    let scenario = rotation()
        .file(
            "offpeak.yaml",
            "keys:\n  main: { env: A }\n  spare: { env: B, group: spare }\n  idle: { env: C, group: idle }\n\
             defer: { pickup: { main: [\"30 5 * * *\"] } }\n",
        )
        .file(
            "jobs/off.yaml",
            "enabled: false\nkey: spare\ncron: \"0 3 * * *\"\ntimezone: Asia/Tokyo\nprompt: { text: hi }\n",
        );
    plan(&scenario, &[])
        .exits(0)
        .says("idle: no slots in these days\n")
        .says("spare: no slots in these days\n  -  off  disabled, not drawn\n")
        .says("main: 2 jobs, 9 slots, 7 pickup slots\n")
        .says("+  pickup  05:30 every day");
}

#[test]
fn what_can_be_read_is_drawn_beside_mistakes() {
    let scenario = rotation().file(
        "jobs/wrong.yaml",
        "cron: \"0 27 * * *\"\nprompt: { text: hi }\n",
    );
    plan(&scenario, &[])
        .exits(1)
        .says("jobs/wrong.yaml:1")
        .says("a  digest")
        .says("the schedule does not pass: 2 errors; run `offpeak validate`");
    let scenario = rotation().file("jobs/broken.yaml", "cron: [\n");
    plan(&scenario, &[])
        .exits(2)
        .says("jobs/broken.yaml")
        .says("a  digest");
    plan(&Scenario::new(), &[]).exits(2).says("offpeak init");
}

#[test]
fn json_lists_slots_with_windows_and_worst_case() {
    let scenario = rotation().file("offpeak.yaml", "defer: { pickup: [\"30 5 * * *\"] }\n");
    let json = plan(&scenario, &["--days", "1", "--format", "json"])
        .exits(0)
        .json();
    assert_eq!(
        json,
        serde_json::json!({
            "version": 1,
            "from": "2026-11-30T15:00:00Z",
            "until": "2026-12-01T15:00:00Z",
            "zone": "Asia/Tokyo",
            "windows": ["07:00-09:00", "18:00-23:00"],
            "ok": true,
            "groups": [{ "group": "main", "slots": [
                { "job": "digest", "at": "2026-11-30T17:00:00Z", "worst_case_seconds": 1_860, "pickup": false },
                { "job": "review", "at": "2026-11-30T17:45:00Z", "worst_case_seconds": 1_860, "pickup": false },
                { "job": "pickup:main", "at": "2026-11-30T20:30:00Z", "worst_case_seconds": 0, "pickup": true },
            ] }],
        })
    );
}

#[test]
fn json_of_a_faulty_set_is_whole_and_its_mistakes_go_to_standard_error() {
    let scenario = rotation().file(
        "jobs/wrong.yaml",
        "cron: \"0 27 * * *\"\nprompt: { text: hi }\n",
    );
    let done = plan(&scenario, &["--format", "json"]).exits(1);
    assert_eq!(done.json()["ok"], false);
    done.complains("jobs/wrong.yaml");
}

#[test]
fn picture_and_calendar_are_written_beside_the_strip_and_again() {
    let scenario = rotation();
    let args = ["--svg", "week.svg", "--ics", "week.ics"];
    for _ in 0..2 {
        plan(&scenario, &args)
            .exits(0)
            .says("a  digest")
            .says(&format!(
                "wrote the picture {0}/week.svg\nwrote the calendar {0}/week.ics\n",
                scenario.path().canonicalize().unwrap().display()
            ));
    }
    assert!(scenario.read("week.svg").starts_with("<svg "));
    assert!(scenario.read("week.ics").starts_with("BEGIN:VCALENDAR\r\n"));
    let left = scenario
        .files(".")
        .into_iter()
        .filter(|file| file.contains(".tmp"));
    assert_eq!(left.count(), 0);
}

#[test]
fn a_dash_prints_in_place_of_the_strip() {
    let svg = plan(&rotation(), &["--svg", "-"]).exits(0).stdout;
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    let ics = plan(&rotation(), &["--ics", "-"]).exits(0).stdout;
    assert!(ics.starts_with("BEGIN:VCALENDAR") && ics.ends_with("END:VCALENDAR\r\n"));
    for both in [
        &["--svg", "-", "--ics", "-"][..],
        &["--svg", "-", "--format", "json"],
    ] {
        plan(&rotation(), both)
            .exits(2)
            .complains("standard output can take one of --svg -, --ics - and --format json");
    }
}

#[test]
fn nothing_but_its_like_is_replaced() {
    let scenario = rotation()
        .file("offpeak.yaml", "rules: { min_gap: 15m }\n")
        .file("key.txt", "s3cret");
    fs::create_dir(scenario.path().join("out")).unwrap();
    for (path, reason) in [
        ("jobs/digest.yaml", "jobs and settings have such names"),
        ("jobs/new.YML", "jobs and settings have such names"),
        ("offpeak.yaml", "jobs and settings have such names"),
        ("key.txt", "it is there and holds no picture"),
        ("out", "it is a folder"),
        ("/dev/null", "it is no regular file"),
    ] {
        plan(&scenario, &["--svg", path]).exits(2).complains(reason);
    }
    plan(&scenario, &["--svg", "a.svg"]).exits(0);
    plan(&scenario, &["--ics", "a.svg"])
        .exits(2)
        .complains("--ics a.svg: it is there and holds no calendar");
    plan(&scenario, &["--svg", "nowhere/a.svg"])
        .exits(2)
        .complains("--svg nowhere/a.svg: there is no such folder");
    let locked = scenario.path().join("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let done = plan(&scenario, &["--svg", "locked/a.svg"]);
    // Whoever may write everywhere is not refused.
    assert!(
        done.code == 0 || done.stderr.contains("locked/a.svg: Permission denied"),
        "{}",
        done.stderr
    );
    assert!(!done.stderr.contains(".offpeak-"), "{}", done.stderr);
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(scenario.read("key.txt"), "s3cret");
    assert!(scenario.read("jobs/digest.yaml").starts_with("cron:"));
}

#[test]
fn strip_ends_after_31_days_and_a_calendar_goes_on() {
    let scenario = rotation();
    plan(&scenario, &["--days", "366", "--ics", "year.ics"])
        .exits(0)
        .says("Thu 2026-12-31 in Asia/Tokyo")
        .says("the first 31 of 366 days are drawn");
    let events = scenario.read("year.ics").matches("BEGIN:VEVENT").count();
    assert!(events > 366 + 100, "{events}");
    for days in ["0", "367"] {
        plan(&scenario, &["--days", days])
            .exits(2)
            .complains("1..=366");
    }
}

#[test]
fn too_many_slots_for_a_calendar_are_refused() {
    let scenario = Scenario::new().job("dense", "* * * * *");
    plan(&scenario, &["--days", "40", "--ics", "a.ics"])
        .exits(2)
        .complains("more than 50000 slots")
        .complains("--days");
    assert!(!scenario.path().join("a.ics").exists());
}

#[test]
fn a_thousand_dense_jobs_make_a_short_strip() {
    let job = |number| {
        format!(
            "  - {{ id: j{number}, cron: \"* * * * *\", timezone: Asia/Tokyo, prompt: {{ text: hi }} }}\n"
        )
    };
    let list: String = (0..1_000).map(job).collect();
    let list = format!("jobs:\n{list}");
    let scenario = Scenario::new().file("jobs/all.yaml", &list);
    let done = plan(&scenario, &["--days", "1"])
        .exits(1)
        .says("and 948 more, drawn as *");
    assert!(
        done.stdout.lines().count() < 200,
        "{}",
        done.stdout.lines().count()
    );
}

#[test]
fn from_means_a_day_and_has_bounds() {
    let scenario = rotation();
    scenario
        .run(&["plan", "--days", "1", "--from", "2026-12-01T23:59:59+09:00"])
        .exits(0)
        .says("Tue 2026-12-01 in Asia/Tokyo");
    scenario
        .run(&["plan", "--from", "2500-01-01"])
        .exits(2)
        .complains("1971 to 2170");
    scenario
        .run(&["plan", "--from", "soon"])
        .exits(2)
        .complains("2026-12-01");
}

#[test]
fn changes_belong_to_a_spread() {
    for flag in ["--fix", "--dry-run"] {
        plan(&rotation(), &[flag]).exits(2).complains("--spread");
    }
}

#[test]
fn the_repositorys_rotation_is_drawn() {
    let root = repository();
    let root = root.to_str().unwrap();
    Scenario::new()
        .run(&["-C", root, "plan", "--from", "2026-12-01"])
        .exits(0)
        .says("main: 4 jobs, 28 slots")
        .says("the schedule passes: no collision and no peak firing before 20");
}

#[test]
fn a_reader_that_has_seen_enough_changes_no_exit_code() {
    for (cron, code) in [("0 5 * * *", 0), ("0 7 * * *", 1)] {
        let scenario = Scenario::new().job("a", cron);
        for format in [&["--svg", "-"][..], &["--format", "json"], &[]] {
            let mut running = scenario.start(&[&["plan", "--from", "2026-12-01"], format].concat());
            drop(running.stdout());
            let done = running.wait();
            assert_eq!((done.code, done.stderr.as_str()), (code, ""), "{format:?}");
        }
    }
}

#[test]
fn a_picture_and_a_calendar_cannot_be_one_file() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    scenario
        .run(&["plan", "--from", "2026-12-01", "--svg", "x", "--ics", "x"])
        .exits(2)
        .complains("--svg and --ics name one file")
        .complains("give each its own");
    assert!(!scenario.path().join("x").exists());
}
