//! What `validate`, `dry-run` and `daemon` lint: the plan's jobs and pickup slots.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::prompts::Prompts;
use super::screen::Paint;
use super::shapes::Shapes;
use super::tolls::Tolls;
use super::{Context, json, money, times};
use crate::config::{self, Config, ConfigErrors, Reading, Report, Style};
use crate::engine::{Plan, PlannedJob};
use crate::job::{Handing, Job, JobId, JobState};
use crate::lint::{
    BreakerNeed, Effort, Fallback, Finding, Items, Pieces, Rule, Rules, Subject, Verdict,
};
use crate::schedule::{PeakWindows, Timetable};

/// A group's pickup slots are reported under this word and the group's name; no job can have a colon in its name.
const PICKUP: &str = "pickup";

/// The enabled jobs and the pickup slots, in the order of their names.
#[must_use]
pub fn subjects(config: &Config) -> Vec<Subject> {
    let plan = &config.plan;
    let enabled = plan
        .jobs
        .values()
        .filter(|planned| planned.job.state == JobState::Enabled);
    let models = money::models(config);
    let tolls = Tolls::new(config, &models);
    let mut shapes = Shapes::new(&models, &config.upstream.version);
    let mut prompts = Prompts::new(models.clone());
    let mut subjects: Vec<Subject> = enabled
        .map(|planned| {
            let subject = subject(planned, config.accepted.get(&planned.job.id), &mut prompts);
            Subject {
                shapes: shapes.of(&planned.job),
                tolls: tolls.of(&planned.job),
                fallback: fallback(&planned.job, &subject, &mut shapes, &mut prompts),
                ..subject
            }
        })
        .collect();
    subjects.extend(plan.groups.iter().filter_map(|(group, planned)| {
        let name = JobId::new(format!("{PICKUP}:{group}"));
        Some(Subject::new(name, group.clone(), planned.pickup.clone()?))
    }));
    subjects
}

/// The rules of a configuration.
#[must_use]
pub fn rules(config: &Config) -> Rules {
    let (budget, breaker) = (config.guard.budget, config.guard.breaker);
    let plan = &config.plan;
    Rules {
        breaker: Some(BreakerNeed {
            min_samples: breaker.min_samples.get(),
            window: breaker.window,
            calls: budget.calls(),
            per: budget.per(),
            expires_after: config.expires_after,
        }),
        levels: config.levels.clone(),
        ..Rules::new(plan.min_gap, config.comfortable_gap, plan.peaks.clone())
    }
}

fn subject(
    planned: &PlannedJob,
    accepted: Option<&BTreeMap<Rule, String>>,
    prompts: &mut Prompts,
) -> Subject {
    let job = &planned.job;
    let chain = u32::try_from(job.chain().count()).unwrap_or(u32::MAX);
    let items = match (job.handing, &job.for_each) {
        // However many calls there are, they are handed in at once, and nobody waits for them in the slot.
        (Handing::Batch, _) | (Handing::Direct, None) => Some(1),
        (Handing::Direct, Some(for_each)) => for_each.limit,
    };
    let subject = Subject::new(job.id.clone(), job.group.clone(), planned.timetable.clone());
    Subject {
        effort: Effort {
            calls: chain.saturating_mul(items.unwrap_or(1)),
            pieces: Pieces {
                chain,
                at_once: job.concurrency.max(1),
                items: items.map_or(Items::Unknown, |_| Items::Known),
            },
            attempts: planned.retry.max_attempts(),
            timeout: job.timeout,
            max_delay: planned.retry.max_delay(),
        },
        prompt: prompts.of(job),
        later_models: prompts.later_models(job),
        accepted: accepted.cloned().unwrap_or_default(),
        ..subject
    }
}

/// What would be asked of a job's fallback.
fn fallback(
    job: &Job,
    subject: &Subject,
    shapes: &mut Shapes<'_>,
    prompts: &mut Prompts,
) -> Option<Fallback> {
    let id = job.fallback_model.as_ref()?;
    let tokens = subject.prompt.as_ref().map_or(0, |prompt| prompt.tokens);
    Some(Fallback {
        model: prompts.model(id, tokens),
        shapes: shapes.at(job, id),
    })
}

/// Everything that was found, as reports with their places: unreadable files, mistakes, findings.
#[must_use]
pub fn reports(reading: &Reading, verdict: &Verdict) -> Vec<Report> {
    let unreadable = reading.unreadable.iter().map(Report::from);
    let mistakes = reading.mistakes.iter().chain(&reading.advice);
    let mistakes = mistakes.map(Report::from);
    let findings = verdict
        .findings
        .iter()
        .map(|finding| report(finding, reading));
    unreadable.chain(mistakes).chain(findings).collect()
}

/// A finding with its place, and its instants in the job's zone and in that of the windows.
#[must_use]
pub fn report(finding: &Finding, reading: &Reading) -> Report {
    let mut report = Report::of_finding(finding, &reading.sources);
    let plan = &reading.config.plan;
    let peaks = plan.peaks.zone();
    let zone = plan
        .jobs
        .get(&finding.job)
        .map_or(peaks, |planned| planned.timetable.zone());
    if let Some(at) = finding.at {
        let per_year = finding.per_year.map(|count| match count {
            0 => ", none in the first 365 days".to_owned(),
            count => format!(", {count} in the first 365 days"),
        });
        report.notes.push(format!(
            "first at {}{}",
            times::both(zone, peaks, at),
            per_year.unwrap_or_default()
        ));
    }
    report
}

