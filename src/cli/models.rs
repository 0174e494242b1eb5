//! `models`: what keys can use, and which jobs ask for something else.

mod json;
mod judge;
mod table;

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;

use super::{CliError, Context, Exit, args, asked, linting, money};
use crate::anthropic::{Listed, Models};
use crate::clock::SystemClock;
use crate::config::Config;
use crate::job::{GroupId, Job, JobState, KeyId};
use judge::{Problem, Standing};

/// What a key can use.
#[derive(Debug)]
struct Section<'a> {
    key: &'a KeyId,
    group: &'a GroupId,
    models: Vec<Listed>,
    jobs: Vec<&'a Job>,
    problems: Vec<Problem<'a>>,
}

/// Asks for each key once, page by page; whoever asks is a person, so that no budget is spent and nothing is retried.
pub fn run(context: &Context, args: &args::Models, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.load(&[])?;
    let keys = keys(&config, args)?;
    let table = money::models(&config);
    let mut sections = Vec::new();
    for key in keys {
        sections.push(section(context, &config, &table, key)?);
    }
    if context.is_json() {
        writeln!(out, "{}", json::of(&sections, &table))?;
    } else {
        table::print(context, &sections, &table, out)?;
    }
    let mut problems = sections.iter().flat_map(|section| &section.problems);
    let fails = problems.any(|problem| problem.standing.fails());
    Ok(if fails { Exit::No } else { Exit::Done })
}

/// The key that is named, or those that jobs use, or all if there is no job yet.
fn keys<'a>(config: &'a Config, args: &args::Models) -> Result<BTreeSet<&'a KeyId>, CliError> {
    if let Some(name) = &args.key {
        let found = config.keys.keys().find(|key| key.as_str() == name);
        let found = found.ok_or_else(|| {
            let known: Vec<&str> = config.keys.keys().map(KeyId::as_str).collect();
            CliError::Refused {
                what: format!("there is no key `{name}`"),
                help: linting::nearest("key", name, &known),
            }
        })?;
        return Ok([found].into());
    }
    let jobs = config.plan.jobs.values();
    let used: BTreeSet<&KeyId> = jobs.map(|planned| &planned.job.key).collect();
    Ok(if used.is_empty() {
        config.keys.keys().collect()
    } else {
        used
    })
}

fn section<'a>(
    context: &Context,
    config: &'a Config,
    table: &Models,
    key: &'a KeyId,
) -> Result<Section<'a>, CliError> {
    context.require_key(config, key)?;
    let client = context.client(config, None, Arc::new(SystemClock::new()))?;
    let listed = context.block_on(async { Ok(client.list_models(key).await) })?;
    let now = context.now();
    let models = listed
        .map_err(|failure| asked::broken(key, "the models cannot be listed", &failure, now))?;
    let group = config.keys.get(key).map(|settings| &settings.group);
    let group = group.ok_or_else(|| CliError::Missing(format!("key `{key}`")))?;
    let jobs = config.plan.jobs.values().map(|planned| &planned.job);
    let jobs: Vec<&Job> = jobs.filter(|job| job.key == *key).collect();
    let enabled = jobs.iter().filter(|job| job.state == JobState::Enabled);
    let problems = enabled.flat_map(|job| judge::problems(job, &models, table, now));
    Ok(Section {
        problems: problems.collect(),
        key,
        group,
        models,
        jobs,
    })
}

impl Section<'_> {
    /// The names of the jobs that ask this model, at first or as a fallback.
    fn jobs_of(&self, model: &Listed) -> Vec<&str> {
        let asks = |job: &&&Job| {
            let mut named = judge::named(job).into_iter();
            named.any(|(_, name)| judge::found(&self.models, name) == Some(model))
        };
        let jobs = self.jobs.iter().filter(asks);
        jobs.map(|job| job.id.as_str()).collect()
    }
}
