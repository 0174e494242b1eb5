//! `plan --spread`: a whole legal plan with the widest gap for every group.
//!
//! `--format json` prints the proposal:
//!
//! ```json
//! {"version":1,"from":"2026-12-01T00:00:00Z","until":"2054-12-02T00:00:00Z","findings":[],
//!  "groups":[{"group":"main","before_seconds":900,"after_seconds":43200,"outcome":"widened","widest":true}],
//!  "changes":[{"job":"b","group":"main","cron":0,"from":"15 5 * * *","to":"0 17 * * *"}],
//!  "written":false}
//! ```
//!
//! `findings` are the mistakes in the files, as `validate` prints them. `outcome` is `widened`, `mended`, `already` or
//! `no_plan`, with a `reason`. Without two firings within a day there are no seconds. `cron` counts from 0.

use std::io::Write;
use std::time::Duration;

use serde_json::{Value, json};

use super::fix::{self, Applied, How};
use super::{CliError, Context, Exit, args, json as twins, linting, times, validate};
use crate::config::{Reading, Report};
use crate::lint::{Change, Extent, GroupSpread, Obstacle, Spread, SpreadOutcome, Subject};
use crate::schedule::{CronExpr, Timetable};

/// From this gap on nothing is moved for a wider one.
const DAY: Duration = Duration::from_hours(24);

/// Reads, proposes, prints; 0 every group has a legal plan, 1 one has none or there are mistakes, 2 something could not
/// be read.
pub fn run(context: &Context, args: &args::Plan, out: &mut dyn Write) -> Result<Exit, CliError> {
    let reading = context.read(&args.jobs);
    let from = args.from.unwrap_or_else(|| context.now());
    validate::provable(from)?;
    // A job that is not known has a group that is not known, and every plan might collide with it.
    let hidden = fix::hidden(&reading);
    let subjects = match &hidden {
        Some(_) => Vec::new(),
        None => linting::subjects(&reading.config),
    };
    let spread = crate::lint::spread(&subjects, &linting::rules(&reading.config), from);
    let mut told = Vec::new();
    let applied = match how(args).filter(|_| !spread.changes.is_empty()) {
        Some(how) => Some(fix::apply(
            context,
            &reading,
            &spread.changes,
            how,
            &mut told,
        )?),
        None => None,
    };
    let proposal = Proposal {
        spread,
        reading: &reading,
        subjects: &subjects,
        hidden,
        applied,
    };
    if context.is_json() {
        writeln!(out, "{}", proposal.as_json())?;
    } else {
        proposal.as_text(context, out)?;
        out.write_all(&told)?;
    }
    Ok(proposal.exit())
}

/// What `--fix` and `--dry-run` ask for.
fn how(args: &args::Plan) -> Option<How> {
    match (args.fix, args.dry_run) {
        (false, _) => None,
        (true, false) => Some(How::Write),
        (true, true) => Some(How::Show),
    }
}

/// A proposed plan and what it was made from.
struct Proposal<'a> {
    spread: Spread,
    reading: &'a Reading,
    subjects: &'a [Subject],
    /// Why nothing is proposed, if so.
    hidden: Option<String>,
    /// What was written or shown of it.
    applied: Option<Applied>,
}

impl Proposal<'_> {
    fn exit(&self) -> Exit {
        if !self.reading.unreadable.is_empty() {
            Exit::Usage
        } else if self.reading.mistakes.is_empty() && self.spread.is_legal() {
            Exit::Done
        } else {
            Exit::No
        }
    }

    fn as_text(&self, context: &Context, out: &mut dyn Write) -> std::io::Result<()> {
        let unreadable = self.reading.unreadable.iter().map(Report::from);
        let mistakes = self.reading.mistakes.iter().map(Report::from);
        let reports: Vec<Report> = unreadable.chain(mistakes).collect();
        if !reports.is_empty() {
            writeln!(out, "{}\n", linting::render(context, &reports).trim_end())?;
        }
        if let Some(why) = &self.hidden {
            return writeln!(out, "nothing is proposed: {why}");
        }
        let min_gap = self.reading.config.plan.min_gap;
        for group in &self.spread.groups {
            writeln!(out, "{}: {}", group.group, words(group, min_gap))?;
        }
        let changes = &self.spread.changes;
        if changes.is_empty() {
            return writeln!(out, "nothing to change");
        }
        writeln!(out)?;
        table(&self.rows(), out)?;
        let counted = linting::counted(changes.len(), "change");
        match &self.applied {
            Some(_) => writeln!(out),
            None => writeln!(
                out,
                "\n{counted}; take them over with `offpeak plan --spread --fix`"
            ),
        }
    }

    /// Job, expression as it is and as it should be, and the first new firing.
    fn rows(&self) -> Vec<[String; 4]> {
        let head = ["job", "from", "to", "first new firing"].map(str::to_owned);
        let rows = self.spread.changes.iter().map(|change| {
            [
                change.job.to_string(),
                change.from.clone(),
                change.to.clone(),
                self.first_firing(change).unwrap_or_default(),
            ]
        });
        std::iter::once(head).chain(rows).collect()
    }

    /// The first firing of a new expression in its job's zone and in that of the windows.
    fn first_firing(&self, change: &Change) -> Option<String> {
        let subjects = &mut self.subjects.iter();
        let zone = subjects
            .find(|subject| subject.job == change.job)?
            .timetable
            .zone();
        let expr = CronExpr::parse(&change.to).ok()?;
        let from = self.spread.verdict.from;
        let at = Timetable::new(vec![expr], zone.clone()).next_after(from)?;
        Some(times::both(zone, self.reading.config.plan.peaks.zone(), at))
    }

    fn as_json(&self) -> Value {
        let verdict = &self.spread.verdict;
        let unreadable = self.reading.unreadable.iter().map(twins::unreadable);
        let mistakes = self.reading.mistakes.iter().map(twins::mistake);
        let groups = self.spread.groups.iter();
        let min_gap = self.reading.config.plan.min_gap;
        let changes = self.spread.changes.iter().map(|change| {
            json!({
                "job": change.job.as_str(),
                "group": change.group.as_str(),
                "cron": change.cron,
                "from": change.from,
                "to": change.to,
            })
        });
        json!({
            "version": 1,
            "from": twins::instant(verdict.from),
            "until": twins::instant(verdict.until),
            "findings": unreadable.chain(mistakes).collect::<Vec<_>>(),
            "groups": groups.map(|group| group_as_json(group, min_gap)).collect::<Vec<_>>(),
            "changes": changes.collect::<Vec<_>>(),
            "written": self.applied.as_ref().is_some_and(Applied::is_written),
        })
    }
}

