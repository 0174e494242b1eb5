//! Figures of simulated arms, held against plain ways to find the same.

use offpeak::money::Dollars;
use offpeak::trial::{
    Call, Carried, Claim, Condition, Contrast, Held, Log, Metric, Opening, Resamples, Score, Send,
    SendEnd, Spread, Summary, Unit, Value, Verdict, Work,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Draws that go through the unit interval evenly.
fn even() -> impl FnMut() -> f64 {
    let mut at = 0.0_f64;
    move || {
        at = (at + 0.618_033_988_749_895).fract();
        at
    }
}

fn send() -> impl Strategy<Value = Send> {
    use SendEnd::{Answered, Broken, Fatal, Refused};

    let end = prop::sample::select(vec![Answered, Refused, Fatal, Broken]);
    // Coarse instants, so that many requests are just a minute apart.
    (0..40_u64, 0..90_000_u64, 0..3_u16, end).prop_map(|(at, latency_ms, group, end)| Send {
        at_ms: at * 15_000,
        latency_ms,
        group,
        end,
    })
}

fn log() -> impl Strategy<Value = Log> {
    let call = (vec(send(), 1..5), any::<bool>());
    let work = (0..1_000_u64, prop::option::of(0..90_000_u64)).prop_map(|(due_ms, after)| Work {
        due_ms,
        done_ms: after.map(|after| due_ms + after),
        carried: if after.is_some() {
            Carried::InSlot
        } else {
            Carried::Lost
        },
    });
    (vec(call, 0..30), vec(work, 0..30)).prop_map(|(calls, works)| {
        let mut log = Log {
            works,
            ..Log::default()
        };
        for (sends, is_answered) in calls {
            let from = log.sends.len();
            log.sends.extend(&sends);
            log.calls.push(Call {
                name: log.calls.len() as u64,
                began_ms: sends[0].at_ms,
                ended_ms: sends[0].at_ms + sends[0].latency_ms,
                is_answered,
                sends: from..log.sends.len(),
            });
        }
        log
    })
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        6 => (-1e6..1e6).prop_map(Value::Measured),
        1 => Just(Value::Beyond),
        1 => Just(Value::Nothing),
    ]
}

fn count(log: &Log, metric: Metric) -> f64 {
    Score::of(log).get(metric).measured().unwrap()
}

/// The slow way: from every request on, all of its group that are less than a minute later.
fn most_by_brute_force(sends: &[Send]) -> usize {
    let from = |first: &Send| {
        let minute = first.at_ms..first.at_ms + 60_000;
        let same = |send: &&Send| send.group == first.group && minute.contains(&send.at_ms);
        sends.iter().filter(same).count()
    };
    sends.iter().map(from).max().unwrap_or(0)
}

/// Seeds with these openings, and nothing else.
fn openings(counts: &[usize]) -> Vec<Score> {
    let opening = Opening {
        at_ms: 0,
        is_false: false,
    };
    let score = |count: &usize| {
        Score::of(&Log {
            openings: vec![opening; *count],
            ..Log::default()
        })
    };
    counts.iter().map(score).collect()
}

