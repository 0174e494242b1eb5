//! A guard as JSON with a format version.
//!
//! The core's types carry no serde; these are their twins. Instants are
//! nanoseconds: cut to the millisecond, two sends could stand a moment closer
//! than the budget allows.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::guard::{
    Breaker, BreakerState, Budget, Guard, Hold, HoldCause, Sample, SampledAt, Spending, Tally,
};
use crate::money::Dollars;

/// The version of the format that is written here. From 2 on it says what was spent; before, nobody counted.
pub(super) const FORMAT: u32 = 2;

/// Read first: the rest of another version's text may look like anything.
#[derive(Deserialize)]
struct Version {
    v: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredGuard {
    v: u32,
    sent: Vec<i64>,
    breaker: StoredState,
    generation: u64,
    samples: Vec<StoredSample>,
    hold: Option<StoredHold>,
    strikes: u32,
    #[serde(default)]
    spending: Option<StoredSpending>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredSpending {
    day: StoredTally,
    month: StoredTally,
}

/// Billionths of dollars, and days such as `2026-11-30`.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredTally {
    since: String,
    spent: u64,
    before: Option<(String, u64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum StoredState {
    Closed,
    Open { since: i64 },
    HalfOpen { since: i64, lease_until: i64 },
}

#[derive(Serialize, Deserialize)]
struct StoredSample(i64, StoredVerdict);

#[derive(Serialize, Deserialize)]
enum StoredVerdict {
    #[serde(rename = "s")]
    Success,
    #[serde(rename = "f")]
    Failure,
    #[serde(rename = "n")]
    Neutral,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredHold {
    cause: StoredCause,
    until: Option<i64>,
    since: i64,
    note: String,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredCause {
    Hint,
    Authentication,
    Billing,
    SpendCap,
    Person,
}

/// Why a text is no guard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is damaged.
    Damaged(String),
    /// A newer version wrote it.
    Newer(u32),
}

/// A guard as text.
pub(super) fn encode(guard: &Guard) -> Result<String, serde_json::Error> {
    serde_json::to_string(&StoredGuard {
        v: FORMAT,
        sent: guard.budget.sent.iter().copied().map(ns).collect(),
        breaker: match guard.breaker.state {
            BreakerState::Closed => StoredState::Closed,
            BreakerState::Open { since } => StoredState::Open { since: ns(since) },
            BreakerState::HalfOpen { since, lease_until } => StoredState::HalfOpen {
                since: ns(since),
                lease_until: ns(lease_until),
            },
        },
        generation: guard.breaker.generation,
        samples: guard
            .breaker
            .samples
            .iter()
            .map(StoredSample::from)
            .collect(),
        hold: guard.hold.as_ref().map(StoredHold::from),
        strikes: guard.strikes,
        spending: (guard.spending != Spending::default()).then(|| StoredSpending {
            day: StoredTally::from(guard.spending.day),
            month: StoredTally::from(guard.spending.month),
        }),
    })
}

/// The guard that a text was made from.
pub(super) fn decode(text: &str) -> Result<Guard, Unreadable> {
    let damaged = |error: serde_json::Error| Unreadable::Damaged(error.to_string());
    let Version { v } = serde_json::from_str(text).map_err(damaged)?;
    if v > FORMAT {
        return Err(Unreadable::Newer(v));
    }
    let stored: StoredGuard = serde_json::from_str(text).map_err(damaged)?;
    let state = match stored.breaker {
        StoredState::Closed => BreakerState::Closed,
        StoredState::Open { since } => BreakerState::Open { since: at(since) },
        StoredState::HalfOpen { since, lease_until } => BreakerState::HalfOpen {
            since: at(since),
            lease_until: at(lease_until),
        },
    };
    let samples = stored.samples.into_iter().map(SampledAt::from).collect();
    let spending = match stored.spending {
        None => Spending::default(),
        Some(spending) => Spending {
            day: spending.day.read()?,
            month: spending.month.read()?,
        },
    };
    Ok(Guard {
        budget: Budget {
            sent: stored.sent.into_iter().map(at).collect(),
        },
        breaker: Breaker {
            state,
            generation: stored.generation,
            samples,
        },
        hold: stored.hold.map(Hold::from),
        strikes: stored.strikes,
        spending,
    })
}

impl From<Tally> for StoredTally {
    fn from(tally: Tally) -> Self {
        let before = tally.before;
        Self {
            since: tally.since.to_string(),
            spent: tally.spent.nanos(),
            before: before.map(|(since, spent)| (since.to_string(), spent.nanos())),
        }
    }
}

impl StoredTally {
    fn read(self) -> Result<Tally, Unreadable> {
        let before = self.before.map(|(since, nanos)| {
            let since = day(&since)?;
            Ok((since, Dollars::from_nanos(nanos)))
        });
        Ok(Tally {
            since: day(&self.since)?,
            spent: Dollars::from_nanos(self.spent),
            before: before.transpose()?,
        })
    }
}

fn day(text: &str) -> Result<NaiveDate, Unreadable> {
    text.parse()
        .map_err(|_| Unreadable::Damaged(format!("`{text}` is no day")))
}

/// Nanoseconds since 1970; beyond the year 2262 counts as then.
fn ns(at: DateTime<Utc>) -> i64 {
    at.timestamp_nanos_opt().unwrap_or(i64::MAX)
}

fn at(ns: i64) -> DateTime<Utc> {
    DateTime::from_timestamp_nanos(ns)
}

impl From<&SampledAt> for StoredSample {
    fn from(sampled: &SampledAt) -> Self {
        let verdict = match sampled.sample {
            Sample::Success => StoredVerdict::Success,
            Sample::Failure => StoredVerdict::Failure,
            Sample::Neutral => StoredVerdict::Neutral,
        };
        Self(ns(sampled.at), verdict)
    }
}

impl From<StoredSample> for SampledAt {
    fn from(StoredSample(ns, verdict): StoredSample) -> Self {
        let sample = match verdict {
            StoredVerdict::Success => Sample::Success,
            StoredVerdict::Failure => Sample::Failure,
            StoredVerdict::Neutral => Sample::Neutral,
        };
        Self { at: at(ns), sample }
    }
}

impl From<&Hold> for StoredHold {
    fn from(hold: &Hold) -> Self {
        let cause = match hold.cause {
            HoldCause::Hint => StoredCause::Hint,
            HoldCause::Authentication => StoredCause::Authentication,
            HoldCause::Billing => StoredCause::Billing,
            HoldCause::SpendCap => StoredCause::SpendCap,
            HoldCause::Person => StoredCause::Person,
        };
        Self {
            cause,
            until: hold.until.map(ns),
            since: ns(hold.since),
            note: hold.note.clone(),
        }
    }
}

impl From<StoredHold> for Hold {
    fn from(stored: StoredHold) -> Self {
        let cause = match stored.cause {
            StoredCause::Hint => HoldCause::Hint,
            StoredCause::Authentication => HoldCause::Authentication,
            StoredCause::Billing => HoldCause::Billing,
            StoredCause::SpendCap => HoldCause::SpendCap,
            StoredCause::Person => HoldCause::Person,
        };
        Self {
            cause,
            until: stored.until.map(at),
            since: at(stored.since),
            note: stored.note,
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeDelta;

    use super::*;

    fn later(nanos: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_792_602_000, 0).unwrap() + TimeDelta::nanoseconds(nanos)
    }

    fn full(state: BreakerState, cause: HoldCause) -> Guard {
        let stamp = |(nanos, sample)| SampledAt {
            at: later(nanos),
            sample,
        };
        let samples = [
            (1, Sample::Failure),
            (2, Sample::Success),
            (3, Sample::Neutral),
        ];
        let hold = Hold {
            cause,
            until: Some(later(9)),
            since: later(4),
            note: "a \"note\"".into(),
        };
        Guard {
            budget: Budget {
                sent: [later(1), later(2)].into(),
            },
            breaker: Breaker {
                state,
                generation: 7,
                samples: samples.map(stamp).into(),
            },
            hold: Some(hold),
            strikes: 1,
            spending: Spending::default(),
        }
    }

    fn spending() -> Spending {
        let tally = |day: &str, nanos, before| Tally {
            since: day.parse().unwrap(),
            spent: Dollars::from_nanos(nanos),
            before,
        };
        let before = ("2026-11-29".parse().unwrap(), Dollars::from_nanos(1));
        Spending {
            day: tally("2026-11-30", 2, Some(before)),
            month: tally("2026-11-01", 3, None),
        }
    }

    #[test]
    fn what_was_spent_survives_the_row_to_the_billionth() {
        let guard = Guard {
            spending: spending(),
            ..Guard::default()
        };
        assert_eq!(decode(&encode(&guard).unwrap()), Ok(guard));
    }

    #[test]
    fn text_of_format_2_reads_as_it_was_written() {
        let text = r#"{"v":2,"sent":[],"breaker":"closed","generation":0,"samples":[],"hold":null,"strikes":0,
            "spending":{"day":{"since":"2026-11-30","spent":2,"before":["2026-11-29",1]},
                        "month":{"since":"2026-11-01","spent":3,"before":null}}}"#;
        let guard = Guard {
            spending: spending(),
            ..Guard::default()
        };
        assert_eq!(decode(text), Ok(guard));
        let odd = text.replace("2026-11-01", "soon");
        let why = "`soon` is no day".to_owned();
        assert_eq!(decode(&odd), Err(Unreadable::Damaged(why)));
    }

    #[test]
    fn every_guard_survives_the_row_to_the_nanosecond() {
        let states = [
            BreakerState::Closed,
            BreakerState::Open { since: later(5) },
            BreakerState::HalfOpen {
                since: later(5),
                lease_until: later(6),
            },
        ];
        let causes = [
            HoldCause::Hint,
            HoldCause::Authentication,
            HoldCause::Billing,
            HoldCause::SpendCap,
            HoldCause::Person,
        ];
        for state in states {
            for cause in causes {
                let guard = full(state, cause);
                assert_eq!(decode(&encode(&guard).unwrap()), Ok(guard));
            }
        }
        assert_eq!(
            decode(&encode(&Guard::default()).unwrap()),
            Ok(Guard::default())
        );
    }

    #[test]
    fn text_of_format_1_reads_as_it_was_written() {
        let text = r#"{"v":1,"sent":[1792602000000000001,1792602000000000002],
            "breaker":{"half_open":{"since":1792602000000000005,"lease_until":1792602000000000006}},
            "generation":7,
            "samples":[[1792602000000000001,"f"],[1792602000000000002,"s"],[1792602000000000003,"n"]],
            "hold":{"cause":"spend_cap","until":1792602000000000009,"since":1792602000000000004,"note":"a \"note\""},
            "strikes":1}"#;
        let state = BreakerState::HalfOpen {
            since: later(5),
            lease_until: later(6),
        };
        assert_eq!(decode(text), Ok(full(state, HoldCause::SpendCap)));
    }

    #[test]
    fn text_that_is_no_guard_is_damaged_and_a_later_format_is_newer() {
        for text in [
            "",
            "{",
            "null",
            "{\"v\":1}",
            "{\"v\":\"1\"}",
            "{\"sent\":[]}",
        ] {
            assert!(
                matches!(decode(text), Err(Unreadable::Damaged(_))),
                "{text}"
            );
        }
        let more = encode(&Guard::default())
            .unwrap()
            .replace("\"strikes\"", "\"luck\":1,\"strikes\"");
        assert!(
            matches!(decode(&more), Err(Unreadable::Damaged(_))),
            "{more}"
        );
        assert_eq!(
            decode("{\"v\":3,\"anything\":[]}"),
            Err(Unreadable::Newer(3))
        );
    }

    #[test]
    fn instant_beyond_the_format_counts_as_its_end() {
        let guard = Guard {
            budget: Budget {
                sent: [DateTime::<Utc>::MAX_UTC].into(),
            },
            ..Guard::default()
        };
        let read = decode(&encode(&guard).unwrap()).unwrap();
        assert_eq!(read.budget.sent[0].timestamp_nanos_opt(), Some(i64::MAX));
    }
}
