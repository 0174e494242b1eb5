//! What is wrong with the files, each thing with its place.

use std::fmt;

use crate::job::JobId;
use crate::lint::{Rule, Severity};

use super::source::Place;

/// One thing that the user must mend.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mistake {
    /// What it is about.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// Why its job accepts it; then it is listed and stops nothing.
    pub accepted: Option<String>,
    /// The job in whose definition it stands; `None` in `offpeak.yaml`.
    pub job: Option<JobId>,
    /// The other job of a pair; each of the two may accept it.
    pub other: Option<JobId>,
    /// Where.
    pub place: Place,
    /// What was found, and what was expected.
    pub message: String,
    /// A second place that belongs to it.
    pub related: Option<Related>,
    /// What to write instead.
    pub help: Option<String>,
}

/// A second place that belongs to a mistake.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Related {
    /// Where; perhaps in another file.
    pub place: Place,
    /// What it has to do with it.
    pub label: String,
}

/// A file or folder that could not be read, or is no YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// The path as shown to people.
    pub path: String,
    /// Where the YAML breaks off.
    pub place: Option<Place>,
    /// What was found.
    pub message: String,
    /// The way out.
    pub help: Option<String>,
}

/// Everything that keeps a configuration from being used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigErrors {
    /// Files and folders that could not be read, or are no YAML.
    pub unreadable: Vec<Unreadable>,
    /// Mistakes in what could be read.
    pub mistakes: Vec<Mistake>,
}

impl Mistake {
    /// A mistake with a place and a message.
    #[must_use]
    pub fn new(rule: Rule, place: Place, message: impl Into<String>) -> Self {
        Self {
            rule,
            severity: rule.severity(),
            accepted: None,
            job: None,
            other: None,
            place,
            message: message.into(),
            related: None,
            help: None,
        }
    }

    /// Whether the configuration is not to be run with it.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.severity == Severity::Error && self.accepted.is_none()
    }

    /// Whether a firing or a rule may be meant at its place that is not known.
    #[must_use]
    pub const fn may_hide(&self) -> bool {
        matches!(
            self.rule,
            Rule::BadField | Rule::BadCron | Rule::BadZone | Rule::UnknownKey | Rule::DuplicateId
        )
    }

    /// Says what to write instead.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Says what to write instead, if that is known.
    #[must_use]
    pub fn maybe_help(mut self, help: Option<String>) -> Self {
        self.help = help;
        self
    }

    /// Adds a second place.
    #[must_use]
    pub fn related(mut self, place: Place, label: impl Into<String>) -> Self {
        self.related = Some(Related {
            place,
            label: label.into(),
        });
        self
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.place, self.rule, self.message)?;
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.place {
            Some(place) => write!(f, "{place}: {}", self.message)?,
            None => write!(f, "{}: {}", self.path, self.message)?,
        }
        self.help.iter().try_for_each(|help| write!(f, "; {help}"))
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unreadable = self.unreadable.iter().map(ToString::to_string);
        let lines: Vec<String> = unreadable
            .chain(self.mistakes.iter().map(ToString::to_string))
            .collect();
        f.write_str(&lines.join("\n"))
    }
}

impl std::error::Error for ConfigErrors {}
