//! Arguments of `report`.

use std::path::PathBuf;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::{Args as ClapArgs, ValueEnum};

use super::instant;
use super::person::span;
use crate::report;

/// Arguments of `report`.
#[derive(Debug, ClapArgs)]
pub struct Report {
    /// Work that was due at or after this instant, such as `2026-12-01` or `2026-12-01T05:00:00+09:00`.
    #[arg(long, value_name = "INSTANT", value_parser = instant, conflicts_with = "days")]
    pub since: Option<DateTime<Utc>>,
    /// Work that was due before this instant; now if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub until: Option<DateTime<Utc>>,
    /// Work of the last N days.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u16).range(1..=3660))]
    pub days: u16,
    /// Only this job.
    #[arg(long, value_name = "JOB")]
    pub job: Option<String>,
    /// Only this group.
    #[arg(long, value_name = "GROUP")]
    pub group: Option<String>,
    /// One table in full in place of the short ones.
    #[arg(long, value_enum, value_name = "WAY")]
    pub by: Option<By>,
    /// Put this span, just before the other, beside it: such as `14d`.
    #[arg(long, value_name = "SPAN", value_parser = span)]
    pub compare: Option<Duration>,
    /// Write one page with pictures for a browser too, to a file from the working folder; `-` prints it instead.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
}

/// How work is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// By the group it counts against.
    Group,
    /// By job.
    Job,
    /// By the model that was asked.
    Model,
    /// By the hour of the day in Japan.
    Hour,
    /// By the day in Japan.
    Day,
}

impl From<By> for report::By {
    fn from(by: By) -> Self {
        match by {
            By::Group => Self::Group,
            By::Job => Self::Job,
            By::Model => Self::Model,
            By::Hour => Self::Hour,
            By::Day => Self::Day,
        }
    }
}
