//! Why a text could not be read or an answer not delivered.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

use rustix::io::Errno;

use super::address::{AddressError, RequestError};
use super::fetch::FetchError;
use crate::schedule::ZoneError;

/// Why a text could not be read or an answer not delivered.
///
/// The text of each variant is one sentence for the note of a run; it holds
/// the system's own words, so nothing needs to be added to it.
#[derive(Debug, thiserror::Error)]
pub enum WorkspaceError {
    /// An input failed; which one, and why.
    #[error("input `{name}`: {source}")]
    Input {
        /// The input's name.
        name: String,
        /// What failed.
        source: Box<WorkspaceError>,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The path names a folder, a pipe or a device.
    #[error("cannot read {}: it is not a regular file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// A file was asked for and did not answer: a network disk that is gone, a device behind a regular name.
    #[error("cannot read {}: the file did not answer in {span:?}", path.display())]
    Unanswered {
        /// The file.
        path: PathBuf,
        /// How long it had.
        span: Duration,
    },
    /// A prompt or system file is no UTF-8 text.
    #[error("cannot use {}: byte {at} is not UTF-8 text", path.display())]
    NotText {
        /// The file.
        path: PathBuf,
        /// The first byte that is no text, counted from 0.
        at: usize,
    },
    /// A prompt or system file is larger than any request may be.
    #[error("cannot use {}: it holds more than {max} bytes", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The most that is read.
        max: u64,
    },
    /// A program cannot be started.
    #[error("cannot run `{program}` in {}: {source}", folder.display())]
    NotStarted {
        /// The program.
        program: String,
        /// Its working folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A program ran too long and was ended.
    #[error("`{program}` did not end within {timeout:?} and was ended")]
    TimedOut {
        /// The program.
        program: String,
        /// How long it had.
        timeout: Duration,
    },
    /// A program ended with another code than 0.
    #[error("`{program}` ended with {status}{}", said(stderr))]
    Exit {
        /// The program.
        program: String,
        /// Its exit status in words.
        status: String,
        /// The end of what it wrote to standard error, on one line.
        stderr: String,
    },
    /// Talking to a running program failed.
    #[error("cannot talk to `{program}`: {source}")]
    Broken {
        /// The program.
        program: String,
        /// What the system says.
        source: io::Error,
    },
    /// A template cannot be filled in.
    #[error("{place}:{line}: {message}")]
    Template {
        /// The file, or what the text is when it stands in the YAML.
        place: String,
        /// The line in the file or text, counted from 1.
        line: usize,
        /// What was found and what was expected.
        message: String,
    },
    /// The prompt holds nothing but blanks once its variables are filled in.
    #[error("{place}: the prompt is empty after its variables were filled in")]
    EmptyPrompt {
        /// The file, or `prompt`.
        place: String,
    },
    /// The output path names no file inside the working folder.
    #[error("output `{pattern}` becomes `{rendered}`, which {problem}")]
    BadOutput {
        /// The pattern as written.
        pattern: String,
        /// The path with its variables filled in.
        rendered: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// The output cannot be written; the old one is untouched.
    #[error("cannot write {}: {source}; an earlier output is untouched", path.display())]
    Unwritable {
        /// The output.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The items of a job, or one of them, cannot be used.
    #[error("{place}: {problem}")]
    Items {
        /// Where they come from, or which one it is.
        place: String,
        /// What is wrong, and the way out.
        problem: String,
    },
    /// The output could not be written if there were an answer.
    #[error("the answer could not be put at {}: {source}", path.display())]
    Unplaceable {
        /// The output.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// Nothing could be appended.
    #[error("cannot append to {}: {source}", path.display())]
    Unappended {
        /// The output.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// An address brought nothing.
    #[error("cannot fetch {address}: {problem}")]
    NotFetched {
        /// The address, without its query.
        address: String,
        /// Why.
        problem: FetchError,
    },
    /// A variable that a header or a webhook names is not there.
    #[error("the environment variable `{variable}` is not set")]
    NoVariable {
        /// Its name.
        variable: String,
    },
    /// A variable holds what no header can carry.
    #[error("the environment variable `{variable}` holds what cannot stand in a header")]
    BadHeader {
        /// Its name.
        variable: String,
    },
    /// A webhook's variable holds no address.
    #[error("the webhook of `{variable}`: {problem}")]
    BadWebhook {
        /// The variable.
        variable: String,
        /// What is wrong with it.
        problem: AddressError,
    },
    /// A webhook did not take the answer.
    #[error("the webhook of `{variable}` did not take the answer: {problem}")]
    NotPosted {
        /// The variable that holds its address, which is not shown.
        variable: String,
        /// Why.
        problem: RequestError,
    },
    /// A webhook did not answer.
    #[error("the webhook of `{variable}` did not answer within {timeout:?}")]
    Silent {
        /// The variable that holds its address, which is not shown.
        variable: String,
        /// How long it had.
        timeout: Duration,
    },
    /// The job's zone is unknown.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// The thread that did the file work was cut off. What it says of a panic may quote what was worked on.
    #[error("file work was cut off")]
    CutOff(#[from] tokio::task::JoinError),
}

impl WorkspaceError {
    /// Whether somebody else has the file locked just now.
    pub(super) fn is_locked(&self) -> bool {
        match self {
            Self::Unappended { source, .. } => source.kind() == io::ErrorKind::WouldBlock,
            _ => false,
        }
    }

    /// Whether the same step may work later: nothing in the job is wrong, only the disk, a program, the environment of
    /// this process or somebody else.
    pub(super) fn may_pass(&self) -> bool {
        match self {
            Self::Unreadable { .. }
            | Self::Unanswered { .. }
            | Self::NotStarted { .. }
            | Self::TimedOut { .. }
            | Self::Exit { .. }
            | Self::Broken { .. }
            | Self::Unwritable { .. }
            | Self::Unplaceable { .. }
            | Self::Unappended { .. }
            | Self::NotFetched { .. }
            | Self::NoVariable { .. }
            | Self::BadHeader { .. }
            | Self::BadWebhook { .. }
            | Self::Silent { .. }
            | Self::CutOff(_) => true,
            Self::Input { source, .. } => source.may_pass(),
            Self::NotPosted { problem, .. } => problem.may_pass(),
            Self::NotAFile { .. }
            | Self::NotText { .. }
            | Self::TooLarge { .. }
            | Self::Template { .. }
            | Self::EmptyPrompt { .. }
            | Self::BadOutput { .. }
            | Self::Items { .. }
            | Self::Zone(_) => false,
        }
    }

    /// Whether the system had no descriptor, process or thread to spare: the same may work when others have ended.
    pub(super) fn is_starved(&self) -> bool {
        match self {
            Self::Unreadable { source, .. } | Self::NotStarted { source, .. } => matches!(
                Errno::from_io_error(source),
                Some(Errno::MFILE | Errno::NFILE | Errno::AGAIN)
            ),
            Self::Input { .. }
            | Self::NotAFile { .. }
            | Self::Unanswered { .. }
            | Self::NotText { .. }
            | Self::TooLarge { .. }
            | Self::TimedOut { .. }
            | Self::Exit { .. }
            | Self::Broken { .. }
            | Self::Template { .. }
            | Self::EmptyPrompt { .. }
            | Self::BadOutput { .. }
            | Self::Items { .. }
            | Self::Unwritable { .. }
            | Self::Unplaceable { .. }
            | Self::Unappended { .. }
            | Self::NotFetched { .. }
            | Self::NoVariable { .. }
            | Self::BadHeader { .. }
            | Self::BadWebhook { .. }
            | Self::NotPosted { .. }
            | Self::Silent { .. }
            | Self::Zone(_)
            | Self::CutOff(_) => false,
        }
    }
}

fn said(stderr: &str) -> String {
    if stderr.is_empty() {
        String::new()
    } else {
        format!(": {stderr}")
    }
}
