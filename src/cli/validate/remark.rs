//! One thing that `validate` says, with what annotations and SARIF need of it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::cli::{linting, rulebook};
use crate::config::{Config, Mark, Mistake, Place, Reading, Report, Sources, Unreadable};
use crate::job::JobId;
use crate::lint::{Finding, Verdict};
use crate::schedule::Timetable;

/// One thing that `validate` says.
#[derive(Debug)]
pub struct Remark<'a> {
    /// The rule, or `unreadable`.
    pub rule: &'static str,
    /// How bad it is, the words, and the places.
    pub report: Report,
    /// The file, if there is no place in it to mark.
    pub path: Option<PathBuf>,
    /// Why a job accepts it.
    pub accepted: Option<&'a str>,
    /// What to write instead, and where.
    pub fix: Option<Fix>,
    /// What stays the same while it is the same thing, wherever it moves in its file.
    pub identity: String,
}

/// A text that takes the place of another.
#[derive(Debug)]
pub struct Fix {
    /// The bytes that go: the whole scalar, quotes included.
    pub place: Place,
    /// What stands there then.
    pub text: String,
}

/// Where the places begin that several expressions are read from.
type Shared<'a> = HashSet<(&'a Path, usize)>;

/// Everything that was found: unreadable files, mistakes, findings.
#[must_use]
pub fn all<'a>(reading: &'a Reading, verdict: &'a Verdict) -> Vec<Remark<'a>> {
    let unreadable = reading.unreadable.iter();
    let mistakes = reading.mistakes.iter().chain(&reading.advice);
    let findings = verdict.findings.iter();
    let shared = shared(&reading.sources);
    unreadable
        .map(|unreadable| Remark::of_unreadable(unreadable, &reading.config))
        .chain(mistakes.map(Remark::of_mistake))
        .chain(findings.map(|finding| Remark::of_finding(finding, reading, &shared)))
        .collect()
}

impl<'a> Remark<'a> {
    fn of_unreadable(unreadable: &'a Unreadable, config: &Config) -> Self {
        let report = Report::from(unreadable);
        Self {
            rule: rulebook::UNREADABLE,
            path: Some(config.folder.join(&unreadable.path)),
            accepted: None,
            fix: None,
            identity: identity(&[rulebook::UNREADABLE, &unreadable.path]),
            report,
        }
    }

    fn of_mistake(mistake: &'a Mistake) -> Self {
        let rule = mistake.rule.as_str();
        let job = mistake.job.as_ref().map_or("", JobId::as_str);
        Self {
            rule,
            report: Report::from(mistake),
            path: None,
            accepted: mistake.accepted.as_deref(),
            fix: None,
            identity: identity(&[rule, mistake.place.file(), job, &mistake.message]),
        }
    }

    fn of_finding(finding: &'a Finding, reading: &Reading, shared: &Shared<'_>) -> Self {
        let report = linting::report(finding, reading);
        Self {
            rule: finding.rule.as_str(),
            fix: fix(finding, report.marks.first(), &reading.config)
                .filter(|fix| !shared.contains(&start(&fix.place))),
            report,
            path: None,
            accepted: finding.accepted.as_deref(),
            identity: identity_of(finding),
        }
    }

    /// Everything that is said, a line each.
    #[must_use]
    pub fn text(&self) -> String {
        let mut lines = vec![self.report.title.clone()];
        lines.extend(self.report.notes.iter().cloned());
        lines.extend(self.report.help.iter().map(|help| format!("help: {help}")));
        lines.join("\n")
    }
}

/// Rule and jobs: which firing of a pair is the later, and by how much, changes with the day of the proof.
fn identity_of(finding: &Finding) -> String {
    let mut jobs = vec![finding.job.as_str()];
    jobs.extend(finding.other.iter().map(|other| other.job.as_str()));
    jobs.sort_unstable();
    let mut parts = vec![finding.rule.as_str(), finding.group.as_str()];
    parts.extend(jobs);
    if finding.at.is_none() {
        parts.push(&finding.message);
    }
    identity(&parts)
}

fn identity(parts: &[&str]) -> String {
    parts.join("/")
}

/// What is written once and read by alias, or for every group: a change there would change more than one schedule.
fn shared(sources: &Sources) -> Shared<'_> {
    let mut seen = HashSet::new();
    let starts = sources.cron_places().map(start);
    starts.filter(|start| !seen.insert(*start)).collect()
}

fn start(place: &Place) -> (&Path, usize) {
    (place.source().path(), place.span().start)
}

/// The suggestion with the quotes of the text that it takes the place of.
///
/// `None` if the file spells the expression otherwise, as a block or through an anchor: then a person has to look.
fn fix(finding: &Finding, mark: Option<&Mark>, config: &Config) -> Option<Fix> {
    let suggestion = finding.suggestion.as_ref()?;
    let place = &mark?.place;
    let timetable = timetable(finding, config)?;
    let written = timetable.exprs().get(finding.cron?)?.text();
    let quote = match place.text() {
        plain if plain == written => '"',
        quoted => quoted
            .chars()
            .next()
            .filter(|quote| quoted == format!("{quote}{written}{quote}"))?,
    };
    Some(Fix {
        place: place.clone(),
        text: format!("{quote}{}{quote}", suggestion.cron),
    })
}

fn timetable<'a>(finding: &Finding, config: &'a Config) -> Option<&'a Timetable> {
    let plan = &config.plan;
    let job = plan.jobs.get(&finding.job);
    let pickup = || plan.groups.get(&finding.group)?.pickup.as_ref();
    job.map(|planned| &planned.timetable).or_else(pickup)
}
