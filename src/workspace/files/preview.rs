//! What a run would do, without doing it.

use std::path::PathBuf;

use super::{Files, unready};
use crate::engine::ports::{Brief, Gathered, Unready};
use crate::job::{Job, Request};
use crate::piece::Item;
use crate::slot::Slot;
use crate::workspace::inputs::RunCommands;

/// What became of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prepared {
    /// Ready to send.
    Ready(Box<Request>),
    /// Every input was empty or there is no item, and the job skips then.
    Empty,
    /// The items come from a command that was not run, or from an address that was not fetched.
    NotListed,
    /// It cannot be sent.
    Failed(Unready),
}

/// What a run would send and where its answer would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The request, or why there is none.
    pub prepared: Prepared,
    /// The later steps of a chain, each with a word in the place of the answers before it; empty if the first cannot
    /// be sent.
    pub then: Vec<Result<Request, Unready>>,
    /// The output file, or why there is none; `None` if the job writes no file.
    pub output: Option<Result<PathBuf, String>>,
    /// The file to which the answer is appended, in the same way.
    pub append: Option<Result<PathBuf, String>>,
}

impl Files {
    /// What a run of this slot would send, for one of its items if the job has any, and where its answer would go.
    /// Writes nothing.
    pub async fn preview(
        &self,
        job: &Job,
        slot: &Slot,
        commands: RunCommands,
        item: Option<&Item>,
    ) -> Preview {
        let output = self.checked_file(job, slot, item).await;
        let append = self.checked_append(job, slot, item).await;
        let preview = |prepared, then| Preview {
            prepared,
            then,
            output,
            append,
        };
        let inputs = match self.gather_with(job, commands).await {
            Gathered::Ready(inputs) => inputs,
            Gathered::Empty => return preview(Prepared::Empty, Vec::new()),
            Gathered::Failed(unready) => return preview(Prepared::Failed(unready), Vec::new()),
        };
        let names = job.chain().map(|step| step.name.as_deref());
        let answers: Vec<String> = names
            .map(|name| format!("[answer of {}]", name.unwrap_or_default()))
            .collect();
        let mut steps = Vec::with_capacity(answers.len());
        for done in 0..answers.len() {
            let brief = Brief {
                job,
                slot,
                inputs: &inputs,
                item,
                answers: &answers[..done],
            };
            let filled = self.fill_in(brief).await;
            steps.push(filled.map_err(|error| unready(&error)));
        }
        let mut steps = steps.into_iter();
        match steps.next() {
            Some(Ok(request)) => preview(Prepared::Ready(Box::new(request)), steps.collect()),
            Some(Err(unready)) => preview(Prepared::Failed(unready), Vec::new()),
            None => preview(Prepared::Empty, Vec::new()),
        }
    }
}
