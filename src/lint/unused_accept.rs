//! `unused-accept`: a job accepts a rule that finds nothing in it.

use super::accept::Acceptance;
use super::advice::about;
use super::{Finding, Rule, Rules, Subject};
use crate::job::JobId;

/// Tells of every rule that a job accepts for nothing.
///
/// What the rules found must have been accepted and noted before: a use that is only counted is one too.
pub(super) fn findings(
    subjects: &[Subject],
    rules: &Rules,
    acceptance: &Acceptance<'_>,
) -> Vec<Finding> {
    if rules.levels.severity(Rule::UnusedAccept).is_none() {
        return Vec::new();
    }
    let mut findings = Vec::new();
    for subject in subjects {
        let unused = subject.accepted.keys().filter(|rule| {
            is_looked_for(**rule, subject, rules) && !acceptance.is_used(&subject.job, **rule)
        });
        findings.extend(unused.map(|rule| finding(subject, *rule)));
    }
    findings
}

fn finding(subject: &Subject, rule: Rule) -> Finding {
    Finding {
        help: Some(help(rule)),
        accepts: Some(rule),
        ..about(Rule::UnusedAccept, subject, message(&subject.job, rule))
    }
}

/// What is to be said of a job that accepts a rule for nothing.
#[must_use]
pub fn message(job: &JobId, rule: Rule) -> String {
    format!("`{job}` accepts {rule}, which finds nothing in it")
}

/// What to do about it.
#[must_use]
pub fn help(rule: Rule) -> String {
    format!("remove `{rule}` from its `accept`")
}

/// Whether the proof looks for a rule in a subject, so that to find nothing means something.
fn is_looked_for(rule: Rule, subject: &Subject, rules: &Rules) -> bool {
    let is_known = match rule {
        Rule::KeyGap
        | Rule::PeakWindow
        | Rule::NeverFires
        | Rule::ClockChange
        | Rule::Overrun
        | Rule::ComfortableGap
        | Rule::EitherDay
        | Rule::UnevenStep
        | Rule::LeapDay
        | Rule::SkipsMonths => true,
        Rule::BadRequest => !subject.shapes.is_empty(),
        Rule::UnknownPrice | Rule::OverBudget => !subject.tolls.is_empty(),
        Rule::BreakerCannotOpen => rules.breaker.is_some(),
        Rule::RetiredModel
        | Rule::LargeColdInput
        | Rule::CacheNeverRead
        | Rule::CacheSaves
        | Rule::UnknownModel => subject.prompt.is_some(),
        // Two are found where files are read, and no job may accept the others.
        Rule::MissingFile
        | Rule::OutputCollision
        | Rule::BadCron
        | Rule::BadZone
        | Rule::UnknownKey
        | Rule::DuplicateId
        | Rule::BadField
        | Rule::UnknownVariable
        | Rule::LiteralSecret
        | Rule::SameSecret
        | Rule::UnusedAccept => false,
    };
    is_known && rules.levels.severity(rule).is_some()
}

#[cfg(test)]
mod tests;
