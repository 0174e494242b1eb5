//! Which job moves, where to, and what stays.

use super::*;
use crate::lint::Level;
use crate::lint::fixture::{at, job, rules, window};

fn tokyo(name: &str, crons: &[&str]) -> Subject {
    job(name, "Asia/Tokyo", crons)
}

fn in_group(group: &str, name: &str, cron: &str) -> Subject {
    let mut subject = tokyo(name, &[cron]);
    subject.group = GroupId::new(group);
    subject
}

fn mended(subjects: &[Subject], rules: &Rules) -> Mended {
    mend(subjects, rules, at("2026-12-01T00:00:00Z"))
}

fn told(mended: &Mended) -> Vec<String> {
    mended.changes.iter().map(ToString::to_string).collect()
}

/// Rules whose comfortable gap is the least gap.
fn tight() -> Rules {
    let mut rules = rules("UTC", vec![]);
    rules.comfortable_gap = rules.min_gap;
    rules
}

/// Jobs that leave the night from midnight to the given hour free, and no other time.
fn busy_but_for(hours: u16) -> Rules {
    Rules {
        comfortable_gap: std::time::Duration::from_mins(40),
        ..rules("Asia/Tokyo", vec![window(hours * 60, 1_440)])
    }
}

#[test]
fn of_a_pair_the_job_with_the_smaller_move_goes_whatever_the_order_of_files() {
    // `a` lies between `b` and `c`: it would have to jump over one of them.
    let jobs = [
        tokyo("a", &["0 2 * * *"]),
        tokyo("b", &["14 2 * * *"]),
        tokyo("c", &["45 1 * * *"]),
    ];
    let back = [jobs[2].clone(), jobs[1].clone(), jobs[0].clone()];
    for jobs in [jobs, back] {
        let mended = mended(&jobs, &tight());
        assert_eq!(told(&mended), ["b: 14 2 * * * → 15 2 * * *"]);
        assert!(mended.stuck.is_empty() && mended.verdict.is_safe());
    }
}

#[test]
fn of_equal_moves_that_of_the_second_by_name_is_taken() {
    let jobs = [tokyo("b", &["0 2 * * *"]), tokyo("a", &["0 2 * * *"])];
    assert_eq!(
        told(&mended(&jobs, &rules("UTC", vec![]))),
        ["b: 0 2 * * * → 45 2 * * *"]
    );
}

#[test]
fn comfort_and_advice_move_nothing() {
    let jobs = [tokyo("a", &["0 2 * * *"]), tokyo("b", &["20 2 * * *"])];
    let mended = mended(&jobs, &rules("UTC", vec![]));
    assert!(mended.changes.is_empty() && !mended.verdict.findings.is_empty());
}

#[test]
fn accepted_findings_and_rules_that_are_no_errors_move_nothing() {
    let mut jobs = [tokyo("a", &["0 2 * * *"]), tokyo("b", &["5 2 * * *"])];
    let mut warning = tight();
    warning.levels.set(Rule::KeyGap, Level::Warn);
    assert!(mended(&jobs, &warning).changes.is_empty());
    jobs[0].accepted.insert(Rule::KeyGap, "staging".to_owned());
    assert!(mended(&jobs, &tight()).changes.is_empty());
}

#[test]
fn expressions_of_one_job_are_moved_apart_too() {
    let mended = mended(&[tokyo("a", &["0 2 * * *", "5 2 * * mon"])], &tight());
    assert_eq!(told(&mended), ["a: 5 2 * * mon → 15 2 * * mon"]);
    assert_eq!(mended.changes[0].cron, 1);
}

#[test]
fn firing_in_a_window_goes_before_pairs_are_looked_at() {
    // Out of the window `a` lands near `b`, which is far from it now.
    let rules = Rules {
        comfortable_gap: std::time::Duration::from_mins(15),
        ..rules("Asia/Tokyo", vec![window(420, 540)])
    };
    let jobs = [tokyo("a", &["50 8 * * *"]), tokyo("b", &["5 9 * * *"])];
    let mended = mended(&jobs, &rules);
    assert_eq!(told(&mended), ["a: 50 8 * * * → 20 9 * * *"]);
}

#[test]
fn group_without_room_stays_as_a_whole_and_others_are_mended() {
    let jobs = [
        in_group("full", "every-quarter", "*/15 * * * *"),
        in_group("full", "too-many", "5 2 * * *"),
        in_group("full", "twin", "0 3 * * mon"),
        in_group("open", "one", "0 2 * * *"),
        in_group("open", "two", "0 2 * * *"),
    ];
    let mended = mended(&jobs, &tight());
    assert_eq!(told(&mended), ["two: 0 2 * * * → 15 2 * * *"]);
    assert_eq!(mended.stuck.len(), 1);
    assert_eq!(mended.stuck[0].group, GroupId::new("full"));
    assert_eq!(mended.stuck[0].reason, Reason::NoRoom);
    assert!(!mended.verdict.is_safe());
}

#[test]
fn job_that_no_move_saves_is_named() {
    let mended = mended(&[tokyo("dense", &["*/5 2 * * *"])], &tight());
    let reason = (mended.stuck[0].job.as_str(), mended.stuck[0].reason);
    assert_eq!(reason, ("dense", Reason::Itself));
}

#[test]
fn what_must_not_move_stays_and_the_other_goes() {
    let jobs = [tokyo("a", &["0 2 * * *"]), tokyo("b", &["1 2 * * *"])];
    let around = |fixed: &[&str]| {
        let fixed = fixed.iter().map(|job| (JobId::new(*job), 0)).collect();
        mend_around(&jobs, &tight(), at("2026-12-01T00:00:00Z"), &fixed)
    };
    assert_eq!(told(&around(&[])), ["b: 1 2 * * * → 15 2 * * *"]);
    assert_eq!(told(&around(&["b"])), ["a: 0 2 * * * → 46 1 * * *"]);
    assert_eq!(around(&["a", "b"]).stuck[0].reason, Reason::Fixed);
}

