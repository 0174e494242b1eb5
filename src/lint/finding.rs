//! One linter result: rule, severity, place, text.

use std::fmt;
use std::time::Duration;

use chrono::{DateTime, Utc};

use crate::job::{GroupId, JobId};

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// The daemon refuses to start.
    Error,
    /// Advice.
    Warning,
}

impl Severity {
    /// The word used in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $severity:ident;)*) => {
        /// What a finding is about; the name is what users write and read.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule { $($(#[$doc])* $variant,)* }

        impl Rule {
            /// Every rule, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The name that users write and read.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// How bad a finding of this rule is, unless the settings say otherwise.
            #[must_use]
            pub const fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }
        }
    };
}

rules! {
    /// Two firings of one group are closer than `min_gap`.
    KeyGap = "key-gap", Error;
    /// A firing lies in a peak window.
    PeakWindow = "peak-window", Error;
    /// No date ever matches.
    NeverFires = "never-fires", Error;
    /// The text is no cron expression.
    BadCron = "bad-cron", Error;
    /// The name is no IANA zone.
    BadZone = "bad-zone", Error;
    /// The key is not in `keys`.
    UnknownKey = "unknown-key", Error;
    /// Two jobs have one name.
    DuplicateId = "duplicate-id", Error;
    /// A field is unknown, missing, repeated, of the wrong type or out of range.
    BadField = "bad-field", Error;
    /// A prompt or input file is not there.
    MissingFile = "missing-file", Error;
    /// A template names a variable that nothing fills.
    UnknownVariable = "unknown-variable", Error;
    /// A secret stands in the file.
    LiteralSecret = "literal-secret", Error;
    /// Two jobs write to one file.
    OutputCollision = "output-collision", Error;
    /// What a job asks for cannot stand together, or its model does not take it.
    BadRequest = "bad-request", Error;
    /// A clock change moves a firing.
    ClockChange = "clock-change", Warning;
    /// The worst case of a run reaches the group's next slot or a peak window.
    Overrun = "overrun", Warning;
    /// Two firings of one group are closer than `comfortable_gap`.
    ComfortableGap = "comfortable-gap", Warning;
    /// The group's worst case never gives the breaker its samples.
    BreakerCannotOpen = "breaker-cannot-open", Warning;
    /// The model is past its end of life.
    RetiredModel = "retired-model", Warning;
    /// About 12,000 input tokens or more with no cache entry alive.
    LargeColdInput = "large-cold-input", Warning;
    /// A cache that no other call can read within its life.
    CacheNeverRead = "cache-never-read", Warning;
    /// Two groups whose keys hold the same secret.
    SameSecret = "same-secret", Warning;
    /// Both day fields are restricted: either of them is enough.
    EitherDay = "either-day", Warning;
    /// A step does not divide its field: one gap is odd.
    UnevenStep = "uneven-step", Warning;
    /// It fires on 29 February only.
    LeapDay = "leap-day", Warning;
    /// A day of the month that some months do not have.
    SkipsMonths = "skips-months", Warning;
    /// A one-hour cache entry that the next slot would read, and that nobody writes.
    CacheSaves = "cache-saves", Warning;
    /// The model is not in the table, and a name near it is.
    UnknownModel = "unknown-model", Warning;
    /// A cap in dollars holds, and what the model costs is not known.
    UnknownPrice = "unknown-price", Error;
    /// The longest answer alone costs more than a cap in dollars.
    OverBudget = "over-budget", Warning;
    /// A job accepts a rule that finds nothing in it.
    UnusedAccept = "unused-accept", Warning;
}

impl Rule {
    /// The rule of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|rule| rule.as_str() == name)
    }

    /// Whether the settings may change its severity: what keeps a job from being read as it is meant stays an error.
    #[must_use]
    pub const fn is_settable(self) -> bool {
        match self {
            Self::BadCron
            | Self::BadZone
            | Self::UnknownKey
            | Self::DuplicateId
            | Self::BadField
            | Self::UnknownVariable
            | Self::LiteralSecret => false,
            Self::KeyGap
            | Self::PeakWindow
            | Self::NeverFires
            | Self::MissingFile
            | Self::OutputCollision
            | Self::BadRequest
            | Self::ClockChange
            | Self::Overrun
            | Self::ComfortableGap
            | Self::BreakerCannotOpen
            | Self::RetiredModel
            | Self::LargeColdInput
            | Self::CacheNeverRead
            | Self::SameSecret
            | Self::EitherDay
            | Self::UnevenStep
            | Self::LeapDay
            | Self::SkipsMonths
            | Self::CacheSaves
            | Self::UnknownModel
            | Self::UnknownPrice
            | Self::OverBudget
            | Self::UnusedAccept => true,
        }
    }

    /// Whether a job may accept its findings: what is settable, but for what concerns no job of its own.
    #[must_use]
    pub const fn is_acceptable(self) -> bool {
        self.is_settable() && !matches!(self, Self::SameSecret | Self::UnusedAccept)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// One linter result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What it is about.
    pub rule: Rule,
    /// How bad it is.
    pub severity: Severity,
    /// The job; of a pair the one that fires later, or the second by name at one instant.
    pub job: JobId,
    /// Its group.
    pub group: GroupId,
    /// Which of the job's cron expressions, counted from 0; `None` if it is about the whole job.
    pub cron: Option<usize>,
    /// Which of the fields by which the job asks something of the API; `None` if it is about something else.
    pub field: Option<String>,
    /// The first violating instant.
    pub at: Option<DateTime<Utc>>,
    /// The other job of a pair.
    pub other: Option<Other>,
    /// Further jobs, where more than two are concerned; each of them may accept it.
    pub also: Vec<JobId>,
    /// The time between the two firings.
    pub gap: Option<Duration>,
    /// How many such instants the first 365 days hold.
    pub per_year: Option<u64>,
    /// What was found, what was expected; one sentence without local times.
    pub message: String,
    /// The way out, where a cron expression is.
    pub suggestion: Option<Suggestion>,
    /// The way out in words, where no cron expression is.
    pub help: Option<String>,
    /// Why a job accepts it; then it is listed and stops nothing.
    pub accepted: Option<String>,
    /// Of `unused-accept`, the rule that the job accepts for nothing: the entry of `accept` to mark.
    pub accepts: Option<Rule>,
}

impl Finding {
    /// Whether the daemon refuses to start for it.
    #[must_use]
    pub fn is_stopping(&self) -> bool {
        self.severity == Severity::Error && self.accepted.is_none()
    }

    /// Whether it is advice that nobody accepted.
    #[must_use]
    pub fn is_advice(&self) -> bool {
        self.severity == Severity::Warning && self.accepted.is_none()
    }
}

/// The earlier firing of a pair.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Other {
    /// Whose; may be the same job.
    pub job: JobId,
    /// Which of its cron expressions.
    pub cron: usize,
    /// When.
    pub at: DateTime<Utc>,
}

/// Another time of day that is legal against everything else: the nearest that keeps the comfortable gap if one lies
/// within three hours, else the nearest legal one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The expression that takes the place of the marked one.
    pub cron: String,
}
