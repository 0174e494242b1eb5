//! What the source states, and what the worlds say of it.

use std::fmt;

use offpeak::trial::{Claim, Metric, Spread, Summary, Value, Verdict};

/// A statement of the source, held against the seeds.
pub struct Statement {
    text: &'static str,
    arm: &'static str,
    spread: Spread,
    /// The figure that it is about; `None` if it is about a change.
    metric: Option<Metric>,
    claim: Claim,
    /// Why the figure cannot tell, whatever it is.
    blind: Option<&'static str>,
}

impl fmt::Display for Statement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: Value| match (self.metric, value) {
            (Some(metric), value) => metric.show(value),
            (None, Value::Measured(share)) => format!("{:+.0} %", share * 100.0),
            (None, Value::Below) => "less".to_owned(),
            (None, Value::Beyond) => "more".to_owned(),
            (None, Value::Nothing) => String::new(),
        };
        let (median, low, high) = (self.spread.median, self.spread.p05, self.spread.p95);
        let verdict = match self.blind {
            Some(why) => format!("{}: {why}", Verdict::NotIdentifiable),
            None => self.claim.judge(&self.spread).to_string(),
        };
        write!(
            f,
            "| {} | {} | {} | {} to {} | {verdict} |",
            self.text,
            self.arm,
            shown(median),
            shown(low),
            shown(high)
        )
    }
}

const BOTH: &str = "old client and times to layers and new times";
const OLD: &str = "old client, old times";
const NEW: &str = "layers, new times";

/// What the source states, and where the worlds are asked.
pub fn statements(
    (summaries, sound): (&[Summary], &Summary),
    both: &dyn Fn(Metric) -> Spread,
) -> Vec<Statement> {
    let falls = Claim::between(f64::NEG_INFINITY, -0.1);
    let change = |text, metric, claim| Statement {
        text,
        arm: BOTH,
        spread: both(metric),
        metric: None,
        claim,
        blind: None,
    };
    let figure = |text, arm: (&'static str, &Summary), metric, claim| Statement {
        text,
        arm: arm.0,
        spread: *arm.1.spread(metric),
        metric: Some(metric),
        claim,
        blind: None,
    };
    let (old, new) = ((OLD, &summaries[0]), (NEW, &summaries[3]));
    let paced = "a run of the daemon waits for room in its own budget, and no other runs beside it";
    vec![
        figure(
            "mean attempts before: 4.6",
            old,
            Metric::AttemptsPerTroubledCall,
            Claim::about(4.6, 0.5),
        ),
        change(
            "wasted retries: -59 %",
            Metric::Wasted,
            Claim::about(-0.59, 0.06),
        ),
        change(
            "p50 flat, of an attempt",
            Metric::AttemptP50,
            Claim::between(-0.1, 0.1),
        ),
        change(
            "p50 flat, of a call",
            Metric::CallP50,
            Claim::between(-0.1, 0.1),
        ),
        change("p99 drops, of an attempt", Metric::AttemptP99, falls),
        change("p99 drops, of a call", Metric::CallP99, falls),
        change("p99 drops, from due to done", Metric::DoneP99, falls),
        change(
            "p99 of a call falls by the share of the waste",
            Metric::CallP99,
            Claim::about(-0.59, 0.06),
        ),
        figure("yields: 17", new, Metric::Yields, Claim::about(17.0, 3.0)),
        figure(
            "of these by the breaker: 9",
            new,
            Metric::YieldsBreaker,
            Claim::about(9.0, 2.0),
        ),
        Statement {
            blind: Some(paced),
            ..figure(
                "of these by the budget: 8",
                new,
                Metric::YieldsBudget,
                Claim::about(8.0, 2.0),
            )
        },
        figure(
            "all picked up: none lost",
            (NEW, sound),
            Metric::Lost,
            Claim::between(0.0, 0.0),
        ),
    ]
}
