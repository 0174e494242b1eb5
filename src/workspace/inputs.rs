//! Reads the inputs of a job.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::command::{Program, capture};
use super::cut::{Head, Total};
use super::error::WorkspaceError;
use super::fetch::{fetch, shown};
use super::reader::Reader;
use super::secrets::Secrets;
use crate::job::{Input, InputSource, Job, Presence};

/// Whether input commands are run and addresses are fetched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunCommands {
    /// They are.
    Yes,
    /// A line that names the command or the address stands in for what it would bring.
    No,
}

/// Reads every input in the order of the file, as `(name, text)`; commands run without some variables, and fetches
/// send some.
pub(super) async fn read_all(
    job: &Job,
    commands: RunCommands,
    secrets: &Secrets,
    reader: &Reader,
) -> Result<Vec<(String, String)>, WorkspaceError> {
    let mut texts = Vec::with_capacity(job.inputs.len());
    for input in &job.inputs {
        let text = match read(input, commands, secrets, reader).await {
            Err(error) if input.presence == Presence::Optional && is_excused(&error) => {
                tracing::warn!(job = %job.id, input = %input.name, "an optional input counts as empty: {error}");
                String::new()
            }
            read => read.map_err(|source| in_input(&input.name, source))?,
        };
        texts.push((input.name.clone(), text));
    }
    Ok(texts)
}

/// Whether there is nothing in any input: no text, or only blanks.
pub(super) fn all_empty(texts: &[(String, String)]) -> bool {
    !texts.is_empty() && texts.iter().all(|(_, text)| text.trim().is_empty())
}

fn in_input(name: &str, source: WorkspaceError) -> WorkspaceError {
    WorkspaceError::Input {
        name: name.to_owned(),
        source: Box::new(source),
    }
}

/// A missing file, a failing command and an address that brings nothing may be excused; a file that is there and cannot
/// be read is a mistake to hear of, and so is a variable that is not set.
fn is_excused(error: &WorkspaceError) -> bool {
    match error {
        WorkspaceError::Unreadable { source, .. } => {
            matches!(
                source.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            )
        }
        WorkspaceError::NotStarted { .. }
        | WorkspaceError::TimedOut { .. }
        | WorkspaceError::Exit { .. }
        | WorkspaceError::Broken { .. }
        | WorkspaceError::NotFetched { .. } => true,
        WorkspaceError::Input { .. }
        | WorkspaceError::NotAFile { .. }
        | WorkspaceError::Unanswered { .. }
        | WorkspaceError::NotText { .. }
        | WorkspaceError::TooLarge { .. }
        | WorkspaceError::Template { .. }
        | WorkspaceError::EmptyPrompt { .. }
        | WorkspaceError::BadOutput { .. }
        | WorkspaceError::Items { .. }
        | WorkspaceError::Unwritable { .. }
        | WorkspaceError::Unplaceable { .. }
        | WorkspaceError::Unappended { .. }
        | WorkspaceError::NoVariable { .. }
        | WorkspaceError::BadHeader { .. }
        | WorkspaceError::BadWebhook { .. }
        | WorkspaceError::NotPosted { .. }
        | WorkspaceError::Silent { .. }
        | WorkspaceError::Zone(_)
        | WorkspaceError::CutOff(_) => false,
    }
}

async fn read(
    input: &Input,
    commands: RunCommands,
    secrets: &Secrets,
    reader: &Reader,
) -> Result<String, WorkspaceError> {
    let max_bytes = input.max_bytes;
    let head = match (&input.source, commands) {
        (InputSource::File(path), _) => {
            reader
                .read(path, move |path| read_head(path, max_bytes))
                .await?
        }
        (InputSource::Command { argv, .. }, RunCommands::No) => {
            return Ok(format!("[command not run: {}]\n", argv.join(" ")));
        }
        (
            InputSource::Command {
                argv,
                folder,
                timeout,
            },
            RunCommands::Yes,
        ) => {
            let program = Program {
                argv,
                folder,
                timeout: *timeout,
                without: &secrets.hidden,
            };
            let clock = &*reader.clock;
            reader
                .while_starved(|| capture(program, max_bytes, clock))
                .await?
        }
        (InputSource::Url(input), RunCommands::No) => {
            return Ok(format!("[not fetched: {}]\n", shown(&input.address)));
        }
        (InputSource::Url(input), RunCommands::Yes) => {
            fetch(input, max_bytes, secrets, &*reader.clock).await?
        }
    };
    Ok(head.into_text(max_bytes))
}

