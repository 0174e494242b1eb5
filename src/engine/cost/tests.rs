use std::time::Duration;

use super::*;
use crate::answer::{Answer, StopReason};
use crate::engine::ports::Pending;
use crate::job::{Delivery, KeyId};
use crate::price::{Estimate, Growth};
use chrono::DateTime;

/// A cent for each token of output; a model called `unpriced` has no known price.
struct Cents;

impl Upstream for Cents {
    fn send<'a>(&'a self, _: &'a Request) -> Pending<'a, Result<Reply, SendFailure>> {
        Box::pin(std::future::pending())
    }

    fn cost(&self, _: &Request, model: &str, usage: &Usage) -> Option<Dollars> {
        (model != "unpriced").then(|| cents(usage.output_tokens))
    }

    fn estimate(&self, request: &Request) -> Estimate {
        let cost = Some(cents(u64::from(request.max_tokens)));
        Estimate {
            tokens_low: 0,
            tokens: 0,
            tokens_high: 0,
            output_max: 0,
            cost_low: cost,
            cost,
            cost_high: cost,
            growth: Growth::None,
        }
    }
}

fn cents(cents: u64) -> Dollars {
    Dollars::from_nanos(cents * 10_000_000)
}

fn request() -> Request {
    Request {
        key: KeyId::new("main"),
        model: "m".to_owned(),
        max_tokens: 50,
        system: Vec::new(),
        prompt: String::new(),
        so_far: Vec::new(),
        delivery: Delivery::Stream,
        extra: Vec::new(),
        timeout: Duration::from_secs(1),
    }
}

const RESERVE: Option<Reserve> = Some(Reserve {
    amount: Dollars::from_nanos(600_000_000),
    at: DateTime::UNIX_EPOCH,
});

fn used(output_tokens: u64) -> Usage {
    Usage {
        output_tokens,
        ..Usage::default()
    }
}

/// What an attempt brought.
type Sent = Result<Reply, SendFailure>;

#[expect(
    clippy::unnecessary_wraps,
    clippy::result_large_err,
    reason = "as the port has it"
)]
fn answered(model: &str, usage: Option<Usage>) -> Sent {
    let answer = Answer {
        id: "msg_1".to_owned(),
        model: model.to_owned(),
        text: "text".to_owned(),
        stop_reason: StopReason::EndTurn,
        usage,
        paused: None,
        tool_errors: Vec::new(),
    };
    Ok(Reply {
        answer,
        status: 200,
        request_id: None,
        first_byte: None,
    })
}

#[expect(clippy::result_large_err, reason = "as the port has it")]
fn broken(kind: FailureKind, usage: Option<Usage>) -> Sent {
    Err(SendFailure {
        usage,
        ..SendFailure::new(kind, "scripted")
    })
}

fn after(results: &[Option<Sent>]) -> (Cost, Vec<Charge>) {
    let mut cost = Cost::default();
    let charge = |result: &Option<_>| {
        let bill = cost.add(&Cents, &request(), RESERVE, result.as_ref());
        assert_eq!(bill.reserve, RESERVE);
        bill.charge
    };
    let charges = results.iter().map(charge).collect();
    (cost, charges)
}

#[test]
fn a_cap_lets_go_what_fits_and_nothing_dearer() {
    let cap = Some(cents(10));
    assert_eq!(room(cap, cents(4), Some(cents(6))), Room::Go);
    assert_eq!(room(cap, cents(4), Some(cents(7))), Room::NotInThisRun);
    assert_eq!(room(cap, Dollars::ZERO, Some(cents(10))), Room::Go);
    let too_dear = Room::InNone(FailReason::MaxCost);
    assert_eq!(room(cap, Dollars::ZERO, Some(cents(11))), too_dear);
    assert_eq!(room(cap, cents(9), Some(cents(11))), too_dear);
}

