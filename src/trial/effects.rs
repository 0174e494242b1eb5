//! Draws what several changes did, side by side.

use super::contrast::Contrast;
use super::figure::{change, difference, share, value};
use super::metric::{Metric, Unit};
use super::table::{Table, broken};
use super::value::Value;

/// The figures by which a change is judged: what became of the work, what was spent on it, how long it took.
const JUDGED_BY: [Metric; 16] = [
    Metric::InSlot,
    Metric::Next,
    Metric::NextDay,
    Metric::Lost,
    Metric::Unanswered,
    Metric::MeanAttempts,
    Metric::AttemptsPerTroubledCall,
    Metric::Wasted,
    Metric::Resent,
    Metric::SendsPerMinute,
    Metric::CallP50,
    Metric::CallP99,
    Metric::DoneP50,
    Metric::DoneP95,
    Metric::DoneP99,
    Metric::Dollars,
];

/// What the numbers are.
const LEGEND: &str = "median difference within a seed; in brackets its share: of spans the median, of all else that of \
     the means";

/// What stands where no judged figure has a row.
const NO_DIFFERENCE: &str = "none of the figures by which a change is judged differs in any seed\n";

/// What two numbers with an arrow are.
const MEANS: &str = "`mean`: means over seeds, where too few seeds differ for a median to say it";

/// What each change did to the figures by which it is judged: the median difference within a seed, and in brackets its
/// share. Figures that are the same in every seed are only named, and so are those that differ but are not judged by;
/// those of which there was nothing to measure are left out.
///
/// Where the median is zero though seeds differ, points another way than the means or is a share of something in fewer
/// than a quarter of the seeds, the means stand in its place; and where a seed is beyond measure, how many did worse.
///
/// The share of a span is the median over seeds too: one seed in which work waited for a day would rule a mean. That of
/// all else is the change of the means, which counts seeds with none.
///
/// ```
/// use offpeak::trial::{Contrast, Log, Resamples, Score, render_effects};
///
/// let none = Resamples::draw(1, 0, &mut || 0.0);
/// let nothing = [Score::of(&Log::default())];
/// let same = Contrast::all(&nothing, &nothing, &none);
/// let text = render_effects(&[("guards".to_owned(), &same)], 80);
/// assert!(text.contains("the same in every seed: in its slot"), "{text}");
/// assert!(!text.contains("p99"), "there was no call: {text}");
/// ```
#[must_use]
pub fn render_effects(effects: &[(String, &[Contrast])], width: usize) -> String {
    let names = effects.iter().map(|(name, _)| name.clone());
    let of = |metric: Metric| {
        let found = move |(_, contrasts): &(String, &'_ [Contrast])| {
            contrasts.iter().find(|it| it.metric == metric).cloned()
        };
        effects.iter().map(found).collect::<Vec<_>>()
    };
    let (mut rows, mut same) = (Vec::new(), Vec::new());
    for metric in JUDGED_BY {
        let contrasts = of(metric);
        if contrasts.iter().flatten().all(is_same) {
            let is_known = contrasts.iter().flatten().any(has_any);
            same.extend(is_known.then(|| metric.label()));
            continue;
        }
        let cells = contrasts
            .iter()
            .map(|it| it.as_ref().map_or_else(String::new, cell));
        rows.push(
            std::iter::once(metric.label().to_owned())
                .chain(cells)
                .collect(),
        );
    }
    let others = Metric::ALL.iter().filter(|it| !JUDGED_BY.contains(it));
    let others = others.filter(|metric| !of(**metric).iter().flatten().all(is_same));
    let others: Vec<&str> = others.map(|metric| metric.label()).collect();
    let is_empty = rows.is_empty();
    let has_means = rows
        .iter()
        .flatten()
        .any(|cell: &String| cell.ends_with(" mean"));
    let table = Table {
        head: std::iter::once(String::new()).chain(names).collect(),
        rows,
    };
    let mut text = if is_empty {
        NO_DIFFERENCE.to_owned()
    } else {
        table.text(width)
    };
    let mut paragraph = |words: &str| {
        text.extend(broken(words, width).iter().flat_map(|line| [line, "\n"]));
    };
    paragraph("");
    if !is_empty {
        paragraph(LEGEND);
    }
    if has_means {
        paragraph(MEANS);
    }
    if !others.is_empty() {
        paragraph(&format!(
            "also different, see the tables above: {}",
            others.join(", ")
        ));
    }
    if !same.is_empty() {
        paragraph(&format!("the same in every seed: {}", same.join(", ")));
    }
    text
}

/// Whether no seed shows a difference.
fn is_same(contrast: &Contrast) -> bool {
    let zero = Value::Measured(0.0);
    let spread = &contrast.difference;
    contrast.beyond == 0 && (spread.measured == 0 || (spread.least, spread.most) == (zero, zero))
}

/// Whether any seed had something to measure in both arms.
fn has_any(contrast: &Contrast) -> bool {
    contrast.difference.measured > 0
}

/// Blank if there was nothing to measure in one of the arms.
fn cell(contrast: &Contrast) -> String {
    let unit = contrast.metric.unit();
    if !is_same(contrast) && !is_typical(contrast) {
        return rare(contrast);
    }
    let shown = difference(contrast.difference.median, unit);
    let share = match unit {
        Unit::Span => share(contrast.relative.median),
        Unit::Count | Unit::Ratio | Unit::Dollars => change(contrast.change.as_ref()),
    };
    if shown.is_empty() && contrast.beyond > 0 {
        return "both beyond".to_owned();
    }
    if share.is_empty() || is_same(contrast) {
        return shown;
    }
    format!("{shown} ({share})")
}

