//! `bad-request`: what a job asks for cannot stand together, or its model does not take it.
//!
//! The API answers each such request with 400, and no retry helps. Of a model
//! that is not in the table, only what holds for every model is said.

use super::advice::about;
use super::{Finding, Refusal, Rule, Rules, Shape, Subject, Thinking, ToolChoice};
use crate::job::CacheTtl;

/// The least tokens of a thinking budget.
const LEAST_BUDGET: u64 = 1_024;

/// The most cache breakpoints of a request.
const MOST_BREAKPOINTS: usize = 4;

/// From this version on the API takes no sampling parameter at all.
const NO_SAMPLING_FROM: &str = "2026-10-21";

/// What is wrong: the field to mark, what stands there, and what to do.
#[derive(Debug, PartialEq, Eq)]
struct Fault {
    field: String,
    message: String,
    help: String,
}

/// A check of one part of a request.
type Check = fn(&Shape) -> Vec<Fault>;

/// Every check, in the order of a request's fields.
const CHECKS: [Check; 7] = [
    output_limit,
    thinking_way,
    thinking_budget,
    sampling,
    tool_choice,
    region,
    breakpoints,
];

/// What the API would refuse of the jobs' requests; a finding for each reason.
pub(super) fn findings(subjects: &[Subject], rules: &Rules) -> Vec<Finding> {
    if rules.levels.severity(Rule::BadRequest).is_none() {
        return Vec::new();
    }
    subjects.iter().flat_map(of).collect()
}

/// What the API would refuse of one job, each step sent to its model or to the fallback.
fn of(subject: &Subject) -> Vec<Finding> {
    let (mut findings, mut of_fallback) = (Vec::new(), Vec::new());
    let fallback = subject.fallback.as_ref();
    let fallback = fallback.map_or(&[][..], |fallback| &fallback.shapes);
    for (index, shape) in subject.shapes.iter().enumerate() {
        let faults = faults(shape);
        for fault in fallback.get(index).map(self::faults).unwrap_or_default() {
            // What is wrong whichever model is asked has been said.
            if !faults.contains(&fault) {
                of_fallback.push(fallback_finding(subject, shape, &fault));
            }
        }
        findings.extend(faults.into_iter().map(|it| finding(subject, shape, it)));
    }
    findings.extend(of_fallback);
    findings
}

fn faults(shape: &Shape) -> Vec<Fault> {
    CHECKS.iter().flat_map(|check| check(shape)).collect()
}

/// The job, or its step, in words.
fn asker(subject: &Subject, shape: &Shape) -> String {
    match &shape.step {
        None => format!("`{}`", subject.job),
        Some(step) => format!("the step `{step}` of `{}`", subject.job),
    }
}

fn finding(subject: &Subject, shape: &Shape, fault: Fault) -> Finding {
    let who = asker(subject, shape);
    let field = match &shape.step {
        None => fault.field,
        Some(step) => format!("{step}.{}", fault.field),
    };
    let message = format!("{who} {}: the API answers 400", fault.message);
    Finding {
        field: Some(field),
        help: Some(fault.help),
        ..about(Rule::BadRequest, subject, message)
    }
}

/// A finding about the request as it goes to the fallback: what mends it there may be wrong for the first model.
fn fallback_finding(subject: &Subject, shape: &Shape, fault: &Fault) -> Finding {
    let message = format!(
        "{}, when it goes to its fallback, {}: the API answers 400",
        asker(subject, shape),
        fault.message
    );
    let help = format!(
        "name a `fallback_model` that takes `{}` as the job has it, or take the field away",
        fault.field
    );
    Finding {
        field: Some("fallback_model".to_owned()),
        help: Some(help),
        ..about(Rule::BadRequest, subject, message)
    }
}

fn fault(field: &str, message: String, help: impl Into<String>) -> Vec<Fault> {
    vec![Fault {
        field: field.to_owned(),
        message,
        help: help.into(),
    }]
}

fn refuses(shape: &Shape, refusal: Refusal) -> bool {
    let limits = shape.limits.as_ref();
    limits.is_some_and(|limits| limits.refuses.contains(&refusal))
}

fn output_limit(shape: &Shape) -> Vec<Fault> {
    let most = shape
        .limits
        .as_ref()
        .and_then(|limits| limits.max_output_tokens);
    let over = most.filter(|most| u64::from(shape.max_tokens) > *most);
    over.map_or_else(Vec::new, |most| {
        fault(
            "max_tokens",
            format!(
                "asks for up to {} tokens, and `{}` gives {most} at most",
                shape.max_tokens, shape.model
            ),
            format!("write `max_tokens: {most}` or less"),
        )
    })
}

