//! `plan --spread` as its users see it.

use crate::scenario::{Done, Scenario};

fn propose(scenario: &Scenario, more: &[&str]) -> Done {
    let args = ["plan", "--spread", "--from", "2026-12-01"];
    scenario.run(&[&args[..], more].concat())
}

#[test]
fn a_proposal_says_what_it_gains_what_changes_and_how_to_take_it_over() {
    let scenario = Scenario::new()
        .job("early", "0 5 * * *")
        .job("later", "15 5 * * mon-fri");
    let done = propose(&scenario, &[]).exits(0);
    assert_eq!(done.stderr, "");
    assert_eq!(
        done.stdout,
        "main: least gap 15 min → 12 h, the widest there is\n\
         \n\
         job    from              to                first new firing\n\
         later  15 5 * * mon-fri  0 17 * * mon-fri  Tue 2026-12-01 17:00 JST\n\
         \n\
         1 change; take them over with `offpeak plan --spread --fix`\n"
    );
}

#[test]
fn a_schedule_that_is_wide_already_stays() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "0 17 * * *");
    propose(&scenario, &[])
        .exits(0)
        .says("main: least gap 12 h, the widest there is\nnothing to change\n");
    propose(&Scenario::new().job("a", "0 5 * * *"), &[])
        .exits(0)
        .says("main: least gap 1 d, wide enough\n");
    propose(&Scenario::new().job("a", "0 5 * * mon"), &[])
        .exits(0)
        .says("main: least gap more than a day, wide enough\n");
}

#[test]
fn a_schedule_that_is_not_legal_is_mended() {
    let scenario = Scenario::new().job("a", "0 8 * * *").job("b", "5 9 * * *");
    propose(&scenario, &[])
        .exits(0)
        .says("main: not legal now, least gap 1 h 5 min → 12 h, the widest there is")
        .says("a    0 8 * * *  59 5 * * *   Wed 2026-12-02 05:59 JST\n");
}

#[test]
fn a_group_without_a_plan_says_why_and_exits_with_1() {
    let dense = Scenario::new().job("a", "*/5 2 * * *");
    propose(&dense, &[])
        .exits(1)
        .says("no legal plan: `a` fires 5 min after itself, and min_gap is 15 min");
    let all_day = Scenario::new().job("a", "0 * * * *");
    propose(&all_day, &[])
        .exits(1)
        .says("no legal plan: no time of day is off-peak on all days of `a`");
    let crowd = (0..70).fold(Scenario::new(), |scenario, n| {
        scenario.job(&format!("j{n}"), "0 5 * * *")
    });
    propose(&crowd, &[]).exits(1).says(
        "no legal plan: 70 firings of one day find no room that is off-peak and 15 min apart",
    );
}

#[test]
fn pickup_slots_take_part() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .file("offpeak.yaml", "defer: { pickup: [\"20 5 * * *\"] }\n");
    let done = propose(&scenario, &[]).exits(0);
    assert!(done.stdout.contains("pickup:main"), "{}", done.stdout);
}

#[test]
fn json_names_groups_and_changes() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "15 5 * * *");
    let proposal = propose(&scenario, &["--format", "json"]).exits(0).json();
    assert_eq!(proposal["version"], 1);
    assert_eq!(proposal["from"], "2026-12-01T00:00:00Z");
    assert!(proposal["until"].as_str().unwrap().starts_with("2054-"));
    assert_eq!(proposal["findings"], serde_json::json!([]));
    assert_eq!(
        proposal["groups"],
        serde_json::json!([{
            "group": "main", "before_seconds": 900, "after_seconds": 43_200, "outcome": "widened", "widest": true,
        }])
    );
    let change = &proposal["changes"][0];
    assert_eq!(
        (&change["group"], &change["cron"]),
        (&"main".into(), &0.into())
    );
    let dense = Scenario::new().job("a", "*/5 2 * * *");
    let proposal = propose(&dense, &["--format", "json"]).exits(1).json();
    let group = &proposal["groups"][0];
    assert_eq!(group["outcome"], "no_plan");
    assert_eq!(group["before_seconds"], group["after_seconds"]);
    assert!(
        group["reason"]
            .as_str()
            .unwrap()
            .contains("5 min after itself")
    );
}

