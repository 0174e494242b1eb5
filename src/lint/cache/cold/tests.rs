//! Which slots are cold, and what is large.

use super::super::super::fixture::at;
use super::super::super::{Identity, Rule, Subject};
use super::super::fixture::{found, sends, sized, then, with};
use super::*;

const HOUR: Option<CacheTtl> = Some(CacheTtl::OneHour);

/// A job that sends a system prompt of so many tokens, and so many more.
fn big(name: &str, cron: &str, cache: Option<CacheTtl>, (prefix, rest): (u64, u64)) -> Subject {
    with(sized(sends(name, &[cron], cache), prefix), |prompt| {
        prompt.tokens = prefix + rest;
    })
}

fn cold(subjects: &[Subject]) -> Vec<Finding> {
    found(subjects, Rule::LargeColdInput)
}

#[test]
fn input_is_large_from_twelve_thousand_tokens_on() {
    assert_eq!(cold(&[big("a", "0 5 * * *", None, (600, 11_399))]), []);
    let found = cold(&[big("a", "0 5 * * *", None, (600, 11_400))]);
    assert_eq!(
        found[0].message,
        "`a` sends about 12,000 tokens with no cache entry alive"
    );
    assert_eq!(found[0].at, Some(at("2026-12-01T05:00:00Z")));
    assert_eq!(found[0].per_year, Some(365));
}

#[test]
fn inputs_of_unknown_size_are_told_and_warn_of_nothing_by_themselves() {
    let unknown = |known, more| {
        with(big("a", "0 5 * * *", None, (600, known)), |prompt| {
            prompt.more_tokens = more;
        })
    };
    assert_eq!(cold(&[unknown(400, 50_000)]), []);
    assert_eq!(
        cold(&[unknown(11_400, 11_000)])[0].message,
        "`a` sends about 12,000 tokens with no cache entry alive; \
         its inputs of unknown size may add about 11,000 tokens"
    );
}

#[test]
fn slot_within_the_hour_of_a_neighbour_is_warm() {
    let jobs = [
        big("a", "0 5 * * *", HOUR, (13_000, 100)),
        big("b", "59 5 * * *", HOUR, (13_000, 100)),
    ];
    let found = cold(&jobs);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].job.as_str(), "a");
    assert!(
        found[0]
            .help
            .as_ref()
            .unwrap()
            .starts_with("write `cache: 1h` in `system` here")
    );
    let apart = [
        big("a", "0 5 * * *", HOUR, (13_000, 100)),
        big("b", "0 6 * * *", HOUR, (13_000, 100)),
    ];
    assert_eq!(cold(&apart).len(), 2);
}

#[test]
fn neighbour_that_does_not_cache_keeps_nothing_warm() {
    let jobs = [
        big("a", "0 5 * * *", None, (13_000, 100)),
        big("b", "45 5 * * *", HOUR, (13_000, 100)),
    ];
    assert_eq!(cold(&jobs).len(), 2);
}

#[test]
fn cold_slots_of_a_job_are_counted_alone() {
    let jobs = [
        big("a", "0 5 * * mon", HOUR, (13_000, 100)),
        big("b", "30 5 * * *", HOUR, (13_000, 100)),
    ];
    let found = cold(&jobs);
    let counts: Vec<_> = found
        .iter()
        .map(|one| (one.job.as_str(), one.per_year))
        .collect();
    // 52 of the 365 days are Mondays.
    assert_eq!(counts, [("b", Some(313)), ("a", Some(52))]);
}

#[test]
fn warm_prefix_does_not_help_where_the_rest_is_large() {
    let jobs = [
        big("a", "0 5 * * *", HOUR, (2_000, 12_000)),
        big("b", "30 5 * * *", HOUR, (2_000, 12_000)),
    ];
    let found = cold(&jobs);
    assert_eq!(found.len(), 2);
    assert!(
        found[0].message.contains("about 14,000"),
        "{}",
        found[0].message
    );
    assert!(
        found[1].message.contains("about 12,000"),
        "{}",
        found[1].message
    );
    assert!(
        found[0]
            .help
            .as_ref()
            .unwrap()
            .starts_with("lower `max_bytes`")
    );
}