/// Draws reports for this terminal.
#[must_use]
pub fn render(context: &Context, reports: &[Report]) -> String {
    let style = match context.screen.paint {
        Paint::Plain => Style::Plain,
        Paint::Color => Style::Color,
    };
    config::render(reports, style, context.screen.width)
}

/// Draws the mistakes of a configuration that cannot be used.
#[must_use]
pub fn mistakes(context: &Context, errors: &ConfigErrors) -> String {
    let unreadable = errors.unreadable.iter().map(Report::from);
    let reports: Vec<Report> = unreadable
        .chain(errors.mistakes.iter().map(Report::from))
        .collect();
    render(context, &reports)
}

/// Where a finding stands.
#[must_use]
pub fn place(reading: &Reading, finding: &Finding) -> Option<json::Place> {
    let marks = Report::of_finding(finding, &reading.sources).marks;
    marks.first().map(|mark| json::Place::from(&mark.place))
}

/// What holds over the whole horizon: not more than was looked for and not found.
#[must_use]
pub fn proved(config: &Config, verdict: &Verdict) -> &'static str {
    let holds = |rule| {
        let found = verdict.findings.iter().any(|finding| finding.rule == rule);
        !found && config.levels.severity(rule).is_some()
    };
    match (holds(Rule::KeyGap), holds(Rule::PeakWindow)) {
        (true, true) => "no collision and no peak firing",
        (true, false) => "no collision",
        (false, true) => "no peak firing",
        (false, false) => "no error",
    }
}

/// The errors, a line each.
#[must_use]
pub fn error_titles(verdict: &Verdict) -> Vec<String> {
    let errors = verdict
        .findings
        .iter()
        .filter(|finding| finding.is_stopping());
    errors.map(title).collect()
}

/// What was found of one job, a line each.
#[must_use]
pub fn titles_of(verdict: &Verdict, job: &JobId) -> Vec<String> {
    let of_job = |finding: &&Finding| {
        finding.job == *job
            || finding
                .other
                .as_ref()
                .is_some_and(|other| other.job == *job)
    };
    verdict.findings.iter().filter(of_job).map(title).collect()
}

fn title(finding: &Finding) -> String {
    format!(
        "{}: job `{}`: {}",
        finding.rule, finding.job, finding.message
    )
}

/// The next slots and pickup slots of a plan strictly after an instant, each with its job's or group's name.
#[must_use]
pub fn next_slots(plan: &Plan, after: DateTime<Utc>, count: usize) -> Vec<(DateTime<Utc>, String)> {
    let enabled = plan
        .jobs
        .values()
        .filter(|planned| planned.job.state == JobState::Enabled);
    let jobs = enabled.map(|planned| (&planned.timetable, planned.job.id.to_string()));
    let pickups = plan.groups.iter().filter_map(|(group, planned)| {
        Some((planned.pickup.as_ref()?, format!("{PICKUP}:{group}")))
    });
    let mut next: Vec<_> = jobs
        .chain(pickups)
        .filter_map(|(timetable, name)| Some((timetable.next_after(after)?, name)))
        .collect();
    next.sort();
    next.truncate(count);
    next
}

/// The next firings of a timetable strictly after an instant.
#[must_use]
pub fn upcoming(timetable: &Timetable, after: DateTime<Utc>, count: usize) -> Vec<DateTime<Utc>> {
    std::iter::successors(timetable.next_after(after), |at| timetable.next_after(*at))
        .take(count)
        .collect()
}

/// The peak windows as users write them, with their zone.
#[must_use]
pub fn windows(peaks: &PeakWindows) -> String {
    let windows: Vec<String> = peaks.windows().iter().map(ToString::to_string).collect();
    if windows.is_empty() {
        return "none".to_owned();
    }
    format!("{} {}", windows.join(" and "), peaks.zone().name())
}

/// `1 job`, `2 jobs`.
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 {
        format!("1 {noun}")
    } else {
        format!("{count} {noun}s")
    }
}

/// Advice for a name that is not there: the nearest one, or all.
#[must_use]
pub fn nearest(noun: &str, name: &str, known: &[&str]) -> String {
    match (config::nearest(name, known.iter().copied()), known) {
        (Some(best), _) => format!("did you mean `{best}`?"),
        (None, []) => format!("there is no {noun} yet; see `offpeak init`"),
        (None, known) => format!("the {noun}s are: {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_offered_only_if_it_is_near() {
        assert_eq!(
            nearest("job", "digets", &["digest", "review"]),
            "did you mean `digest`?"
        );
        assert_eq!(
            nearest("job", "zzz", &["digest", "review"]),
            "the jobs are: digest, review"
        );
        assert!(nearest("job", "zzz", &[]).contains("offpeak init"));
    }
}
