//! The fire times of expressions in a zone.
//!
//! The rule is Debian cron's. A fixed-time firing in a skipped hour happens
//! once, at the first valid moment; in a repeated hour only the first time. An
//! expression whose minute or hour field starts with `*` happens at every
//! instant whose civil time matches.

#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::cron::{CALENDAR_CYCLE_DAYS, Spacing};
use super::zone::instant;
use super::{CronExpr, Zone};

const DAY: i64 = 86_400;
const MINUTE: i64 = 60;

/// How far ahead a firing is looked for: 400 years, after which the calendar repeats.
const HORIZON: i64 = CALENDAR_CYCLE_DAYS as i64 * DAY;

/// One or more expressions in one zone: answers what is next after an instant.
///
/// ```
/// use offpeak::schedule::{CronExpr, Timetable, Zones};
///
/// let zone = Zones::bundled().get("Europe/London").unwrap();
/// let timetable = Timetable::new(vec![CronExpr::parse("30 1 * * *").unwrap()], zone);
/// // 01:30 does not exist on 2027-03-28: it fires at 02:00 summer time.
/// let next = timetable.next_after("2027-03-28T00:00:00Z".parse().unwrap());
/// assert_eq!(next, Some("2027-03-28T01:00:00Z".parse().unwrap()));
/// ```
#[derive(Debug, Clone)]
pub struct Timetable {
    /// Shared: a plan, its timelines and the linter each hold every timetable.
    exprs: Arc<[CronExpr]>,
    zone: Zone,
}

impl Timetable {
    /// Joins expressions and a zone.
    #[must_use]
    pub fn new(exprs: Vec<CronExpr>, zone: Zone) -> Self {
        Self {
            exprs: exprs.into(),
            zone,
        }
    }

    /// The expressions, in the order of the file.
    #[must_use]
    pub fn exprs(&self) -> &[CronExpr] {
        &self.exprs
    }

    /// The zone.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// The first fire time strictly after an instant; `None` if there is none within 400 years, and so none ever.
    #[must_use]
    pub fn next_after(&self, at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        let after = at.timestamp();
        let mut best = None;
        for expr in self.exprs.iter() {
            // A later expression only matters if it is earlier than what was found.
            let until = best.unwrap_or(after.saturating_add(HORIZON));
            let _ = visit(expr, &self.zone, Span { after, until }, &mut |at| {
                best = Some(at);
                ControlFlow::Break(())
            });
        }
        best.map(|at| instant(at, 0))
    }

    /// The fire times in `after < t <= until`, ascending, each once.
    #[must_use]
    pub fn between(&self, after: DateTime<Utc>, until: DateTime<Utc>) -> Vec<DateTime<Utc>> {
        self.seconds_in(Span {
            after: after.timestamp(),
            until: until.timestamp(),
        })
        .into_iter()
        .map(|at| instant(at, 0))
        .collect()
    }

    /// The last fire time in `after < t <= until`.
    #[must_use]
    pub fn last_between(
        &self,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let (after, mut until) = (after.timestamp(), until.timestamp());
        let mut width = DAY;
        while after < until {
            // Backwards in ever wider steps: cheap for dense expressions and for sparse ones.
            let from = after.max(until.saturating_sub(width));
            if let Some(last) = self.seconds_in(Span { after: from, until }).last() {
                return Some(instant(*last, 0));
            }
            until = from;
            width = width.saturating_mul(4);
        }
        None
    }

    /// The fire time in `after < t <= until` behind which exactly `most` others follow; `None` if there are no more
    /// than `most`. Looks at little more than what follows, however long the span.
    #[must_use]
    pub fn last_but(
        &self,
        most: usize,
        after: DateTime<Utc>,
        until: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let (after, mut until) = (after.timestamp(), until.timestamp());
        let (mut width, mut left) = (DAY, most);
        while after < until {
            let from = after.max(until.saturating_sub(width));
            let found = self.seconds_in(Span { after: from, until });
            if found.len() > left {
                return Some(instant(found[found.len() - 1 - left], 0));
            }
            left -= found.len();
            until = from;
            width = width.saturating_mul(4);
        }
        None
    }

    /// The part that fires at fixed civil times; `None` if no expression does.
    #[must_use]
    pub fn fixed_part(&self) -> Option<Self> {
        self.part(Spacing::Fixed)
    }

    /// The part that keeps even real spacing; `None` if no expression does.
    #[must_use]
    pub fn even_part(&self) -> Option<Self> {
        self.part(Spacing::Even)
    }

