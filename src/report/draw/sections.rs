//! Figures told apart: by group, job, model, hour or day.

use std::time::Duration;

use chrono::NaiveDate;

use super::bars::{bar, sparkline};
use crate::price::prompt_tokens;
use crate::report::breakdown::Section;
use crate::report::figures::{By, Figures};
use crate::report::percentiles::Percentiles;
use crate::report::table::{Align, lay_out};
use crate::report::view::{View, span};

/// A name takes no more columns than this.
const NAME: usize = 20;

/// How wide the longest bar is.
const BAR: usize = 8;

/// An overview shows no more rows than this: those with the highest p99.
const ROWS: usize = 24;

/// The overview of one way: latencies, waste, a bar of p99; by hour a sparkline too. Of days, which may be hundreds, the
/// line alone.
pub(super) fn short(section: &Section, view: &View) -> String {
    if section.by == By::Day {
        return days(section, view);
    }
    let rows = highest(section);
    let most = rows
        .iter()
        .filter_map(|(_, it)| it.latency)
        .map(|it| it.p99.as_millis())
        .max();
    let mut table = vec![head(
        section.by,
        view,
        &[
            "attempts", "p50", "p95", "p99", "max", "a call", "wasted", "p99",
        ],
    )];
    table.extend(rows.iter().map(|(name, figures)| {
        let mut row = vec![name_cell(name), figures.attempts.to_string()];
        row.extend(latencies(figures.latency.as_ref()));
        row.extend([mean(figures), figures.wasted.to_string()]);
        row.push(match &figures.latency {
            Some(latency) if latency.is_very_few() => "few".to_owned(),
            Some(latency) => bar(latency.p99.as_millis(), most.unwrap_or_default(), BAR),
            None => String::new(),
        });
        row
    }));
    let right = Align::Right;
    let aligns = [
        Align::Left,
        right,
        right,
        right,
        right,
        right,
        right,
        right,
        Align::Left,
    ];
    let mut text = lay_out(&table, &aligns, view.width);
    if rows.len() < section.rows.len() {
        let more = section.rows.len() - rows.len();
        let by = section.by.as_str();
        let note = format!("and {more} more with a lower p99: `--by {by}` shows them\n");
        text.push_str(&note);
    }
    text + &line_of(section, view)
}

/// All figures of one way, in four tables.
pub(super) fn full(section: &Section, view: &View) -> String {
    let tables = [
        percentile_table(section, "latency", view, |it| it.latency.as_ref()),
        percentile_table(section, "first byte", view, |it| it.first_byte.as_ref()),
        completion_table(section, view),
        use_table(section, view),
    ];
    tables.join("\n") + &line_of(section, view)
}