fn thinking_way(shape: &Shape) -> Vec<Fault> {
    let Some(thinking) = shape.thinking else {
        return Vec::new();
    };
    let model = &shape.model;
    let (refusal, message, help) = match thinking {
        Thinking::Enabled(_) => (
            Refusal::EnabledThinking,
            format!("gives `{model}` a budget for thinking, which it does not take"),
            "write `thinking: adaptive`, and `effort` for how much",
        ),
        Thinking::Adaptive => (
            Refusal::AdaptiveThinking,
            format!("asks `{model}` for adaptive thinking, which it does not have"),
            "write `thinking: { budget_tokens: 2000 }`, or take `thinking` away",
        ),
        Thinking::Disabled => (
            Refusal::DisabledThinking,
            format!("turns off the thinking of `{model}`, which always thinks"),
            "take `thinking` away; what it thinks counts toward `max_tokens`",
        ),
    };
    if refuses(shape, refusal) {
        fault("thinking", message, help)
    } else {
        Vec::new()
    }
}

fn thinking_budget(shape: &Shape) -> Vec<Fault> {
    let Some(Thinking::Enabled(Some(budget))) = shape.thinking else {
        return Vec::new();
    };
    let most = u64::from(shape.max_tokens);
    if budget < LEAST_BUDGET {
        fault(
            "thinking",
            format!("gives {budget} tokens for thinking, and {LEAST_BUDGET} are the least"),
            format!("write `budget_tokens: {LEAST_BUDGET}` or more"),
        )
    } else if budget >= most {
        fault(
            "thinking",
            format!(
                "gives {budget} tokens for thinking out of `max_tokens` {most}, which leaves none for the answer"
            ),
            "raise `max_tokens` above `budget_tokens`",
        )
    } else {
        Vec::new()
    }
}

fn sampling(shape: &Shape) -> Vec<Fault> {
    let of_version = shape.version.as_str() >= NO_SAMPLING_FROM;
    let of_model = refuses(shape, Refusal::Sampling);
    let wrong = shape.sampling.iter().filter_map(|one| {
        let field = &one.field;
        let message = if of_version {
            format!(
                "sets `{field}`, which version {} of the API does not take",
                shape.version
            )
        } else if of_model && !one.is_default {
            format!("sets `{field}`, which `{}` does not take", shape.model)
        } else {
            return None;
        };
        Some(fault(
            field,
            message,
            format!("take `{field}` out of `request`"),
        ))
    });
    wrong.flatten().collect()
}

fn tool_choice(shape: &Shape) -> Vec<Fault> {
    if shape.tool_choice == ToolChoice::Free || !refuses(shape, Refusal::ForcedTool) {
        return Vec::new();
    }
    fault(
        "tool_choice",
        format!("forces a tool on `{}`, which always thinks", shape.model),
        "take `tool_choice` out of `request`, and ask for the tool in the prompt",
    )
}

fn region(shape: &Shape) -> Vec<Fault> {
    let Some(region) = shape
        .region
        .as_ref()
        .filter(|_| refuses(shape, Refusal::Region))
    else {
        return Vec::new();
    };
    fault(
        "inference_geo",
        format!(
            "asks `{}` to answer in `{region}`, which it cannot",
            shape.model
        ),
        "take `inference_geo` out of `request`, or choose a newer model",
    )
}

fn breakpoints(shape: &Shape) -> Vec<Fault> {
    let count = shape.breakpoints.len();
    let mut faults = Vec::new();
    if let Some(fifth) = shape.breakpoints.get(MOST_BREAKPOINTS) {
        faults.extend(fault(
            fifth.field,
            format!("sets {count} cache breakpoints, and {MOST_BREAKPOINTS} are the most"),
            "take away those that end the parts which change most often",
        ));
    }
    let pairs = shape.breakpoints.windows(2);
    let grows = |pair: &&[_]| matches!(pair, [one, two] if is_longer(two, one));
    if let Some([_, longer]) = pairs.into_iter().find(grows) {
        faults.extend(fault(
            longer.field,
            "caches for 5m what stands before something cached for 1h".to_owned(),
            "let no breakpoint live longer than the one before it: put what is cached for 1h first",
        ));
    }
    faults
}

fn is_longer(one: &super::Breakpoint, other: &super::Breakpoint) -> bool {
    (one.life, other.life) == (CacheTtl::OneHour, CacheTtl::FiveMinutes)
}

#[cfg(test)]
mod tests;
