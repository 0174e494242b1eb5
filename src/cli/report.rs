//! `report`: how fast, how often and at what price work was done, and what made the slowest slow.

mod csv;
mod html;
mod json;

use std::io::Write;

use chrono::{DateTime, TimeDelta, Utc};

use super::args::Format;
use super::json::Place;
use super::{CliError, Context, Exit, args, linting};
use crate::config::{Config, Reading, Sources};
use crate::job::{GroupId, JobId};
use crate::report::{self, Breakdown, By, Field, Scope, TailAdvice, Tally, View};
use crate::store::SqliteStore;

/// Reads the store and prints; 0 also where there is nothing to tell.
pub fn run(context: &Context, args: &args::Report, out: &mut dyn Write) -> Result<Exit, CliError> {
    let page = args.html.as_deref();
    let page = page.map(|path| html::target(context, path)).transpose()?;
    let reading = context.settings_reading()?;
    let scopes = Scopes::of(args, context.now())?;
    let found = match context.reader(&reading.config)? {
        Some(store) => Some(scopes.read(context, &reading.config, &store)?),
        None => None,
    };
    let (now, before) = if let Some(found) = found {
        found
    } else {
        refuse_unknown(context, &reading.config, args)?;
        let none = Tally::new(scopes.now.clone(), Box::new(|_| false));
        (none.finish(), None)
    };
    let is_empty = now.is_empty() && before.as_ref().is_none_or(Breakdown::is_empty);
    if is_empty {
        refuse_unknown(context, &reading.config, args)?;
    }
    let by = args.by.map(By::from);
    let about = (&now, before.as_ref());
    // A page about nothing is of no use, and must not take the place of an old one.
    let wrote = match &page {
        Some(page) if !is_empty => html::put(page, about, by, (context, &reading), out)?,
        Some(_) | None => None,
    };
    if !is_empty && page.is_some_and(|page| page.is_stdout()) {
        return Ok(Exit::Done);
    }
    match context.global.format {
        Format::Json => {
            let place = |advice: &TailAdvice| place(&reading.sources, advice);
            let value = json::report(&now, before.as_ref(), by, &place);
            writeln!(out, "{value}")?;
        }
        Format::Csv => out.write_all(csv::report(&now, before.as_ref(), by).as_bytes())?,
        // Those of `validate` are refused before.
        Format::Human | Format::Github | Format::Sarif if is_empty => {
            writeln!(out, "{}", nothing(&scopes.now, &context.screen))?;
            if args.html.is_some() {
                writeln!(out, "no page was written")?;
            }
        }
        Format::Human | Format::Github | Format::Sarif => {
            let text = text(&now, before.as_ref(), by, (context, &reading));
            write!(out, "{text}")?;
            if let Some(wrote) = wrote {
                writeln!(out, "\n{wrote}")?;
            }
        }
    }
    Ok(Exit::Done)
}

/// The spans that were asked for.
struct Scopes {
    now: Scope,
    before: Option<Scope>,
}

impl Scopes {
    fn of(args: &args::Report, now: DateTime<Utc>) -> Result<Self, CliError> {
        let until = args.until.unwrap_or(now);
        let days = TimeDelta::days(args.days.into());
        let since = match args.since {
            Some(since) => Some(since),
            None => until.checked_sub_signed(days),
        };
        let refused = |what: &str, help: &str| CliError::Refused {
            what: what.to_owned(),
            help: help.to_owned(),
        };
        let early = || {
            refused(
                "the span begins before the calendar",
                "name a later `--until`",
            )
        };
        let since = since.ok_or_else(early)?;
        if since >= until {
            return Err(refused(
                "the span is empty: `--since` must lie before `--until`",
                "`--until` is now if it is not given",
            ));
        }
        let scope = |since, until| Scope {
            since,
            until,
            job: args.job.as_deref().map(JobId::new),
            group: args.group.as_deref().map(GroupId::new),
        };
        let before = match args.compare {
            None => None,
            Some(span) => {
                let span = TimeDelta::from_std(span).ok();
                let start = span.and_then(|span| since.checked_sub_signed(span));
                let far = || {
                    refused(
                        "`--compare` goes back before the calendar",
                        "name a shorter span",
                    )
                };
                Some(scope(start.ok_or_else(far)?, since))
            }
        };
        Ok(Self {
            now: scope(since, until),
            before,
        })
    }

    fn read(
        &self,
        context: &Context,
        config: &Config,
        store: &SqliteStore,
    ) -> Result<(Breakdown, Option<Breakdown>), CliError> {
        let tally = |scope: &Scope| {
            let peaks = config.plan.peaks.clone();
            Tally::new(scope.clone(), Box::new(move |at| peaks.is_peak(at)))
        };
        context.block_on(async {
            let now = store.tally(tally(&self.now)).await?.finish();
            let before = match &self.before {
                Some(scope) => Some(store.tally(tally(scope)).await?.finish()),
                None => None,
            };
            Ok((now, before))
        })
    }
}

/// A name that is neither in the plan nor in what was found is a slip of the pen.
fn refuse_unknown(context: &Context, config: &Config, args: &args::Report) -> Result<(), CliError> {
    if let Some(job) = &args.job
        && !config.plan.jobs.contains_key(&JobId::new(job))
    {
        return Err(context.unknown_job(config, job));
    }
    if let Some(group) = &args.group
        && !config.plan.groups.contains_key(&GroupId::new(group))
    {
        let known: Vec<&str> = config.plan.groups.keys().map(GroupId::as_str).collect();
        return Err(CliError::Refused {
            what: format!("there is no group `{group}`"),
            help: linting::nearest("group", group, &known),
        });
    }
    Ok(())
}

fn nothing(scope: &Scope, screen: &super::screen::Screen) -> String {
    let view = View::jst(screen.width);
    format!(
        "nothing to report: no work was due {}; a longer span (`--days`) may hold some",
        report::between(scope, &view)
    )
}

fn text(
    now: &Breakdown,
    before: Option<&Breakdown>,
    by: Option<By>,
    (context, reading): (&Context, &Reading),
) -> String {
    let view = View::jst(context.screen.width);
    if let Some(before) = before {
        return report::render_comparison(before, now, by, &view);
    }
    let place = |advice: &TailAdvice| place_words(&reading.sources, advice);
    report::render_breakdown(now, by, &view, &place)
}

/// File and line of the field that a piece of advice is about.
fn place_words(sources: &Sources, advice: &TailAdvice) -> Option<String> {
    let place = place(sources, advice)?;
    Some(format!("{}:{}", place.file, place.line))
}

/// Where the field stands that a piece of advice is about, or else the job.
fn place(sources: &Sources, advice: &TailAdvice) -> Option<Place> {
    let job = JobId::new(&advice.job);
    let field = match advice.field {
        Field::Cron => sources.cron_place(&job, 0),
        Field::System => sources.asking_place(&job, advice.field.as_str()),
    };
    let place = field.or_else(|| sources.job_place(&job))?;
    Some(Place::from(&place))
}
