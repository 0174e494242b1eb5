//! Draws the figures of arms as text and as Markdown.

use std::collections::BTreeSet;

use super::contrast::Contrast;
use super::few::few_words;
use super::figure::{BEYOND, change, difference, difference_quartiles, interval, quartiles, value};
use super::metric::{Metric, Unit};
use super::summary::{Spread, Summary};
use super::table::{Table, broken};
use super::value::Value;
use crate::report::columns_of;

/// An arm with its name.
#[derive(Debug, Clone, Copy)]
pub struct Arm<'a> {
    /// What it is called.
    pub name: &'a str,
    /// Its figures.
    pub summary: &'a Summary,
}

/// The figures of one arm: how each spreads over the seeds. Figures of which there was nothing to measure are left out.
///
/// ```
/// use offpeak::trial::{Arm, Log, Score, Summary, render_arm};
///
/// let summary = Summary::of(&[Score::of(&Log::default())]);
/// let text = render_arm(&Arm { name: "new client", summary: &summary }, 100);
/// assert!(text.starts_with("new client, 1 seed\n"));
/// ```
#[must_use]
pub fn render_arm(arm: &Arm<'_>, width: usize) -> String {
    let head = ["", "median", "25 %", "75 %", "least", "most", "seeds"];
    let mut table = Table {
        head: head.map(str::to_owned).to_vec(),
        rows: Vec::new(),
    };
    let (metrics, none) = told_apart(&[*arm], width);
    for metric in metrics {
        let spread = arm.summary.spread(metric);
        let values = [
            spread.median,
            spread.low,
            spread.high,
            spread.least,
            spread.most,
        ];
        let mut row = vec![metric.label().to_owned()];
        row.extend(values.map(|it| value(it, metric.unit())));
        row.push(spread.measured.to_string());
        table.rows.push(row);
    }
    let text = table.text(width);
    let title = format!("{}, {}\n\n", arm.name, seeds(arm.summary));
    title + &text + "\n" + &none + &note(&[*arm]) + &few(&[*arm], width)
}

