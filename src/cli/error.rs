//! What can go wrong in a command, and the exit code that belongs to it.

use std::io::Write;
use std::path::PathBuf;

use super::{Context, Exit, linting};
use crate::anthropic::ClientError;
use crate::config::{ConfigErrors, KeyError, Reading, WriteError};
use crate::engine::EngineError;
use crate::engine::ports::StoreError;
use crate::job::KeyId;
use crate::standin::ScriptError;
use crate::store::LockError;

/// What can go wrong in a command.
#[derive(Debug, thiserror::Error)]
pub enum CliError {
    /// The configuration has mistakes or cannot be read.
    #[error("the configuration has mistakes")]
    Config(Box<ConfigErrors>),
    /// The linter found errors.
    #[error("the schedule is not safe:\n  {}\nrun `offpeak validate` to see where and how to mend it, or start with --allow-unsafe", findings.join("\n  "))]
    Unsafe {
        /// One line a finding.
        findings: Vec<String>,
    },
    /// Two groups hold one secret, and the settings call that an error.
    #[error("{}\ngive both keys one `group` in offpeak.yaml, or start with --allow-unsafe", findings.join("\n"))]
    SharedSecrets {
        /// One line a finding.
        findings: Vec<String>,
    },
    /// A command refuses.
    #[error("{what}\n{help}")]
    Refused {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
    },
    /// What the store holds speaks against it.
    #[error("{what}\n{help}")]
    No {
        /// What was found.
        what: String,
        /// The way out.
        help: String,
    },
    /// The API has no answer for a person.
    #[error("{what}\n{help}")]
    Upstream {
        /// What broke.
        what: String,
        /// The way out.
        help: &'static str,
    },
    /// Something that must be there is not.
    #[error("{0} is missing")]
    Missing(String),
    /// A panic while the files were read again.
    #[error(
        "reading the files was cut off by a fault of offpeak; the old plan stands\nsend SIGHUP to have them read again"
    )]
    CutOff,
    /// A key's secret is not at hand.
    #[error("key `{0}`: {1}")]
    Key(KeyId, #[source] KeyError),
    /// A file cannot be read or written.
    #[error("{path}: {source}", path = path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Mended files are not written, or not all of them.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The store does not work.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another daemon has the store.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The HTTP client cannot be made.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The engine cannot go on.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// A script of faults has a mistake.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The stand-in cannot listen.
    #[error("cannot listen on loopback: {0}; is the port taken?")]
    Listen(std::io::Error),
    /// The async runtime cannot be built.
    #[error("cannot start: {0}")]
    Runtime(std::io::Error),
    /// Signals cannot be heard.
    #[error("cannot listen for signals: {0}")]
    Signals(std::io::Error),
    /// The chores cannot be started.
    #[error("cannot start the chores: {0}")]
    Chores(String),
    /// Output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(#[from] std::io::Error),
}

impl CliError {
    /// Mistakes of a configuration.
    #[must_use]
    pub fn config(errors: ConfigErrors) -> Self {
        Self::Config(Box::new(errors))
    }

    /// A reading with unreadable files.
    #[must_use]
    pub fn unreadable(reading: Reading) -> Self {
        Self::config(ConfigErrors {
            unreadable: reading.unreadable,
            mistakes: Vec::new(),
        })
    }

    /// The exit code.
    #[must_use]
    pub fn exit(&self) -> Exit {
        match self {
            Self::Config(errors) if errors.unreadable.is_empty() => Exit::No,
            Self::Unsafe { .. }
            | Self::No { .. }
            | Self::Upstream { .. }
            | Self::SharedSecrets { .. }
            | Self::Write(WriteError::Changed { .. })
            | Self::Engine(
                EngineError::UnknownJob(_)
                | EngineError::Unrecorded(_)
                | EngineError::Store(StoreError::Failed(_) | StoreError::Lasting(_)),
            )
            | Self::Client(_)
            | Self::Chores(_)
            | Self::CutOff
            | Self::Listen(_)
            | Self::Signals(_)
            | Self::Runtime(_)
            | Self::Output(_)
            | Self::Store(StoreError::Failed(_) | StoreError::Lasting(_))
            | Self::Lock(LockError::Held { .. }) => Exit::No,
            Self::Config(_)
            | Self::Refused { .. }
            | Self::Missing(_)
            | Self::Key(..)
            | Self::File { .. }
            | Self::Write(_)
            | Self::Script(_)
            | Self::Store(_)
            | Self::Engine(EngineError::Store(_))
            | Self::Lock(_) => Exit::Usage,
        }
    }

    /// Whether the reader of our output has gone.
    #[must_use]
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }

    /// The whole text for a person.
    #[must_use]
    pub fn text(&self, context: &Context) -> String {
        match self {
            Self::Config(errors) => linting::mistakes(context, errors),
            other => format!("{} {other}", context.screen.styled("1;31", "error:")),
        }
    }

    /// The whole text in plain lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let text = match self {
            Self::Config(errors) => errors.to_string(),
            other => other.to_string(),
        };
        text.lines().map(|line| line.trim().to_owned()).collect()
    }

    /// The whole text in one plain line, for the log.
    #[must_use]
    pub fn line(&self) -> String {
        self.lines().join(" | ")
    }

    /// Prints the text.
    pub fn print(&self, context: &Context, err: &mut dyn Write) -> std::io::Result<()> {
        writeln!(err, "{}", self.text(context).trim_end())
    }
}