#[test]
fn an_unknown_price_has_room_only_where_no_cap_is() {
    let unknown = Room::InNone(FailReason::UnknownPrice);
    assert_eq!(room(Some(cents(10)), Dollars::ZERO, None), unknown);
    assert_eq!(room(None, cents(999), None), Room::Go);
    let caps = DollarCaps {
        day: Some(cents(10)),
        month: Some(cents(5)),
    };
    let reason = |next| never_affordable(&caps, next);
    assert_eq!(reason(None), Some(FailReason::UnknownPrice));
    assert_eq!(reason(Some(cents(6))), Some(FailReason::OverBudget));
    assert_eq!(reason(Some(cents(5))), None);
    assert_eq!(never_affordable(&DollarCaps::default(), None), None);
}

#[test]
fn a_refusal_names_the_amounts_and_the_way_out() {
    let say = |reason, next, cap| refusal(reason, &request(), next, cap);
    assert_eq!(
        say(FailReason::MaxCost, Some(cents(50)), Some(cents(10))),
        "one call may cost $0.50, and `max_cost` is $0.10: raise it, or lower `max_tokens`"
    );
    assert!(
        say(FailReason::OverBudget, Some(cents(50)), Some(cents(10))).contains("`budget.dollars`")
    );
    let unknown = say(FailReason::UnknownPrice, None, Some(cents(10)));
    assert!(
        unknown.contains("`m`") && unknown.contains("`prices`"),
        "{unknown}"
    );
}

#[test]
fn an_answer_costs_what_was_counted() {
    let (cost, charges) = after(&[Some(answered("m", Some(used(7))))]);
    assert_eq!(charges, [Charge::AtMost(cents(7))]);
    assert_eq!((cost.known(), cost.committed()), (Some(cents(7)), cents(7)));
}

#[test]
fn an_answer_that_was_not_counted_or_has_no_price_keeps_its_reserve() {
    for answer in [answered("m", None), answered("unpriced", Some(used(7)))] {
        let (cost, charges) = after(&[Some(answer)]);
        assert_eq!(charges, [Charge::Unknown]);
        assert_eq!((cost.known(), cost.committed()), (None, cents(60)));
    }
}

#[test]
fn what_was_counted_before_a_failure_adds_to_the_answer() {
    let cut = broken(FailureKind::Cut, Some(used(3)));
    let (cost, charges) = after(&[Some(cut), Some(answered("m", Some(used(7))))]);
    // Where the broken answer would have ended is not known: the guard counts all of `max_tokens`.
    assert_eq!(
        charges,
        [Charge::AtMost(cents(50)), Charge::AtMost(cents(7))]
    );
    assert_eq!(
        (cost.known(), cost.committed()),
        (Some(cents(10)), cents(57))
    );
}

#[test]
fn an_uncounted_answer_makes_the_whole_unknown() {
    let cut = broken(FailureKind::Cut, Some(used(3)));
    let (cost, _) = after(&[Some(cut), Some(answered("m", None))]);
    assert_eq!(cost.known(), None);
}

#[test]
fn what_was_refused_before_an_answer_is_free() {
    for kind in [
        FailureKind::Connect,
        FailureKind::Unsendable,
        FailureKind::Redirect,
        FailureKind::Status,
    ] {
        let (cost, charges) = after(&[Some(broken(kind, None))]);
        assert_eq!(charges, [Charge::Free], "{kind:?}");
        assert_eq!((cost.known(), cost.committed()), (None, Dollars::ZERO));
    }
}

#[test]
fn what_may_have_been_billed_keeps_its_reserve() {
    let kinds = [
        FailureKind::FirstByteTimeout,
        FailureKind::IdleTimeout,
        FailureKind::AttemptTimeout,
        FailureKind::Cut,
        FailureKind::StreamError,
        FailureKind::NotAMessage,
        FailureKind::TooLarge,
    ];
    let broken = kinds.map(|kind| Some(broken(kind, None)));
    for result in broken.into_iter().chain([None]) {
        let (cost, charges) = after(&[result]);
        assert_eq!(charges, [Charge::Unknown]);
        assert_eq!((cost.known(), cost.committed()), (None, cents(60)));
    }
}
