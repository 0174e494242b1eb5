//! What `simulate` found, for people.

use super::arms::{Arm, Of};
use super::judge::Judged;
use super::schedule::{Schedule, Which};
use super::{Head, Trial};
use crate::cli::{Context, linting, times};
use crate::trial::{self, Held, Value, render_arm, render_arms, render_effects};

/// The whole of it.
pub fn trial(trial: &Trial<'_>, context: &Context) -> String {
    let mut text = head(&trial.head, &trial.new);
    if trial.arms.is_empty() {
        text.push_str(&nothing(trial));
    } else {
        text.push_str(&lived(trial, context.screen.width));
    }
    if !trial.judged.is_empty() {
        text.push('\n');
    }
    for judged in &trial.judged {
        text.push_str(&verdict(judged, context));
    }
    text
}

/// What was lived through, the figures, and what had to be assumed.
fn lived(trial: &Trial<'_>, width: usize) -> String {
    let mut text = String::new();
    for schedule in trial.schedules() {
        let words = about(schedule, trial);
        text.extend([&words, "\n"]);
    }
    text.extend(["\n", &figures(trial, width)]);
    if !trial.assumed.is_empty() {
        text.push_str("\nassumed:\n");
        for line in &trial.assumed {
            text.extend(["  ", line, "\n"]);
        }
    }
    text
}

fn head(head: &Head<'_>, new: &Schedule) -> String {
    let Head { days, seeds, world } = head;
    let count = usize::try_from(days.count).unwrap_or(usize::MAX);
    let seeds = match seeds.end - seeds.start {
        1 => format!("seed {}", seeds.start),
        _ => format!("seeds {} to {}", seeds.start, seeds.end - 1),
    };
    format!(
        "{} from {}, {seeds}, {}\n",
        linting::counted(count, "day"),
        times::local(&new.zone, days.from),
        world.words()
    )
}

/// What a schedule is, and what the linter says of it; beside another it has a name.
fn about(schedule: &Schedule, trial: &Trial<'_>) -> String {
    let slots = linting::counted(schedule.course.slots(), "slot");
    let jobs = linting::counted(schedule.jobs, "job");
    let words = match trial.old {
        Some(_) => format!("{} schedule: {slots} of {jobs}", schedule.which.as_str()),
        None => format!("{slots} of {jobs}"),
    };
    match (schedule.errors, &trial.old) {
        (0, Some(_)) => words + ", no error of `validate`",
        (0, None) => words,
        (errors, _) => {
            let errors = linting::counted(errors, "error");
            format!("{words}, {errors} of `validate`")
        }
    }
}

fn nothing(trial: &Trial<'_>) -> String {
    let of = |schedule: &Schedule| match (schedule.which, trial.old.is_some()) {
        (Which::Old, _) => " in the old schedule",
        (Which::New, true) => " in the new schedule",
        (Which::New, false) => "",
    };
    let empty = trial.schedules().find(|it| !it.has_slots());
    let of = empty.map_or("", of);
    if empty.is_some_and(|it| it.jobs == 0) {
        format!("nothing to simulate: no job is enabled{of}\n")
    } else {
        format!(
            "nothing to simulate: no slot lies in these days{of}; more days (`--days`) may hold some\n"
        )
    }
}

fn figures(trial: &Trial<'_>, width: usize) -> String {
    let names = trial.arms.iter().map(|arm| match trial.old {
        None => "this schedule with the daemon's guards".to_owned(),
        Some(_) => name(arm),
    });
    let names: Vec<String> = names.collect();
    let arms = trial.arms.iter().zip(&names);
    let arms: Vec<trial::Arm<'_>> = arms
        .map(|(arm, name)| trial::Arm {
            name,
            summary: &arm.summary,
        })
        .collect();
    if let [arm] = arms[..] {
        return render_arm(&arm, width);
    }
    let effects: Vec<(String, &[trial::Contrast])> = trial
        .effects
        .iter()
        .map(|effect| (effect_name(effect.of), &effect.contrasts[..]))
        .collect();
    format!(
        "{}\nwhat the schedule did, and what the guards did\n\n{}{}",
        render_arms(&arms, width),
        render_effects(&effects, width),
        unequal(trial).unwrap_or_default()
    )
}

/// Says that the schedules have not the same work, where they have not.
fn unequal(trial: &Trial<'_>) -> Option<String> {
    let (old, new) = (trial.old.as_ref()?.course.slots(), trial.new.course.slots());
    let is_few = trial
        .arms
        .iter()
        .any(|arm| !trial::few(&arm.summary).is_empty());
    let words = if is_few {
        "counts, dollars and percentiles of so few do not compare"
    } else {
        "counts and dollars do not compare"
    };
    (old != new).then(|| format!("the schedules have {old} and {new} slots: {words}\n"))
}

fn name(arm: &Arm) -> String {
    format!(
        "{} client, {} schedule",
        arm.client.as_str(),
        arm.schedule.as_str()
    )
}

fn effect_name(of: Of) -> String {
    match of {
        Of::Schedule(client) => format!("schedule, {} client", client.as_str()),
        Of::Guards(schedule) => format!("guards, {} schedule", schedule.as_str()),
        Of::Both => "both together".to_owned(),
    }
}

/// A condition with what was measured. One that passes must not read as if what was asked were so.
fn verdict(judged: &Judged, context: &Context) -> String {
    let word = if judged.fails() {
        context.screen.styled("1;31", "FAILS")
    } else {
        context.screen.styled("1;32", "ok   ")
    };
    let (asked, bound) = (judged.condition.subject(), judged.condition.bound());
    let few = match judged {
        Judged {
            measured, seeds, ..
        } if measured < seeds => {
            format!(" ({measured} of {})", linting::counted(*seeds, "seed"))
        }
        Judged { .. } => String::new(),
    };
    let metric = judged.condition.metric();
    let found = |value: Value| match value {
        Value::Beyond => format!("{asked} is beyond measure{few}"),
        Value::Nothing | Value::Below | Value::Measured(_) => {
            format!("{asked} is {}{few}", metric.show(value))
        }
    };
    let end = |value: Value| match value {
        Value::Beyond => ": some work or call never came to its end",
        Value::Nothing | Value::Below | Value::Measured(_) => "",
    };
    let said = match judged.held {
        Held::Nothing => format!("{asked} {bound}: nothing was measured"),
        Held::Holds(value) => format!("{}, {bound}{}", found(value), end(value)),
        Held::DoesNot(value) => format!("{}, not {bound}{}", found(value), end(value)),
    };
    format!("{word}   {said}\n")
}