    /// The same expressions in another zone.
    #[must_use]
    pub fn in_zone(&self, zone: Zone) -> Self {
        let exprs = Arc::clone(&self.exprs);
        Self { exprs, zone }
    }

    fn part(&self, spacing: Spacing) -> Option<Self> {
        let exprs = self.exprs.iter().filter(|expr| expr.spacing() == spacing);
        let exprs: Vec<CronExpr> = exprs.cloned().collect();
        (!exprs.is_empty()).then(|| Self::new(exprs, self.zone.clone()))
    }

    fn seconds_in(&self, span: Span) -> Vec<i64> {
        let mut found = Vec::new();
        for expr in self.exprs.iter() {
            let _ = visit(expr, &self.zone, span, &mut |at| {
                found.push(at);
                ControlFlow::Continue(())
            });
        }
        if self.exprs.len() > 1 {
            found.sort_unstable();
            found.dedup();
        }
        found
    }
}

/// `after < t <= until`, in epoch seconds. Fire times are whole seconds, so parts of seconds do not matter.
#[derive(Clone, Copy)]
struct Span {
    after: i64,
    until: i64,
}

/// Tells the fire times of one expression, ascending, each once, until the listener breaks.
fn visit(
    expr: &CronExpr,
    zone: &Zone,
    span: Span,
    tell: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    if span.until <= span.after {
        return ControlFlow::Continue(());
    }
    match expr.spacing() {
        Spacing::Fixed => visit_fixed(expr, zone, span, tell),
        Spacing::Even => visit_even(expr, zone, span, tell),
    }
}

/// From civil times to instants. The mapping never runs backwards: a skipped time gets the end of its gap and a
/// repeated one its first moment.
fn visit_fixed(
    expr: &CronExpr,
    zone: &Zone,
    span: Span,
    tell: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let civil = |at: i64| at.saturating_add(zone.regime_at(at).offset.into());
    // Every civil time before that of `after` maps to `after` or earlier.
    let first = civil(span.after).div_euclid(MINUTE);
    // In the second pass of a fold over midnight, times of the next date have passed already.
    let last_day = civil(span.until).div_euclid(DAY) + 1;
    let mut previous = span.after;
    each_minute(expr, MinuteSpan { first, last_day }, &mut |minute| {
        let at = zone.first_moment(minute * MINUTE);
        if at > span.until {
            return ControlFlow::Break(());
        }
        if at <= previous {
            return ControlFlow::Continue(());
        }
        previous = at;
        tell(at)
    })
}

/// From instants to civil times, one span of equal offset after the other.
fn visit_even(
    expr: &CronExpr,
    zone: &Zone,
    span: Span,
    tell: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let mut from = span.after + 1;
    loop {
        let regime = zone.regime_at(from);
        let offset = i64::from(regime.offset);
        let until = span.until.min(regime.end.saturating_sub(1));
        let first = (from + offset + MINUTE - 1).div_euclid(MINUTE);
        let last_day = (until + offset).div_euclid(DAY);
        let mut flow = ControlFlow::Continue(());
        let _ = each_minute(expr, MinuteSpan { first, last_day }, &mut |minute| {
            let at = minute * MINUTE - offset;
            if at > until {
                return ControlFlow::Break(());
            }
            flow = tell(at);
            flow
        });
        flow?;
        if until == span.until {
            return ControlFlow::Continue(());
        }
        from = regime.end;
    }
}

/// A civil span in minutes and days of the epoch, both ends included.
#[derive(Clone, Copy)]
struct MinuteSpan {
    first: i64,
    last_day: i64,
}

/// Tells the civil minutes at which an expression matches.
fn each_minute(
    expr: &CronExpr,
    span: MinuteSpan,
    tell: &mut dyn FnMut(i64) -> ControlFlow<()>,
) -> ControlFlow<()> {
    const MINUTES: i64 = DAY / MINUTE;
    let first_day = span.first.div_euclid(MINUTES);
    let clamp = |day: i64| i32::try_from(day).unwrap_or(if day < 0 { i32::MIN } else { i32::MAX });
    let (mut day, last) = (clamp(first_day), clamp(span.last_day));
    while let Some(found) = expr.first_day_in(day, last) {
        let midnight = i64::from(found) * MINUTES;
        let times = expr.times();
        let passed = times.partition_point(|time| midnight + i64::from(*time) < span.first);
        for time in &times[passed..] {
            tell(midnight + i64::from(*time))?;
        }
        day = found.saturating_add(1);
    }
    ControlFlow::Continue(())
}