/// Several arms side by side: medians, and quartiles in brackets where the seeds do not agree.
///
/// Where that is wider than `width`, the quartiles stand below the medians; where that is still too wide, the arms stand
/// two and two.
#[must_use]
pub fn render_arms(arms: &[Arm<'_>], width: usize) -> String {
    let (metrics, none) = told_apart(arms, width);
    let beside = beside(arms, &metrics, Pad::Columns);
    let table = if beside.width() <= width {
        beside
    } else {
        below(arms, &metrics)
    };
    table.text(width) + "\n" + &legend(arms, width) + &none + &note(arms) + &few(arms, width)
}

/// The same as Markdown rows.
#[must_use]
pub fn markdown_arms(arms: &[Arm<'_>]) -> String {
    beside(arms, &measured(arms), Pad::None).markdown()
}

/// What sets a second arm apart from a first, figure by figure.
#[must_use]
pub fn render_contrasts(
    first: &Arm<'_>,
    second: &Arm<'_>,
    contrasts: &[Contrast],
    width: usize,
) -> String {
    let arms = [*first, *second];
    let (metrics, none) = told_apart(&arms, width);
    let full = contrast_table(&arms, contrasts, &metrics, QUARTILES);
    let table = if full.width() <= width {
        full
    } else {
        contrast_table(&arms, contrasts, &metrics, "")
    };
    let legend = broken(CONTRAST_LEGEND, width).join("\n");
    table.text(width) + "\n" + &legend + "\n" + &none + &note(&arms)
}

/// The same as Markdown rows.
#[must_use]
pub fn markdown_contrasts(first: &Arm<'_>, second: &Arm<'_>, contrasts: &[Contrast]) -> String {
    let arms = [*first, *second];
    contrast_table(&arms, contrasts, &measured(&arms), QUARTILES).markdown()
}

/// What the columns of a contrast are.
const CONTRAST_LEGEND: &str = "medians over seeds; the difference is that of the second from the first within a seed, \
     the change that of the means over seeds";

/// The head of the column of quartiles, which is the first to go where there is no room.
const QUARTILES: &str = "quartiles";

/// Whether cells are filled up so that medians line up under medians.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pad {
    Columns,
    None,
}

/// The metrics of which any of these arms has something to show.
fn measured(arms: &[Arm<'_>]) -> Vec<Metric> {
    let has_any = |metric: &Metric| {
        let spreads = arms.iter().map(|arm| arm.summary.spread(*metric));
        spreads.into_iter().any(|spread| spread.measured > 0)
    };
    Metric::ALL.iter().copied().filter(has_any).collect()
}

/// Whether a figure is zero in every seed of every arm.
fn is_none(arms: &[Arm<'_>], metric: Metric) -> bool {
    let zero = Value::Measured(0.0);
    let mut spreads = arms.iter().map(|arm| arm.summary.spread(metric));
    spreads.all(|spread| spread.least == zero && spread.most == zero)
}

/// The metrics that have a row of their own in a text, and the words for all that are zero throughout.
fn told_apart(arms: &[Arm<'_>], width: usize) -> (Vec<Metric>, String) {
    let measured = measured(arms).into_iter();
    let (none, some): (Vec<_>, Vec<_>) = measured.partition(|metric| is_none(arms, *metric));
    if none.is_empty() {
        return (some, String::new());
    }
    let labels: Vec<&str> = none.iter().map(|metric| metric.label()).collect();
    let words = format!("none in any seed: {}", labels.join(", "));
    (some, broken(&words, width).join("\n") + "\n")
}

fn names(arms: &[Arm<'_>]) -> Vec<String> {
    let names = arms.iter().map(|arm| arm.name.to_owned());
    std::iter::once(String::new()).chain(names).collect()
}

/// The median of a figure and its quartiles, in every arm.
fn cells(arms: &[Arm<'_>], metric: Metric) -> Vec<(String, String)> {
    let of = |arm: &Arm<'_>| {
        let spread = arm.summary.spread(metric);
        let unit = metric.unit();
        (value(spread.median, unit), quartiles(spread, unit))
    };
    arms.iter().map(of).collect()
}

/// Quartiles beside the medians.
fn beside(arms: &[Arm<'_>], metrics: &[Metric], pad: Pad) -> Table {
    let rows: Vec<_> = metrics
        .iter()
        .map(|metric| (*metric, cells(arms, *metric)))
        .collect();
    let widest = |at: usize| {
        let quartiles = rows.iter().map(|(_, cells)| columns_of(&cells[at].1));
        quartiles.max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..arms.len()).map(widest).collect();
    let joined = |(median, quartiles): &(String, String), width: usize| match pad {
        Pad::None if quartiles.is_empty() => median.clone(),
        Pad::None => format!("{median} {quartiles}"),
        Pad::Columns if width == 0 => median.clone(),
        // Quartiles begin where the median ends; the blanks of a cell that ends early keep its median in line.
        Pad::Columns => {
            let blanks = " ".repeat(width - columns_of(quartiles));
            format!("{median} {quartiles}{blanks}")
        }
    };
    let row = |(metric, cells): &(Metric, Vec<(String, String)>)| {
        let cells = cells.iter().zip(&widths);
        let cells = cells.map(|(cell, width)| joined(cell, *width));
        std::iter::once(metric.label().to_owned())
            .chain(cells)
            .collect()
    };
    Table {
        head: names(arms),
        rows: rows.iter().map(row).collect(),
    }
}

/// Quartiles below the medians.
fn below(arms: &[Arm<'_>], metrics: &[Metric]) -> Table {
    let mut rows = Vec::new();
    for metric in metrics {
        let (medians, quartiles): (Vec<_>, Vec<_>) = cells(arms, *metric).into_iter().unzip();
        let row = |label: &str, cells: Vec<String>| {
            std::iter::once(label.to_owned()).chain(cells).collect()
        };
        let has_quartiles = quartiles.iter().any(|cell| !cell.is_empty());
        rows.push(row(metric.label(), medians));
        if has_quartiles {
            rows.push(row("", quartiles));
        }
    }
    Table {
        head: names(arms),
        rows,
    }
}

fn contrast_table(
    arms: &[Arm<'_>; 2],
    contrasts: &[Contrast],
    metrics: &[Metric],
    quartiles: &str,
) -> Table {
    let [first, second] = arms;
    let head = [
        "",
        first.name,
        second.name,
        "difference",
        quartiles,
        "change",
        "95 % interval",
    ];
    let keep = |at: usize| at != 4 || !quartiles.is_empty();
    let kept = |cells: [String; 7]| -> Vec<String> {
        let cells = cells.into_iter().enumerate();
        cells
            .filter(|(at, _)| keep(*at))
            .map(|(_, cell)| cell)
            .collect()
    };
    let rows = contrasts.iter().filter(|it| metrics.contains(&it.metric));
    Table {
        head: kept(head.map(str::to_owned)),
        rows: rows.map(|it| kept(contrast_row(arms, it))).collect(),
    }
}

fn contrast_row(arms: &[Arm<'_>; 2], contrast: &Contrast) -> [String; 7] {
    let [first, second] = arms;
    let (metric, unit) = (contrast.metric, contrast.metric.unit());
    let median = |arm: &Arm<'_>| value(arm.summary.spread(metric).median, unit);
    let found = contrast.change.as_ref();
    [
        metric.label().to_owned(),
        median(first),
        median(second),
        difference(contrast.difference.median, unit),
        difference_quartiles(&contrast.difference, unit),
        change(found),
        interval(found.and_then(|change| change.interval.as_ref())),
    ]
}

fn legend(arms: &[Arm<'_>], width: usize) -> String {
    let counts: Vec<String> = arms.iter().map(|arm| seeds(arm.summary)).collect();
    let all_same = counts.windows(2).all(|pair| pair[0] == pair[1]);
    let of = match counts.first() {
        Some(count) if all_same => count.clone(),
        Some(_) => counts.join(", "),
        None => return String::new(),
    };
    let words = format!("medians over {of}, in brackets the middle half of the seeds");
    broken(&words, width).join("\n") + "\n"
}

/// What a lone dash means, if there is one.
fn note(arms: &[Arm<'_>]) -> String {
    let is_beyond = |spread: &Spread| spread.most == Value::Beyond;
    let any = Metric::ALL
        .iter()
        .filter(|metric| metric.unit() == Unit::Span)
        .any(|metric| {
            arms.iter()
                .any(|arm| is_beyond(arm.summary.spread(*metric)))
        });
    if any {
        format!("{BEYOND} longer than all that came to an answer\n")
    } else {
        String::new()
    }
}

/// Which percentiles are over few pieces: with how many, where the arms have as many, and else by name.
fn few(arms: &[Arm<'_>], width: usize) -> String {
    let words: Vec<String> = arms.iter().map(|arm| few_words(arm.summary)).collect();
    let all_same = words.windows(2).all(|pair| pair[0] == pair[1]);
    let line = match words.into_iter().find(|words| !words.is_empty()) {
        None => return String::new(),
        Some(words) if all_same => words,
        Some(_) => {
            let few: BTreeSet<Metric> = arms
                .iter()
                .flat_map(|arm| super::few(arm.summary))
                .collect();
            let labels: Vec<&str> = few.iter().map(|metric| metric.label()).collect();
            format!(
                "of so few that they are next to the maximum: {}",
                labels.join(", ")
            )
        }
    };
    broken(&line, width).join("\n") + "\n"
}

fn seeds(summary: &Summary) -> String {
    match summary.seeds() {
        1 => "1 seed".to_owned(),
        seeds => format!("{seeds} seeds"),
    }
}

#[cfg(test)]
mod tests;
