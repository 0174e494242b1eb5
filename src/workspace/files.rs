//! The workspace of a real folder.

use std::fmt;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;

use super::command::{OUTPUT_COMMAND_TIMEOUT, Program, feed};
use super::error::WorkspaceError;
use super::inputs::{RunCommands, all_empty, read_all, read_text};
use super::output::{Target, place, replace};
use super::reader::Reader;
use super::reserved::Reserved;
use super::template::{Variables, render};
use crate::engine::ports::{Clock, Pending, Prepared, Workspace};
use crate::job::{Job, OnEmptyInput, Output, Previous, Request, SystemBlock, TextSource};
use crate::outcome::FailReason;
use crate::schedule::Zones;
use crate::slot::Slot;

/// The most that a prompt or system file may hold: what the API takes as a whole request.
const MAX_TEXT_BYTES: u64 = 32 << 20;

/// Reads inputs and prompts, and writes outputs below one working folder.
#[derive(Clone)]
pub struct Files {
    folder: PathBuf,
    zones: Zones,
    reader: Arc<Reader>,
    without: Vec<String>,
    reserved: Reserved,
}

/// What a run would send and where its answer would go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Preview {
    /// The request, or why there is none.
    pub prepared: Prepared,
    /// The output file, or why there is none; `None` if the job writes no file.
    pub output: Option<Result<PathBuf, String>>,
}

impl fmt::Debug for Files {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Files")
            .field("folder", &self.folder)
            .field("without", &self.without)
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
            without: Vec::new(),
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
        self.without = variables;
        self
    }

    /// What a run of this slot would send, and where its answer would go. Writes nothing.
    pub async fn preview(&self, job: &Job, slot: &Slot, commands: RunCommands) -> Preview {
        let output = self.target(job, slot).transpose();
        let path = |target: Target| target.path;
        Preview {
            prepared: self.prepare_with(job, slot, commands).await,
            output: output.map(|target| target.map(path).map_err(|error| error.to_string())),
        }
    }

    async fn prepare_with(&self, job: &Job, slot: &Slot, commands: RunCommands) -> Prepared {
        match self.fill(job, slot, commands).await {
            Ok(prepared) => prepared,
            Err(error) => Prepared::Failed(FailReason::Input, error.to_string()),
        }
    }

    async fn fill(
        &self,
        job: &Job,
        slot: &Slot,
        commands: RunCommands,
    ) -> Result<Prepared, WorkspaceError> {
        let inputs = read_all(job, commands, &self.without, &self.reader).await?;
        if all_empty(&inputs) {
            match job.on_empty_input {
                OnEmptyInput::Skip => return Ok(Prepared::Empty),
                OnEmptyInput::Fail => {
                    let note = "every input is empty, and the job says `on_empty_input: fail`";
                    return Ok(Prepared::Failed(FailReason::EmptyInput, note.to_owned()));
                }
                OnEmptyInput::Send => {}
            }
        }
        let variables = self.variables(job, slot)?.with_inputs(inputs);
        let system = fill_system(&job.template.system, &variables, &self.reader).await?;
        let prompt = fill_text("prompt", &job.template.prompt, &variables, &self.reader).await?;
        if is_blank(&prompt) {
            return Err(WorkspaceError::EmptyPrompt {
                place: name_of("prompt", &job.template.prompt),
            });
        }
        Ok(Prepared::Ready(Box::new(request(job, system, prompt))))
    }

    fn variables(&self, job: &Job, slot: &Slot) -> Result<Variables, WorkspaceError> {
        let zone = self.zones.get(&job.schedule.zone)?;
        Ok(Variables::of(&job.id, slot.fire_at, &zone))
    }

    fn target(&self, job: &Job, slot: &Slot) -> Result<Option<Target>, WorkspaceError> {
        let Some(pattern) = job.output.as_ref().and_then(|output| output.file.as_ref()) else {
            return Ok(None);
        };
        let target = place(&self.folder, pattern, &self.variables(job, slot)?)?;
        if let Some(problem) = self.reserved.refuses(&target.path) {
            return Err(WorkspaceError::BadOutput {
                pattern: pattern.clone(),
                rendered: target.path.display().to_string(),
                problem,
            });
        }
        Ok(Some(target))
    }

    async fn deliver_to(
        &self,
        job: &Job,
        slot: &Slot,
        text: &str,
    ) -> Result<Option<PathBuf>, WorkspaceError> {
        let Some(output) = &job.output else {
            return Ok(None);
        };
        // The file first: what a program does with the answer cannot be taken back.
        let path = match self.target(job, slot)? {
            Some(target) => Some(write_whole(target, output.previous, text).await?),
            None => None,
        };
        self.run_output_command(output, text).await?;
        Ok(path)
    }

    async fn run_output_command(&self, output: &Output, text: &str) -> Result<(), WorkspaceError> {
        let Some(argv) = &output.command else {
            return Ok(());
        };
        let program = Program {
            argv,
            folder: &self.folder,
            timeout: OUTPUT_COMMAND_TIMEOUT,
            without: &self.without,
        };
        feed(program, text, &*self.reader.clock).await
    }

    async fn keep(
        &self,
        job: &Job,
        slot: &Slot,
        text: &str,
    ) -> Result<Option<PathBuf>, WorkspaceError> {
        let Some(target) = self.target(job, slot)? else {
            return Ok(None);
        };
        let target = target.beside(slot.fire_at);
        let path = write_whole(target, Previous::Replace, text).await?;
        Ok(Some(path))
    }
}

impl Workspace for Files {
    fn prepare<'a>(&'a self, job: &'a Job, slot: &'a Slot) -> Pending<'a, Prepared> {
        Box::pin(self.prepare_with(job, slot, RunCommands::Yes))
    }

    fn deliver<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            self.deliver_to(job, slot, text)
                .await
                .map_err(|error| error.to_string())
        })
    }

    fn keep_beside<'a>(
        &'a self,
        job: &'a Job,
        slot: &'a Slot,
        text: &'a str,
    ) -> Pending<'a, Result<Option<PathBuf>, String>> {
        Box::pin(async move {
            self.keep(job, slot, text)
                .await
                .map_err(|error| error.to_string())
        })
    }
}

fn request(job: &Job, system: Vec<SystemBlock<String>>, prompt: String) -> Request {
    let template = &job.template;
    Request {
        key: job.key.clone(),
        model: template.model.clone(),
        max_tokens: template.max_tokens,
        system,
        prompt,
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

/// Writes a whole text, and says where.
async fn write_whole(
    target: Target,
    previous: Previous,
    text: &str,
) -> Result<PathBuf, WorkspaceError> {
    let text = text.to_owned();
    blocking(move || {
        replace(&target, previous, |file| file.write_all(text.as_bytes())).map(|()| target.path)
    })
    .await
}

/// File work on a thread that may block.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    tokio::task::spawn_blocking(work).await?
}
