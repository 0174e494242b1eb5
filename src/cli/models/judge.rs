//! Whether the models that a job names are there for its key, and for how long.

use chrono::{DateTime, TimeDelta, Utc};

use crate::anthropic::{Lifecycle, Listed, Models};
use crate::config;
use crate::job::{Job, JobId};

/// So long before its end a model is told of; as the linter does.
const NOTICE: TimeDelta = TimeDelta::days(60);

/// A model of a job that is not there, or will not be for long.
#[derive(Debug)]
pub struct Problem<'a> {
    /// The job.
    pub job: &'a JobId,
    /// The field that names the model.
    pub field: &'static str,
    /// The model as the job names it.
    pub model: &'a str,
    /// How it stands with the model.
    pub standing: Standing,
    /// From when on it answers 404, if the API says so.
    pub retires_at: Option<DateTime<Utc>>,
    /// The way out.
    pub help: String,
}

/// How it stands with a model that is not simply there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// The key cannot use it, or it does not exist.
    NotAvailable,
    /// It has ended.
    Retired,
    /// It answers, and is deprecated.
    Deprecated,
    /// It ends within the notice.
    RetiresSoon,
}

impl Standing {
    /// The word in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::NotAvailable => "not_available",
            Self::Retired => "retired",
            Self::Deprecated => "deprecated",
            Self::RetiresSoon => "retires_soon",
        }
    }

    /// Whether the job's calls fail now.
    #[must_use]
    pub const fn fails(self) -> bool {
        match self {
            Self::NotAvailable | Self::Retired => true,
            Self::Deprecated | Self::RetiresSoon => false,
        }
    }
}

/// The models that a job names, each with its field, each once.
#[must_use]
pub fn named(job: &Job) -> Vec<(&'static str, &str)> {
    let steps = job.chain().map(|step| ("model", step.model.as_str()));
    let fallback = job.fallback_model.iter();
    let fallback = fallback.map(|model| ("fallback_model", model.as_str()));
    let mut named: Vec<_> = steps.chain(fallback).collect();
    named.sort_unstable_by(|one, other| other.cmp(one));
    named.dedup();
    named
}

/// The model of this name: the very one, or the newest of those with a date.
#[must_use]
pub fn found<'m>(models: &'m [Listed], name: &str) -> Option<&'m Listed> {
    let exact = models.iter().find(|model| model.id == name);
    let dated = || {
        let of_name = models.iter().filter(|model| model.is_called(name));
        of_name.max_by(|one, other| one.id.cmp(&other.id))
    };
    exact.or_else(dated)
}

/// What is wrong with the models of one job.
#[must_use]
pub fn problems<'a>(
    job: &'a Job,
    models: &[Listed],
    table: &Models,
    now: DateTime<Utc>,
) -> Vec<Problem<'a>> {
    let problem = |(field, model): (&'static str, &'a str)| {
        let found = found(models, model);
        let standing = standing(found, now)?;
        Some(Problem {
            job: &job.id,
            field,
            model,
            standing,
            retires_at: found.and_then(|found| found.retires_at),
            help: help(job, (field, model), models, table),
        })
    };
    named(job).into_iter().filter_map(problem).collect()
}

/// How it stands with a model; `None` if it is there and stays for now.
fn standing(found: Option<&Listed>, now: DateTime<Utc>) -> Option<Standing> {
    let Some(model) = found else {
        return Some(Standing::NotAvailable);
    };
    let by = |at: Option<DateTime<Utc>>, limit| at.is_some_and(|at| at <= limit);
    let soon = now.checked_add_signed(NOTICE).unwrap_or(now);
    if model.lifecycle == Some(Lifecycle::Retired) || by(model.retires_at, now) {
        Some(Standing::Retired)
    } else if model.lifecycle == Some(Lifecycle::Deprecated) || by(model.deprecated_at, now) {
        Some(Standing::Deprecated)
    } else if by(model.retires_at, soon) {
        Some(Standing::RetiresSoon)
    } else {
        None
    }
}

/// Another model that the key can use and the job does not ask anyway: the name that was meant, or one that follows.
fn help(job: &Job, (field, model): (&str, &str), models: &[Listed], table: &Models) -> String {
    let asked = named(job);
    let usable = models.iter().filter(|listed| {
        let ends = listed.lifecycle == Some(Lifecycle::Retired) || listed.retires_at.is_some();
        !ends && !asked.iter().any(|(_, name)| listed.is_called(name))
    });
    let usable: Vec<&str> = usable.map(|listed| listed.id.as_str()).collect();
    let successor = table.successor(model).map(|model| model.id.as_str());
    let other = successor.filter(|successor| usable.contains(successor));
    let near = || config::nearest(model, usable.iter().copied());
    match other.or_else(near) {
        Some(other) => format!("write `{field}: {other}`"),
        None => "choose a model of the list, or ask for access in the console".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn model(id: &str) -> Listed {
        Listed {
            id: id.to_owned(),
            display_name: None,
            lifecycle: Some(Lifecycle::Active),
            deprecated_at: None,
            retires_at: None,
            max_input_tokens: None,
            max_tokens: None,
        }
    }

    #[test]
    fn standing_goes_by_word_and_by_date_at_its_bound() {
        let now = at("2026-12-01T00:00:00Z");
        let with = |lifecycle, deprecated: Option<&str>, retires: Option<&str>| {
            let model = Listed {
                lifecycle,
                deprecated_at: deprecated.map(at),
                retires_at: retires.map(at),
                ..model("m")
            };
            standing(Some(&model), now)
        };
        let active = || Some(Lifecycle::Active);
        assert_eq!(standing(None, now), Some(Standing::NotAvailable));
        assert_eq!(with(active(), None, None), None);
        assert_eq!(with(None, None, None), None);
        let odd = Some(Lifecycle::Other("resting".to_owned()));
        assert_eq!(with(odd, None, None), None);
        let retired = Some(Standing::Retired);
        assert_eq!(with(Some(Lifecycle::Retired), None, None), retired);
        assert_eq!(with(active(), None, Some("2026-12-01T00:00:00Z")), retired);
        let deprecated = Some(Standing::Deprecated);
        assert_eq!(with(Some(Lifecycle::Deprecated), None, None), deprecated);
        assert_eq!(with(None, Some("2026-12-01T00:00:00Z"), None), deprecated);
        assert_eq!(with(None, Some("2026-12-01T00:00:01Z"), None), None);
        let soon = with(active(), None, Some("2027-01-30T00:00:00Z"));
        assert_eq!(soon, Some(Standing::RetiresSoon));
        assert_eq!(with(active(), None, Some("2027-01-30T00:00:01Z")), None);
    }

    #[test]
    fn name_without_a_date_finds_itself_or_the_newest_with_a_date() {
        let models = ["m-20250101", "m-20250929", "n", "n-20250101"].map(model);
        let found = |name| found(&models, name).map(|model| model.id.as_str());
        assert_eq!(found("m"), Some("m-20250929"));
        assert_eq!(found("m-20250101"), Some("m-20250101"));
        assert_eq!(found("n"), Some("n"));
        assert_eq!(found("o"), None);
    }

    #[test]
    fn only_what_fails_now_is_a_failure() {
        let all = [
            Standing::NotAvailable,
            Standing::Retired,
            Standing::Deprecated,
            Standing::RetiresSoon,
        ];
        assert_eq!(all.map(Standing::fails), [true, true, false, false]);
        let words = ["not_available", "retired", "deprecated", "retires_soon"];
        assert_eq!(all.map(Standing::as_str), words);
    }
}