#[test]
fn second_order_uses_the_room_that_comfort_would_waste() {
    // Two hours hold eight jobs, but only three with 40 minutes between them.
    let jobs: Vec<Subject> = (0..8)
        .map(|n| tokyo(&format!("j{n}"), &["0 1 * * *"]))
        .collect();
    let mended = mended(&jobs, &busy_but_for(2));
    assert!(mended.stuck.is_empty(), "{:?}", mended.stuck);
    assert_eq!(mended.changes.len(), 7);
    assert!(mended.verdict.is_safe());
    let nine: Vec<Subject> = (0..9)
        .map(|n| tokyo(&format!("j{n}"), &["0 1 * * *"]))
        .collect();
    assert_eq!(super::tests::mended(&nine, &busy_but_for(2)).stuck.len(), 1);
}

#[test]
fn third_order_puts_the_least_flexible_back_first() {
    // Eight places, eight firings. Pair by pair the four leave the second of the wide jobs no two
    // places an hour apart; the wide ones first, all fit.
    let mut jobs: Vec<Subject> = ["a", "b", "c", "d"]
        .map(|name| tokyo(name, &["0 1 * * *"]))
        .to_vec();
    jobs.extend(["wide-1", "wide-2"].map(|name| tokyo(name, &["0 0,1 * * *"])));
    let mended = mended(&jobs, &busy_but_for(2));
    assert!(mended.stuck.is_empty(), "{:?}", mended.stuck);
    assert!(mended.verdict.is_safe(), "{:?}", told(&mended));
    assert!(told(&mended).contains(&"wide-2: 0 0,1 * * * → 15 0,1 * * *".to_owned()));
}

#[test]
fn what_is_legal_is_left_alone() {
    let jobs = [tokyo("a", &["0 2 * * *"]), tokyo("b", &["15 2 * * *"])];
    let mended = mended(&jobs, &tight());
    assert!(mended.changes.is_empty() && mended.stuck.is_empty());
    assert!(mended.verdict.is_safe());
}

#[test]
fn rules_that_are_off_do_not_rule_where_a_firing_goes() {
    let base = || rules("Asia/Tokyo", vec![window(420, 540)]);
    let off = |rule| {
        let mut rules = base();
        rules.levels.set(rule, Level::Off);
        rules
    };
    let full = [
        tokyo("a", &["0 8 * * *"]),
        tokyo("b", &["*/10 0-6,9-23 * * *"]).lasting(std::time::Duration::ZERO),
    ];
    assert_eq!(mended(&full[..], &off(Rule::KeyGap)).changes.len(), 1);
    let mended_by = |jobs: &[Subject], rules: &Rules| told(&mended(jobs, rules));
    // Without windows a pair may go into them; without comfort the nearest place does.
    let pair = [tokyo("a", &["55 6 * * *"]), tokyo("b", &["55 6 * * *"])];
    assert_eq!(
        mended_by(&pair, &off(Rule::PeakWindow)),
        ["b: 55 6 * * * → 40 7 * * *"]
    );
    assert_eq!(
        mended_by(&pair, &off(Rule::ComfortableGap)),
        ["b: 55 6 * * * → 40 6 * * *"]
    );
    assert_eq!(mended_by(&pair, &base()), ["b: 55 6 * * * → 10 6 * * *"]);
}

#[test]
fn firing_goes_where_its_run_ends_before_the_next_window() {
    let rules = rules("Asia/Tokyo", vec![window(420, 540)]);
    let lasting = |minutes| {
        let job = tokyo("a", &["30 7 * * *"]);
        told(&mended(
            &[job.lasting(std::time::Duration::from_mins(minutes))],
            &rules,
        ))
    };
    assert_eq!(lasting(31), ["a: 30 7 * * * → 29 6 * * *"]);
    assert_eq!(lasting(61), ["a: 30 7 * * * → 0 9 * * *"]);
    // Where no run ever ends in time, the nearest legal time is as good as any.
    assert_eq!(lasting(1_500), ["a: 30 7 * * * → 59 6 * * *"]);
    let mut silent = rules.clone();
    silent.levels.set(Rule::Overrun, Level::Off);
    let job = tokyo("a", &["30 7 * * *"]).lasting(std::time::Duration::from_mins(31));
    assert_eq!(
        told(&mended(&[job], &silent)),
        ["a: 30 7 * * * → 59 6 * * *"]
    );
}

#[test]
fn of_equal_moves_that_of_the_pickup_slots_is_taken() {
    let jobs = [
        tokyo("pickup:main", &["0 2 * * *"]),
        tokyo("zebra", &["0 2 * * *"]),
    ];
    assert_eq!(
        told(&mended(&jobs, &rules("UTC", vec![]))),
        ["pickup:main: 0 2 * * * → 45 2 * * *"]
    );
}

#[test]
fn hostile_groups_are_stuck_and_not_searched_for_ever() {
    // Four jobs of twelve expressions each: those of every minute have no place,
    // and those of every hour fill the day with firings that all coincide.
    for cron in ["* * * * *", "0 * * * *"] {
        let crons = vec![cron; 12];
        let jobs: Vec<Subject> = (0..10).map(|n| tokyo(&format!("j{n}"), &crons)).collect();
        let mended = mended(&jobs, &tight());
        assert_eq!(mended.stuck.len(), 1);
    }
}