/// p99 and waste of each row, before and now.
pub(super) fn side_by_side(before: &Section, now: &Section, view: &View) -> String {
    let mut names: Vec<&str> = before
        .rows
        .iter()
        .chain(&now.rows)
        .map(|(name, _)| name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    let heads = [
        "p99 before",
        "now",
        "wasted before",
        "now",
        "yields before",
        "now",
    ];
    let mut table = vec![head(now.by, view, &heads)];
    table.extend(names.into_iter().map(|name| {
        let (was, is) = (before.find(name), now.find(name));
        let p99 = |it: Option<&Figures>| or_dash(it.and_then(|it| it.latency).map(|it| it.p99));
        let count = |it: Option<&Figures>, of: fn(&Figures) -> usize| {
            it.map_or_else(|| "-".to_owned(), |it| of(it).to_string())
        };
        let wasted = |it| count(it, |it| it.wasted);
        let yields = |it| count(it, Figures::yielded);
        vec![
            name_cell(name),
            p99(was),
            p99(is),
            wasted(was),
            wasted(is),
            yields(was),
            yields(is),
        ]
    }));
    let right = Align::Right;
    lay_out(
        &table,
        &[Align::Left, right, right, right, right, right, right],
        view.width,
    )
}

/// The rows with the highest p99, by name.
fn highest(section: &Section) -> Vec<&(String, Figures)> {
    let mut rows: Vec<_> = section.rows.iter().collect();
    if rows.len() > ROWS {
        rows.sort_by_key(|(_, it)| std::cmp::Reverse(it.latency.map(|latency| latency.p99)));
        rows.truncate(ROWS);
        rows.sort_by(|(one, _), (other, _)| one.cmp(other));
    }
    rows
}

/// p99 as a line over a section by time.
fn line_of(section: &Section, view: &View) -> String {
    match section.by {
        By::Hour => hours(section, view),
        By::Day => days(section, view),
        By::Group | By::Job | By::Model => String::new(),
    }
}

/// p99 from day to day as a line, a dot for a day without an attempt; of many days the last that fit.
fn days(section: &Section, view: &View) -> String {
    let p99 = |(day, it): &(String, Figures)| Some((day.parse().ok()?, it.latency?.p99));
    let known: Vec<(NaiveDate, Duration)> = section.rows.iter().filter_map(p99).collect();
    let Some((last, _)) = known.last() else {
        return String::new();
    };
    // The words beside the line take some fifty columns.
    let most = view.width.saturating_sub(56).max(14);
    let shown: Vec<&(NaiveDate, Duration)> = known
        .iter()
        .filter(|(day, _)| (*last - *day).num_days() < i64::try_from(most).unwrap_or(i64::MAX))
        .collect();
    let Some((first, _)) = shown.first() else {
        return String::new();
    };
    let on = |day: NaiveDate| shown.iter().find(|(other, _)| *other == day);
    let values: Vec<Option<u128>> = first
        .iter_days()
        .take_while(|day| day <= last)
        .map(|day| on(day).map(|(_, p99)| p99.as_millis()))
        .collect();
    let highest = shown.iter().rev().max_by_key(|(_, p99)| *p99);
    let highest = highest.map_or_else(String::new, |(day, p99)| {
        format!("up to {} on {}", span(*p99), day.format("%m-%d"))
    });
    format!(
        "p99 from {first} to {} {}  {}  {highest}\n",
        last.format("%m-%d"),
        view.label,
        sparkline(&values)
    )
}

/// p99 over the day as a line, of a section by hour.
fn hours(section: &Section, view: &View) -> String {
    let p99 = |hour: u32| {
        section
            .find(&format!("{hour:02}"))?
            .latency
            .map(|it| it.p99)
    };
    let values: Vec<Option<Duration>> = (0..24).map(p99).collect();
    let Some(most) = values.iter().flatten().max() else {
        return String::new();
    };
    let line = sparkline(
        &values
            .iter()
            .map(|it| it.map(|it| it.as_millis()))
            .collect::<Vec<_>>(),
    );
    format!(
        "p99 from 00 to 23 {}  {line}  up to {}\n",
        view.label,
        span(*most)
    )
}

fn percentile_table(
    section: &Section,
    word: &str,
    view: &View,
    of: fn(&Figures) -> Option<&Percentiles>,
) -> String {
    let mut table = vec![head(
        section.by,
        view,
        &[word, "p50", "p95", "p99", "max", ""],
    )];
    table.extend(section.rows.iter().map(|(name, figures)| {
        let found = of(figures);
        let samples = found.map_or(0, |it| it.samples);
        let mut row = vec![name_cell(name), samples.to_string()];
        row.extend(latencies(found));
        row.push(match found {
            Some(found) if found.is_very_few() => "few samples".to_owned(),
            Some(found) if found.is_few() => "too few for p99".to_owned(),
            Some(_) | None => String::new(),
        });
        row
    }));
    let right = Align::Right;
    lay_out(
        &table,
        &[Align::Left, right, right, right, right, right, Align::Left],
        view.width,
    )
}

fn completion_table(section: &Section, view: &View) -> String {
    let mut table = vec![head(
        section.by,
        view,
        &["due", "done", "p50", "p95", "p99", "max"],
    )];
    table.extend(section.rows.iter().map(|(name, figures)| {
        let it = &figures.completion;
        let mut row = vec![
            name_cell(name),
            it.due.to_string(),
            it.completed.to_string(),
        ];
        row.extend([it.p50, it.p95, it.p99, it.max].map(or_dash));
        row
    }));
    let right = Align::Right;
    lay_out(
        &table,
        &[Align::Left, right, right, right, right, right, right],
        view.width,
    )
}

fn use_table(section: &Section, view: &View) -> String {
    let heads = [
        "a call",
        "wasted",
        "tokens in",
        "out",
        "hits",
        "dollars",
        "yields",
    ];
    let mut table = vec![head(section.by, view, &heads)];
    table.extend(section.rows.iter().map(|(name, figures)| {
        let counted = &figures.tokens.counted;
        let yields = figures
            .yields
            .iter()
            .map(|(gate, count)| format!("{count} {gate}"));
        let unknown = if figures.dollars.unknown > 0 {
            "+?"
        } else {
            ""
        };
        vec![
            name_cell(name),
            mean(figures),
            figures.wasted.to_string(),
            prompt_tokens(counted).to_string(),
            counted.output_tokens.to_string(),
            format!("{}/{}", figures.cache_hits, figures.counted),
            format!("{:.4}{unknown}", figures.dollars.known.as_f64()),
            yields.collect::<Vec<_>>().join(", "),
        ]
    }));
    let right = Align::Right;
    let aligns = [
        Align::Left,
        right,
        right,
        right,
        right,
        right,
        right,
        Align::Left,
    ];
    lay_out(&table, &aligns, view.width)
}

fn head(by: By, view: &View, rest: &[&str]) -> Vec<String> {
    let first = match by {
        By::Hour | By::Day => view.head(by.as_str()),
        By::Group | By::Job | By::Model => by.as_str().to_owned(),
    };
    std::iter::once(first)
        .chain(rest.iter().map(|word| (*word).to_owned()))
        .collect()
}

fn latencies(figures: Option<&Percentiles>) -> [String; 4] {
    let spans = figures.map(|it| [it.p50, it.p95, it.p99, it.max]);
    spans.map_or_else(|| [(); 4].map(|()| "-".to_owned()), |spans| spans.map(span))
}

fn or_dash(figure: Option<Duration>) -> String {
    figure.map_or_else(|| "-".to_owned(), span)
}

fn mean(figures: &Figures) -> String {
    figures
        .mean_attempts()
        .map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"))
}

/// A name cut to its column: its end tells models apart, its beginning jobs, so the middle goes.
fn name_cell(name: &str) -> String {
    let chars: Vec<char> = name.chars().collect();
    if chars.len() <= NAME {
        return name.to_owned();
    }
    let (head, tail) = (NAME / 2, NAME - NAME / 2 - 1);
    let ends = [&chars[..head], &['…'], &chars[chars.len() - tail..]];
    ends.concat().into_iter().collect()
}
