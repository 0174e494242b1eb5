//! The workspace of a real folder.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use secrecy::SecretString;

use super::error::WorkspaceError;
use super::inputs::{RunCommands, all_empty, read_all, read_text};
use super::reader::Reader;
use super::reserved::Reserved;
use super::secrets::Secrets;
use super::template::{Variables, render};
use crate::engine::ports::{
    Brief, Clock, Gathered, Parcel, Pending, Undelivered, Unready, Workspace,
};
use crate::job::{Job, OnEmptyInput, Request, SystemBlock, Template, TextSource};
use crate::outcome::FailReason;
use crate::piece::Item;
use crate::schedule::Zones;
use crate::slot::Slot;

mod listing;
mod preview;

pub use preview::{Prepared, Preview};

/// The most that a prompt or system file may hold: what the API takes as a whole request.
const MAX_TEXT_BYTES: u64 = 32 << 20;

/// Reads inputs and prompts, and writes outputs below one working folder.
#[derive(Clone)]
pub struct Files {
    pub(super) folder: PathBuf,
    pub(super) zones: Zones,
    pub(super) reader: Arc<Reader>,
    pub(super) secrets: Secrets,
    pub(super) reserved: Reserved,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("folder", &self.folder)
            .field("secrets", &self.secrets)
            .finish_non_exhaustive()
    }
}

impl Files {
    /// A workspace in an absolute working folder. The zones date the slots; the clock ends programs that run too long.
    #[must_use]
    pub fn new(folder: PathBuf, zones: Zones, clock: Arc<dyn Clock>) -> Self {
        Self {
            folder,
            zones,
            reader: Arc::new(Reader::new(clock)),
            secrets: Secrets::default(),
            reserved: Reserved::default(),
        }
    }

    /// The same workspace, whose outputs never take these places.
    #[must_use]
    pub fn sparing(mut self, reserved: Reserved) -> Self {
        self.reserved = reserved;
        self
    }

    /// The same workspace, whose programs do not inherit these environment variables: the names of those that hold
    /// secrets, in place of what was named before.
    ///
    /// An input command that prints its environment would otherwise put the API key into the prompt, the answer and
    /// the history. A program that searches the files of its parent process can still find them.
    #[must_use]
    pub fn without(mut self, variables: Vec<String>) -> Self {
        self.secrets.hidden = variables;
        self
    }

    /// The same workspace, which knows the values of these environment variables: those that the headers and webhooks
    /// of jobs name, [`Job::secret_variables`].
    #[must_use]
    pub fn knowing(mut self, values: BTreeMap<String, SecretString>) -> Self {
        self.secrets.values = values;
        self
    }

    async fn gather_with(&self, job: &Job, commands: RunCommands) -> Gathered {
        let inputs = match read_all(job, commands, &self.secrets, &self.reader).await {
            Ok(inputs) => inputs,
            Err(error) => return Gathered::Failed(unready(&error)),
        };
        if !all_empty(&inputs) {
            return Gathered::Ready(inputs);
        }
        match job.on_empty_input {
            OnEmptyInput::Skip => Gathered::Empty,
            OnEmptyInput::Fail => Gathered::Failed(Unready {
                reason: FailReason::EmptyInput,
                message: "every input is empty, and the job says `on_empty_input: fail`".to_owned(),
            }),
            OnEmptyInput::Send => Gathered::Ready(inputs),
        }
    }

    async fn fill_in(&self, brief: Brief<'_>) -> Result<Request, WorkspaceError> {
        let Brief { job, slot, .. } = brief;
        let step = job.chain().nth(brief.answers.len());
        let template = step.unwrap_or(&job.template);
        let item = match brief.item {
            Some(item) => Some(self.read_item(job, item).await?),
            None => None,
        };
        let inputs = brief.inputs.iter();
        let inputs = inputs.map(|(name, text)| (name.as_str(), text.as_str()));
        let names = job.chain().filter_map(|step| step.name.as_deref());
        let answers = names.zip(brief.answers.iter().map(String::as_str));
        let variables = self
            .variables(job, slot)?
            .with_texts(inputs.chain(answers))
            .with_item(item);
        let system = fill_system(&template.system, &variables, &self.reader).await?;
        let prompt = fill_text("prompt", &template.prompt, &variables, &self.reader).await?;
        if is_blank(&prompt) {
            return Err(WorkspaceError::EmptyPrompt {
                place: name_of("prompt", &template.prompt),
            });
        }
        Ok(request(job, template, (system, prompt)))
    }

