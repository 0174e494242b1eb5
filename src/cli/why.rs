//! `why`: what a slot did and why, in sentences, from the store alone.

mod json;

use std::io::Write;

use chrono::{DateTime, Days, NaiveTime, TimeDelta, Utc};

use super::args::Moment;
use super::{CliError, Context, Exit, args, json as twins, times};
use crate::config::Config;
use crate::job::JobId;
use crate::report::{self, Clocks, Knowledge, Record};
use crate::schedule::Zone;
use crate::slot::Slot;
use crate::store::{HistoryFilter, SqliteStore};

/// A moment that is said to the minute means any instant within it.
const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// All time.
const EVER: Span = (DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC);

/// Its beginning included, its end excluded.
type Span = (DateTime<Utc>, DateTime<Utc>);

/// Tells the story of one slot.
pub fn run(context: &Context, args: &args::Why, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let job = JobId::new(&args.job);
    let planned = config.plan.jobs.get(&job);
    let Some(store) = context.reader(&config)? else {
        return Err(match planned {
            Some(_) => CliError::No {
                what: format!("nothing is on record of job `{job}`: there is no history yet"),
                help: format!(
                    "`offpeak daemon` makes one, or `offpeak run {job}` now; --store names another"
                ),
            },
            None => context.unknown_job(&config, &args.job),
        });
    };
    let peaks = config.plan.peaks.zone();
    let zone = planned.and_then(|it| config.zones.get(&it.job.schedule.zone).ok());
    let zone = zone.unwrap_or_else(|| peaks.clone());
    let now = context.now();
    let record = context.block_on(async {
        let fire_at = find(context, &config, &store, (args, &zone, now)).await?;
        let job = job.clone();
        Ok(store.record_of(Slot { fire_at, job }, now).await?)
    })?;
    let knowledge = planned.map_or_else(Knowledge::default, |it| Knowledge {
        is_planned: true,
        max_carries: Some(it.defer.max),
        max_tokens: Some(it.job.template.max_tokens),
    });
    tell(context, &record, knowledge, (&zone, peaks), out)
}

fn tell(
    context: &Context,
    record: &Record,
    knowledge: Knowledge,
    (zone, peaks): (&Zone, &Zone),
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    let of_job = |at| (zone.civil(at), zone.abbreviation(at));
    let of_peaks = |at| (peaks.civil(at), peaks.abbreviation(at));
    let is_other = zone.name() != peaks.name();
    let clocks = Clocks {
        job: &of_job,
        peaks: is_other.then_some(&of_peaks as report::Civil<'_>),
    };
    let story = report::tell(record, knowledge, clocks);
    if context.is_json() {
        writeln!(out, "{}", json::story(record, &story))?;
    } else {
        let text = report::render_story(&story, clocks, record.fire_at, context.screen.width);
        write!(out, "{text}")?;
    }
    Ok(Exit::Done)
}

/// The slot that is meant.
async fn find(
    context: &Context,
    config: &Config,
    store: &SqliteStore,
    (args, zone, now): (&args::Why, &Zone, DateTime<Utc>),
) -> Result<DateTime<Utc>, CliError> {
    let job = JobId::new(&args.job);
    let span = args.at.map_or(EVER, |moment| span(moment, zone, now));
    if let Some(found) = store.telling_slot(job.clone(), span).await? {
        return Ok(found);
    }
    // Deferred work is often asked for by the time at which it ran.
    if let Some(found) = store.slot_worked_on(job.clone(), span).await? {
        return Ok(found);
    }
    let known = HistoryFilter {
        job: Some(job.clone()),
        limit: Some(1),
        ..HistoryFilter::default()
    };
    let is_known = !store.history(known).await?.is_empty();
    if !is_known && !config.plan.jobs.contains_key(&job) {
        return Err(context.unknown_job(config, &args.job));
    }
    if !is_known {
        return Err(CliError::No {
            what: format!("nothing is on record of job `{job}`"),
            help: "`offpeak status` says when it fires next".to_owned(),
        });
    }
    let near = store.slots_near(job.clone(), span.0).await?;
    let near: Vec<String> = near
        .into_iter()
        .map(|at| {
            format!(
                "{} (`offpeak why {job} {}`)",
                times::local(zone, at),
                twins::instant(at)
            )
        })
        .collect();
    Err(CliError::No {
        what: format!(
            "nothing is on record of job `{job}` {}",
            named(args.at, span, zone)
        ),
        help: format!("the nearest that is: {}", near.join(", ")),
    })
}

/// The span that a moment means in the job's zone. A day begins when its first minute does, clock changes included.
fn span(moment: Moment, zone: &Zone, now: DateTime<Utc>) -> Span {
    let minute = |at: DateTime<Utc>| (at, at.checked_add_signed(MINUTE).unwrap_or(at));
    match moment {
        Moment::Instant(at) => minute(at),
        Moment::Civil(civil) => minute(zone.firing_at(civil)),
        Moment::Day(day) => {
            let next = day.checked_add_days(Days::new(1)).unwrap_or(day);
            let begins = |day: chrono::NaiveDate| zone.firing_at(day.and_time(NaiveTime::MIN));
            (begins(day), begins(next))
        }
        Moment::Clock(time) => {
            let today = zone.civil(now).date();
            let latest = [Some(today), today.checked_sub_days(Days::new(1))]
                .into_iter()
                .flatten()
                .map(|day| zone.firing_at(day.and_time(time)))
                .find(|at| *at <= now);
            minute(latest.unwrap_or(now))
        }
    }
}

fn named(moment: Option<Moment>, span: Span, zone: &Zone) -> String {
    match moment {
        Some(Moment::Day(day)) => format!("on {day}"),
        Some(Moment::Instant(_) | Moment::Civil(_) | Moment::Clock(_)) => {
            format!("at {}", times::local(zone, span.0))
        }
        None => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::schedule::Zones;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn a_local_time_means_its_minute_and_a_date_its_day() {
        let tokyo = Zones::bundled().get("Asia/Tokyo").unwrap();
        let now = at("2026-12-01T00:00:00Z");
        let civil = Moment::Civil("2026-12-01T05:00:00".parse().unwrap());
        let five = at("2026-11-30T20:00:00Z");
        assert_eq!(span(civil, &tokyo, now), (five, five + MINUTE));
        let day = Moment::Day("2026-12-01".parse().unwrap());
        let midnight = at("2026-11-30T15:00:00Z");
        assert_eq!(
            span(day, &tokyo, now),
            (midnight, midnight + TimeDelta::days(1))
        );
    }

    #[test]
    fn a_time_of_day_means_the_last_one() {
        let tokyo = Zones::bundled().get("Asia/Tokyo").unwrap();
        let now = at("2026-12-01T00:00:00Z");
        let last = |time: &str| span(Moment::Clock(time.parse().unwrap()), &tokyo, now).0;
        assert_eq!(last("05:00:00"), at("2026-11-30T20:00:00Z"));
        assert_eq!(last("09:00:00"), now, "at this very minute");
        assert_eq!(last("09:01:00"), at("2026-11-30T00:01:00Z"));
    }

    #[test]
    fn a_day_without_its_midnight_begins_when_it_does() {
        // Chile skips midnight in spring.
        let santiago = Zones::bundled().get("America/Santiago").unwrap();
        let day = Moment::Day("2026-09-06".parse().unwrap());
        let (from, until) = span(day, &santiago, at("2026-12-01T00:00:00Z"));
        assert_eq!(
            (from, until),
            (at("2026-09-06T04:00:00Z"), at("2026-09-07T03:00:00Z"))
        );
    }
}
