//! Who reads an entry, and who never does.

use super::super::super::fixture::{at, job};
use super::super::super::{Effort, Subject};
use super::super::fixture::{found, model, on, sends, sized, then, told, with};
use super::*;

const SHORT: Option<CacheTtl> = Some(CacheTtl::FiveMinutes);
const LONG: Option<CacheTtl> = Some(CacheTtl::OneHour);

/// The jobs told, by name.
fn never(subjects: &[Subject]) -> Vec<String> {
    let mut told = told(subjects, Rule::CacheNeverRead);
    told.sort_unstable();
    told
}

#[test]
fn daily_job_alone_never_reads_its_own_entry() {
    let found = found(&[sends("a", &["0 5 * * *"], LONG)], Rule::CacheNeverRead);
    assert_eq!(
        found[0].message,
        "`a` caches its system prompt of about 2,000 tokens, but no call with the same system prompt and model in \
         group `main` ever comes less than an hour before or after: nothing reads it, and writing it costs about \
         $1.46 a year"
    );
    assert_eq!(found[0].at, Some(at("2026-12-01T05:00:00Z")));
    assert_eq!(found[0].per_year, Some(365));
    assert!(
        found[0]
            .help
            .as_ref()
            .unwrap()
            .starts_with("remove `cache: 1h`")
    );
}

#[test]
fn entry_lives_for_less_than_its_life() {
    let pair = |minute: &str, cache| {
        let cron = format!("{minute} 5 * * *");
        never(&[
            sends("a", &["0 5 * * *"], cache),
            sends("b", &[&cron], cache),
        ])
    };
    assert_eq!(pair("4", SHORT), [""; 0]);
    assert_eq!(pair("5", SHORT), ["a", "b"]);
    assert_eq!(pair("59", LONG), [""; 0]);
    assert_eq!(
        pair("0", LONG),
        ["a", "b"],
        "calls that start together all write"
    );
    let hour = [
        sends("a", &["0 5 * * *"], LONG),
        sends("b", &["0 6 * * *"], LONG),
    ];
    assert_eq!(never(&hour), ["a", "b"]);
}

#[test]
fn own_firings_count() {
    assert_eq!(never(&[sends("a", &["0,59 5 * * *"], LONG)]), [""; 0]);
    assert_eq!(
        never(&[sends("a", &["0 5 * * *", "40 5 * * sun"], LONG)]),
        [""; 0]
    );
    assert_eq!(never(&[sends("a", &["0 */1 * * *"], LONG)]), ["a"]);
}

#[test]
fn one_date_in_the_horizon_is_enough() {
    // They meet on leap days that are Tuesdays, and on no other.
    let jobs = [
        sends("a", &["0 3 29 2 *"], LONG),
        sends("b", &["10 3 * * tue"], LONG),
    ];
    assert_eq!(never(&jobs), [""; 0]);
    let jobs = [
        sends("a", &["0 3 30 4 *"], LONG),
        sends("b", &["10 3 1 * *"], LONG),
    ];
    assert_eq!(never(&jobs), ["a", "b"]);
}

#[test]
fn clock_change_alone_can_bring_two_calls_together() {
    // 02:30 moves to 03:00 on the day that summer time begins in Berlin.
    let berlin = |name, cron| Subject {
        prompt: sends("x", &["0 5 * * *"], SHORT).prompt,
        ..job(name, "Europe/Berlin", &[cron])
    };
    assert_eq!(
        never(&[berlin("a", "30 2 * * *"), berlin("b", "2 3 * * *")]),
        [""; 0]
    );
    assert_eq!(
        never(&[berlin("a", "30 2 * * *"), berlin("b", "5 3 * * *")]),
        ["a", "b"]
    );
}

#[test]
fn other_texts_models_and_groups_are_no_readers() {
    let (a, b) = (
        sends("a", &["0 5 * * *"], LONG),
        sends("b", &["30 5 * * *"], LONG),
    );
    let both = ["a", "b"];
    let text = with(b.clone(), |prompt| {
        prompt.prefixes[0].identity = Identity::Steady("be long".into());
    });
    assert_eq!(never(&[a.clone(), text]), both);
    let mut other = model();
    other.id = "n".to_owned();
    assert_eq!(never(&[a.clone(), on(b.clone(), other)]), both);
    let mut group = b.clone();
    group.group = crate::job::GroupId::new("other");
    assert_eq!(never(&[a.clone(), group]), both);
    let uncached = sends("b", &["30 5 * * *"], None);
    assert_eq!(never(&[a.clone(), uncached]), ["a"]);
    assert_eq!(never(&[a, b]), [""; 0]);
}

