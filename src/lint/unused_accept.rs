//! `unused-accept`: a job accepts a rule that finds nothing in it.

use std::collections::{BTreeMap, HashSet};

use super::ranked::Ranked;
use super::{Finding, Rule, Rules, Subject, tell};
use crate::job::{GroupId, JobId};

/// Tells of every rule that a job accepts for nothing.
///
/// `used` are the subjects and rules of the proof itself, which lists a hundred findings only and knows of all. Every
/// other rule lists what it finds.
pub(super) fn findings(
    subjects: &[Subject],
    rules: &Rules,
    used: &HashSet<(usize, Rule)>,
    found: &[Finding],
) -> Vec<Finding> {
    if rules.levels.severity(Rule::UnusedAccept).is_none() {
        return Vec::new();
    }
    let mut listed: HashSet<(&JobId, Rule)> = HashSet::new();
    if subjects.iter().any(|subject| !subject.accepted.is_empty()) {
        for finding in found {
            let other = finding.other.as_ref().map(|other| &other.job);
            listed.extend(
                [Some(&finding.job), other]
                    .into_iter()
                    .flatten()
                    .map(|job| (job, finding.rule)),
            );
        }
    }
    let mut groups: BTreeMap<&GroupId, Ranked<(&JobId, Rule)>> = BTreeMap::new();
    for (index, subject) in subjects.iter().enumerate() {
        let unused = subject.accepted.keys().copied().filter(|rule| {
            is_looked_for(*rule, subject, rules)
                && !used.contains(&(index, *rule))
                && !listed.contains(&(&subject.job, *rule))
        });
        for rule in unused {
            let of_group = groups.entry(&subject.group).or_insert_with(Ranked::new);
            of_group.push((&subject.job, rule));
        }
    }
    let told = groups.into_iter().flat_map(|(group, ranked)| {
        let told = ranked.finish();
        let first = told
            .first
            .into_iter()
            .map(|(job, rule)| finding(job, group, rule));
        let rest = told.rest.map(|((job, rule), count)| {
            tell::closing(finding(job, group, rule), count, tell::Standing::Open)
        });
        first.chain(rest).collect::<Vec<_>>()
    });
    told.collect()
}

fn finding(job: &JobId, group: &GroupId, rule: Rule) -> Finding {
    Finding {
        rule: Rule::UnusedAccept,
        severity: Rule::UnusedAccept.severity(),
        job: job.clone(),
        group: group.clone(),
        cron: None,
        at: None,
        other: None,
        gap: None,
        per_year: None,
        message: message(job, rule),
        suggestion: None,
        help: Some(help(rule)),
        accepted: None,
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
