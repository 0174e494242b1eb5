//! What jobs accept: one decision for the findings of every rule.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::{Finding, Rule, Subject};
use crate::job::JobId;

/// What the jobs accept, and which of it was of use.
#[derive(Debug)]
pub(super) struct Acceptance<'a> {
    reasons: HashMap<&'a JobId, &'a BTreeMap<Rule, String>>,
    used: HashSet<(&'a JobId, Rule)>,
}

impl<'a> Acceptance<'a> {
    /// What the jobs accept, and nothing used yet.
    pub(super) fn of(subjects: &'a [Subject]) -> Self {
        let accepting = subjects
            .iter()
            .filter(|subject| !subject.accepted.is_empty());
        Self {
            reasons: accepting
                .map(|subject| (&subject.job, &subject.accepted))
                .collect(),
            used: HashSet::new(),
        }
    }

    /// Marks a finding that any of its jobs accepts, and that each of them that does so needs it.
    ///
    /// The reason is that of the job, or else of the other of the pair, or else of the first further one. What is
    /// accepted as a whole, as a closing count is, keeps its words.
    pub(super) fn accept(&mut self, finding: &mut Finding) {
        if self.reasons.is_empty() {
            return;
        }
        let other = finding.other.as_ref().map(|other| &other.job);
        let concerned = [Some(&finding.job), other].into_iter().flatten();
        let mut first = None;
        for job in concerned.chain(&finding.also) {
            let Some((job, accepted)) = self.reasons.get_key_value(job) else {
                continue;
            };
            if let Some(reason) = accepted.get(&finding.rule) {
                self.used.insert((*job, finding.rule));
                first.get_or_insert(reason);
            }
        }
        if finding.accepted.is_none() {
            finding.accepted = first.cloned();
        }
    }

    /// Notes that a rule which a job accepts found something in it that is only counted.
    pub(super) fn note(&mut self, job: &'a JobId, rule: Rule) {
        self.used.insert((job, rule));
    }

    /// Whether a rule that a job accepts found something in it.
    pub(super) fn is_used(&self, job: &JobId, rule: Rule) -> bool {
        self.used.contains(&(job, rule))
    }
}