#[test]
fn proposal_is_written_into_the_files_and_stands() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "15 5 * * *");
    let before = scenario.read("jobs/b.yaml");
    let shown = propose(&scenario, &["--fix", "--dry-run"])
        .exits(0)
        .says("first new firing")
        .says("+++ jobs/b.yaml")
        .says("not written: --dry-run");
    assert_eq!(scenario.read("jobs/b.yaml"), before);
    let written = propose(&scenario, &["--fix"]).exits(0).says("written");
    assert!(written.stdout.contains("+cron: "), "{}", shown.stdout);
    let after = scenario.read("jobs/b.yaml");
    assert_ne!(after, before);
    let (_, rest) = before.split_once('\n').unwrap();
    assert_eq!(after.split_once('\n').unwrap().1, rest);
    propose(&scenario, &["--fix"])
        .exits(0)
        .says("nothing to change");
    assert_eq!(scenario.read("jobs/b.yaml"), after);
    scenario
        .run(&["validate", "--from", "2026-12-01", "--strict"])
        .exits(0);
}

#[test]
fn json_says_whether_the_proposal_was_written() {
    let scenario = Scenario::new().job("a", "0 5 * * *").job("b", "15 5 * * *");
    for (flags, written) in [
        (&["--format", "json"][..], false),
        (&["--format", "json", "--fix", "--dry-run"], false),
        (&["--format", "json", "--fix"], true),
    ] {
        let proposal = propose(&scenario, flags).exits(0).json();
        assert_eq!(proposal["written"], written);
        assert!(!proposal["changes"].as_array().unwrap().is_empty());
    }
}

#[test]
fn nothing_is_proposed_before_every_job_can_be_read() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .job("b", "15 5 * * *")
        .job("c", "0 27 * * *");
    propose(&scenario, &[])
        .exits(1)
        .says("hour `27` is outside 0-23")
        .says("nothing is proposed: what is meant at jobs/");
    let proposal = propose(&scenario, &["--format", "json"]).exits(1).json();
    assert_eq!(proposal["findings"][0]["rule"], "bad-cron");
    assert_eq!(proposal["changes"], serde_json::json!([]));
    let broken = Scenario::new().file("jobs/a.yaml", "cron: [\n");
    propose(&broken, &[]).exits(2).says("jobs/a.yaml");
}

#[test]
fn a_mistake_that_hides_no_firing_is_told_beside_the_proposal() {
    let scenario = Scenario::new()
        .job("a", "0 5 * * *")
        .job("b", "15 5 * * *")
        .file(
            "jobs/c.yaml",
            "cron: \"0 2 * * *\"\ntimezone: Asia/Tokyo\nprompt: { file: nowhere.md }\n",
        );
    propose(&scenario, &[])
        .exits(1)
        .says("missing-file")
        .says("main: least gap 15 min → 8 h");
}

#[test]
fn a_proof_where_no_zone_data_reaches_is_refused() {
    let scenario = Scenario::new().job("a", "0 5 * * *");
    scenario
        .run(&["plan", "--spread", "--from", "2500-01-01"])
        .exits(2)
        .complains("1971 to 2170");
}

#[test]
fn a_gap_of_a_day_is_wide_enough_and_not_called_the_widest() {
    let scenario = Scenario::new()
        .job("a", "30 11 * * mon")
        .job("b", "15 16 * * sun");
    propose(&scenario, &[]).exits(0).says("→ 1 d, wide enough");
    let proposal = propose(&scenario, &["--format", "json"]).exits(0).json();
    assert_eq!(proposal["groups"][0]["widest"], false);
}
