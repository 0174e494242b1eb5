//! The offsets of one zone over time, in epoch seconds.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// 1970-01-01T00:00:00Z. Nothing is scheduled before it.
const FROM: i64 = 0;
/// 2200-01-01T00:00:00Z. Rules that far ahead are guesses anyway.
const UNTIL: i64 = 7_258_118_400;
/// Longer than any two offsets are apart (26 hours, in the Pacific).
const MAX_SHIFT: i64 = 27 * 3600;
const DAY: i64 = 86_400;

/// Spans of one offset each, in order, without a hole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Table {
    /// The first instant of each span; the first is the beginning of time.
    starts: Vec<i64>,
    /// Seconds east of UTC in each span; neighbours differ.
    offsets: Vec<i32>,
}

/// A span of one offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::schedule) struct Regime {
    /// Its first instant.
    pub(in crate::schedule) start: i64,
    /// The first instant after it.
    pub(in crate::schedule) end: i64,
    /// Seconds east of UTC.
    pub(in crate::schedule) offset: i32,
}

/// The instants of one civil second.
pub(super) enum Moments {
    One(i64),
    Skipped { ends_at: i64 },
    Two(i64, i64),
}

impl Table {
    pub(super) fn of_jiff(zone: &TimeZone) -> Self {
        let from = Timestamp::from_second(FROM).unwrap_or(Timestamp::UNIX_EPOCH);
        let mut table = Self::starting_with(zone.to_offset(from).seconds());
        for change in zone.following(from) {
            let at = change.timestamp().as_second();
            if at >= UNTIL {
                break;
            }
            table.push(at, change.offset().seconds());
        }
        table
    }

    /// Finds the changes of a function by asking it once a day; two changes within a day may be missed.
    pub(super) fn by_probing(offset_at: impl Fn(i64) -> i32) -> Self {
        let mut table = Self::starting_with(offset_at(FROM));
        let mut at = FROM;
        while at < UNTIL {
            let (mut low, mut high) = (at, (at + DAY).min(UNTIL));
            let (before, after) = (offset_at(low), offset_at(high));
            if before != after {
                while high - low > 1 {
                    let middle = low.midpoint(high);
                    if offset_at(middle) == before {
                        low = middle;
                    } else {
                        high = middle;
                    }
                }
                table.push(high, after);
            }
            at += DAY;
        }
        table
    }

    /// `OFFSET START:OFFSET …`, in seconds.
    pub(super) fn to_text(&self) -> String {
        let spans = self.starts.iter().zip(&self.offsets);
        let spans = spans.map(|(start, offset)| match *start {
            i64::MIN => offset.to_string(),
            start => format!("{start}:{offset}"),
        });
        spans.collect::<Vec<_>>().join(" ")
    }

    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut spans = text.split(' ');
        let mut table = Self::starting_with(spans.next()?.parse().ok()?);
        for span in spans {
            let (start, offset) = span.split_once(':')?;
            let start: i64 = start.parse().ok()?;
            if table.starts.last().is_some_and(|last| *last >= start) {
                return None;
            }
            table.push(start, offset.parse().ok()?);
        }
        Some(table)
    }

    fn starting_with(offset: i32) -> Self {
        Self {
            starts: vec![i64::MIN],
            offsets: vec![offset],
        }
    }

    fn push(&mut self, at: i64, offset: i32) {
        if self.offsets.last() != Some(&offset) {
            self.starts.push(at);
            self.offsets.push(offset);
        }
    }

    pub(super) fn regime_at(&self, at: i64) -> Regime {
        self.regime(self.index_at(at))
    }

    fn index_at(&self, at: i64) -> usize {
        // The first span starts at the beginning of time, so there is always one before the point.
        self.starts.partition_point(|start| *start <= at) - 1
    }

    fn regime(&self, index: usize) -> Regime {
        let end = self.starts.get(index + 1).copied().unwrap_or(i64::MAX);
        Regime {
            start: self.starts[index],
            end,
            offset: self.offsets[index],
        }
    }

    /// The changes in `from < at <= until`: instant, offset before, offset after.
    pub(super) fn changes(&self, from: i64, until: i64) -> impl Iterator<Item = (i64, i32, i32)> {
        let last = self.index_at(until);
        (self.index_at(from) + 1..=last).map(|index| {
            (
                self.starts[index],
                self.offsets[index - 1],
                self.offsets[index],
            )
        })
    }

    pub(super) fn resolve(&self, civil: i64) -> Moments {
        let first = self.index_at(civil.saturating_sub(MAX_SHIFT));
        let last = self.index_at(civil.saturating_add(MAX_SHIFT));
        if first == last {
            return Moments::One(civil.saturating_sub(self.offsets[first].into()));
        }
        let mut found = None;
        for regime in (first..=last).map(|index| self.regime(index)) {
            let at = civil.saturating_sub(regime.offset.into());
            if at < regime.start || at >= regime.end {
                continue;
            }
            match found {
                None => found = Some(at),
                Some(earlier) => return Moments::Two(earlier, at),
            }
        }
        match found {
            Some(at) => Moments::One(at),
            None => Moments::Skipped {
                ends_at: self.end_of_gap(civil, first, last),
            },
        }
    }

    /// The first change whose new civil time is later than a skipped one.
    fn end_of_gap(&self, civil: i64, first: usize, last: usize) -> i64 {
        let mut changes = first + 1..=last;
        let gap =
            changes.find(|index| self.starts[*index] + i64::from(self.offsets[*index]) > civil);
        self.starts[gap.unwrap_or(last)]
    }
}
