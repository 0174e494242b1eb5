//! The slowest attempts with their patterns, and what to change.

use crate::report::render::counted;
use crate::report::table::{Align, lay_out};
use crate::report::tail::{Advice, Evidence, Tail, TailSample};
use crate::report::view::{View, span};

/// So many of the worst are listed; JSON has all of them.
const LISTED: usize = 10;

/// The patterns, the worst attempts, the advice; nothing where no attempt was measured.
pub(super) fn render(
    tail: &Tail,
    view: &View,
    place_of: &dyn Fn(&Advice) -> Option<String>,
) -> Vec<String> {
    if tail.samples == 0 {
        return Vec::new();
    }
    let mut parts = vec![patterns(tail, view), worst(tail, view)];
    if !tail.advice.is_empty() {
        parts.push(advice(&tail.advice, view, place_of));
    }
    parts
}

fn patterns(tail: &Tail, view: &View) -> String {
    let rows = pattern_rows(tail)
        .map(|(word, count, what)| vec![word.to_owned(), count.to_string(), what.to_owned()]);
    format!(
        "{}\n{}",
        slowest(tail),
        lay_out(&rows, &[Align::Left, Align::Right, Align::Left], view.width)
    )
}

/// Each pattern with how many of the slowest show it, and what it means.
pub(in crate::report) fn pattern_rows(tail: &Tail) -> [(&'static str, usize, &'static str); 4] {
    [
        (
            "peak jitter",
            tail.peak_jitter,
            "in a peak window; that hour spreads wider, or is not known to",
        ),
        (
            "retry collision",
            tail.retry_collision,
            "retried beside another run of the group",
        ),
        (
            "long cold input",
            tail.long_cold_input,
            "12,000 tokens or more, none from the cache",
        ),
        ("none of these", tail.none, ""),
    ]
}

/// How many attempts are looked at.
pub(in crate::report) fn slowest(tail: &Tail) -> String {
    let sum = tail.peak_jitter + tail.retry_collision + tail.long_cold_input + tail.none;
    let several = if sum > tail.samples {
        "; some show several patterns"
    } else {
        ""
    };
    format!(
        "the slowest {}, {} and more{several}",
        counted(tail.samples, "attempt"),
        span(tail.from),
    )
}

/// The worst attempts in lines of a table, and under each what speaks for its patterns.
fn worst(tail: &Tail, view: &View) -> String {
    let head = [&view.head("sent"), "try", "latency", "job"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let listed = || tail.worst.iter().take(LISTED);
    rows.extend(listed().map(|sample| {
        vec![
            view.time(sample.at),
            sample.n.to_string(),
            span(sample.latency),
            sample.job.clone(),
        ]
    }));
    let table = lay_out(
        &rows,
        &[Align::Left, Align::Right, Align::Right, Align::Left],
        view.width,
    );
    let mut lines = table.lines();
    let mut text = lines
        .next()
        .map(|head| format!("{head}\n"))
        .unwrap_or_default();
    for (line, sample) in lines.zip(listed()) {
        text.push_str(line);
        text.push('\n');
        if !sample.evidence.is_empty() {
            text.push_str(&wrapped(&evidence(sample), view.width));
        }
    }
    text
}

/// What speaks for the patterns of an attempt; empty if it shows none.
pub(in crate::report) fn evidence(sample: &TailSample) -> String {
    let words = sample.evidence.iter().map(|evidence| match evidence {
        Evidence::PeakJitter {
            hour,
            spread,
            off_peak,
        } => match spread.zip(*off_peak) {
            Some((inside, outside)) => format!(
                "peak jitter: {hour:02}h spreads {}, off-peak {}",
                span(inside),
                span(outside)
            ),
            None => "peak jitter: in a window, too few samples to compare".to_owned(),
        },
        Evidence::RetryCollision { other, apart } if apart.is_zero() => {
            format!("retry collision: at once with {other}")
        }
        Evidence::RetryCollision { other, apart } => {
            format!("retry collision: {} from {other}", span(*apart))
        }
        Evidence::LongColdInput { tokens } => format!("long cold input: {tokens} tokens"),
    });
    words.collect::<Vec<_>>().join("; ")
}

fn advice(advice: &[Advice], view: &View, place_of: &dyn Fn(&Advice) -> Option<String>) -> String {
    let mut text = "what to change\n".to_owned();
    for advice in advice {
        let place = place_of(advice).unwrap_or_else(|| format!("job {}", advice.job));
        let line = format!(
            "{place}: `{}` of `{}`, {} of the slowest: {}",
            advice.field.as_str(),
            advice.job,
            advice.samples,
            advice.words
        );
        text.push_str(&wrapped(&line, view.width));
    }
    text
}

/// A text in lines of at most `width` columns, broken at blanks, indented from the second line on.
fn wrapped(text: &str, width: usize) -> String {
    let mut lines = String::new();
    let mut line = String::from("- ");
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > width && line.trim() != "-" {
            lines.push_str(line.trim_end());
            lines.push('\n');
            line = String::from("  ");
        }
        if !line.ends_with("  ") && !line.ends_with("- ") {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines + line.trim_end() + "\n"
}
