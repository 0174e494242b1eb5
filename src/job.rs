//! What to send, with which key, on what schedule.
//!
//! A [`Job`] is one YAML definition after its fields were checked. Schedules
//! stay text here: only expression and zone are ever stored, and
//! [`crate::schedule::Timetable`] compiles them. A [`Request`] is a job's
//! prompt after its variables were filled in for one slot.

use std::borrow::Borrow;
use std::fmt;
use std::iter;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::money::Dollars;

mod places;

pub use places::{FrontMatter, Output, Previous, WebInput};

macro_rules! identifier {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(Arc<str>);

        impl $name {
            /// Wraps a name; cheap to clone from here on.
            #[must_use]
            pub fn new(name: impl AsRef<str>) -> Self {
                Self(Arc::from(name.as_ref()))
            }

            /// The name as written.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    };
}

identifier! {
    /// The name of a job: its file's stem, or its `id` in a list.
    JobId
}
identifier! {
    /// The name of an API key; the secret itself stays in the client.
    KeyId
}
identifier! {
    /// The name of a group: the keys that share a provider limit.
    GroupId
}

/// One YAML definition: request, key, schedule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Job {
    /// Unique over all job files.
    pub id: JobId,
    /// What the job is for, in the user's words.
    pub description: Option<String>,
    /// Whether its slots fire; slots of a disabled job are recorded as skipped.
    pub state: JobState,
    /// The key it sends with.
    pub key: KeyId,
    /// The group of that key.
    pub group: GroupId,
    /// When it fires, as text.
    pub schedule: Schedule,
    /// What it sends, before variables are filled in; of a chain the first step.
    pub template: Template,
    /// The further steps of a chain, in order; empty for a job with one prompt.
    pub then: Vec<Template>,
    /// What it makes a call, or a chain of them, for each; `None` for one answer a slot.
    pub for_each: Option<ForEach>,
    /// How its calls are handed in.
    pub handing: Handing,
    /// How many items may be under way at once, at least 1.
    pub concurrency: u32,
    /// The model that is asked after the first is gone, or was overloaded to the last attempt.
    pub fallback_model: Option<String>,
    /// Named texts for the prompt, in the order of the file.
    pub inputs: Vec<Input>,
    /// What to do when every input is empty.
    pub on_empty_input: OnEmptyInput,
    /// Where the answer goes; `None` keeps it in the history only.
    pub output: Option<Output>,
    /// What an answer must satisfy to count as complete.
    pub check: Check,
    /// How long one whole attempt may take.
    pub timeout: Duration,
    /// What one run may cost, by estimates made before each request; `None` for no cap.
    pub max_cost: Option<Dollars>,
    /// Who is told of a failure; a name from `notify` in `offpeak.yaml`.
    pub notify: Option<String>,
}

/// Whether a job takes part in the schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JobState {
    /// Its slots fire.
    Enabled,
    /// Its slots are recorded as skipped.
    Disabled,
}

/// One or more cron expressions in one named zone, as text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Schedule {
    /// The expressions, at least one.
    pub crons: Vec<String>,
    /// An IANA zone name.
    pub zone: String,
}

/// A text in the job file or in a file of its own, with `{{ variables }}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum TextSource {
    /// The text stands in the YAML.
    Inline(String),
    /// The text stands in this file, an absolute path; read anew for each run.
    File(PathBuf),
}

/// How long the API keeps a prompt prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CacheTtl {
    /// Five minutes, renewed with each use.
    FiveMinutes,
    /// One hour, renewed with each use.
    OneHour,
}

impl CacheTtl {
    /// The word that users and the API write.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::FiveMinutes => "5m",
            Self::OneHour => "1h",
        }
    }
}

/// A part of a system prompt: a text, or where one comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SystemBlock<T> {
    /// What it says.
    pub text: T,
    /// How long everything up to its end is cached; `None` sets no breakpoint here.
    pub cache: Option<CacheTtl>,
}

impl<T> SystemBlock<T> {
    /// A block without a cache breakpoint.
    #[must_use]
    pub const fn plain(text: T) -> Self {
        Self { text, cache: None }
    }
}

impl Job {
    /// The steps of its chain, in order; at least one.
    pub fn chain(&self) -> impl Iterator<Item = &Template> {
        iter::once(&self.template).chain(&self.then)
    }
}

/// How the calls of a job are handed in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Handing {
    /// One by one, answered at once.
    Direct,
    /// All calls of a slot as one message batch: half price, answered within a day.
    Batch,
}

/// What a job makes a call for each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForEach {
    /// Where the items come from.
    pub source: ItemSource,
    /// Which of them are taken.
    pub which: Which,
    /// The most that one slot takes; the rest is left to later slots, if only changed ones are taken.
    pub limit: Option<u32>,
}