#[test]
fn run_of_several_calls_reads_its_own_entry() {
    let mut many = sends("a", &["0 5 * * *"], LONG);
    many.effort = Effort {
        calls: 2,
        ..Effort::ONE
    };
    assert_eq!(never(&[many.clone()]), [""; 0]);
    many.effort = Effort::ONE;
    assert_eq!(never(&[many.clone()]), ["a"]);
    // One item is sure, and there may be more.
    many.effort.pieces.items = crate::lint::Items::Unknown;
    assert_eq!(never(&[many]), [""; 0]);
}

#[test]
fn longest_life_of_a_set_counts_for_all() {
    let jobs = [
        sends("a", &["0 5 * * *"], LONG),
        sends("b", &["30 5 * * *"], SHORT),
    ];
    assert_eq!(never(&jobs), [""; 0]);
}

#[test]
fn short_system_prompt_is_not_cached_at_all() {
    let of = |tokens| sized(sends("a", &["0,30 5 * * *"], SHORT), tokens);
    assert_eq!(never(&[of(512)]), ["a"]);
    let found = found(&[of(511)], Rule::CacheNeverRead);
    assert_eq!(
        found[0].message,
        "`a` asks for a cached system prompt, but it has about 511 tokens, and `m` caches from 512 on: \
         nothing is cached"
    );
    assert_eq!(
        found[0].help.as_deref(),
        Some("remove `cache: 5m` from `system`; it does nothing")
    );
    let long = with(of(511), |prompt| {
        prompt.prefixes[0].cache = LONG;
    });
    assert_eq!(never(&[long]), ["a"]);
}

#[test]
fn every_breakpoint_is_judged_by_itself() {
    let blocks = |name, cron: &str, second| {
        then(sends(name, &[cron], LONG), second, 1_000, CacheTtl::OneHour)
    };
    let jobs = [
        blocks("a", "0 5 * * *", "of a"),
        blocks("b", "30 5 * * *", "of b"),
    ];
    let of_jobs = found(&jobs, Rule::CacheNeverRead);
    assert_eq!(of_jobs.len(), 2, "the first block is read: {of_jobs:?}");
    // 365 writes of 1,000 tokens at $2 a million more: the first block costs nothing here.
    assert_eq!(
        of_jobs[0].message,
        "`a` caches its system prompt up to block 2 of about 3,000 tokens, but no call with the same system prompt up \
         to block 2 and model in group `main` ever comes less than an hour before or after: nothing reads it, and \
         writing it costs about $0.73 a year"
    );
    assert_eq!(
        of_jobs[0].help.as_deref(),
        Some(
            "remove `cache: 1h` from block 2 of `system`, or let a job with the same system prompt up to block 2 and \
             `cache: 1h` fire within the hour"
        )
    );
    let shared = [
        blocks("a", "0 5 * * *", "of both"),
        blocks("b", "30 5 * * *", "of both"),
    ];
    assert_eq!(never(&shared), [""; 0]);
    // A job whose whole system prompt is the first block of another reads that block's entry.
    let single = [
        sends("a", &["0 5 * * *"], LONG),
        blocks("b", "30 5 * * *", "of b"),
    ];
    assert_eq!(never(&single), ["b"]);
}

#[test]
fn prompt_that_changes_at_every_slot_is_told_to_stay_the_same() {
    let fleeting = with(sends("a", &["0,30 5 * * *"], LONG), |prompt| {
        prompt.prefixes[0].identity = Identity::Fleeting;
    });
    let found = found(&[fleeting], Rule::CacheNeverRead);
    assert!(
        found[0]
            .message
            .contains("another at every slot: nothing ever reads it"),
        "{}",
        found[0].message
    );
    assert!(
        found[0]
            .help
            .as_ref()
            .unwrap()
            .starts_with("move what changes")
    );
}

#[test]
fn job_that_never_fires_and_cent_that_nobody_misses_are_not_told() {
    assert_eq!(never(&[sends("a", &["0 5 30 2 *"], LONG)]), [""; 0]);
    let rare = found(&[sends("a", &["0 5 1 1 *"], LONG)], Rule::CacheNeverRead);
    assert!(
        rare[0].message.ends_with("nothing reads it"),
        "{}",
        rare[0].message
    );
}
