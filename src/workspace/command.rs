//! Runs the user's programs: no shell, bounded time, bounded output.
//!
//! A program runs in a process group of its own, so that a timeout ends its
//! children with it. What escapes that group (a program that starts a session
//! of its own) is not followed.
//!
//! A program inherits the environment without the variables that hold secrets:
//! what it prints becomes a prompt, an answer and a row of the history.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, Command};

use super::cut::{Head, Total};
use super::error::WorkspaceError;
use crate::engine::ports::Clock;

/// The most that is read from a program before it is ended: far above any
/// useful `max_bytes`, and read in well under a second.
pub const MAX_READ_BYTES: u64 = 64 << 20;

/// How long a program that takes an answer may run.
pub const OUTPUT_COMMAND_TIMEOUT: Duration = Duration::from_mins(1);

/// How much of the end of standard error is kept for the note of a run.
const COMPLAINT_BYTES: usize = 500;

/// A program to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Program<'a> {
    /// Program, then arguments; at least one element.
    pub(crate) argv: &'a [String],
    /// Its working folder; a relative program path with a slash starts here too.
    pub(crate) folder: &'a Path,
    /// How long it may run.
    pub(crate) timeout: Duration,
    /// Variables that it does not inherit.
    pub(crate) without: &'a [String],
}

impl Program<'_> {
    fn name(&self) -> &str {
        self.argv.first().map_or("", String::as_str)
    }

    fn command(&self) -> Command {
        let name = self.name();
        // Names without a slash are looked up in PATH; others start at the folder, on every system.
        let program = if name.contains('/') {
            self.folder.join(name)
        } else {
            name.into()
        };
        let mut command = Command::new(program);
        command
            .args(self.argv.iter().skip(1))
            .current_dir(self.folder)
            .stderr(Stdio::piped());
        for variable in self.without {
            command.env_remove(variable);
        }
        command.process_group(0).kill_on_drop(true);
        command
    }

    fn spawn(&self, command: &mut Command) -> Result<(Child, Group), WorkspaceError> {
        let child = command
            .spawn()
            .map_err(|source| WorkspaceError::NotStarted {
                program: self.name().to_owned(),
                folder: self.folder.to_owned(),
                source,
            })?;
        let group = Group(
            child
                .id()
                .and_then(|id| Pid::from_raw(i32::try_from(id).ok()?)),
        );
        Ok((child, group))
    }

    fn broken(&self, source: io::Error) -> WorkspaceError {
        WorkspaceError::Broken {
            program: self.name().to_owned(),
            source,
        }
    }

    fn judge(&self, status: ExitStatus, complaint: &[u8]) -> Result<(), WorkspaceError> {
        if status.success() {
            return Ok(());
        }
        Err(WorkspaceError::Exit {
            program: self.name().to_owned(),
            status: status.to_string(),
            stderr: one_line(complaint),
        })
    }

    async fn within(
        &self,
        clock: &dyn Clock,
        work: impl Future<Output = Result<Head, WorkspaceError>>,
    ) -> Result<Head, WorkspaceError> {
        tokio::select! {
            biased;
            result = work => result,
            () = clock.sleep(self.timeout) => Err(WorkspaceError::TimedOut {
                program: self.name().to_owned(),
                timeout: self.timeout,
            }),
        }
    }
}

/// The process group of a running program; ended when this is dropped.
#[derive(Debug)]
struct Group(Option<Pid>);

impl Group {
    /// Ends every process of the group; the program itself is still ours, so its number cannot belong to another.
    fn end(&mut self) {
        if let Some(leader) = self.0.take() {
            // It may have ended by itself in the meantime.
            let _ = kill_process_group(leader, Signal::KILL);
        }
    }

    /// The program has ended by itself: what it left in the background is the user's own wish.
    fn release(&mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.end();
    }
}

/// Runs a program and takes what it prints, keeping one byte more than `max_bytes`.
///
/// Standard input is empty. A program that prints more than [`MAX_READ_BYTES`]
/// is ended, and what it has printed counts.
pub(super) async fn capture(
    program: Program<'_>,
    max_bytes: usize,
    clock: &dyn Clock,
) -> Result<Head, WorkspaceError> {
    let mut command = program.command();
    let (mut child, mut group) =
        program.spawn(command.stdin(Stdio::null()).stdout(Stdio::piped()))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let work = async {
        let printed = async {
            let head = read_head(stdout, max_bytes).await;
            if !matches!(
                head,
                Ok(Head {
                    total: Total::Exactly(_),
                    ..
                })
            ) {
                // Otherwise standard error would stay open, and the wait below would never end.
                group.end();
            }
            head
        };
        let (head, complaint) = tokio::join!(printed, read_tail(stderr));
        let head = head.map_err(|source| program.broken(source))?;
        let status = child
            .wait()
            .await
            .map_err(|source| program.broken(source))?;
        group.release();
        if matches!(head.total, Total::Exactly(_)) {
            program.judge(status, &complaint)?;
        }
        Ok(head)
    };
    program.within(clock, work).await
}