/// Whether the median says what the seeds do: it is not zero, points the way of the means, and is a share of something
/// in a quarter of the seeds at least.
fn is_typical(contrast: &Contrast) -> bool {
    let Some(median) = contrast.difference.median.place() else {
        return true;
    };
    let points_the_same = contrast
        .means
        .is_none_or(|(first, second)| (second - first) * median > 0.0);
    let has_shares = contrast.relative.measured * 4 >= contrast.difference.measured;
    let zero = Value::Measured(0.0);
    let is_unmoved = (contrast.difference.least, contrast.difference.most) == (zero, zero);
    is_unmoved || median != 0.0 && points_the_same && has_shares
}

/// What only some of the seeds show: the means, or in how many the second arm did worse where a seed has no number.
fn rare(contrast: &Contrast) -> String {
    let Some((first, second)) = contrast.means else {
        let seeds = contrast.difference.measured;
        return format!("{} of {seeds} seeds worse", contrast.worse);
    };
    let unit = match contrast.metric.unit() {
        // A mean of counts is none.
        Unit::Count => Unit::Ratio,
        unit @ (Unit::Ratio | Unit::Span | Unit::Dollars) => unit,
    };
    let shown = |mean: f64| value(Value::Measured(mean), unit);
    format!("{} → {} mean", shown(first), shown(second))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trial::{Carried, Log, Resamples, Score, Work};

    /// Work that was done after so many minutes, or never.
    fn score(minutes: &[Option<u64>]) -> Score {
        let work = |minutes: &Option<u64>| Work {
            due_ms: 0,
            done_ms: minutes.map(|minutes| minutes * 60_000),
            carried: minutes.map_or(Carried::Lost, |_| Carried::InSlot),
        };
        Score::of(&Log {
            works: minutes.iter().map(work).collect(),
            ..Log::default()
        })
    }

    fn rendered(first: &[Option<u64>], second: &[Option<u64>]) -> String {
        let none = Resamples::draw(1, 0, &mut || 0.0);
        let contrasts = Contrast::all(&[score(first)], &[score(second)], &none);
        render_effects(&[("guards".to_owned(), &contrasts)], 80)
    }

    #[test]
    fn difference_stands_with_its_share() {
        let text = rendered(&[Some(4), None], &[Some(2), Some(6)]);
        let line = |label: &str| text.lines().find(|line| line.starts_with(label)).unwrap();
        assert_eq!(line("in its slot"), "in its slot         +1 (+100 %)");
        assert_eq!(line("lost"), "lost                -1 (-100 %)");
        assert_eq!(line("due to done p50"), "due to done p50  -2m00s (-50 %)");
        assert_eq!(line("due to done p99"), "due to done p99            less");
    }

    fn over_seeds(first: &[&[Option<u64>]], second: &[&[Option<u64>]]) -> String {
        let none = Resamples::draw(1, 0, &mut || 0.0);
        let scores =
            |seeds: &[&[Option<u64>]]| seeds.iter().map(|it| score(it)).collect::<Vec<_>>();
        let contrasts = Contrast::all(&scores(first), &scores(second), &none);
        render_effects(&[("guards".to_owned(), &contrasts)], 80)
    }

    #[test]
    fn means_stand_where_few_seeds_differ() {
        let (well, slow): (&[_], &[_]) = (&[Some(4)], &[Some(40)]);
        let text = over_seeds(&[well; 4], &[well, well, well, slow]);
        assert!(
            text.contains("due to done p99  4m00s → 13m00s mean\n"),
            "{text}"
        );
        assert!(text.contains("`mean`: means over seeds"), "{text}");
        assert!(
            text.contains("also different, see the tables above: due to done max"),
            "{text}"
        );
    }

    #[test]
    fn share_of_hardly_any_seed_is_no_share() {
        // Of five seeds only one lost work before: +400 % would be of next to nothing.
        let (well, lost): (&[_], &[_]) = (&[Some(4), Some(4)], &[Some(4), None]);
        let first: Vec<&[_]> = std::iter::once(lost).chain([well; 4]).collect();
        let text = over_seeds(&first, &[lost; 5]);
        assert!(
            text.contains("lost             0.20 → 1.00 mean\n"),
            "{text}"
        );
        assert!(
            text.contains("due to done p99              more\n"),
            "{text}"
        );
    }

    #[test]
    fn seeds_that_did_worse_are_counted_where_there_is_no_mean() {
        let (well, lost): (&[_], &[_]) = (&[Some(4), Some(4)], &[Some(4), None]);
        let text = over_seeds(&[well; 4], &[well, well, well, lost]);
        assert!(
            text.contains("due to done p99  1 of 4 seeds worse\n"),
            "{text}"
        );
    }

    #[test]
    fn no_difference_is_a_sentence() {
        let text = rendered(&[Some(4)], &[Some(4)]);
        assert!(text.starts_with(NO_DIFFERENCE), "{text}");
        assert!(!text.contains("median difference"), "{text}");
    }

    #[test]
    fn what_neither_arm_measured_is_told_from_what_neither_did() {
        let text = rendered(&[None], &[None]);
        assert!(text.contains("due to done p99  both beyond"), "{text}");
        assert!(
            text.contains("the same in every seed: in its slot, "),
            "{text}"
        );
        assert!(!text.contains("call p99"), "{text}");
    }
}
