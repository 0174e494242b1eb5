use crate::outcome::{Outcome, YieldReason};
use crate::report::fixture::{Sent, answered, night, scope, sent, tally};
use crate::report::samples::at;
use crate::report::{Breakdown, By, Scope, TailAdvice, View, render_breakdown, render_comparison};

/// A night with every figure and every pattern.
fn report() -> Breakdown {
    let mut runs: Vec<Sent> = (0..120)
        .map(|n| answered("digest", n * 8, 1000 + n.unsigned_abs() * 10))
        .collect();
    runs.push(sent("links", 300, Outcome::Succeeded, &[400, 30_000]));
    runs.push(sent(
        "notes-of-the-whole-week",
        302,
        Outcome::Succeeded,
        &[400, 500, 45_000],
    ));
    runs.push(Sent {
        is_deferred: true,
        ..sent("links", 400, Outcome::Yielded(YieldReason::Breaker), &[])
    });
    let mut cold = answered("docs", 410, 60_000);
    if let Some(usage) = &mut cold.usage {
        usage.input_tokens = 48_000;
    }
    cold.group = "archive";
    runs.push(cold);
    night(&runs)
}

fn place(advice: &TailAdvice) -> Option<String> {
    (advice.job != "links").then(|| format!("jobs/{}.yaml:2", advice.job))
}

fn widest(text: &str) -> usize {
    text.lines()
        .map(|line| line.chars().count())
        .max()
        .unwrap_or_default()
}

#[test]
fn report_in_eighty_columns() {
    let text = render_breakdown(&report(), None, &View::jst(80), &place);
    assert!(widest(&text) <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn one_way_in_full() {
    let text = render_breakdown(&report(), Some(By::Group), &View::jst(80), &place);
    assert!(widest(&text) <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn two_spans_side_by_side() {
    let span = Scope {
        since: at(-24 * 60),
        until: at(0),
        ..scope()
    };
    let runs = [
        sent("digest", -300, Outcome::Exhausted, &[900, 900, 900]),
        answered("digest", -200, 4000),
    ];
    let before = tally(span, &runs, &[]);
    let text = render_comparison(&before, &report(), Some(By::Job), &View::jst(80));
    assert!(widest(&text) <= 80, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn spans_of_unlike_length_are_told() {
    let span = Scope {
        since: at(-60),
        until: at(0),
        ..scope()
    };
    let text = render_comparison(&tally(span, &[], &[]), &report(), None, &View::jst(80));
    assert!(text.contains("not equally long"), "{text}");
    let whole = report();
    let text = render_comparison(&whole, &whole, None, &View::jst(80));
    assert!(!text.contains("not equally long"), "{text}");
    assert!(text.contains("+0 %"), "{text}");
}

#[test]
fn overview_of_many_rows_shows_the_slowest_and_says_how_many_more() {
    let names: Vec<&'static str> = (0..40)
        .map(|n| &*Box::leak(format!("job-{n:02}").into_boxed_str()))
        .collect();
    let runs: Vec<Sent> = (0..)
        .zip(&names)
        .map(|(n, job)| answered(job, n, 1000 + n.unsigned_abs()))
        .collect();
    let text = render_breakdown(&night(&runs), None, &View::jst(80), &place);
    assert!(
        text.contains("and 16 more with a lower p99: `--by job` shows them"),
        "{text}"
    );
    assert!(text.contains("job-39") && text.contains("job-16"), "{text}");
    assert!(!text.contains("job-15  "), "{text}");
    let text = render_breakdown(&night(&runs), Some(By::Job), &View::jst(80), &place);
    assert!(text.contains("job-00"), "{text}");
}
