use std::time::Duration;

use chrono::TimeDelta;

use crate::answer::Usage;
use crate::outcome::{FailReason, Outcome, SkipReason, YieldReason};
use crate::report::fixture::{Sent, answered, night, only, scope, sent, tally};
use crate::report::samples::at;
use crate::report::{By, Dot, DotEnd, MAX_DOTS, PageView, View, render_breakdown, render_page};

const MINUTE: Duration = Duration::from_mins(1);

/// The work of a slot, put off to later.
fn put_off(job: &'static str, minutes: i64) -> Sent {
    Sent {
        is_deferred: true,
        ..sent(job, minutes, Outcome::Yielded(YieldReason::Budget), &[])
    }
}

/// The work of a slot, done in another `later` minutes after two.
fn carried(job: &'static str, minutes: i64, later: i64) -> Sent {
    Sent {
        started_at: at(later),
        ..answered(job, minutes, 1000)
    }
}

#[test]
fn percentiles_are_those_of_known_numbers() {
    let runs: Vec<Sent> = (1..=200)
        .map(|n| answered("a", n, n.unsigned_abs() * 10))
        .collect();
    let total = night(&runs).total;
    let latency = total.latency.unwrap();
    let ms = Duration::from_millis;
    assert_eq!(
        (
            latency.samples,
            latency.p50,
            latency.p95,
            latency.p99,
            latency.max
        ),
        (200, ms(1000), ms(1900), ms(1980), ms(2000))
    );
    assert_eq!(total.first_byte.unwrap().p99, ms(990));
    assert!(!latency.is_few());
}

#[test]
fn one_sample_is_every_percentile_and_is_called_few() {
    let latency = night(&[answered("a", 0, 700)]).total.latency.unwrap();
    assert_eq!(
        (latency.p50, latency.max),
        (Duration::from_millis(700), latency.p99)
    );
    assert!(latency.is_very_few());
}

#[test]
fn every_way_adds_up_to_the_whole() {
    let mut other = sent("b", 200, Outcome::Succeeded, &[50, 60, 900]);
    (other.group, other.model) = ("archive", "claude-haiku-5");
    let report = night(&[answered("a", 0, 700), answered("a", 60, 800), other]);
    for section in &report.sections {
        let sum: usize = section.rows.iter().map(|(_, it)| it.attempts).sum();
        assert_eq!(sum, report.total.attempts, "{:?}", section.by);
        let sum: usize = section.rows.iter().map(|(_, it)| it.completion.due).sum();
        assert_eq!(sum, 3, "{:?}", section.by);
    }
    let names = |by: usize| -> Vec<&str> {
        report.sections[by]
            .rows
            .iter()
            .map(|(name, _)| name.as_str())
            .collect()
    };
    assert_eq!(names(0), ["archive", "main"]);
    assert_eq!(names(1), ["a", "b"]);
    assert_eq!(names(2), ["claude-haiku-5", "claude-sonnet-5-5"]);
    assert_eq!(names(3), ["02", "03", "05"], "hours in Japan");
    assert_eq!(names(4), ["2026-12-05"], "days in Japan");
    assert_eq!(
        report.sections.each_ref().map(|section| section.by),
        By::ALL
    );
    let archive = report.sections[0].find("archive").unwrap();
    assert_eq!((archive.attempts, archive.calls, archive.wasted), (3, 1, 2));
    assert_eq!(archive.mean_attempts(), Some(3.0));
}

#[test]
fn deferred_work_is_measured_from_the_slot_at_which_it_was_due() {
    let report = night(&[
        answered("a", 0, 1000),
        put_off("b", 45),
        carried("b", 45, 165),
    ]);
    let done = report.total.completion;
    assert_eq!((done.due, done.completed), (2, 2));
    assert_eq!((done.p50, done.max), (Some(MINUTE), Some(MINUTE * 121)));
    assert_eq!(report.total.yields[&YieldReason::Budget], 1);
    assert_eq!(report.total.slots.succeeded, 2);
}

#[test]
fn work_that_never_ended_well_is_longer_than_all_that_did() {
    let lost = [
        put_off("b", 10),
        sent("c", 20, Outcome::Failed(FailReason::Fatal), &[30]),
        sent("d", 30, Outcome::Exhausted, &[30, 30, 30]),
        Sent {
            outcome: None,
            ..sent("e", 40, Outcome::Exhausted, &[])
        },
    ];
    for lost in lost {
        let total = night(&[answered("a", 0, 1000), lost.clone()]).total;
        assert_eq!(
            (total.completion.due, total.completion.completed),
            (2, 1),
            "{lost:?}"
        );
        assert_eq!(
            (total.completion.p50, total.completion.p95),
            (Some(MINUTE), None)
        );
        assert_eq!(total.completion.max, None);
    }
}

