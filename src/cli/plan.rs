//! `plan`: a few days of every group as a strip, a picture, a calendar, or JSON.
//!
//! `--format json` prints the slots themselves:
//!
//! ```json
//! {"version":1,"from":"2026-11-30T15:00:00Z","until":"2026-12-07T15:00:00Z","zone":"Asia/Tokyo",
//!  "windows":["07:00-09:00","18:00-23:00"],"ok":true,
//!  "groups":[{"group":"main","slots":[
//!    {"job":"daily-digest","at":"2026-11-30T17:00:00Z","worst_case_seconds":1860,"pickup":false}]}]}
//! ```
//!
//! Instants are in UTC. `from` is the first instant of the first day and `until` the first instant after the last one,
//! in `zone`, that of the peak windows. `ok` says whether the daemon would start. Groups are in the order of their
//! names; slots in time, then by name. A pickup slot has the job `pickup:GROUP`. Disabled jobs have no slots.

mod json;
mod paint;

use std::collections::BTreeMap;
use std::io::Write;

use super::target::{Content, Target};
use super::{CliError, Context, Exit, args, linting, spread, validate};
use crate::config::{Config, Reading, Report};
use crate::job::{GroupId, JobId, JobState};
use crate::lint::Verdict;
use crate::strip::{Days, Strip, ics, svg};
use json::StripTwin;

/// The most rows of a group that are drawn; a calendar and JSON may hold more days.
const MAX_ROWS: u16 = 31;

/// Reads, draws, prints; 0 drawn, 1 mistakes or findings that stop the daemon, 2 something could not be read.
pub fn run(context: &Context, args: &args::Plan, out: &mut dyn Write) -> Result<Exit, CliError> {
    if args.spread {
        return spread::run(context, args, out);
    }
    let targets = Targets::of(context, args)?;
    let reading = context.read(&args.jobs);
    let from = args.from.unwrap_or_else(|| context.now());
    validate::provable(from)?;
    let config = &reading.config;
    let (subjects, rules) = (linting::subjects(config), linting::rules(config));
    let groups = groups(config);
    let over = |days| {
        let days = Days::starting(rules.peaks.zone().clone(), from, days);
        Strip::new(days, &rules, &subjects, &groups)
    };
    let whole = over(args.days);
    let verdict = crate::lint::check(&subjects, &rules, whole.days.starts_at());
    let plan = Plan {
        reading: &reading,
        verdict: &verdict,
        drawn: &over(args.days.min(MAX_ROWS)),
        whole: &whole,
    };
    match plan.put(context, &targets, out) {
        // A reader that has seen enough changes nothing about the verdict.
        Err(error) if !error.is_broken_pipe() => return Err(error),
        Ok(()) | Err(_) => {}
    }
    let exit = plan.exit();
    let is_read = reading.mistakes.is_empty() && reading.unreadable.is_empty();
    if is_read || !targets.are_formats(context) {
        return Ok(exit);
    }
    // Standard output belongs to the reader of a format: what is wrong goes to standard error.
    Err(CliError::config(reading.into_errors()))
}

/// What is drawn.
struct Plan<'p> {
    reading: &'p Reading,
    verdict: &'p Verdict,
    /// The days of strip and picture.
    drawn: &'p Strip<'p>,
    /// All days that were asked for.
    whole: &'p Strip<'p>,
}

