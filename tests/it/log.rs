//! The log of a process, read while it is written: whatever is waited for, there is an end to it.

use std::io::{BufRead, BufReader};
use std::process::ChildStderr;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::Value;

/// How long a line is waited for, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_mins(1);

/// The lines of a log as they come.
pub struct Lines {
    coming: Receiver<String>,
    /// Everything that was read.
    seen: String,
}

impl Lines {
    /// Begins to read. A thread of its own does, so that nobody waits for a line that never comes.
    pub fn of(log: ChildStderr) -> Self {
        let (tell, coming) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(log).lines().map_while(Result::ok) {
                // Whoever listened may be gone; a full pipe would stop the process all the same.
                let _ = tell.send(line);
            }
        });
        let seen = String::new();
        Self { coming, seen }
    }

    /// Reads on until a line with this message.
    #[track_caller]
    pub fn until(&mut self, message: &str) -> Value {
        loop {
            match self.coming.recv_timeout(PATIENCE) {
                Ok(line) => {
                    let entry = self.take(&line);
                    if entry["message"] == message {
                        return entry;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    panic!("no {message:?} for {PATIENCE:?}:\n{}", self.seen)
                }
                Err(RecvTimeoutError::Disconnected) => {
                    panic!("the log ended without {message:?}:\n{}", self.seen)
                }
            }
        }
    }

    /// The next line with this message, if it has come.
    pub fn hear(&mut self, message: &str) -> Option<Value> {
        while let Ok(line) = self.coming.try_recv() {
            let entry = self.take(&line);
            if entry["message"] == message {
                return Some(entry);
            }
        }
        None
    }

    /// Everything that follows, to the end of the process.
    #[track_caller]
    pub fn rest(&mut self) -> String {
        let before = self.seen.len();
        loop {
            match self.coming.recv_timeout(PATIENCE) {
                Ok(line) => drop(self.take(&line)),
                Err(RecvTimeoutError::Disconnected) => return self.seen[before..].to_owned(),
                Err(RecvTimeoutError::Timeout) => {
                    panic!("the log does not end:\n{}", self.seen)
                }
            }
        }
    }

    /// Everything that was read.
    pub fn seen(&self) -> &str {
        &self.seen
    }

    /// A line that is no JSON has no message.
    fn take(&mut self, line: &str) -> Value {
        self.seen.push_str(line);
        self.seen.push('\n');
        serde_json::from_str(line).unwrap_or_default()
    }
}