/// With one prefix for the whole system prompt, a neighbour that shares only its first block kept nothing warm.
#[test]
fn longest_entry_that_is_alive_counts_of_several_breakpoints() {
    let blocks = |name, cron, second| {
        let first = big(name, cron, HOUR, (13_000, 100));
        then(first, second, 5_000, CacheTtl::OneHour)
    };
    let told = |jobs: &[Subject]| {
        let told = cold(jobs).into_iter();
        let mut told: Vec<_> = told.map(|one| (one.job.to_string(), one.message)).collect();
        told.sort_unstable();
        told
    };
    // The second job finds the first block, and sends 5,100 tokens beside it.
    let jobs = [
        blocks("a", "0 5 * * *", "of a"),
        blocks("b", "30 5 * * *", "of b"),
    ];
    let of_jobs = told(&jobs);
    assert_eq!(of_jobs.len(), 1, "{of_jobs:?}");
    assert_eq!(
        of_jobs[0].1,
        "`a` sends about 18,000 tokens with no cache entry alive"
    );
    // A second block of 12,000 tokens is cold beside a warm first one.
    let large = |name, cron, second| {
        let first = big(name, cron, HOUR, (13_000, 100));
        then(first, second, 12_000, CacheTtl::OneHour)
    };
    let shares_one = [
        large("a", "0 5 * * *", "of a"),
        large("b", "30 5 * * *", "of b"),
    ];
    let found = told(&shares_one);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found[1].1.contains("about 12,000"), "{found:?}");
    let shares_both = [
        large("a", "0 5 * * *", "of both"),
        large("b", "30 5 * * *", "of both"),
    ];
    assert_eq!(told(&shares_both).len(), 1);
}

#[test]
fn prompt_that_changes_at_every_slot_is_never_warm() {
    let fleeting = |name, cron| {
        with(big(name, cron, HOUR, (13_000, 100)), |prompt| {
            prompt.prefixes[0].identity = Identity::Fleeting;
        })
    };
    assert_eq!(
        cold(&[fleeting("a", "0 5 * * *"), fleeting("b", "30 5 * * *")]).len(),
        2
    );
}

#[test]
fn rare_job_is_told_at_its_first_slot_after_the_year() {
    let leap = big("a", "30 5 29 2 *", HOUR, (13_000, 100));
    let found = cold(std::slice::from_ref(&leap));
    assert_eq!(found[0].at, Some(at("2028-02-29T05:30:00Z")));
    assert_eq!(found[0].per_year, Some(0));
    let daily = big("b", "0 5 * * *", HOUR, (13_000, 100));
    let jobs = cold(&[leap, daily]);
    assert_eq!(jobs.len(), 1);
    assert_eq!(jobs[0].job.as_str(), "b");
}

#[test]
fn steady_job_that_keeps_its_own_entry_alive_is_warm_from_the_first_slot_on() {
    let every = |minutes: u32| big("a", &format!("*/{minutes} * * * *"), HOUR, (13_000, 100));
    assert_eq!(cold(&[every(20)]), []);
    // Its last slot before the proof is another job's.
    let jobs = [
        big("a", "30 * * * *", HOUR, (13_000, 100)),
        big("b", "0 * * * *", HOUR, (13_000, 100)),
    ];
    assert_eq!(cold(&jobs), []);
    // An hour before is too early.
    let hourly = cold(&[big("a", "0 * * * *", HOUR, (13_000, 100))]);
    assert_eq!(hourly[0].per_year, Some(365 * 24));
    let daily = cold(&[big("a", "0 0 * * *", HOUR, (13_000, 100))]);
    assert_eq!(daily[0].per_year, Some(365));
}