/// Reads a list of items: UTF-8, never cut. What is optional and not there is an empty list.
pub(super) async fn read_list(
    input: &Input,
    secrets: &Secrets,
    reader: &Reader,
) -> Result<String, WorkspaceError> {
    let max = input.max_bytes;
    let read = match &input.source {
        InputSource::File(path) => {
            reader
                .read(path, move |path| read_text(path, max as u64))
                .await
        }
        InputSource::Command {
            argv,
            folder,
            timeout,
        } => {
            let program = Program {
                argv,
                folder,
                timeout: *timeout,
                without: &secrets.hidden,
            };
            let clock = &*reader.clock;
            reader
                .while_starved(|| capture(program, max, clock))
                .await
                .and_then(|head| {
                    let program = argv.first().map_or("", String::as_str);
                    whole_text((&format!("`{program}`"), "printed"), head, max)
                })
        }
        InputSource::Url(web) => {
            let fetched = fetch(web, max, secrets, &*reader.clock).await;
            fetched.and_then(|head| whole_text((&shown(&web.address), "brought"), head, max))
        }
    };
    match read {
        Err(error) if input.presence == Presence::Optional && is_excused(&error) => {
            tracing::warn!(input = %input.name, "an optional list of items counts as empty: {error}");
            Ok(String::new())
        }
        read => read,
    }
}

/// A list as text: `place` names where it is from, and `verb` says how it came.
fn whole_text(
    (place, verb): (&str, &str),
    head: Head,
    max: usize,
) -> Result<String, WorkspaceError> {
    let wrong = |problem: String| WorkspaceError::Items {
        place: place.to_owned(),
        problem,
    };
    if head.bytes.len() > max || matches!(head.total, Total::MoreThan(_)) {
        return Err(wrong(format!("it {verb} more than {max} bytes")));
    }
    String::from_utf8(head.bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        wrong(format!("byte {at} of what it {verb} is not UTF-8 text"))
    })
}

fn read_head(path: &Path, max_bytes: usize) -> Result<Head, WorkspaceError> {
    let (file, length) = open(path)?;
    let mut bytes = Vec::new();
    let limit = (max_bytes as u64).saturating_add(1);
    file.take(limit)
        .read_to_end(&mut bytes)
        .map_err(|source| unreadable(path, source))?;
    // A file of a virtual system says that it is 0 bytes long, and a log may grow while it is read.
    let total = match length.max(bytes.len() as u64) {
        total if length == 0 && total == limit => Total::MoreThan(limit - 1),
        total => Total::Exactly(total),
    };
    Ok(Head { bytes, total })
}

/// Reads a prompt or system file: UTF-8, at most `max` bytes.
pub(super) fn read_text(path: &Path, max: u64) -> Result<String, WorkspaceError> {
    let (file, _) = open(path)?;
    let mut bytes = Vec::new();
    file.take(max.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|source| unreadable(path, source))?;
    if bytes.len() as u64 > max {
        return Err(WorkspaceError::TooLarge {
            path: path.to_owned(),
            max,
        });
    }
    String::from_utf8(bytes).map_err(|error| WorkspaceError::NotText {
        path: path.to_owned(),
        at: error.utf8_error().valid_up_to(),
    })
}

/// Opens a regular file, and says how long it is. A pipe would block for ever, so its kind is asked before it is opened.
pub(super) fn open(path: &Path) -> Result<(File, u64), WorkspaceError> {
    let found = std::fs::metadata(path).map_err(|source| unreadable(path, source))?;
    if !found.is_file() {
        return Err(WorkspaceError::NotAFile {
            path: path.to_owned(),
        });
    }
    let file = File::open(path).map_err(|source| unreadable(path, source))?;
    Ok((file, found.len()))
}

pub(super) fn unreadable(path: &Path, source: io::Error) -> WorkspaceError {
    WorkspaceError::Unreadable {
        path: PathBuf::from(path),
        source,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pairs(texts: &[&str]) -> Vec<(String, String)> {
        texts
            .iter()
            .enumerate()
            .map(|(n, text)| (n.to_string(), (*text).to_owned()))
            .collect()
    }

    #[test]
    fn blanks_alone_are_an_empty_input() {
        assert!(all_empty(&pairs(&["", " \n\t"])));
        assert!(!all_empty(&pairs(&["", "x"])));
    }

    #[test]
    fn job_without_inputs_has_no_empty_input() {
        assert!(!all_empty(&[]));
    }

    #[test]
    fn length_of_a_file_counts_what_is_not_shown() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, &[b'x'; 5000]).unwrap();
        let head = read_head(file.path(), 100).unwrap();
        assert_eq!((head.bytes.len(), head.total), (101, Total::Exactly(5000)));
        let whole = read_head(file.path(), 5000).unwrap();
        assert_eq!(
            (whole.bytes.len(), whole.total),
            (5000, Total::Exactly(5000))
        );
    }

    #[test]
    fn prompt_file_of_exactly_the_most_bytes_is_read() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, b"12345").unwrap();
        assert_eq!(read_text(file.path(), 5).unwrap(), "12345");
        assert!(matches!(
            read_text(file.path(), 4),
            Err(WorkspaceError::TooLarge { max: 4, .. })
        ));
    }

    #[test]
    fn folder_is_no_input() {
        let folder = tempfile::tempdir().unwrap();
        assert!(matches!(
            read_head(folder.path(), 9),
            Err(WorkspaceError::NotAFile { .. })
        ));
    }

    #[test]
    fn prompt_that_is_no_text_says_where() {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        io::Write::write_all(&mut file, b"abc\xff").unwrap();
        assert!(matches!(
            read_text(file.path(), 9),
            Err(WorkspaceError::NotText { at: 3, .. })
        ));
    }
}