#[test]
fn merged_work_is_done_when_that_of_its_later_slot_is() {
    let merged = Sent {
        started_at: at(60),
        ..sent("a", 0, Outcome::Skipped(SkipReason::Merged), &[])
    };
    let runs = [
        put_off("a", 0),
        merged,
        put_off("a", 60),
        carried("a", 60, 90),
    ];
    let done = |merges: &[(&str, i64, i64)]| tally(scope(), &runs, merges).total;
    let total = done(&[("a", 0, 60)]);
    assert_eq!((total.completion.due, total.completion.completed), (2, 2));
    assert_eq!(
        total.completion.max,
        Some(MINUTE * 91),
        "not the 31 of the later slot"
    );
    assert_eq!((total.slots.skipped, total.slots.succeeded), (1, 1));
    let total = done(&[]);
    assert_eq!(
        total.completion.due, 1,
        "where it went is not known any more"
    );
}

#[test]
fn skipped_work_was_not_due() {
    let report = night(&[sent("a", 0, Outcome::Skipped(SkipReason::EmptyInput), &[])]);
    assert_eq!(
        (report.total.completion.due, report.total.slots.skipped),
        (0, 1)
    );
    assert!(!report.is_empty());
}

#[test]
fn work_belongs_to_the_span_in_which_it_was_due() {
    let mut early = answered("a", -30, 1000);
    early.started_at = at(5);
    let mut late = answered("a", 24 * 60 - 1, 1000);
    late.started_at = at(24 * 60 + 90);
    let report = night(&[early, late, answered("a", 24 * 60, 1000)]);
    assert_eq!(report.total.attempts, 1);
    assert_eq!(report.total.completion.max, Some(MINUTE * 92));
}

#[test]
fn only_the_asked_job_or_group_is_counted() {
    let mut other = answered("b", 0, 900);
    other.group = "archive";
    let runs = [answered("a", 0, 700), other, answered("b", 60, 800)];
    let attempts = |job, group| tally(only(job, group), &runs, &[]).total.attempts;
    assert_eq!(attempts(None, None), 3);
    assert_eq!(attempts(Some("b"), None), 2);
    assert_eq!(attempts(None, Some("main")), 2);
    assert_eq!(attempts(Some("b"), Some("main")), 1);
    assert!(tally(only(Some("c"), None), &runs, &[]).is_empty());
}

#[test]
fn traffic_about_batches_is_in_no_latency_and_no_mean() {
    let mut errand = sent("a", 0, Outcome::Succeeded, &[90_000, 80_000]);
    (errand.is_errand, errand.usage, errand.cost) = (true, None, None);
    let total = night(&[errand, answered("b", 0, 700)]).total;
    assert_eq!((total.errands, total.attempts, total.wasted), (2, 1, 0));
    assert_eq!(total.latency.unwrap().max, Duration::from_millis(700));
    assert_eq!(total.mean_attempts(), Some(1.0));
    assert_eq!(total.dollars.unknown, 0);
}

#[test]
fn what_may_be_billed_and_is_not_known_is_counted_beside_the_sum() {
    let mut unpriced = answered("a", 0, 700);
    unpriced.cost = None;
    let mut crashed = sent("b", 10, Outcome::Yielded(YieldReason::Interrupted), &[]);
    crashed.attempts = vec![None];
    let mut under_way = crashed.clone();
    (under_way.outcome, under_way.job) = (None, "c");
    let total = night(&[unpriced, crashed, under_way, answered("d", 0, 700)]).total;
    assert!((total.dollars.known.as_f64() - 0.01).abs() < 1e-9);
    assert_eq!((total.dollars.unknown, total.tokens.unknown), (2, 1));
    assert_eq!(total.tokens.counted.input_tokens, 2000);
    assert_eq!(total.wasted, 1, "one is still under way");
}

#[test]
fn answers_that_read_the_cache_are_hits() {
    let mut warm = answered("a", 0, 700);
    if let Some(usage) = &mut warm.usage {
        usage.cache_read_tokens = 5000;
    }
    let total = night(&[warm, answered("a", 60, 700)]).total;
    assert_eq!((total.cache_hits, total.counted), (1, 2));
    assert_eq!(total.cache_share(), Some(0.5));
}

#[test]
fn counters_that_no_answer_has_add_up_to_the_most_there_is() {
    let most = u64::try_from(i64::MAX).unwrap();
    let mut odd = answered("a", 0, 700);
    odd.usage = Some(Usage {
        input_tokens: most,
        cache_write_5m_tokens: most,
        cache_write_1h_tokens: most,
        ..Usage::default()
    });
    let report = night(std::slice::from_ref(&odd));
    let shown = u64::MAX.to_string();
    let text = render_breakdown(&report, Some(By::Group), &View::jst(200), &|_| None);
    assert!(text.contains(&shown), "{text}");
    let page = PageView {
        view: View::jst(80),
        by: None,
        is_peak: &|_| false,
        place_of: &|_| None,
    };
    assert!(render_page(&report, None, &page).contains(&shown));
    let counted = night(&[odd.clone(), odd.clone(), odd]).total.tokens.counted;
    assert_eq!(counted.input_tokens, u64::MAX);
    assert_eq!(counted.cache_write_tokens(), u64::MAX);
}

