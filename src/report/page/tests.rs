use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use super::{PageView, render_page};
use crate::outcome::Outcome;
use crate::outcome::YieldReason;
use crate::report::breakdown::{Breakdown, Section};
use crate::report::dots::{Dot, DotEnd};
use crate::report::figures::{By, Figures};
use crate::report::fixture::{Sent, answered, night, scope, sent};
use crate::report::percentiles::Percentiles;
use crate::report::samples::at;
use crate::report::{Scope, View};

/// A fortnight from midnight in Japan on.
fn fortnight() -> Scope {
    Scope {
        since: day_at(0),
        until: day_at(14),
        ..scope()
    }
}

fn day_at(day: i64) -> DateTime<Utc> {
    let first: DateTime<Utc> = "2026-11-30T15:00:00Z".parse().unwrap();
    first + TimeDelta::days(day)
}

fn latency(ms: &[u64]) -> Option<Percentiles> {
    let mut spans: Vec<Duration> = ms.iter().copied().map(Duration::from_millis).collect();
    Percentiles::of(&mut spans)
}

/// Figures of so many attempts of this latency, the first of them wasted.
fn figures(attempts: usize, wasted: usize, ms: u64) -> Figures {
    Figures {
        attempts,
        calls: attempts,
        wasted,
        latency: latency(&vec![ms; attempts]),
        ..Figures::default()
    }
}

/// A report with these days of figures; its dots are one an attempt, at noon in Japan.
fn report(days: &[(i64, Figures)]) -> Breakdown {
    let mut report = night(&[]);
    report.scope = fortnight();
    let rows = days.iter().map(|(day, figures)| {
        let name = View::jst(0).time(day_at(*day));
        (name[..10].to_owned(), figures.clone())
    });
    report.sections[4] = Section {
        by: By::Day,
        rows: rows.collect(),
    };
    for (day, figures) in days {
        let total = &mut report.total;
        total.attempts += figures.attempts;
        total.calls += figures.calls;
        total.wasted += figures.wasted;
        total.latency = total.latency.or(figures.latency);
        for (gate, count) in &figures.yields {
            *total.yields.entry(*gate).or_default() += count;
        }
        let ends = (0..figures.attempts).map(|n| {
            if n < figures.wasted {
                DotEnd::Failed
            } else {
                DotEnd::Answered
            }
        });
        report.dots.extend(ends.map(|end| Dot {
            at: day_at(*day) + TimeDelta::hours(12),
            latency: figures.latency.unwrap().p50,
            end,
            is_peak: false,
        }));
    }
    report.dots_of = report.dots.len();
    report
}

/// The windows of the defaults.
fn is_peak(at: DateTime<Utc>) -> bool {
    matches!((at + TimeDelta::hours(9)).hour(), 7..9 | 18..23)
}

fn page_with(report: &Breakdown, is_peak: &dyn Fn(DateTime<Utc>) -> bool) -> String {
    let view = PageView {
        view: View::jst(80),
        by: None,
        is_peak,
        place_of: &|_| None,
    };
    render_page(report, None, &view)
}

fn page(report: &Breakdown) -> String {
    page_with(report, &is_peak)
}

/// The wide drawing of the picture with this name.
fn drawing<'a>(page: &'a str, name: &str) -> &'a str {
    let start = page
        .find(&format!("aria-labelledby=\"{name}-wide-title"))
        .unwrap();
    let rest = &page[start..];
    &rest[..rest.find("</svg>").unwrap()]
}

/// The text within the first such markup.
fn within<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text
        .split_once(before)
        .unwrap_or_else(|| panic!("{before} is not in {text}"));
    rest.split_once(after).unwrap().0
}

fn path_of<'a>(drawing: &'a str, class: &str) -> &'a str {
    within(drawing, &format!("<path class=\"{class}\" d=\""), "\"")
}

#[test]
fn each_picture_has_a_name_and_words_and_a_table_with_its_numbers() {
    let page = page(&report(&[
        (0, figures(30, 4, 900)),
        (2, figures(25, 0, 2000)),
    ]));
    for name in ["latency", "clock", "counts"] {
        for layout in ["wide", "narrow"] {
            let id = format!("{name}-picture-{layout}");
            let svg = format!("role=\"img\" aria-labelledby=\"{id}-title {id}-words\"");
            assert!(page.contains(&svg), "{svg}");
            assert!(!within(&page, &format!("<title id=\"{id}-title\">"), "</title>").is_empty());
            assert!(!within(&page, &format!("<desc id=\"{id}-words\">"), "</desc>").is_empty());
        }
        assert!(
            page.contains(&format!("<caption id=\"{name}-table\">")),
            "{name}"
        );
    }
    assert!(page.contains(
        "<tr><th scope=\"row\"><bdi>2026-12-01</bdi></th><td class=\"n\">30</td><td class=\"n\">900ms</td>"
    ));
    assert!(page.contains(
        "<tr><th scope=\"row\"><bdi>2026-12-01</bdi></th><td class=\"n\">30</td><td class=\"n\">26</td>\
         <td class=\"n\">4</td><td class=\"n\">0</td></tr>"
    ));
}