/// Runs a program with a text on its standard input; exit code 0 means that it took it.
pub(crate) async fn feed(
    program: Program<'_>,
    text: &str,
    clock: &dyn Clock,
) -> Result<(), WorkspaceError> {
    let mut command = program.command();
    let (mut child, mut group) =
        program.spawn(command.stdin(Stdio::piped()).stdout(Stdio::null()))?;
    let (stdin, stderr) = (child.stdin.take(), child.stderr.take());
    let work = async {
        let fed = async {
            match stdin {
                Some(mut stdin) => stdin.write_all(text.as_bytes()).await,
                None => Ok(()),
            }
        };
        let (fed, complaint) = tokio::join!(fed, read_tail(stderr));
        match fed {
            // A program may take as much as it likes; its exit code says whether it is content.
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
                return Err(program.broken(error));
            }
            Ok(()) | Err(_) => {}
        }
        let status = child
            .wait()
            .await
            .map_err(|source| program.broken(source))?;
        group.release();
        program.judge(status, &complaint)?;
        Ok(Head {
            bytes: Vec::new(),
            total: Total::Exactly(0),
        })
    };
    program.within(clock, work).await.map(drop)
}

async fn read_head(source: Option<impl AsyncRead + Unpin>, max_bytes: usize) -> io::Result<Head> {
    let keep = max_bytes.saturating_add(1);
    let mut bytes = Vec::new();
    let mut total = 0_u64;
    let Some(mut source) = source else {
        return Ok(Head {
            bytes,
            total: Total::Exactly(0),
        });
    };
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = source.read(&mut buffer).await?;
        if read == 0 {
            return Ok(Head {
                bytes,
                total: Total::Exactly(total),
            });
        }
        total += read as u64;
        let wanted = read.min(keep - bytes.len().min(keep));
        bytes.extend_from_slice(&buffer[..wanted]);
        if total > MAX_READ_BYTES {
            return Ok(Head {
                bytes,
                total: Total::MoreThan(MAX_READ_BYTES),
            });
        }
    }
}

/// The end of what a program writes to standard error; reading on keeps the program from blocking.
async fn read_tail(source: Option<impl AsyncRead + Unpin>) -> Vec<u8> {
    let mut tail = Vec::new();
    let Some(mut source) = source else {
        return tail;
    };
    let mut buffer = vec![0; 4 << 10];
    loop {
        // A complaint that cannot be read is no reason to fail: the exit code speaks.
        let read = source.read(&mut buffer).await.unwrap_or(0);
        if read == 0 {
            return tail;
        }
        tail.extend_from_slice(&buffer[..read]);
        let excess = tail.len().saturating_sub(COMPLAINT_BYTES);
        tail.drain(..excess);
    }
}

/// A complaint on one line: blanks and line ends joined, other control characters left out.
fn one_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let words = text
        .split_whitespace()
        .map(|word| word.replace(|c: char| c.is_control(), ""));
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaint_becomes_one_clean_line() {
        assert_eq!(
            one_line(b"  cannot open:\n\tno \x1b[31msuch\x07 file\r\n"),
            "cannot open: no [31msuch file"
        );
        assert_eq!(one_line(b"\n"), "");
    }

    #[tokio::test]
    async fn only_the_end_of_a_long_complaint_is_kept() {
        let text = [b"x".repeat(9000), b"the end".to_vec()].concat();
        let tail = read_tail(Some(text.as_slice())).await;
        assert_eq!(tail.len(), COMPLAINT_BYTES);
        assert!(tail.ends_with(b"the end"));
    }

    #[tokio::test]
    async fn head_keeps_one_byte_more_than_is_shown_and_counts_all() {
        let head = read_head(Some([7_u8; 1000].as_slice()), 10).await.unwrap();
        assert_eq!((head.bytes.len(), head.total), (11, Total::Exactly(1000)));
    }
}