/// Where items come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemSource {
    /// Files that fit a pattern such as `docs/**/*.md`, below an absolute folder; by name.
    Files {
        /// Where the pattern starts.
        folder: PathBuf,
        /// The pattern, relative to the folder.
        pattern: String,
    },
    /// The lines of a text that are not blank, in order.
    Lines(Box<Input>),
    /// The elements of a JSON list, or the JSON values of a text with one a line, in order.
    Records(Box<Input>),
}

/// Which items are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which {
    /// Every one, in each slot.
    All,
    /// Those that are new, or have changed since they were last done.
    ChangedSinceSuccess,
}

/// What a job sends before its variables are filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    /// The variable by which later steps know the answer; `None` for a job with one prompt.
    pub name: Option<String>,
    /// The model id.
    pub model: String,
    /// The most tokens that the answer may have, thinking included.
    pub max_tokens: u32,
    /// The system prompt, in the order of the file; empty if there is none.
    pub system: Vec<SystemBlock<TextSource>>,
    /// The user message.
    pub prompt: TextSource,
    /// Whether the answer comes as an event stream.
    pub delivery: Delivery,
    /// Any other body field, as `(name, JSON text)`, in the order of the file.
    pub extra: Vec<(String, String)>,
}

/// How the answer travels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// As an event stream: safe for long answers.
    Stream,
    /// As one JSON body.
    Whole,
}

/// A named text for the prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The variable's name.
    pub name: String,
    /// Where the text comes from.
    pub source: InputSource,
    /// Whether the run goes on without it.
    pub presence: Presence,
    /// More than this many bytes are cut, with a visible mark.
    pub max_bytes: usize,
}

/// Where an input's text comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InputSource {
    /// A file, an absolute path.
    File(PathBuf),
    /// A program and its arguments, run without a shell, standard output taken.
    Command {
        /// Program, then arguments; at least one element.
        argv: Vec<String>,
        /// The working folder: that of the file that names the command.
        folder: PathBuf,
        /// How long it may run.
        timeout: Duration,
    },
    /// What is at an address, asked for with GET.
    Url(Box<WebInput>),
}

/// Whether an input must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// A missing file, a failing command or an address that brings nothing fails the run.
    Required,
    /// Such an input counts as an empty text.
    Optional,
}

/// What to do when every input of a job is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnEmptyInput {
    /// Record the slot as skipped.
    Skip,
    /// Record the run as failed.
    Fail,
    /// Send the prompt all the same.
    Send,
}

/// What an answer must satisfy to count as complete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Check {
    /// The least number of characters.
    pub min_chars: Option<usize>,
    /// Texts that must occur.
    pub contains: Vec<String>,
    /// What it must look like as JSON; the API is asked for that too.
    pub schema: Option<AnswerSchema>,
}

/// What an answer must look like as JSON.
///
/// The words of this ring read no JSON: what compares a text with the schema comes with it.
#[derive(Clone)]
pub struct AnswerSchema {
    json: Arc<str>,
    compare: Compare,
}

/// Says what of a text is not as it should be, as a sentence.
pub type Compare = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

impl AnswerSchema {
    /// A JSON schema as text, and what compares a text with it.
    #[must_use]
    pub fn new(json: impl AsRef<str>, compare: Compare) -> Self {
        Self {
            json: Arc::from(json.as_ref()),
            compare,
        }
    }

    /// In what an answer differs from the schema, as a sentence; `None` if it does not.
    #[must_use]
    pub fn misfit(&self, answer: &str) -> Option<String> {
        (self.compare)(answer)
    }
}

impl PartialEq for AnswerSchema {
    fn eq(&self, other: &Self) -> bool {
        self.json == other.json
    }
}

impl Eq for AnswerSchema {}

impl fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerSchema").field(&self.json).finish()
    }
}

/// What to send for one slot: a template with its variables filled in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// The key to send with.
    pub key: KeyId,
    /// The model id.
    pub model: String,
    /// The most tokens that the answer may have.
    pub max_tokens: u32,
    /// The system prompt, in order; empty if there is none.
    pub system: Vec<SystemBlock<String>>,
    /// The user message.
    pub prompt: String,
    /// What the model wrote before it paused: each a JSON list of content blocks, sent back unchanged; empty at first.
    pub so_far: Vec<String>,
    /// Whether the answer comes as an event stream.
    pub delivery: Delivery,
    /// Any other body field, as `(name, JSON text)`.
    pub extra: Vec<(String, String)>,
    /// How long one whole attempt may take.
    pub timeout: Duration,
}
