//! A working folder in memory.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::VirtualClock;
use crate::engine::ports::{Clock, Pending, Prepared, Workspace};
use crate::job::{Job, JobId, Request, SystemBlock, TextSource};
use crate::outcome::FailReason;
use crate::slot::Slot;

/// A working folder in memory: prompts name their job and slot, answers are kept in a list.
#[derive(Debug)]
pub struct SimWorkspace {
    clock: VirtualClock,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    faults: Vec<(JobId, Fault)>,
    delivered: Vec<(Slot, String)>,
    beside: Vec<(Slot, String)>,
}

/// What is wrong with a job's files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fault {
    /// Every input is empty, and the job skips then.
    Empty,
    /// An input cannot be read.
    Input(String),
    /// Reading the inputs takes this long.
    SlowInput(Duration),
    /// The output cannot be written.
    Output(String),
    /// Writing the output takes this long.
    SlowOutput(Duration),
}

impl SimWorkspace {
    /// A folder without faults.
    #[must_use]
    pub fn new(clock: &VirtualClock) -> Self {
        Self {
            clock: clock.clone(),
            inner: Mutex::default(),
        }
    }

    /// Breaks a job's files from here on.
    pub fn break_job(&self, job: &JobId, fault: Fault) {
        self.lock().faults.push((job.clone(), fault));
    }

    /// The complete answers so far, in the order of delivery.
    #[must_use]
    pub fn delivered(&self) -> Vec<(Slot, String)> {
        self.lock().delivered.clone()
    }

    /// The incomplete answers so far.
    #[must_use]
    pub fn beside(&self) -> Vec<(Slot, String)> {
        self.lock().beside.clone()
    }

    fn faults(&self, job: &Job) -> Vec<Fault> {
        let inner = self.lock();
        let of_job = inner.faults.iter().filter(|(id, _)| *id == job.id);
        of_job.map(|(_, fault)| fault.clone()).collect()
    }

    /// Pushing to a list cannot leave it half changed, so a panic elsewhere poisons nothing.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Workspace for SimWorkspace {
    fn prepare<'a>(&'a self, job: &'a Job, slot: &'a Slot) -> Pending<'a, Prepared> {
        Box::pin(async move {
            for fault in self.faults(job) {
                match fault {
                    Fault::Empty => return Prepared::Empty,
                    Fault::Input(message) => return Prepared::Failed(FailReason::Input, message),
                    Fault::SlowInput(span) => self.clock.sleep(span).await,
                    Fault::Output(_) | Fault::SlowOutput(_) => {}
                }
            }
            Prepared::Ready(Box::new(request(job, slot)))
        })
    }

    fn deliver<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            for fault in self.faults(job) {
                match fault {
                    Fault::Output(message) => return Err(message),
                    Fault::SlowOutput(span) => self.clock.sleep(span).await,
                    Fault::Empty | Fault::Input(_) | Fault::SlowInput(_) => {}
                }
            }
            self.lock().delivered.push((slot.clone(), text.to_owned()));
            Ok(Some(PathBuf::from(format!("out/{}.md", job.id))))
        })
    }

    fn keep_beside<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            for fault in self.faults(job) {
                if let Fault::Output(message) = fault {
                    return Err(message);
                }
            }
            self.lock().beside.push((slot.clone(), text.to_owned()));
            Ok(Some(PathBuf::from(format!("out/{}.incomplete.md", job.id))))
        })
    }
}

/// The template as it stands; the prompt begins with the slot, so that a test sees whose work was sent.
fn request(job: &Job, slot: &Slot) -> Request {
    let template = &job.template;
    let text = |source: &TextSource| match source {
        TextSource::Inline(text) => text.clone(),
        TextSource::File(path) => format!("(the text of {})", path.display()),
    };
    let block = |block: &SystemBlock<TextSource>| SystemBlock {
        text: text(&block.text),
        cache: block.cache,
    };
    let fire_at = slot.fire_at.format("%Y-%m-%dT%H:%MZ");
    Request {
        key: job.key.clone(),
        model: template.model.clone(),
        max_tokens: template.max_tokens,
        system: template.system.iter().map(block).collect(),
        prompt: format!("{} {fire_at}\n{}", slot.job, text(&template.prompt)),
        delivery: template.delivery,
        extra: template.extra.clone(),
        timeout: job.timeout,
    }
}
