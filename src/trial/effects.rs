//! Draws what several changes did, side by side.

use super::contrast::Contrast;
use super::figure::{change, difference, share};
use super::metric::{Metric, Unit};
use super::table::Table;
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
const LEGEND: &str = "
median difference within a seed; in brackets its share: of spans the median, of all else that of the means
";

/// What each change did to the figures by which it is judged: the median difference within a seed, and in brackets its
/// share. Figures that are the same in every seed are only named, those of which there was nothing to measure left out.
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
    let table = Table {
        head: std::iter::once(String::new()).chain(names).collect(),
        rows,
    };
    let mut text = table.text(width);
    text.push_str(LEGEND);
    if !same.is_empty() {
        text.extend(["the same in every seed: ", &same.join(", "), "\n"]);
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