#[test]
fn line_breaks_where_a_day_has_no_attempts() {
    let days = [0, 1, 3].map(|day| (day, figures(30, 0, 900)));
    let page = page(&report(&days));
    let line = path_of(drawing(&page, "latency-picture"), "line p50").to_owned();
    let steps: String = line.chars().filter(char::is_ascii_alphabetic).collect();
    assert_eq!(steps, "MLM", "{line}");
}

#[test]
fn days_of_few_samples_have_hollow_marks_and_are_told() {
    let page = page(&report(&[
        (0, figures(19, 0, 900)),
        (1, figures(120, 0, 900)),
    ]));
    let drawing = drawing(&page, "latency-picture");
    let marks = |class: &str| path_of(drawing, class).matches('z').count();
    assert_eq!((marks("mark few p50"), marks("mark p50")), (1, 1));
    assert!(page.contains("hollow: a day of fewer than 20 samples"));
    assert!(page.contains("<bdi>few</bdi>"));
}

#[test]
fn one_sample_is_drawn_and_called_few() {
    let page = page(&report(&[(3, figures(1, 0, 700))]));
    assert!(page.contains("Few samples: 1 attempt in all."), "{page}");
    for name in ["latency-picture", "clock-picture"] {
        assert!(
            drawing(&page, name).contains(">few samples: 1 attempt</text>"),
            "{name}"
        );
    }
    assert!(!page.contains("NaN") && !page.contains("inf"));
}

#[test]
fn ninety_nine_samples_are_too_few_for_p99_and_a_hundred_are_not() {
    let told = |samples| {
        page(&report(&[(0, figures(samples, 0, 700))])).contains("are too few for p99: it is")
    };
    assert!(told(99) && !told(100) && !told(19));
}

#[test]
fn names_at_one_height_do_not_cover_each_other() {
    let page = page(&report(&[(13, figures(40, 0, 700))]));
    let drawing = drawing(&page, "latency-picture");
    let heights = ["p99", "p95", "p50"].map(|name| {
        let before = drawing.split(&format!(">{name}</text>")).next().unwrap();
        let y = before.rsplit("y=\"").next().unwrap().trim_end_matches('"');
        y.parse::<f64>().unwrap()
    });
    assert!(
        heights[1] - heights[0] >= 13.0 && heights[2] - heights[1] >= 13.0,
        "{heights:?}"
    );
}

#[test]
fn attempts_stand_at_their_time_in_japan_and_failed_ones_have_another_shape() {
    let mut report = report(&[(0, figures(2, 1, 1000))]);
    report.dots[1].at = day_at(0);
    let page = page(&report);
    let drawing = drawing(&page, "clock-picture");
    // The axis is 860 wide and begins at 46.
    assert!(path_of(drawing, "dots").starts_with("M46.0 "), "midnight");
    assert!(
        path_of(drawing, "crosses").starts_with("M473.0 "),
        "noon, three to the left"
    );
    assert!(page.contains("1 of them failed and 0 begun in a peak window"));
}

#[test]
fn peak_windows_are_shaded_at_their_times() {
    let page = page(&report(&[(0, figures(2, 0, 1000))]));
    let shades = within(drawing(&page, "clock-picture"), "class=\"peak\" fill", "/>");
    assert_eq!(shades.matches('M').count(), 2, "{shades}");
    assert!(
        shades.contains("M296.8 24.0h71.7"),
        "seven to nine: {shades}"
    );
    assert!(page.contains("Times in Japan: peak windows 07:00-09:00, 18:00-23:00."));
    assert!(!page.contains("on some of the days"));
}

#[test]
fn windows_of_some_days_or_another_zone_are_told_apart() {
    // From eight to nine in the evening, and from the third day on an hour later: clocks changed there.
    let moving = |at: DateTime<Utc>| {
        let hour = if at < day_at(2) { 20 } else { 21 };
        (at + TimeDelta::hours(9)).hour() == hour
    };
    let page = page_with(&report(&[(0, figures(2, 0, 1000))]), &moving);
    assert!(
        page.contains("peak windows 20:00-22:00 on some days"),
        "{page}"
    );
    assert!(page.contains("peak window on some of the days"));
    let none = page_with(&report(&[(0, figures(2, 0, 1000))]), &|_| false);
    assert!(none.contains("Times in Japan: there is no peak window."));
}

