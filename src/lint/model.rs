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
        let Some(prompt) = &subject.prompt else {
            continue;
        };
        if retired_asked {
            findings.extend(retired(subject, &prompt.model, from));
        }
        if unknown_asked {
            findings.extend(unknown(subject, &prompt.model));
        }
    }
    findings
}

/// Speaks up if the model has ended, ends within the notice, or ends before the job fires again.
///
/// A model answers to the end of its last day in UTC.
fn retired(subject: &Subject, model: &Model, from: DateTime<Utc>) -> Option<Finding> {
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
                "the model `{id}` of `{}` has ended on {ends_on}",
                subject.job
            ),
        )
    } else if next >= end {
        let message = format!(
            "the model `{id}` of `{}` ends on {ends_on}, before the job fires again",
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
            "the model `{id}` of `{}` ends on {ends_on}: {firings}",
            subject.job
        );
        (after_end?, message)
    } else {
        return None;
    };
    let help = match &model.successor {
        Some(successor) => {
            format!("write `model: {successor}`; after its end every request is refused with 404")
        }
        None => {
            "choose a current model; after its end every request is refused with 404".to_owned()
        }
    };
    Some(Finding {
        at: Some(at),
        help: Some(help),
        ..about(Rule::RetiredModel, subject, message)
    })
}

fn end_of(day: NaiveDate) -> Option<DateTime<Utc>> {
    let next = day.checked_add_days(Days::new(1))?;
    Some(next.and_hms_opt(0, 0, 0)?.and_utc())
}

fn unknown(subject: &Subject, model: &Model) -> Option<Finding> {
    let near = match &model.known {
        Known::Near(near) => near,
        Known::Yes | Known::No => return None,
    };
    let message = format!(
        "the model `{}` of `{}` is not in the table of models",
        model.id, subject.job
    );
    Some(Finding {
        help: Some(format!("did you mean `{near}`?")),
        ..about(Rule::UnknownModel, subject, message)
    })
}

#[cfg(test)]
mod tests;
