//! A working folder in memory.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::VirtualClock;
use crate::engine::ports::{
    Brief, Clock, Gathered, Parcel, Pending, Undelivered, Unready, Workspace,
};
use crate::job::{Job, JobId, Request, SystemBlock, TextSource};
use crate::outcome::FailReason;
use crate::piece::Item;
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
    items: BTreeMap<JobId, Vec<Item>>,
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

    /// Mends a job's files.
    pub fn mend_job(&self, job: &JobId) {
        self.lock().faults.retain(|(id, _)| id != job);
    }

    /// Gives a job's `for_each` these items from here on.
    pub fn set_items(&self, job: &JobId, items: Vec<Item>) {
        self.lock().items.insert(job.clone(), items);
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
    fn gather<'a>(&'a self, job: &'a Job, _slot: &'a Slot) -> Pending<'a, Gathered> {
        Box::pin(async move {
            for fault in self.faults(job) {
                match fault {
                    Fault::Empty => return Gathered::Empty,
                    Fault::Input(message) => {
                        return Gathered::Failed(Unready {
                            reason: FailReason::Input,
                            message,
                        });
                    }
                    Fault::SlowInput(span) => self.clock.sleep(span).await,
                    Fault::Output(_) | Fault::SlowOutput(_) => {}
                }
            }
            Gathered::Ready(Vec::new())
        })
    }

    fn list<'a>(&'a self, job: &'a Job) -> Pending<'a, Result<Vec<Item>, Unready>> {
        let items = self.lock().items.get(&job.id).cloned();
        Box::pin(async { Ok(items.unwrap_or_default()) })
    }

    fn fill<'a>(&'a self, brief: Brief<'a>) -> Pending<'a, Result<Request, Unready>> {
        Box::pin(async move { Ok(request(brief)) })
    }

    fn deliver<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, Undelivered>> {
        Box::pin(async move {
            for fault in self.faults(parcel.job) {
                match fault {
                    Fault::Output(message) => {
                        return Err(Undelivered {
                            message,
                            output: None,
                            may_work_later: true,
                        });
                    }
                    Fault::SlowOutput(span) => self.clock.sleep(span).await,
                    Fault::Empty | Fault::Input(_) | Fault::SlowInput(_) => {}
                }
            }
            let text = parcel.answer.text.clone();
            self.lock().delivered.push((parcel.slot.clone(), text));
            Ok(Some(PathBuf::from(format!("out/{}.md", stem(parcel)))))
        })
    }

    fn keep_beside<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            for fault in self.faults(parcel.job) {
                if let Fault::Output(message) = fault {
                    return Err(message);
                }
            }
            let text = parcel.answer.text.clone();
            self.lock().beside.push((parcel.slot.clone(), text));
            Ok(Some(PathBuf::from(format!(
                "out/{}.incomplete.md",
                stem(parcel)
            ))))
        })
    }
}

fn stem(parcel: Parcel<'_>) -> String {
    match parcel.item {
        None => parcel.job.id.to_string(),
        Some(item) => format!("{}/{}", parcel.job.id, item.name),
    }
}

/// The template as it stands; the prompt begins with the slot, so that a test sees whose work was sent.
fn request(brief: Brief<'_>) -> Request {
    let Brief { job, slot, .. } = brief;
    let template = job
        .chain()
        .nth(brief.answers.len())
        .unwrap_or(&job.template);
    let text = |source: &TextSource| match source {
        TextSource::Inline(text) => text.clone(),
        TextSource::File(path) => format!("(the text of {})", path.display()),
    };
    let block = |block: &SystemBlock<TextSource>| SystemBlock {
        text: text(&block.text),
        cache: block.cache,
    };
    let fire_at = slot.fire_at.format("%Y-%m-%dT%H:%MZ");
    let item = brief.item.map(|item| format!(" [{}]", item.name));
    let before = brief.answers.iter().map(|answer| format!("\n> {answer}"));
    let head = item.unwrap_or_default();
    let tail: String = before.collect();
    Request {
        key: job.key.clone(),
        model: template.model.clone(),
        max_tokens: template.max_tokens,
        system: template.system.iter().map(block).collect(),
        prompt: format!(
            "{} {fire_at}{head}\n{}{tail}",
            slot.job,
            text(&template.prompt)
        ),
        so_far: Vec::new(),
        delivery: template.delivery,
        extra: template.extra.clone(),
        timeout: job.timeout,
    }
}