#[test]
fn picked_attempts_are_told_to_be_picked() {
    let mut report = report(&[(0, figures(2, 0, 1000))]);
    report.dots_of = 50;
    assert!(
        page(&report)
            .contains("2 of 50 attempts are drawn: the slowest, and an even pick of the rest.")
    );
}

#[test]
fn waste_stands_on_what_was_answered() {
    let page = page(&report(&[(0, figures(4, 1, 900))]));
    let drawing = drawing(&page, "counts-picture");
    // The axis goes up to four: each attempt is a quarter of 130.
    assert!(
        path_of(drawing, "whole").contains(" 56.5h39.5v97.5"),
        "{drawing}"
    );
    let waste = within(drawing, "class=\"waste\" fill", "/>");
    assert!(waste.contains(" 24.0h39.5v32.5"), "{waste}");
}

#[test]
fn yields_have_a_row_for_each_gate_and_a_number_at_each_bar() {
    let mut some = figures(4, 1, 900);
    some.yields = [(YieldReason::Budget, 2), (YieldReason::Breaker, 9)].into();
    let page = page(&report(&[(0, some)]));
    let drawing = drawing(&page, "counts-picture");
    assert!(
        drawing.contains(">yields: budget 2, at most 2 a day</text>"),
        "{drawing}"
    );
    assert!(drawing.contains(">9</text>"));
    assert_eq!(drawing.matches("class=\"yields\"").count(), 2);
    assert!(page.contains("<th scope=\"col\" class=\"n\">breaker</th>"));
}

#[test]
fn work_that_only_yielded_has_no_empty_axes() {
    let yields = [(YieldReason::Budget, 1)].into();
    let page = page(&report(&[(
        0,
        Figures {
            yields,
            ..Figures::default()
        },
    )]));
    assert!(
        !page.contains("latency-picture") && !page.contains("clock-picture"),
        "{page}"
    );
    assert!(page.contains("No attempt was measured"));
    let drawing = drawing(&page, "counts-picture");
    assert!(
        !drawing.contains(">attempts</text>") && !drawing.contains("class=\"whole\""),
        "{drawing}"
    );
    assert!(page.contains("Nothing was sent."));
}

#[test]
fn nothing_has_no_picture() {
    let page = page(&night(&[]));
    assert!(!page.contains("<svg"), "{page}");
    assert!(page.contains("Nothing was sent and nothing yielded"));
}

#[test]
fn days_outside_the_span_on_which_its_work_was_done_are_drawn_too() {
    let page = page(&report(&[
        (-1, figures(2, 0, 900)),
        (15, figures(2, 0, 900)),
    ]));
    assert!(
        page.contains("Latency percentiles by day, 2026-11-30 to 2026-12-16</title>"),
        "{page}"
    );
}

#[test]
fn long_spans_are_drawn_where_something_happened_and_scroll() {
    let mut report = report(&[(0, figures(2, 0, 900)), (10, figures(2, 0, 900))]);
    report.scope.since = day_at(-200_000);
    let short = page(&report);
    assert!(short.contains("2026-12-01 to 2026-12-11, the days on which something happened"));
    assert!(!short.contains("class=\"long\""));
    let (_, last) = report.sections[4].rows[1].clone();
    report.sections[4]
        .rows
        .push(("2027-12-01".to_owned(), last));
    let long = page(&report);
    assert!(long.contains(
        "<div class=\"picture wide\" tabindex=\"0\" role=\"region\" aria-label=\"Latency"
    ));
    assert!(
        long.contains("<svg class=\"long\" width=\"1180\""),
        "three pixels a day: {long}"
    );
    assert!(long.contains(">2027-06</text>"), "months below");
    report.sections[4]
        .rows
        .push(("9999-12-31".to_owned(), figures(1, 0, 900)));
    let endless = page(&report);
    assert!(endless.len() < 400_000, "{}", endless.len());
    assert!(
        endless.contains("<bdi>9999-12-31</bdi>") && !endless.contains("<bdi>2027-12-01</bdi>")
    );
}

#[test]
fn page_asks_nothing_of_the_world() {
    let page = page(&report(&[(0, figures(30, 4, 900))]));
    for word in [
        "<script",
        "javascript:",
        "http:",
        "https:",
        "@import",
        "<img",
        "onload",
    ] {
        assert!(!page.contains(word), "{word}");
    }
    let addresses = page.matches("url(").count();
    assert_eq!(
        addresses,
        page.matches("url(#").count(),
        "only parts of the page itself"
    );
    assert!(
        page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"")
    );
}