fn group_as_json(group: &GroupSpread, min_gap: Duration) -> Value {
    let mut value = json!({ "group": group.group.as_str() });
    for (name, gap) in [
        ("before_seconds", group.before),
        ("after_seconds", group.after),
    ] {
        if let Some(gap) = gap {
            value[name] = json!(gap.as_secs());
        }
    }
    let (outcome, extent) = match &group.outcome {
        SpreadOutcome::Widened(extent) => ("widened", Some(extent)),
        SpreadOutcome::Mended(extent) => ("mended", Some(extent)),
        SpreadOutcome::Already(extent) => ("already", Some(extent)),
        SpreadOutcome::NoPlan(_) => ("no_plan", None),
    };
    value["outcome"] = json!(outcome);
    if let Some(extent) = extent {
        value["widest"] = json!(*extent == Extent::Widest && !is_capped(group));
    }
    if let SpreadOutcome::NoPlan(obstacle) = &group.outcome {
        value["reason"] = json!(reason(obstacle, min_gap));
    }
    value
}

/// Whether the proposed gap is so wide that no wider one was looked for.
fn is_capped(group: &GroupSpread) -> bool {
    group.after.is_none_or(|gap| gap >= DAY)
}

/// What became of a group.
fn words(group: &GroupSpread, min_gap: Duration) -> String {
    let gap = |gap: Option<Duration>| gap.map_or_else(|| "more than a day".to_owned(), times::span);
    let (before, after) = (gap(group.before), gap(group.after));
    let widest = |extent: &Extent| match (is_capped(group), extent) {
        (true, Extent::Widest | Extent::WidestFound) => "wide enough",
        (false, Extent::Widest) => "the widest there is",
        (false, Extent::WidestFound) => "the widest that was found",
    };
    match &group.outcome {
        SpreadOutcome::Widened(extent) => {
            format!("least gap {before} → {after}, {}", widest(extent))
        }
        SpreadOutcome::Mended(extent) => {
            format!(
                "not legal now, least gap {before} → {after}, {}",
                widest(extent)
            )
        }
        SpreadOutcome::Already(_) if group.before.is_none_or(|gap| gap >= DAY) => {
            format!("least gap {before}, wide enough")
        }
        SpreadOutcome::Already(extent) => format!("least gap {before}, {}", widest(extent)),
        SpreadOutcome::NoPlan(obstacle) => {
            format!("no legal plan: {}", reason(obstacle, min_gap))
        }
    }
}

/// Why a group has no plan.
fn reason(obstacle: &Obstacle, min_gap: Duration) -> String {
    let least = times::span(min_gap);
    match obstacle {
        Obstacle::OwnTimes { job, gap } => format!(
            "`{job}` fires {} after itself, and min_gap is {least}; give it fewer times",
            times::span(*gap)
        ),
        Obstacle::NoOffPeakTime { job } => format!(
            "no time of day is off-peak on all days of `{job}`; give it fewer times or days"
        ),
        Obstacle::Crowded { firings } => format!(
            "{firings} firings of one day find no room that is off-peak and {least} apart; \
             give some jobs fewer times or days, or another key"
        ),
        Obstacle::NotFound => {
            "none was found, though there may be one; give some jobs fewer times or days, or another key"
                .to_owned()
        }
    }
}

/// Prints columns as wide as their longest text.
fn table(rows: &[[String; 4]], out: &mut dyn Write) -> std::io::Result<()> {
    let width = |column: usize| {
        let texts = rows.iter().map(|row| row[column].chars().count());
        texts.max().unwrap_or_default()
    };
    let [job, from, to] = [0, 1, 2].map(width);
    rows.iter().try_for_each(|row| {
        let [name, old, new, first] = row;
        writeln!(out, "{name:<job$}  {old:<from$}  {new:<to$}  {first}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::GroupId;

    fn told(outcome: SpreadOutcome) -> String {
        let group = GroupSpread {
            group: GroupId::new("main"),
            before: Some(Duration::from_mins(15)),
            after: Some(Duration::from_mins(105)),
            outcome,
        };
        words(&group, Duration::from_mins(15))
    }

    #[test]
    fn a_plan_that_may_not_be_the_widest_is_told_as_that() {
        assert_eq!(
            told(SpreadOutcome::Widened(Extent::WidestFound)),
            "least gap 15 min → 1 h 45 min, the widest that was found"
        );
        assert_eq!(
            told(SpreadOutcome::Already(Extent::WidestFound)),
            "least gap 15 min, the widest that was found"
        );
        assert_eq!(
            told(SpreadOutcome::NoPlan(Obstacle::NotFound)),
            "no legal plan: none was found, though there may be one; \
             give some jobs fewer times or days, or another key"
        );
    }
}