impl Plan<'_> {
    /// Writes the files, then prints what standard output takes.
    fn put(
        &self,
        context: &Context,
        targets: &Targets,
        out: &mut dyn Write,
    ) -> Result<(), CliError> {
        let mut wrote = Vec::new();
        if let Some(target) = &targets.svg {
            wrote.extend(target.put(Content::Svg, &svg::picture(self.drawn), out)?);
        }
        if let Some(target) = &targets.ics {
            let calendar = ics::calendar(self.whole).map_err(|error| CliError::Refused {
                what: error.to_string(),
                help: "name fewer job files, or fewer days with --days".to_owned(),
            })?;
            wrote.extend(target.put(Content::Ics, &calendar, out)?);
        }
        if context.is_json() {
            let (strip, ok) = (self.whole, self.is_ok());
            StripTwin { strip, ok }.print(out)?;
        } else if !targets.are_formats(context) {
            self.print(context, &wrote, out)?;
        }
        Ok(())
    }

    /// The strip for people, with what is wrong before it and the verdict after it.
    fn print(
        &self,
        context: &Context,
        wrote: &[String],
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        mistakes(context, self.reading, out)?;
        paint::strip(context, self.drawn, out)?;
        let [drawn, asked] = [self.drawn, self.whole].map(|strip| strip.days.rows().len());
        if drawn < asked {
            writeln!(out, "the first {drawn} of {asked} days are drawn")?;
        }
        for line in wrote {
            writeln!(out, "{line}")?;
        }
        self.last_line(context, out)
    }

    /// Whether the schedule passes, and where to read more.
    fn last_line(&self, context: &Context, out: &mut dyn Write) -> std::io::Result<()> {
        let findings = self.verdict.findings.iter();
        let stopping = findings.filter(|finding| finding.is_stopping()).count();
        let errors = self.reading.unreadable.len() + self.reading.mistakes.len() + stopping;
        if errors == 0 {
            let proof = format!(
                "the schedule passes: {} before {}",
                linting::proved(&self.reading.config, self.verdict),
                self.verdict.until.date_naive()
            );
            let proof = context.screen.styled("1;32", &proof);
            return writeln!(out, "{proof}; `offpeak validate` says more");
        }
        let errors = linting::counted(errors, "error");
        let failure = format!("the schedule does not pass: {errors}");
        let failure = context.screen.styled("1;31", &failure);
        writeln!(out, "{failure}; run `offpeak validate`")
    }

    fn is_ok(&self) -> bool {
        let reading = self.reading;
        reading.unreadable.is_empty() && reading.mistakes.is_empty() && self.verdict.is_safe()
    }

    fn exit(&self) -> Exit {
        if !self.reading.unreadable.is_empty() {
            Exit::Usage
        } else if self.is_ok() {
            Exit::Done
        } else {
            Exit::No
        }
    }
}

/// Where picture and calendar go.
struct Targets {
    svg: Option<Target>,
    ics: Option<Target>,
}

impl Targets {
    fn of(context: &Context, args: &args::Plan) -> Result<Self, CliError> {
        let target = |path: &Option<std::path::PathBuf>, content| {
            let path = path.as_deref();
            path.map(|path| Target::of(context, path, content))
                .transpose()
        };
        let targets = Self {
            svg: target(&args.svg, Content::Svg)?,
            ics: target(&args.ics, Content::Ics)?,
        };
        if args.svg.is_some() && args.svg == args.ics && args.svg.as_deref() != Some("-".as_ref()) {
            return Err(CliError::Refused {
                what: "--svg and --ics name one file".to_owned(),
                help: "give each its own".to_owned(),
            });
        }
        let asked = [targets.svg.as_ref(), targets.ics.as_ref()];
        let printed = asked
            .into_iter()
            .flatten()
            .filter(|target| target.is_stdout());
        if printed.count() + usize::from(context.is_json()) > 1 {
            return Err(CliError::Refused {
                what: "standard output can take one of --svg -, --ics - and --format json"
                    .to_owned(),
                help: "name a file for the others".to_owned(),
            });
        }
        Ok(targets)
    }

    /// Whether standard output is for a program and not for a person.
    fn are_formats(&self, context: &Context) -> bool {
        let asked = [&self.svg, &self.ics];
        context.is_json() || asked.into_iter().flatten().any(Target::is_stdout)
    }
}

/// Every group with its disabled jobs.
fn groups(config: &Config) -> BTreeMap<GroupId, Vec<JobId>> {
    let groups = config.plan.groups.keys();
    let mut groups: BTreeMap<GroupId, Vec<JobId>> =
        groups.map(|group| (group.clone(), Vec::new())).collect();
    for planned in config.plan.jobs.values() {
        if planned.job.state == JobState::Disabled {
            let of_group = groups.entry(planned.job.group.clone()).or_default();
            of_group.push(planned.job.id.clone());
        }
    }
    groups
}

/// What could not be read, and what is wrong in the files.
fn mistakes(context: &Context, reading: &Reading, out: &mut dyn Write) -> std::io::Result<()> {
    let unreadable = reading.unreadable.iter().map(Report::from);
    let mistakes = reading.mistakes.iter().map(Report::from);
    let reports: Vec<Report> = unreadable.chain(mistakes).collect();
    if reports.is_empty() {
        return Ok(());
    }
    writeln!(out, "{}\n", linting::render(context, &reports).trim_end())
}
