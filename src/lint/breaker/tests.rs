//! Which groups give a breaker too little, and what is to be done.

use std::time::Duration;

use crate::job::GroupId;
use crate::lint::fixture::{findings, job, rules};
use crate::lint::{BreakerNeed, Effort, Finding, Items, Rule, Rules, Subject};

const NEED: BreakerNeed = BreakerNeed {
    min_samples: 10,
    window: Duration::from_mins(2),
    calls: 30,
    per: Duration::from_mins(1),
    expires_after: Duration::from_hours(24),
};

fn needing(need: BreakerNeed) -> Rules {
    Rules {
        breaker: Some(need),
        ..rules("UTC", vec![])
    }
}

fn trying(attempts: u32, name: &str, cron: &str) -> Subject {
    let timeout = Duration::from_mins(10);
    let effort = Effort {
        attempts,
        timeout,
        ..Effort::ONE
    };
    Subject {
        effort,
        ..job(name, "UTC", &[cron])
    }
}

/// A second job of the group, which gives two samples at most: its slot's, and that of one left behind.
fn quiet() -> Subject {
    trying(1, "quiet", "0 2 29 2 *")
}

/// A job that never fires, and so gives nothing.
fn never() -> Subject {
    trying(3, "never", "0 2 30 2 *")
}

fn found(subjects: &[Subject], need: BreakerNeed) -> Vec<Finding> {
    findings(subjects, &needing(need), Rule::BreakerCannotOpen)
}

#[test]
fn one_daily_job_never_gives_ten_samples_and_two_may() {
    // Today's and yesterday's call, and one that a downtime left behind, of two attempts each.
    let one = [trying(2, "a", "0 2 * * *"), quiet()];
    let told = found(&one, NEED);
    assert_eq!(told.len(), 1);
    assert_eq!((told[0].cron, told[0].at), (None, None));
    assert_eq!(
        told[0].message,
        "the breaker of group `main` opens at 10 samples within 2 min, and its jobs never give more than 8"
    );
    assert_eq!(
        told[0].help.as_deref(),
        Some("set `breaker.min_samples` to 8 or lower")
    );
    let lower = BreakerNeed {
        min_samples: 8,
        ..NEED
    };
    assert!(found(&one, lower).is_empty());
    let two = [trying(2, "a", "0 2 * * *"), trying(2, "b", "0 4 * * *")];
    assert!(found(&two, NEED).is_empty());
}

#[test]
fn job_of_nobody_knows_how_many_items_may_give_every_sample() {
    let mut many = trying(1, "a", "0 2 * * *");
    let jobs = |many: &Subject| [many.clone(), quiet()];
    assert_eq!(found(&jobs(&many), NEED).len(), 1);
    many.effort.pieces.items = Items::Unknown;
    assert!(found(&jobs(&many), NEED).is_empty());
}

#[test]
fn group_in_which_one_job_fires_is_not_told() {
    let one = trying(3, "a", "0 2 * * *");
    assert!(found(std::slice::from_ref(&one), NEED).is_empty());
    assert!(found(&[one, never()], NEED).is_empty());
}

#[test]
fn work_that_waits_longer_may_meet_more_of_its_kind() {
    let one = [trying(2, "a", "0 2 * * *"), quiet()];
    assert_eq!(found(&one, NEED).len(), 1);
    let long = BreakerNeed {
        expires_after: Duration::from_hours(72),
        ..NEED
    };
    assert!(found(&one, long).is_empty());
    let weekly: Vec<Subject> = ["a", "b"].map(|name| trying(2, name, "0 2 * * mon")).into();
    assert_eq!(found(&weekly, NEED).len(), 1);
    let week = BreakerNeed {
        expires_after: Duration::from_hours(24 * 7),
        ..NEED
    };
    assert!(found(&weekly, week).is_empty());
}