proptest! {
    #[test]
    fn busiest_minute_is_the_one_that_brute_force_finds(log in log()) {
        let most = most_by_brute_force(&log.sends) as f64;
        prop_assert_eq!(Score::of(&log).get(Metric::SendsPerMinute), Value::Measured(most));
    }

    #[test]
    fn requests_are_answered_or_wasted(log in log()) {
        let answered = log.sends.iter().filter(|send| send.end == SendEnd::Answered).count();
        let wasted = (log.sends.len() - answered) as f64;
        prop_assert_eq!(Score::of(&log).get(Metric::Wasted), Value::Measured(wasted));
        prop_assert!(count(&log, Metric::Resent) <= count(&log, Metric::Wasted));
        prop_assert!(count(&log, Metric::TroubledCalls) <= count(&log, Metric::Calls));
    }

    #[test]
    fn percentiles_of_a_log_never_fall(log in log()) {
        let score = Score::of(&log);
        for rising in [
            vec![Metric::AttemptP50, Metric::AttemptP95, Metric::AttemptP99, Metric::AttemptMax],
            vec![Metric::CallP50, Metric::CallP95, Metric::CallP99],
            vec![Metric::DoneP50, Metric::DoneP95, Metric::DoneP99, Metric::DoneMax],
        ] {
            for pair in rising.windows(2) {
                let order = score.get(pair[0]).rank_against(score.get(pair[1]));
                prop_assert!(order.is_none_or(std::cmp::Ordering::is_le), "{:?}", pair);
            }
        }
    }

    #[test]
    fn order_of_calls_and_work_does_not_matter(log in log()) {
        let mut turned = log.clone();
        turned.calls.reverse();
        turned.works.reverse();
        prop_assert_eq!(Score::of(&turned), Score::of(&log));
    }

    #[test]
    fn spread_is_that_of_a_plain_sort(values in vec(value(), 0..60)) {
        let spread = Spread::of(values.iter().copied());
        let place = |value: Value| match value {
            Value::Nothing => None,
            Value::Below => Some(f64::NEG_INFINITY),
            Value::Measured(number) => Some(number),
            Value::Beyond => Some(f64::INFINITY),
        };
        let mut places: Vec<f64> = values.iter().filter_map(|value| place(*value)).collect();
        places.sort_by(f64::total_cmp);
        prop_assert_eq!((spread.seeds, spread.measured), (values.len(), places.len()));
        for (found, percent) in [
            (spread.least, 0.0),
            (spread.p05, 0.05),
            (spread.low, 0.25),
            (spread.median, 0.5),
            (spread.high, 0.75),
            (spread.p95, 0.95),
            (spread.most, 1.0),
        ] {
            // The smallest place that has this share of all at or below it.
            let is_enough = |place: &&f64| {
                let below = places.iter().filter(|other| other <= place).count();
                below as f64 >= percent * places.len() as f64
            };
            prop_assert_eq!(place(found), places.iter().find(is_enough).copied());
        }
    }

    #[test]
    fn shown_condition_reads_back_as_itself(
        aggregate in prop::sample::select(vec!["", "median", "least", "most", "worst"]),
        metric in prop::sample::select(Metric::ALL.to_vec()),
        relation in prop::sample::select(vec![">", ">=", "<", "<=", "=", "!="]),
        blank in prop::sample::select(vec!["", " ", "  "]),
        number in 0..=u64::from(u32::MAX),
    ) {
        let limit = match metric.unit() {
            Unit::Count => number.to_string(),
            Unit::Ratio | Unit::Dollars => format!("{}.{}", number / 1000, number % 1000),
            Unit::Span => format!("{number}ms"),
        };
        let text = format!("{aggregate} {metric}{blank}{relation}{blank}{limit}");
        let condition = Condition::parse(&text).unwrap();
        prop_assert_eq!(condition.metric(), metric);
        prop_assert_eq!(Condition::parse(&condition.to_string()), Ok(condition), "{}", text);
    }

    #[test]
    fn no_text_makes_the_reader_fail_in_itself(text in "\\PC{0,40}|[a-z_]{0,12} ?[<>=!]{0,3} ?[0-9a-z.]{0,6}") {
        if let Err(error) = Condition::parse(&text) {
            prop_assert!(error.column <= text.chars().count() + 1);
            prop_assert!(text.contains(&error.found), "{:?} in {:?}", error.found, text);
        }
    }

    /// For every seed its mirror image about the mean, so that the resamples lie evenly about the estimate.
    #[test]
    fn interval_of_symmetric_seeds_holds_the_estimate(offsets in vec(0..20_usize, 10..30)) {
        let counts: Vec<usize> = offsets.iter().flat_map(|offset| [50 - offset, 50 + offset]).collect();
        let first = openings(&vec![100; counts.len()]);
        let resamples = Resamples::draw(counts.len(), 400, &mut even());
        let contrast = Contrast::of(Metric::Openings, &first, &openings(&counts), &resamples);
        let change = contrast.change.unwrap();
        let interval = change.interval.unwrap();
        let (low, high) = (interval.low.measured().unwrap(), interval.high.measured().unwrap());
        let dust = 1e-9;
        prop_assert!(low <= change.estimate + dust && change.estimate <= high + dust, "{:?}", change);
    }
}

/// What an arm does to every seed alike is found, and its interval is narrow.
#[test]
fn halved_openings_are_found_with_a_narrow_interval() {
    let first: Vec<usize> = (0..200).map(|seed| 40 + seed % 21).collect();
    let second: Vec<usize> = first.iter().map(|count| count / 2).collect();
    let resamples = Resamples::draw(200, 2_000, &mut even());
    let (first, second) = (openings(&first), openings(&second));
    let contrast = Contrast::of(Metric::Openings, &first, &second, &resamples);
    let change = contrast.change.unwrap();
    let interval = change.interval.unwrap();
    let width = interval.high.measured().unwrap() - interval.low.measured().unwrap();
    assert!((change.estimate + 0.5).abs() < 0.01, "{change:?}");
    assert!(width < 0.01, "{change:?}");
    let halved = Claim::about(-0.5, 0.05);
    assert_eq!(halved.judge(&contrast.relative), Verdict::Reproduced);
    let same = Claim::about(0.0, 0.05);
    assert_eq!(same.judge(&contrast.relative), Verdict::Contradicted);
}

/// An arm that stops asking is not better for it: what it left undone stands in its tail.
#[test]
fn condition_on_the_tail_catches_work_that_was_never_done() {
    let work = |done_ms, carried| Work {
        due_ms: 0,
        done_ms,
        carried,
    };
    let mut works = vec![work(Some(5_000), Carried::InSlot); 98];
    works.resize(100, work(None, Carried::Lost));
    let log = Log {
        works,
        dollars: Dollars::from_nanos(2_000_000_000),
        ..Log::default()
    };
    let summary = Summary::of(&[Score::of(&log)]);
    let holds = |text: &str| Condition::parse(text).unwrap().holds(&summary);
    assert_eq!(holds("p99 > 90s"), Held::Holds(Value::Beyond));
    assert_eq!(
        holds("p95 > 90s"),
        Held::DoesNot(Value::Measured(5_000.0)),
        "95 of 100 were done at once"
    );
    assert_eq!(holds("dollars > 1.50"), Held::Holds(Value::Measured(2.0)));
    assert_eq!(
        holds("attempt_p99 > 1s"),
        Held::Nothing,
        "no request was sent"
    );
}