#[test]
fn a_span_of_more_than_seven_weeks_is_the_longest() {
    let mut late = answered("a", 0, 700);
    late.took = TimeDelta::days(60);
    let max = night(&[late]).total.completion.max.unwrap();
    assert!(max > Duration::from_hours(24 * 49), "{max:?}");
}

#[test]
fn nothing_gives_an_empty_report() {
    let report = night(&[]);
    assert!(report.is_empty());
    assert_eq!(report.tail, crate::report::Tail::default());
}

#[test]
fn each_figure_belongs_to_the_day_of_what_it_measures() {
    // Due on the fifth, begun on the sixth in Japan.
    let mut late = answered("a", 21 * 60, 1000);
    late.started_at = at(22 * 60);
    let report = night(&[late, answered("b", 0, 400)]);
    let days = &report.sections[By::Day.index()];
    let names: Vec<&str> = days.rows.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["2026-12-05", "2026-12-06"]);
    let (fifth, sixth) = (&days.rows[0].1, &days.rows[1].1);
    assert_eq!((fifth.slots.succeeded, sixth.slots.succeeded), (2, 0));
    assert_eq!((fifth.completion.due, sixth.completion.due), (2, 0));
    assert_eq!((fifth.attempts, sixth.attempts), (1, 1));
    let max = |figures: &crate::report::Figures| figures.latency.unwrap().max.as_millis();
    assert_eq!((max(fifth), max(sixth)), (400, 1000));
    assert_eq!(
        (fifth.dollars.known, sixth.dollars.known.nanos()),
        (sixth.dollars.known, 10_000_000)
    );
}

#[test]
fn dots_are_the_measured_attempts_of_the_scope_in_the_order_of_time() {
    let mut cut = sent("c", 30, Outcome::Exhausted, &[]);
    cut.attempts = vec![None];
    let runs = [
        answered("b", 16 * 60, 900),
        sent("a", 10, Outcome::Exhausted, &[400]),
        cut,
        answered("neighbour", -30, 1000),
    ];
    let report = night(&runs);
    let dot = |minutes, millis, end, is_peak| Dot {
        at: at(minutes),
        latency: Duration::from_millis(millis),
        end,
        is_peak,
    };
    assert_eq!(
        report.dots,
        [
            dot(10, 400, DotEnd::Failed, false),
            dot(16 * 60, 900, DotEnd::Answered, true),
        ]
    );
    assert_eq!(report.dots_of, 2);
    assert_eq!(night(&[]).dots, []);
}

#[test]
fn of_very_many_attempts_the_dots_keep_the_slowest() {
    let millis = |n: i64| (n * 7919 % 5000).unsigned_abs();
    let runs: Vec<Sent> = (0..5000)
        .map(|n| Sent {
            started_at: at(0) + TimeDelta::seconds(n),
            ..answered("a", 0, millis(n))
        })
        .collect();
    let report = night(&runs);
    assert_eq!((report.dots.len(), report.dots_of), (MAX_DOTS, 5000));
    let slow = report
        .dots
        .iter()
        .filter(|dot| dot.latency.as_millis() >= 4500);
    assert_eq!(slow.count(), 500);
    assert!(report.dots.is_sorted_by_key(|dot| dot.at));
    assert_eq!(
        night(&runs).dots,
        report.dots,
        "the pick is no matter of chance"
    );
}

#[test]
fn attempts_that_are_gathered_apart_count_as_those_given_one_by_one() {
    use crate::report::{AttemptFact, Attempts, CallFact, EndFact, RunFact, Tally};
    let runs = [answered("a", 0, 700), answered("b", 5, 900)];
    let report = |gather: bool| {
        let mut tally = Tally::new(scope(), Box::new(|_| false));
        for (id, sent) in (41..).zip(&runs) {
            tally.run(&RunFact {
                id: crate::outcome::RunId(id),
                job: sent.job,
                group: sent.group,
                model: sent.model,
                fire_at: sent.fire_at,
                started_at: sent.started_at,
                finished_at: Some(sent.started_at),
                outcome: sent.outcome.clone(),
                is_deferred: false,
            });
        }
        tally.runs_end();
        for id in [41, 42] {
            tally.call(&CallFact {
                id,
                run: crate::outcome::RunId(id),
                is_errand: false,
                model: None,
                is_answered: true,
                usage: None,
                cost: None,
            });
        }
        tally.calls_end();
        let facts = (40..44).map(|call| AttemptFact {
            call,
            n: 1,
            started_at: at(call),
            end: Some(EndFact {
                total_ms: call.unsigned_abs(),
                first_byte_ms: None,
                class: Some(crate::outcome::Class::Success),
                status: None,
                error_type: None,
                is_counted: false,
            }),
        });
        if gather {
            let mut attempts = Attempts::of(40);
            facts.for_each(|fact| attempts.take(&fact));
            tally.attempts(attempts);
        } else {
            facts.for_each(|fact| tally.attempt(&fact));
        }
        tally.finish()
    };
    assert_eq!(report(true), report(false));
    let latency = report(true).total.latency.unwrap();
    assert_eq!(
        (latency.samples, latency.max),
        (2, Duration::from_millis(42)),
        "two are of no call"
    );
}
