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
    /// What a reader must know of the verdict.
    note: Note,
}

/// What a reader must know of a verdict.
#[derive(Clone, Copy)]
enum Note {
    None,
    /// The world was calibrated to the statement, so that it says little for it.
    Calibrated,
    /// The figure cannot tell, whatever it is, and why.
    Blind(&'static str),
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
        let verdict = self.claim.judge(&self.spread);
        let verdict = match self.note {
            Note::None => verdict.to_string(),
            Note::Calibrated => format!("{verdict}, as the world was calibrated to it"),
            Note::Blind(why) => format!("{}: {why}", Verdict::NotIdentifiable),
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

impl Statement {
    fn calibrated(self) -> Self {
        let note = Note::Calibrated;
        Self { note, ..self }
    }

    /// About a figure of an arm.
    fn figure(
        text: &'static str,
        arm: (&'static str, &Summary),
        metric: Metric,
        claim: Claim,
    ) -> Self {
        Self {
            text,
            arm: arm.0,
            spread: *arm.1.spread(metric),
            metric: Some(metric),
            claim,
            note: Note::None,
        }
    }

    /// About the share by which a figure changed, within each seed.
    fn change(text: &'static str, spread: Spread, claim: Claim) -> Self {
        Self {
            text,
            arm: "old client and times to layers and new times",
            spread,
            metric: None,
            claim,
            note: Note::None,
        }
    }
}

/// What the source states, and where the worlds are asked: how figures changed, the old client on the old times, the
/// layers on the new ones, and these in worlds in which no call is refused for what it is.
pub fn statements(
    both: &dyn Fn(Metric) -> Spread,
    [old, new, sound]: [&Summary; 3],
) -> Vec<Statement> {
    let mut all = figures(old, new);
    all.extend(changes(both));
    let arm = ("layers, new times, no call refused", sound);
    let none = Claim::between(0.0, 0.0);
    all.push(Statement::figure(
        "all picked up: none lost",
        arm,
        Metric::Lost,
        none,
    ));
    all
}

fn figures(old: &Summary, new: &Summary) -> Vec<Statement> {
    use Metric::{AttemptsPerTroubledCall, Yields, YieldsBreaker, YieldsBudget};

    let (old, new) = (("old client, old times", old), ("layers, new times", new));
    let about = Claim::about;
    let paced = "a run of the daemon waits for room in its own budget, and no other runs beside it";
    vec![
        Statement::figure(
            "mean attempts before: 4.6",
            old,
            AttemptsPerTroubledCall,
            about(4.6, 0.5),
        )
        .calibrated(),
        Statement::figure("yields: 17", new, Yields, about(17.0, 3.0)).calibrated(),
        Statement::figure(
            "of these by the breaker: 9",
            new,
            YieldsBreaker,
            about(9.0, 2.0),
        ),
        Statement {
            note: Note::Blind(paced),
            ..Statement::figure(
                "of these by the budget: 8",
                new,
                YieldsBudget,
                about(8.0, 2.0),
            )
        },
    ]
}

fn changes(both: &dyn Fn(Metric) -> Spread) -> Vec<Statement> {
    use Metric::{AttemptP50, AttemptP99, CallP50, CallP99, DoneP99, Wasted};

    let falls = Claim::between(f64::NEG_INFINITY, -0.1);
    let flat = Claim::between(-0.1, 0.1);
    let stated = Claim::about(-0.59, 0.06);
    let of = |text, metric, claim| Statement::change(text, both(metric), claim);
    vec![
        of("wasted retries: -59 %", Wasted, stated).calibrated(),
        of("p50 flat, of an attempt", AttemptP50, flat),
        of("p50 flat, of a call", CallP50, flat),
        of("p99 drops, of an attempt", AttemptP99, falls),
        of("p99 drops, of a call", CallP99, falls),
        of("p99 drops, from due to done", DoneP99, falls),
        of(
            "p99 of a call falls by the share of the waste",
            CallP99,
            stated,
        ),
    ]
}
