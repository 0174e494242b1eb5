//! What the stand-in does wrong, and when: plain values, and the YAML they are read from.

use std::collections::BTreeMap;
use std::time::Duration;

use chrono::{DateTime, Utc};
use serde::Deserialize;

use super::fault::{Endpoint, Fault};
use super::span::{instants, optional_instant, optional_span, span};

/// How the stand-in behaves; the default answers everything at once.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Script {
    /// How long answers take.
    pub latency: Latency,
    /// What is listed of the models, and which are gone.
    pub models: Offered,
    /// Tried in this order; the first that holds decides.
    pub rules: Vec<Rule>,
}

/// What the stand-in says of its models: those of the built-in table, but for what stands here.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Offered {
    /// Not listed, and 404 to whoever asks them.
    pub gone: Vec<String>,
    /// Deprecated until this instant, and retired from then on; they answer all the same.
    #[serde(deserialize_with = "instants")]
    pub retires: BTreeMap<String, DateTime<Utc>>,
    /// The most models on a page; without it as many as are asked for.
    pub page: Option<usize>,
}

impl Offered {
    /// Whether a model is gone.
    #[must_use]
    pub fn is_gone(&self, model: &str) -> bool {
        self.gone.iter().any(|gone| gone == model)
    }
}

/// A log-normal distribution of the time from a request to its last byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// Half of the answers are faster.
    #[serde(deserialize_with = "span")]
    pub median: Duration,
    /// The standard deviation of the logarithm; 0 makes every answer take the median.
    #[serde(default)]
    pub spread: f64,
    /// No answer takes longer; without it there is no limit.
    #[serde(default, deserialize_with = "optional_span")]
    pub max: Option<Duration>,
}

/// One fault, and the requests that meet it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Which requests; the default is all.
    #[serde(default)]
    pub when: When,
    /// At most so many requests; without it there is no limit.
    #[serde(default)]
    pub times: Option<u32>,
    /// What happens to them.
    pub then: Fault,
}

impl Rule {
    /// A rule for every request.
    #[must_use]
    pub fn always(then: Fault) -> Self {
        Self {
            when: When::default(),
            times: None,
            then,
        }
    }

    /// A rule for the first `times` requests that meet `when`.
    #[must_use]
    pub const fn times(times: u32, when: When, then: Fault) -> Self {
        Self {
            when,
            times: Some(times),
            then,
        }
    }
}

/// Which requests; every part that is there must hold.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct When {
    /// It asks for this; without it a message, a batch or a part of one, whichever the fault can happen to.
    pub endpoint: Option<Endpoint>,
    /// The number of the request, counted from 1, is at least this. Messages and batches are counted together, and the
    /// parts of a batch have its number; counts of tokens and questions for models have numbers of their own.
    pub first: Option<u64>,
    /// The number is at most this.
    pub last: Option<u64>,
    /// The prompt, the system prompt or the raw body contains this.
    pub contains: Option<String>,
    /// The model is this.
    pub model: Option<String>,
    /// It is at or after this instant.
    #[serde(deserialize_with = "optional_instant")]
    pub from: Option<DateTime<Utc>>,
    /// It is before this instant.
    #[serde(deserialize_with = "optional_instant")]
    pub until: Option<DateTime<Utc>>,
    /// The stand-in started at least this long ago.
    #[serde(deserialize_with = "optional_span")]
    pub after: Option<Duration>,
    /// The stand-in started less than this long ago.
    #[serde(deserialize_with = "optional_span")]
    pub before: Option<Duration>,
    /// The share of the requests, from 0 to 1, drawn by seed.
    pub share: Option<f64>,
}

impl When {
    /// Requests that contain this text.
    #[must_use]
    pub fn contains(text: impl Into<String>) -> Self {
        Self {
            contains: Some(text.into()),
            ..Self::default()
        }
    }
}

/// Why a text is no script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScriptError {
    /// It is no YAML, or has a field of the wrong name or type.
    #[error("script: {problem}")]
    Malformed {
        /// What was found and expected, with line and column.
        problem: String,
    },
    /// A value is outside its bounds.
    #[error("script: {place}: `{field}`: {found} is outside {expected}")]
    Bounds {
        /// The rule by its number, counted from 1, or `latency` or `models`.
        place: String,
        /// The field.
        field: &'static str,
        /// What was found.
        found: String,
        /// The bounds.
        expected: &'static str,
    },
}

impl Script {
    /// Reads a script; the module's docs show one with everything in it.
    ///
    /// # Errors
    /// The first mistake and its place.
    pub fn from_yaml(yaml: &str) -> Result<Self, ScriptError> {
        if yaml.trim().is_empty() {
            return Ok(Self::default());
        }
        let script: Self = serde_yaml::from_str(yaml).map_err(|error| {
            // The place alone: a snippet would repeat lines that the user has at hand.
            let problem = error.without_snippet().to_string();
            ScriptError::Malformed { problem }
        })?;
        script.checked()
    }

    /// This script with one more rule at its end.
    #[must_use]
    pub fn rule(mut self, rule: Rule) -> Self {
        self.rules.push(rule);
        self
    }

    fn checked(self) -> Result<Self, ScriptError> {
        let spread = self.latency.spread;
        if !(0.0..=3.0).contains(&spread) {
            return Err(bounds("latency", "spread", &spread.to_string(), "0 to 3"));
        }
        if self.models.page == Some(0) {
            return Err(bounds("models", "page", "0", "1 or more"));
        }
        for (index, rule) in self.rules.iter().enumerate() {
            check_rule(&format!("rule {}", index + 1), rule)?;
        }
        Ok(self)
    }
}

fn check_rule(place: &str, rule: &Rule) -> Result<(), ScriptError> {
    if let Some(share) = rule.when.share.filter(|share| !(0.0..=1.0).contains(share)) {
        return Err(bounds(place, "when.share", &share.to_string(), "0 to 1"));
    }
    let fits = |endpoint| rule.then.fits(endpoint);
    if !rule.when.endpoint.is_none_or(fits) {
        return Err(bounds(
            place,
            "then",
            rule.then.as_str(),
            "what can happen at this `when.endpoint`",
        ));
    }
    match &rule.then {
        Fault::Error(error) if !(400..=599).contains(&error.status) => Err(bounds(
            place,
            "then.error.status",
            &error.status.to_string(),
            "400 to 599",
        )),
        Fault::Body(body) if !(200..=599).contains(&body.status) => Err(bounds(
            place,
            "then.body.status",
            &body.status.to_string(),
            "200 to 599",
        )),
        Fault::Error(_)
        | Fault::Cut(_)
        | Fault::HangUp {}
        | Fault::Slow(_)
        | Fault::Silence(_)
        | Fault::StreamError(_)
        | Fault::Body(_)
        | Fault::Redirect(_)
        | Fault::Answer(_)
        | Fault::Pause {}
        | Fault::ToolError(_)
        | Fault::Batch(_)
        | Fault::NeverEnds {}
        | Fault::Part(_) => Ok(()),
    }
}

fn bounds(place: &str, field: &'static str, found: &str, expected: &'static str) -> ScriptError {
    ScriptError::Bounds {
        place: place.to_owned(),
        field,
        found: found.to_owned(),
        expected,
    }
}

#[cfg(test)]
mod tests;