#[test]
fn headings_are_in_order_and_names_are_given_once() {
    let mut report = report(&[(0, figures(30, 4, 900))]);
    report.sections[0] = night(&[answered("digest", 0, 700)]).sections[0].clone();
    let page = page(&report);
    let mut level = 0;
    for heading in page
        .match_indices("<h")
        .filter_map(|(at, _)| page[at + 2..].chars().next())
    {
        let Some(next) = heading.to_digit(10) else {
            continue;
        };
        assert!(next <= level + 1, "{next} after {level}");
        level = next;
    }
    assert_eq!(page.matches("<h1>").count(), 1);
    let mut ids: Vec<&str> = page
        .split(" id=\"")
        .skip(1)
        .map(|it| it.split('"').next().unwrap())
        .collect();
    let all = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), all, "{ids:?}");
    for labels in page.split("aria-labelledby=\"").skip(1) {
        for label in labels.split('"').next().unwrap().split(' ') {
            assert!(ids.contains(&label), "nothing is called {label}");
        }
    }
}

#[test]
fn names_from_the_store_bring_no_markup() {
    let hostile = "<script>alert('\"&')</script>\u{202e}`\u{0}";
    let runs: Vec<Sent> = (0..30)
        .map(|n| Sent {
            group: hostile,
            model: hostile,
            ..sent(hostile, n, Outcome::Succeeded, &[400, 90_000])
        })
        .collect();
    let mut cold = runs.clone();
    for run in &mut cold {
        run.usage.as_mut().unwrap().input_tokens = 50_000;
    }
    let report = night(&cold);
    assert!(!report.tail.advice.is_empty());
    let view = PageView {
        view: View::jst(80),
        by: None,
        is_peak: &is_peak,
        place_of: &|_| Some(format!("jobs/{hostile}.yaml:1")),
    };
    let page = render_page(&report, Some(&report), &view);
    assert!(
        !page.contains("<script") && !page.contains('\u{0}'),
        "{page}"
    );
    assert!(page.contains(
        "<bdi>&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;\u{202e}`\u{fffd}</bdi>"
    ));
    let turned = page.match_indices('\u{202e}').filter(|(at, _)| {
        let before = &page[..*at];
        before.rfind("<bdi>") < before.rfind("</bdi>")
    });
    assert_eq!(
        turned.count(),
        0,
        "each is kept apart from the text around it"
    );
}

#[test]
fn two_spans_have_their_table_and_what_limits_it() {
    let before = night(&[sent("digest", 0, Outcome::Exhausted, &[900, 900, 900])]);
    let mut now = night(&[answered("digest", 0, 450)]);
    now.scope.until = at(100);
    let view = PageView {
        view: View::jst(80),
        by: None,
        is_peak: &is_peak,
        place_of: &|_| None,
    };
    let page = render_page(&now, Some(&before), &view);
    assert!(page.contains(
        "<th scope=\"row\"><bdi>latency p50</bdi></th><td class=\"n\">900ms</td><td class=\"n\">450ms</td>\
         <td class=\"n\">-50 %</td>"
    ));
    assert!(page.contains("before: 3 attempts, too few for p99"));
    assert!(page.contains("not equally long"));
}

#[test]
fn one_way_alone_is_told_apart_if_asked() {
    let report = night(&[answered("digest", 0, 450)]);
    let view = |by| PageView {
        view: View::jst(80),
        by,
        is_peak: &is_peak,
        place_of: &|_| None,
    };
    let headings = |by| {
        let page = render_page(&report, None, &view(by));
        page.split("<h3>")
            .skip(1)
            .map(|it| it.split("</h3>").next().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        headings(None),
        ["By group", "By job", "By model", "By hour"]
    );
    assert_eq!(headings(Some(By::Job)), ["By job"]);
}

#[test]
fn page_of_very_many_jobs_shows_those_with_the_highest_p99() {
    let mut report = night(&[answered("digest", 0, 450)]);
    let rows = (0..600).map(|n| (format!("job-{n:03}"), figures(1, 0, 1000 + n)));
    report.sections[1].rows = rows.collect();
    let page = page(&report);
    assert!(page.contains("And 100 more with a lower p99"), "{page}");
    assert!(page.contains("<bdi>job-100</bdi>") && !page.contains("<bdi>job-099</bdi>"));
    assert!(page.contains("<summary>Figures by job: 500 rows</summary>"));
}

#[test]
fn advice_stands_in_words_with_its_place() {
    let runs: Vec<Sent> = (0..25)
        .map(|n| sent("digest", 310 + n, Outcome::Succeeded, &[9000]))
        .collect();
    let report = night(&runs);
    let view = PageView {
        view: View::jst(80),
        by: None,
        is_peak: &is_peak,
        place_of: &|_| Some("jobs/digest.yaml:2".to_owned()),
    };
    let page = render_page(&report, None, &view);
    assert!(page.contains("<h3>What to change</h3>"), "{page}");
    assert!(page.contains(
        "<li><bdi>jobs/digest.yaml:2</bdi>: <code>cron</code> of <code><bdi>digest</bdi></code>, "
    ));
    assert!(page.contains("<code><bdi>offpeak plan --spread</bdi></code>"));
}
