//! `retry`, `budget`, `breaker` and `defer`: policies that are right as a whole, not only field by field.

use std::num::NonZeroU32;

use crate::guard::{BreakerPolicy, BudgetPolicy, DollarCaps, PolicyError, RetryPolicy};
use crate::schedule::defer::OnExhausted;
use crate::schedule::{DeferPolicy, DeferRule};

use super::context::Context;
use super::decode_settings::{BUILT_IN, DAY, SECOND, TEN_YEARS, ZERO};
use super::fields::{Field, Fields};
use super::typed;

/// Reads `retry` of `offpeak.yaml`.
pub fn retry(cx: &mut Context<'_>, root: &mut Fields<'_>) -> RetryPolicy {
    policy(cx, root, "retry", |cx, fields| {
        let max_attempts = fields
            .read(cx, "max_attempts", |cx, f| {
                typed::integer(cx, f, 1..=RetryPolicy::MAX_ATTEMPTS)
            })
            .expect(BUILT_IN);
        let mut delay = |name| {
            fields
                .read(cx, name, |cx, f| {
                    typed::duration(cx, f, ZERO..=RetryPolicy::MAX_DELAY)
                })
                .expect(BUILT_IN)
        };
        let (base_delay, max_delay) = (delay("base_delay"), delay("max_delay"));
        let jitter_ratio = fields
            .read(cx, "jitter_ratio", typed::ratio)
            .expect(BUILT_IN);
        RetryPolicy::new(max_attempts, base_delay, max_delay, jitter_ratio)
    })
}

/// Reads `retry` of a job, which may only be tighter than that of `offpeak.yaml`.
pub fn tighter_retry(
    cx: &mut Context<'_>,
    field: Field<'_>,
    outer: &RetryPolicy,
) -> Option<RetryPolicy> {
    let mut fields = Fields::open(cx, field, "a map such as `{ max_attempts: 2 }`")?;
    let max_attempts = fields
        .read(cx, "max_attempts", |cx, f| {
            typed::integer(cx, f, 1..=outer.max_attempts())
        })
        .unwrap_or(outer.max_attempts());
    let max_delay = fields
        .read(cx, "max_delay", |cx, f| {
            typed::duration(cx, f, ZERO..=outer.max_delay())
        })
        .unwrap_or(outer.max_delay());
    let base_delay = fields
        .read(cx, "base_delay", |cx, f| {
            typed::duration(cx, f, ZERO..=outer.base_delay())
        })
        // A job that lowers the cap alone lowers the first wait with it.
        .unwrap_or(outer.base_delay().min(max_delay));
    let jitter_ratio = fields
        .read(cx, "jitter_ratio", typed::ratio)
        .unwrap_or(outer.jitter_ratio());
    let policy = RetryPolicy::new(max_attempts, base_delay, max_delay, jitter_ratio)
        .unwrap_or_else(|error| {
            report(cx, &fields, &error);
            *outer
        });
    fields.close(cx);
    Some(policy)
}

/// Reads `budget`.
pub fn budget(cx: &mut Context<'_>, root: &mut Fields<'_>) -> BudgetPolicy {
    policy(cx, root, "budget", |cx, fields| {
        let calls = fields
            .read(cx, "calls", |cx, f| {
                typed::integer(cx, f, 1..=BudgetPolicy::MAX_CALLS)
            })
            .expect(BUILT_IN);
        let per = fields
            .read(cx, "per", |cx, f| typed::duration(cx, f, SECOND..=DAY))
            .expect(BUILT_IN);
        let mut dollars = fields.section(cx, "dollars");
        let caps = DollarCaps {
            day: dollars.read(cx, "day", typed::cap),
            month: dollars.read(cx, "month", typed::cap),
        };
        dollars.close(cx);
        Ok(BudgetPolicy::new(calls, per)?.costing(caps))
    })
}

/// Reads `breaker`.
pub fn breaker(cx: &mut Context<'_>, root: &mut Fields<'_>) -> BreakerPolicy {
    policy(cx, root, "breaker", |cx, fields| {
        let min_samples = fields
            .read(cx, "min_samples", |cx, f| {
                typed::integer(cx, f, 1..=BreakerPolicy::MAX_SAMPLES)
            })
            .expect(BUILT_IN);
        let failure_ratio = fields
            .read(cx, "failure_ratio", typed::ratio)
            .expect(BUILT_IN);
        let mut span = |name, longest| {
            fields
                .read(cx, name, |cx, f| typed::duration(cx, f, SECOND..=longest))
                .expect(BUILT_IN)
        };
        let (window, cooldown) = (span("window", DAY), span("cooldown", DAY));
        let stale_after = span("stale_after", BreakerPolicy::MAX_STALE);
        let min_samples = NonZeroU32::new(min_samples).unwrap_or(NonZeroU32::MIN);
        BreakerPolicy {
            min_samples,
            failure_ratio,
            window,
            cooldown,
            stale_after,
        }
        .checked()
    })
}

/// Reads a policy; fields that are right one by one may be wrong together, then the built-in ones hold.
fn policy<'a, T>(
    cx: &mut Context<'_>,
    root: &mut Fields<'a>,
    name: &'static str,
    read: impl Fn(&mut Context<'_>, &mut Fields<'a>) -> Result<T, PolicyError>,
) -> T {
    let mut fields = root.section(cx, name);
    let policy = read(cx, &mut fields).unwrap_or_else(|error| {
        report(cx, &fields, &error);
        read(cx, &mut fields.lower()).expect(BUILT_IN)
    });
    fields.close(cx);
    policy
}

fn report(cx: &mut Context<'_>, fields: &Fields<'_>, error: &PolicyError) {
    let place = fields.place_of(error.field);
    cx.bad_field(place, error.to_string(), None);
}

/// Reads the fields that `defer` has in `offpeak.yaml` and in a job alike; `outer` holds where they say nothing.
pub fn defer(
    cx: &mut Context<'_>,
    fields: &mut Fields<'_>,
    outer: Option<&DeferPolicy>,
) -> DeferPolicy {
    let rules = [
        ("next_slot", DeferRule::NextSlot),
        ("own_slot", DeferRule::OwnSlot),
        ("open_slot", DeferRule::OpenSlot),
    ];
    let exhausted = [("defer", OnExhausted::Defer), ("fail", OnExhausted::Fail)];
    let rule = fields.read(cx, "to", |cx, f| typed::word(cx, f, &rules));
    let max = fields.read(cx, "max", |cx, f| typed::integer(cx, f, 0..=100));
    let expires_after = fields.read(cx, "expires_after", |cx, f| {
        typed::duration(cx, f, SECOND..=TEN_YEARS)
    });
    let on_exhausted = fields.read(cx, "on_exhausted", |cx, f| typed::word(cx, f, &exhausted));
    DeferPolicy {
        rule: rule.or(outer.map(|outer| outer.rule)).expect(BUILT_IN),
        max: max.or(outer.map(|outer| outer.max)).expect(BUILT_IN),
        expires_after: expires_after
            .or(outer.map(|outer| outer.expires_after))
            .expect(BUILT_IN),
        on_exhausted: on_exhausted
            .or(outer.map(|outer| outer.on_exhausted))
            .expect(BUILT_IN),
    }
}
