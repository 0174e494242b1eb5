//! How bad the mistakes are: what the settings say of their rules, and what jobs accept.

use std::collections::HashSet;

use crate::job::JobId;
use crate::lint::{Rule, unused_accept};

use super::checked::Config;
use super::mistakes::Mistake;
use super::sources::Sources;

/// The rules that a job may accept and that are found where files are read; the linter knows all others.
const FOUND_HERE: [Rule; 2] = [Rule::MissingFile, Rule::OutputCollision];

/// The mistakes that are looked for, weighed, and advice on what jobs accept for nothing.
pub fn weigh(mistakes: Vec<Mistake>, config: &Config, sources: &Sources) -> Vec<Mistake> {
    let found: HashSet<(JobId, Rule)> = mistakes
        .iter()
        .flat_map(|mistake| {
            let jobs = [&mistake.job, &mistake.other].into_iter().flatten();
            jobs.map(|job| (job.clone(), mistake.rule))
        })
        .collect();
    mistakes
        .into_iter()
        .chain(unused(&found, config, sources))
        .filter_map(|mistake| weighed(mistake, config))
        .collect()
}

/// A mistake with the severity that the settings give its rule, and the reason for which a job accepts it.
fn weighed(mut mistake: Mistake, config: &Config) -> Option<Mistake> {
    mistake.severity = config.levels.severity(mistake.rule)?;
    let of_job = |job| config.accepted.get(job)?.get(&mistake.rule).cloned();
    let by_one = mistake.job.as_ref().and_then(of_job);
    mistake.accepted = by_one.or_else(|| mistake.other.as_ref().and_then(of_job));
    Some(mistake)
}

/// What jobs accept of the rules found here, and what was not found in them.
fn unused(found: &HashSet<(JobId, Rule)>, config: &Config, sources: &Sources) -> Vec<Mistake> {
    let mut unused = Vec::new();
    for (job, accepted) in &config.accepted {
        for rule in FOUND_HERE {
            let is_unused = accepted.contains_key(&rule)
                && config.levels.severity(rule).is_some()
                && !found.contains(&(job.clone(), rule));
            if let Some(place) = sources.accept_place(job, rule).filter(|_| is_unused) {
                let message = unused_accept::message(job, rule);
                let mut mistake = Mistake::new(Rule::UnusedAccept, place, message)
                    .help(unused_accept::help(rule));
                mistake.job = Some(job.clone());
                unused.push(mistake);
            }
        }
    }
    unused
}
