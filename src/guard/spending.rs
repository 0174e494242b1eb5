//! What a group spends in a day and in a month, by the calendar of UTC.
//!
//! By UTC, because the provider's own caps lift by it. What an attempt may
//! cost at most is counted when it is admitted, and what it did cost takes
//! that place when it ends: however many attempts are under way, and whatever
//! becomes of this program meanwhile, a cap is never passed as long as no
//! attempt costs more than was reserved for it.

use chrono::{DateTime, Datelike, Months, NaiveDate, Utc};

use crate::money::Dollars;

/// The most that a group may spend.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DollarCaps {
    /// In one day of UTC; `None` for no cap.
    pub day: Option<Dollars>,
    /// In one month of UTC; `None` for no cap.
    pub month: Option<Dollars>,
}

impl DollarCaps {
    /// The lower of the two caps: what costs more alone fits into no day or into no month.
    #[must_use]
    pub fn least(&self) -> Option<Dollars> {
        [self.day, self.month].into_iter().flatten().min()
    }
}

/// What was spent, or is reserved, in the present day and month.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spending {
    /// The day.
    pub day: Tally,
    /// The month, from its first day on.
    pub month: Tally,
}

/// What was spent, or is reserved, in one stretch of the calendar.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// The first day of the stretch.
    pub since: NaiveDate,
    /// What counts for it.
    pub spent: Dollars,
    /// The stretch that was counted before it, and what for: it may not be over if the clock was ahead.
    pub before: Option<(NaiveDate, Dollars)>,
}

/// What was reserved for an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reserve {
    /// The most that it may cost.
    pub amount: Dollars,
    /// When it was admitted: that day and month pay for it.
    pub at: DateTime<Utc>,
}

/// What an attempt cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Charge {
    /// Nothing: it never reached the API, or was refused before an answer began.
    Free,
    /// This much, or a little less.
    AtMost(Dollars),
    /// It may have been billed, and nobody knows for how much: what was reserved stays counted.
    #[default]
    Unknown,
}

/// What an attempt cost, against what was reserved for it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Bill {
    /// What was reserved; `None` if its price is unknown.
    pub reserve: Option<Reserve>,
    /// What it cost.
    pub charge: Charge,
}

impl Spending {
    /// Goes on to the present day and month.
    ///
    /// When the wall clock steps back into an earlier day, what was spent in the later one counts for the earlier, with
    /// what that one had: the step admits nothing extra, and jams the group no longer than to the next midnight.
    pub fn settle(&mut self, now: DateTime<Utc>) {
        self.day.turn(now.date_naive());
        self.month.turn(first_of_month(now.date_naive()));
    }

    /// When there is room for one more attempt of this price; `None` if there is now.
    ///
    /// The instant is the next midnight, or the first of the next month if the month is full. An attempt that costs
    /// more than a cap alone never fits: the caller fails it before it asks.
    #[must_use]
    pub fn room_at(
        &self,
        caps: &DollarCaps,
        reserve: Dollars,
        now: DateTime<Utc>,
    ) -> Option<DateTime<Utc>> {
        let is_full = |tally: &Tally, since: NaiveDate, cap: Option<Dollars>| {
            cap.is_some_and(|cap| tally.on(since).plus(reserve) > cap)
        };
        let today = now.date_naive();
        let month = first_of_month(today);
        if is_full(&self.month, month, caps.month) {
            return Some(midnight(month.checked_add_months(Months::new(1))));
        }
        is_full(&self.day, today, caps.day).then(|| midnight(today.succ_opt()))
    }

    /// Counts what an attempt that is admitted now may cost.
    pub fn reserve(&mut self, amount: Dollars, now: DateTime<Utc>) {
        self.settle(now);
        self.day.spent = self.day.spent.plus(amount);
        self.month.spent = self.month.spent.plus(amount);
    }

    /// Puts what an attempt cost in the place of what was reserved for it.
    pub fn pay(&mut self, bill: &Bill, now: DateTime<Utc>) {
        let cost = match bill.charge {
            Charge::Free => Dollars::ZERO,
            Charge::AtMost(cost) => cost,
            Charge::Unknown => return,
        };
        let (reserved, at) = match bill.reserve {
            Some(Reserve { amount, at }) => (amount, at),
            None => (Dollars::ZERO, now),
        };
        if reserved == cost {
            return;
        }
        self.settle(now);
        let day = at.date_naive();
        self.day.replace(day, reserved, cost);
        self.month.replace(first_of_month(day), reserved, cost);
    }
}

impl Tally {
    /// What counts for a stretch that is not before this one.
    #[must_use]
    pub fn on(&self, since: NaiveDate) -> Dollars {
        if since > self.since {
            Dollars::ZERO
        } else {
            self.spent
        }
    }

    fn turn(&mut self, since: NaiveDate) {
        if since > self.since {
            // Nothing is known of the stretch of a new row.
            let is_new = *self == Self::default();
            self.before = (!is_new).then_some((self.since, self.spent));
            self.spent = Dollars::ZERO;
        } else if since < self.since {
            let earlier = self.before.take().filter(|(before, _)| *before >= since);
            self.spent = self
                .spent
                .plus(earlier.map_or(Dollars::ZERO, |(_, spent)| spent));
        }
        self.since = since;
    }

    /// An attempt of an earlier stretch changes nothing any more. One of a later was admitted while the clock was ahead,
    /// and counts here since.
    fn replace(&mut self, since: NaiveDate, reserved: Dollars, cost: Dollars) {
        if since >= self.since {
            self.spent = self.spent.minus(reserved).plus(cost);
        } else if let Some((before, spent)) = &mut self.before
            && *before == since
        {
            *spent = spent.minus(reserved).plus(cost);
        }
    }
}

fn first_of_month(day: NaiveDate) -> NaiveDate {
    day.with_day(1).unwrap_or(day)
}

/// The beginning of a day; beyond the calendar's end there is none that anybody waits for.
fn midnight(day: Option<NaiveDate>) -> DateTime<Utc> {
    let day = day.unwrap_or(NaiveDate::MAX);
    day.and_time(chrono::NaiveTime::MIN).and_utc()
}

#[cfg(test)]
mod tests;
