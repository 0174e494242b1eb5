//! `retired-model` and `unknown-model`: what the table of models says of a job.

use chrono::{DateTime, Days, NaiveDate, TimeDelta, Utc};

use super::advice::about;
use super::{Finding, Known, Model, Rule, Rules, Subject};

/// How long before its end a model is told of: providers announce an end some sixty days ahead, and whoever hears of
/// it sooner cannot yet try the model that follows.
const NOTICE: TimeDelta = TimeDelta::days(60);

/// What there is to say of the models of jobs, from an instant on.
pub(super) fn findings(subjects: &[Subject], rules: &Rules, from: DateTime<Utc>) -> Vec<Finding> {
    let asked = |rule| rules.levels.severity(rule).is_some();
    let (retired_asked, unknown_asked) = (asked(Rule::RetiredModel), asked(Rule::UnknownModel));
    let mut findings = Vec::new();
    for subject in subjects {
        for named in named(subject) {
            if retired_asked {
                findings.extend(retired(subject, named, from));
            }
            if unknown_asked {
                findings.extend(unknown(subject, named));
            }
        }
    }
    findings
}

/// A model, and how the job names it.
#[derive(Clone, Copy)]
struct Named<'a> {
    model: &'a Model,
    /// The field of the job.
    field: &'static str,
    /// What it is to the job, in words.
    role: &'static str,
}

impl Named<'_> {
    /// The finding with a mark at the fallback, which stands in the job itself; the model may come from `defaults`.
    fn mark(self) -> Option<String> {
        (self.field == FALLBACK).then(|| self.field.to_owned())
    }
}

/// The field that names a fallback.
const FALLBACK: &str = "fallback_model";

/// The models that a job names, each once: that of each step, then the fallback.
fn named(subject: &Subject) -> Vec<Named<'_>> {
    let first = subject.prompt.iter().map(|prompt| &prompt.model);
    let steps = first.chain(&subject.later_models).map(|model| Named {
        model,
        field: "model",
        role: "model",
    });
    let fallback = subject.fallback.iter().map(|fallback| Named {
        model: &fallback.model,
        field: FALLBACK,
        role: "fallback",
    });
    let mut named: Vec<Named<'_>> = Vec::new();
    for one in steps.chain(fallback) {
        if !named.iter().any(|other| other.model.id == one.model.id) {
            named.push(one);
        }
    }
    named
}

/// Speaks up if the model has ended, ends within the notice, or ends before the job fires again.
///
/// A model answers to the end of its last day in UTC.
fn retired(subject: &Subject, named: Named<'_>, from: DateTime<Utc>) -> Option<Finding> {
    let Named { model, field, role } = named;
    let ends_on = model.ends_on?;
    let end = end_of(ends_on)?;
    let just_before = |at: DateTime<Utc>| at.checked_sub_signed(TimeDelta::nanoseconds(1));
    let next = subject.timetable.next_after(just_before(from)?)?;
    let notice = from.checked_add_signed(NOTICE).unwrap_or(end);
    let id = &model.id;
    let after_end = subject.timetable.next_after(just_before(end)?);
    let (at, message) = if end <= from {
        (
            next,
            format!(
                "the {role} `{id}` of `{}` has ended on {ends_on}",
                subject.job
            ),
        )
    } else if next >= end {
        let message = format!(
            "the {role} `{id}` of `{}` ends on {ends_on}, before the job fires again",
            subject.job
        );
        (next, message)
    } else if end <= notice {
        let left = subject
            .timetable
            .between(just_before(from)?, just_before(end)?)
            .len();
        let firings = if left == 1 {
            "1 firing is left".to_owned()
        } else {
            format!("{left} firings are left")
        };
        let message = format!(
            "the {role} `{id}` of `{}` ends on {ends_on}: {firings}",
            subject.job
        );
        (after_end?, message)
    } else {
        return None;
    };
    // A fallback that is the job's own model would be refused.
    let own = subject.prompt.as_ref().map(|prompt| &prompt.model.id);
    let successor = model.successor.as_ref();
    let other = match successor.filter(|successor| Some(*successor) != own) {
        Some(successor) => format!("write `{field}: {successor}`"),
        None => "choose a current model".to_owned(),
    };
    let help = format!(
        "{other}; after its end every request is refused with 404 (by the table of models of {}; `offpeak models` \
         asks the API)",
        model.as_of
    );
    Some(Finding {
        field: named.mark(),
        at: Some(at),
        help: Some(help),
        ..about(Rule::RetiredModel, subject, message)
    })
}

fn end_of(day: NaiveDate) -> Option<DateTime<Utc>> {
    let next = day.checked_add_days(Days::new(1))?;
    Some(next.and_hms_opt(0, 0, 0)?.and_utc())
}

fn unknown(subject: &Subject, named: Named<'_>) -> Option<Finding> {
    let Named { model, role, .. } = named;
    let near = match &model.known {
        Known::Near(near) => near,
        Known::Yes | Known::No => return None,
    };
    let message = format!(
        "the {role} `{}` of `{}` is not in the table of models",
        model.id, subject.job
    );
    Some(Finding {
        field: named.mark(),
        help: Some(format!("did you mean `{near}`?")),
        ..about(Rule::UnknownModel, subject, message)
    })
}

#[cfg(test)]
mod tests;
