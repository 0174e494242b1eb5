//! A schedule that is lived through, read from job files.

use std::path::PathBuf;

use super::loads::{self, Assumed, Guess};
use crate::cli::{CliError, Context, linting};
use crate::config::Mistake;
use crate::lint::{Finding, Rule};
use crate::schedule::Zone;
use crate::sim::trial::{Course, Days};

/// Which of the two schedules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// The one that it is compared with.
    Old,
    /// The one that is tried.
    New,
}

/// A schedule and what its jobs send.
#[derive(Debug)]
pub struct Schedule {
    /// Which one.
    pub which: Which,
    /// How many errors `validate` finds in it.
    pub errors: usize,
    /// How many of its jobs are enabled.
    pub jobs: usize,
    /// The zone of its peak windows.
    pub zone: Zone,
    /// The schedule made ready.
    pub course: Course,
}

impl Which {
    /// The word in tables and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Old => "old",
            Self::New => "new",
        }
    }
}

impl Schedule {
    /// Reads job files. Errors of the linter stop nothing: what they cost may be the question.
    ///
    /// # Errors
    ///
    /// A mistake in the files, but for those that change nothing about when jobs fire.
    pub fn read(
        context: &Context,
        (which, files): (Which, &[PathBuf]),
        (days, guess): (Days, Guess),
        assumed: &mut Assumed,
    ) -> Result<Self, CliError> {
        let reading = context.read(files);
        if !reading.unreadable.is_empty() || !reading.mistakes.iter().all(is_harmless) {
            return Err(CliError::config(reading.into_errors()));
        }
        let config = &reading.config;
        let (subjects, rules) = (linting::subjects(config), linting::rules(config));
        let verdict = crate::lint::check(&subjects, &rules, days.from);
        let stopping = verdict
            .findings
            .iter()
            .filter(|it| Finding::is_stopping(it));
        let workload = loads::workload(context, config, (guess, days.from), assumed)?;
        let jobs = workload.jobs.len();
        let course = Course::new(&config.plan, workload, days);
        Ok(Self {
            which,
            errors: reading.mistakes.len() + stopping.count(),
            jobs,
            zone: config.plan.peaks.zone().clone(),
            course,
        })
    }

    /// Whether there is anything to live through.
    #[must_use]
    pub fn has_slots(&self) -> bool {
        self.course.slots() > 0
    }
}

/// Whether a mistake changes neither when a job fires nor, but for a guess, what it sends. Files of the machine that
/// runs the daemon are not there where a schedule is only tried.
const fn is_harmless(mistake: &Mistake) -> bool {
    matches!(mistake.rule, Rule::MissingFile | Rule::OutputCollision)
}
