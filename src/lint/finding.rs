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

            /// How bad a finding of this rule is.
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
    /// A prompt, input or key file is not there.
    MissingFile = "missing-file", Error;
    /// A template names a variable that nothing fills.
    UnknownVariable = "unknown-variable", Error;
    /// A secret stands in the file.
    LiteralSecret = "literal-secret", Error;
    /// Two jobs write to one file.
    OutputCollision = "output-collision", Error;
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
    /// The first violating instant.
    pub at: Option<DateTime<Utc>>,
    /// The other job of a pair.
    pub other: Option<Other>,
    /// The time between the two firings.
    pub gap: Option<Duration>,
    /// How many such instants the first 365 days hold.
    pub per_year: Option<u64>,
    /// What was found, what was expected; one sentence without local times.
    pub message: String,
    /// The way out.
    pub suggestion: Option<Suggestion>,
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

/// The nearest schedule that is legal against everything else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Suggestion {
    /// The expression that takes the place of the marked one.
    pub cron: String,
}