    /// The inputs, unless the answer could not be put where it is to go: that is better known before it is paid for.
    async fn gather_checked(&self, job: &Job, slot: &Slot) -> Gathered {
        let gathered = self.gather_with(job, RunCommands::Yes).await;
        if !matches!(gathered, Gathered::Ready(_)) {
            return gathered;
        }
        match self.check_places(job, slot, None).await {
            Ok(()) => gathered,
            Err(message) => Gathered::Failed(unplaceable(&message)),
        }
    }

    /// The request, unless it begins the work on an item whose answer could not be put where it is to go.
    async fn fill_checked(&self, brief: Brief<'_>) -> Result<Request, Unready> {
        if brief.item.is_some() && brief.answers.is_empty() {
            let checked = self.check_places(brief.job, brief.slot, brief.item).await;
            checked.map_err(|message| unplaceable(&message))?;
        }
        self.fill_in(brief).await.map_err(|error| unready(&error))
    }

    pub(super) fn variables(&self, job: &Job, slot: &Slot) -> Result<Variables, WorkspaceError> {
        let zone = self.zones.get(&job.schedule.zone)?;
        Ok(Variables::of(&job.id, slot.fire_at, &zone))
    }
}

impl Workspace for Files {
    fn gather<'a>(&'a self, job: &'a Job, slot: &'a Slot) -> Pending<'a, Gathered> {
        Box::pin(self.gather_checked(job, slot))
    }

    fn list<'a>(&'a self, job: &'a Job) -> Pending<'a, Result<Vec<Item>, Unready>> {
        Box::pin(async move {
            let listed = self.list_marked(job).await;
            listed.map_err(|error| unready(&error))
        })
    }

    fn fill<'a>(&'a self, brief: Brief<'a>) -> Pending<'a, Result<Request, Unready>> {
        Box::pin(self.fill_checked(brief))
    }

    fn deliver<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, Undelivered>> {
        Box::pin(self.deliver_to(parcel))
    }

    fn keep_beside<'a>(
        &'a self,
        parcel: Parcel<'a>,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move { self.keep(parcel).await.map_err(|error| error.to_string()) })
    }
}

fn unplaceable(message: &str) -> Unready {
    Unready {
        reason: FailReason::Output,
        message: format!("nothing was sent: {message}"),
    }
}

fn unready(error: &WorkspaceError) -> Unready {
    Unready {
        reason: FailReason::Input,
        message: error.to_string(),
    }
}

fn request(
    job: &Job,
    template: &Template,
    (system, prompt): (Vec<SystemBlock<String>>, String),
) -> Request {
    Request {
        key: job.key.clone(),
        model: template.model.clone(),
        max_tokens: template.max_tokens,
        system,
        prompt,
        so_far: Vec::new(),
        delivery: template.delivery,
        extra: template.extra.clone(),
        timeout: job.timeout,
    }
}

/// The blocks that say something: the API refuses a blank one.
async fn fill_system(
    blocks: &[SystemBlock<TextSource>],
    variables: &Variables,
    reader: &Reader,
) -> Result<Vec<SystemBlock<String>>, WorkspaceError> {
    let mut filled = Vec::with_capacity(blocks.len());
    for block in blocks {
        let text = fill_text("system", &block.text, variables, reader).await?;
        if !is_blank(&text) {
            filled.push(SystemBlock {
                text,
                cache: block.cache,
            });
        }
    }
    Ok(filled)
}

/// A text of the job, read anew, with its variables filled in.
async fn fill_text(
    what: &str,
    source: &TextSource,
    variables: &Variables,
    reader: &Reader,
) -> Result<String, WorkspaceError> {
    let place = name_of(what, source);
    match source {
        TextSource::Inline(text) => render(&place, text, variables),
        TextSource::File(path) => {
            let text = reader
                .read(path, |path| read_text(path, MAX_TEXT_BYTES))
                .await?;
            render(&place, &text, variables)
        }
    }
}

/// How errors name a text: its file, or what it is when it stands in the YAML.
fn name_of(what: &str, source: &TextSource) -> String {
    match source {
        TextSource::Inline(_) => what.to_owned(),
        TextSource::File(path) => path.display().to_string(),
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