#[test]
fn small_budget_keeps_the_breaker_of_a_large_group_shut() {
    let jobs: Vec<Subject> = (0..20)
        .map(|n| trying(3, &format!("j{n:02}"), "0 2 * * *"))
        .collect();
    let tight = BreakerNeed {
        calls: 5,
        per: Duration::from_hours(1),
        ..NEED
    };
    let told = found(&jobs, tight);
    assert_eq!(
        told[0].help.as_deref(),
        Some("set `breaker.min_samples` to 5 or lower, or raise `budget.calls`")
    );
    // An attempt of ten minutes that began before the window may end in it.
    let short = BreakerNeed {
        calls: 1,
        per: Duration::from_mins(1),
        ..NEED
    };
    assert!(found(&jobs, short).is_empty());
}

#[test]
fn group_is_told_at_the_first_job_that_accepts_it_or_else_at_the_first() {
    let [a, mut b] = ["a", "b"].map(|name| trying(1, name, "0 2 * * *"));
    let told = found(&[b.clone(), a.clone()], NEED);
    assert_eq!((told.len(), told[0].job.as_str()), (1, "a"));
    b.accepted
        .insert(Rule::BreakerCannotOpen, "quiet".to_owned());
    let told = found(&[b.clone(), a.clone()], NEED);
    assert_eq!((told.len(), told[0].job.as_str()), (1, "b"));
    assert_eq!(told[0].accepted.as_deref(), Some("quiet"));
    // The whole group is concerned, so each that accepts it needs to.
    let mut c = never();
    c.accepted = b.accepted.clone();
    let jobs = [c, b, a];
    assert_eq!(found(&jobs, NEED)[0].also, [jobs[0].job.clone()]);
    assert_eq!(findings(&jobs, &needing(NEED), Rule::UnusedAccept), []);
}

#[test]
fn budget_is_to_be_raised_if_the_calls_are_there_whatever_the_names() {
    let help = |names: [&str; 2], min_samples| {
        let jobs = [(3, names[0]), (2, names[1])];
        let jobs = jobs.map(|(attempts, name)| trying(attempts, name, "0 2 * * mon"));
        let need = BreakerNeed {
            min_samples,
            calls: 6,
            per: Duration::from_hours(1),
            ..NEED
        };
        found(&jobs, need)[0].help.clone().unwrap()
    };
    for names in [["a", "b"], ["b", "a"]] {
        assert_eq!(
            help(names, 10),
            "set `breaker.min_samples` to 6 or lower, or raise `budget.calls`"
        );
        // All calls together are ten.
        assert_eq!(help(names, 11), "set `breaker.min_samples` to 6 or lower");
    }
}

#[test]
fn pickup_slots_and_jobs_that_never_fire_give_no_samples_and_no_advice() {
    let pickup = Subject {
        effort: Effort::NONE,
        ..job("pickup:main", "UTC", &["0 2 * * *"])
    };
    assert!(found(std::slice::from_ref(&pickup), NEED).is_empty());
    assert!(found(&[trying(3, "a", "0 2 30 2 *"), never()], NEED).is_empty());
    let other = |name| Subject {
        group: GroupId::new("archive"),
        ..trying(1, name, "0 2 * * *")
    };
    let told = found(&[pickup, other("a"), other("b")], NEED);
    assert_eq!((told.len(), told[0].group.as_str()), (1, "archive"));
}

#[test]
fn repeated_hour_gives_its_firings_twice() {
    // One day's six times; in October three of them come again. What was left behind is of that size too.
    let often = |need| {
        let subject = Subject {
            effort: Effort::ONE,
            ..job("a", "Europe/Berlin", &["*/20 2,4 * * sun"])
        };
        found(&[subject, quiet()], need).len()
    };
    let need = |min_samples| BreakerNeed {
        min_samples,
        expires_after: Duration::from_hours(1),
        ..NEED
    };
    assert_eq!((often(need(15)), often(need(16))), (0, 1));
}
