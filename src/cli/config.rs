//! `config`: the settings in force, the documented defaults, or a schema for editors.

use std::io::Write;

use serde_json::json;

use super::{CliError, Context, Exit, args, linting, money, times};
use crate::config::{self, Config, ConfigErrors, KeySource, Mistake};
use crate::job::JobId;

/// Prints them; a secret is never read, and settings with mistakes are not in force.
pub fn run(context: &Context, args: &args::Config, out: &mut dyn Write) -> Result<Exit, CliError> {
    if args.defaults {
        write!(out, "{}", config::DEFAULTS)?;
        return Ok(Exit::Done);
    }
    if let Some(schema) = args.schema {
        write!(out, "{}", schema_text(schema))?;
        return Ok(Exit::Done);
    }
    let reading = context.read(&[]);
    if !reading.unreadable.is_empty() {
        return Err(CliError::unreadable(reading));
    }
    // What is wrong in a job is no matter of the settings.
    let mistakes: Vec<Mistake> = reading.of_settings().cloned().collect();
    if !mistakes.is_empty() {
        return Err(CliError::config(ConfigErrors {
            unreadable: Vec::new(),
            mistakes,
        }));
    }
    let config = reading.config;
    if context.is_json() {
        writeln!(out, "{}", as_json(context, &config))?;
    } else {
        as_text(context, &config, out)?;
    }
    Ok(Exit::Done)
}

/// A schema as it is shipped: JSON in every format.
const fn schema_text(schema: args::Schema) -> &'static str {
    match schema {
        args::Schema::Job => config::JOB_SCHEMA,
        args::Schema::Settings => config::SETTINGS_SCHEMA,
        args::Schema::Validate => super::json::VALIDATE_SCHEMA,
    }
}

fn as_text(context: &Context, config: &Config, out: &mut dyn Write) -> std::io::Result<()> {
    writeln!(out, "folder    {}", config.folder.display())?;
    writeln!(
        out,
        "store     {}, kept {}",
        config.store.path.display(),
        times::span(config.store.keep)
    )?;
    writeln!(
        out,
        "upstream  {} (version {})",
        config.upstream.base_url, config.upstream.version
    )?;
    writeln!(out, "jobs      {}", config.plan.jobs.len())?;
    for (name, key) in &config.keys {
        let (found, source) = source(context, &key.source);
        writeln!(
            out,
            "key       {name}: group {}, {source}: {found}",
            key.group
        )?;
    }
    for (name, group) in &config.plan.groups {
        let (budget, breaker) = (group.guard.budget, group.guard.breaker);
        writeln!(
            out,
            "group     {name}: {} calls per {}, breaker at {} samples and {:.0} % failures within {}",
            budget.calls(),
            times::span(budget.per()),
            breaker.min_samples,
            breaker.failure_ratio * 100.0,
            times::span(breaker.window),
        )?;
        if let Some(caps) = money::cap_words(&budget.dollars()) {
            writeln!(out, "dollars   {name}: at most {caps} of UTC")?;
        }
    }
    writeln!(out, "prices    as of {}", money::models(config).as_of())?;
    for own in &config.prices {
        let as_of = own.as_of.map(|day| format!(" as of {day}"));
        writeln!(
            out,
            "price     {}: {} in and {} out for a million tokens{}",
            own.model,
            own.price.input,
            own.price.output,
            as_of.unwrap_or_default()
        )?;
    }
    writeln!(out, "spacing   {}", times::span(config.plan.min_gap))?;
    writeln!(out, "peaks     {}", linting::windows(&config.plan.peaks))
}

fn as_json(context: &Context, config: &Config) -> serde_json::Value {
    let keys: serde_json::Map<String, serde_json::Value> = config
        .keys
        .iter()
        .map(|(name, key)| {
            let (found, source) = source(context, &key.source);
            (
                name.to_string(),
                json!({ "group": key.group.as_str(), "source": source, "found": found }),
            )
        })
        .collect();
    json!({
        "folder": config.folder.display().to_string(),
        "store": config.store.path.display().to_string(),
        "base_url": config.upstream.base_url,
        "version": config.upstream.version,
        "jobs": config.plan.jobs.keys().map(JobId::as_str).collect::<Vec<_>>(),
        "keys": keys,
        "min_gap_seconds": config.plan.min_gap.as_secs(),
        "peaks": linting::windows(&config.plan.peaks),
        "prices_as_of": money::models(config).as_of().to_string(),
    })
}

/// Whether a secret is there, and where it would come from.
fn source(context: &Context, source: &KeySource) -> (&'static str, String) {
    let place = match source {
        KeySource::Env(name) => format!("env {name}"),
        KeySource::File(path) => format!("file {}", path.display()),
        KeySource::Credential(name) => format!("credential {name}"),
    };
    let found = config::has_secret(source, &context.environment);
    (if found { "set" } else { "not set" }, place)
}
