//! Brings an answer to the places of a job's output, one after the other, each at most once.
//!
//! What can be taken back comes first: the file, what is appended, then the
//! program, then the webhook. What kind of place has the answer is known at any
//! moment, and the next delivery leaves it alone.

use std::io::Write;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::address::Address;
use super::append::{append, whole};
use super::command::{OUTPUT_COMMAND_TIMEOUT, Program, feed};
use super::error::WorkspaceError;
use super::files::Files;
use super::front_matter;
use super::item_variables::{ItemVariables, one_name};
use super::output::{Manner, Target, place, replace};
use super::template::with_offset;
use crate::engine::ports::{Parcel, Place, Undelivered};
use crate::job::{FrontMatter, Job, Output, Previous};
use crate::piece::Item;
use crate::slot::Slot;

/// How long a webhook has to take an answer.
pub const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// How often a file that somebody has locked is tried, with this pause in between: ten seconds in all.
const LOCK_TRIES: u32 = 200;
const LOCK_PAUSE: Duration = Duration::from_millis(50);

/// One place that wants the answer.
#[derive(Debug, Clone, Copy)]
enum Stop<'a> {
    File(&'a str),
    Append(&'a str),
    Command(&'a [String]),
    Webhook(&'a str),
}

/// The places of an output, in their order.
fn stops(output: &Output) -> impl Iterator<Item = Stop<'_>> {
    let file = output.file.as_deref().map(Stop::File);
    let append = output.append.as_deref().map(Stop::Append);
    let command = output.command.as_deref().map(Stop::Command);
    let webhook = output.webhook_env.as_deref().map(Stop::Webhook);
    [file, append, command, webhook].into_iter().flatten()
}

impl<'a> Stop<'a> {
    const fn place(self) -> Place {
        match self {
            Self::File(_) => Place::File,
            Self::Append(_) => Place::Append,
            Self::Command(_) => Place::Command,
            Self::Webhook(_) => Place::Webhook,
        }
    }

    /// The pattern of a file's path, and how errors name it; `None` for what is no file.
    const fn pattern(self) -> Option<(&'static str, &'a str)> {
        match self {
            Self::File(pattern) => Some(("output.file", pattern)),
            Self::Append(pattern) => Some(("output.append", pattern)),
            Self::Command(_) | Self::Webhook(_) => None,
        }
    }
}

impl Files {
    /// Brings an answer to the places that do not have it yet. The answer is the first file, if there is one.
    pub(super) async fn deliver_to(
        &self,
        parcel: Parcel<'_>,
    ) -> Result<Option<PathBuf>, Undelivered> {
        let Some(output) = &parcel.job.output else {
            return Ok(None);
        };
        let mut went = None;
        for stop in stops(output) {
            let path = if parcel.reached.has(stop.place()) {
                // It has the answer, whatever would become of its path now.
                let target = self.target_of(stop, parcel);
                target.unwrap_or(None).map(|target| target.path)
            } else if self.is_overtaken(stop, parcel) {
                None
            } else {
                let brought = self.bring(output, stop, parcel).await;
                brought.map_err(|error| Undelivered {
                    message: error.to_string(),
                    output: went.clone(),
                    may_work_later: error.may_pass(),
                })?
            };
            parcel.reached.add(stop.place());
            went = went.or(path);
        }
        Ok(went)
    }

    /// Whether a later slot's answer stands where this one would go: an older one never takes its place.
    fn is_overtaken(&self, stop: Stop<'_>, parcel: Parcel<'_>) -> bool {
        let target = match stop {
            Stop::File(_) => self.target_of(stop, parcel).unwrap_or(None),
            Stop::Append(_) | Stop::Command(_) | Stop::Webhook(_) => None,
        };
        target.is_some_and(|target| parcel.newer.contains(&target.path))
    }

    /// Brings an answer to one place. The answer is where that is, if it is a file.
    async fn bring(
        &self,
        output: &Output,
        stop: Stop<'_>,
        parcel: Parcel<'_>,
    ) -> Result<Option<PathBuf>, WorkspaceError> {
        let target = self.target_of(stop, parcel)?;
        let path = target.as_ref().map(|target| target.path.clone());
        match (stop, target) {
            (Stop::File(_), Some(target)) => {
                let text = self.document(output, parcel)?;
                write_whole(target, output.previous, text).await?;
            }
            (Stop::Append(_), Some(target)) => {
                let text = self.document(output, parcel)?;
                self.append(target, text).await?;
            }
            (Stop::Command(argv), _) => {
                self.run_output_command(argv, &parcel.answer.text).await?;
            }
            (Stop::Webhook(variable), _) => self.post(variable, parcel).await?,
            (Stop::File(_) | Stop::Append(_), None) => {}
        }
        Ok(path)
    }

    /// Adds to a file, once nobody else does: whoever keeps it longer than ten seconds must not hold up other answers.
    async fn append(&self, target: Target, text: String) -> Result<(), WorkspaceError> {
        let (target, text) = (Arc::new(target), Arc::new(text));
        for tries in 1.. {
            let (file, entry) = (Arc::clone(&target), Arc::clone(&text));
            match blocking(move || append(&file, &entry, whole)).await {
                Err(error) if error.is_locked() && tries < LOCK_TRIES => {
                    self.reader.clock.sleep(LOCK_PAUSE).await;
                }
                done => return done,
            }
        }
        Ok(())
    }

    /// The file of a place, if it is one.
    fn target_of(
        &self,
        stop: Stop<'_>,
        parcel: Parcel<'_>,
    ) -> Result<Option<Target>, WorkspaceError> {
        let Parcel {
            job, slot, item, ..
        } = parcel;
        let pattern = stop.pattern();
        pattern
            .map(|pattern| self.target(pattern, job, slot, item))
            .transpose()
    }

    /// The file that a pattern, which errors call `what`, names for a slot, or for an item of it.
    fn target(
        &self,
        (what, pattern): (&str, &str),
        job: &Job,
        slot: &Slot,
        item: Option<&Item>,
    ) -> Result<Target, WorkspaceError> {
        let item = item.map(|item| ItemVariables::new(item, job.for_each.as_ref(), None));
        let variables = self.variables(job, slot)?.with_item(item);
        let target = place(&self.folder, (what, pattern), &variables)?;
        if let Some(problem) = self.reserved.refuses(&target.path) {
            return Err(WorkspaceError::BadOutput {
                pattern: pattern.to_owned(),
                rendered: target.path.display().to_string(),
                problem,
            });
        }
        Ok(target)
    }

    /// What is written into a file.
    fn document(&self, output: &Output, parcel: Parcel<'_>) -> Result<String, WorkspaceError> {
        Ok(match output.front_matter {
            FrontMatter::None => parcel.answer.text.clone(),
            FrontMatter::Yaml => front_matter::above(&parcel, &self.when(parcel)?),
        })
    }

    /// The parcel's slot as `{{ slot }}` shows it.
    fn when(&self, parcel: Parcel<'_>) -> Result<String, WorkspaceError> {
        let zone = self.zones.get(&parcel.job.schedule.zone)?;
        Ok(with_offset(parcel.slot.fire_at, &zone))
    }

    async fn run_output_command(&self, argv: &[String], text: &str) -> Result<(), WorkspaceError> {
        let program = Program {
            argv,
            folder: &self.folder,
            timeout: OUTPUT_COMMAND_TIMEOUT,
            without: &self.secrets.hidden,
        };
        feed(program, text, &*self.reader.clock).await
    }

    async fn post(&self, variable: &str, parcel: Parcel<'_>) -> Result<(), WorkspaceError> {
        let address = self.secrets.value(variable)?;
        let address = Address::new(address, WEBHOOK_TIMEOUT).map_err(|problem| {
            WorkspaceError::BadWebhook {
                variable: variable.to_owned(),
                problem,
            }
        })?;
        let body = front_matter::json(&parcel, &self.when(parcel)?);
        tokio::select! {
            biased;
            posted = address.post(body) => posted.map_err(|problem| WorkspaceError::NotPosted {
                variable: variable.to_owned(),
                problem,
            }),
            () = self.reader.clock.sleep(WEBHOOK_TIMEOUT) => Err(WorkspaceError::Silent {
                variable: variable.to_owned(),
                timeout: WEBHOOK_TIMEOUT,
            }),
        }
    }

    /// Keeps an incomplete answer beside the first file of the output; one without a file keeps none.
    pub(super) async fn keep(&self, parcel: Parcel<'_>) -> Result<Option<PathBuf>, WorkspaceError> {
        let Parcel {
            job, slot, item, ..
        } = parcel;
        let Some(output) = &job.output else {
            return Ok(None);
        };
        let Some(pattern) = stops(output).find_map(Stop::pattern) else {
            return Ok(None);
        };
        // Items that share a file to which is appended must not share the one beside it.
        let shared = item.filter(|_| output.file.is_none());
        let shared = shared.map(|item| one_name(&item.name));
        let target = self.target(pattern, job, slot, item)?;
        let target = target.beside(slot.fire_at, shared.as_deref());
        let text = self.document(output, parcel)?;
        let path = write_whole(target, Previous::Replace, text).await?;
        Ok(Some(path))
    }

    /// Looks whether the files of the output could be written now; the error says why not. Writes nothing.
    ///
    /// The paths of a job with items are known only once an item has its turn.
    pub(super) async fn check_places(
        &self,
        job: &Job,
        slot: &Slot,
        item: Option<&Item>,
    ) -> Result<(), String> {
        if job.for_each.is_some() && item.is_none() {
            return Ok(());
        }
        for found in [
            self.checked_file(job, slot, item).await,
            self.checked_append(job, slot, item).await,
        ] {
            found.transpose()?;
        }
        self.checked_others(job)
    }

    /// Whether the program and the webhook of the output are there.
    fn checked_others(&self, job: &Job) -> Result<(), String> {
        let output = job.output.as_ref();
        if let Some(variable) = output.and_then(|output| output.webhook_env.as_deref()) {
            let address = self
                .secrets
                .value(variable)
                .map_err(|error| error.to_string())?;
            Address::new(address, WEBHOOK_TIMEOUT).map_err(|problem| {
                let variable = variable.to_owned();
                WorkspaceError::BadWebhook { variable, problem }.to_string()
            })?;
        }
        let argv = output.and_then(|output| output.command.as_deref());
        match argv.and_then(|argv| argv.first()) {
            // Where a bare name is looked for is the system's affair.
            Some(program) if program.contains('/') && !self.folder.join(program).is_file() => {
                Err(format!(
                    "there is no program `{program}` to take the answer; mend its path, or put it there"
                ))
            }
            Some(_) | None => Ok(()),
        }
    }

    /// The output file, if it could be written now, or why not; `None` if there is to be none.
    pub(super) async fn checked_file(
        &self,
        job: &Job,
        slot: &Slot,
        item: Option<&Item>,
    ) -> Option<Result<PathBuf, String>> {
        let pattern = job.output.as_ref()?.file.as_deref()?;
        let target = self.target(("output.file", pattern), job, slot, item);
        Some(self.checked(target, Manner::Whole).await)
    }

    /// The same for the file to which is appended.
    pub(super) async fn checked_append(
        &self,
        job: &Job,
        slot: &Slot,
        item: Option<&Item>,
    ) -> Option<Result<PathBuf, String>> {
        let pattern = job.output.as_ref()?.append.as_deref()?;
        let target = self.target(("output.append", pattern), job, slot, item);
        Some(self.checked(target, Manner::AtEnd).await)
    }

    /// The path of a file that could be written now, or why not.
    async fn checked(
        &self,
        target: Result<Target, WorkspaceError>,
        manner: Manner,
    ) -> Result<PathBuf, String> {
        let target = target.map_err(|error| error.to_string())?;
        let path = target.path.clone();
        // A disk that does not answer must not keep the slot for ever.
        let looked = self.reader.read(&path, move |path| {
            let found = target.check(manner);
            found.map_err(|source| WorkspaceError::Unplaceable {
                path: path.to_owned(),
                source,
            })
        });
        looked.await.map_err(|error| error.to_string())?;
        Ok(path)
    }
}

/// Writes a whole text, and says where.
async fn write_whole(
    target: Target,
    previous: Previous,
    text: String,
) -> Result<PathBuf, WorkspaceError> {
    blocking(move || {
        replace(&target, previous, |file| file.write_all(text.as_bytes())).map(|()| target.path)
    })
    .await
}

/// File work on a thread that may block.
pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, WorkspaceError> + Send + 'static,
) -> Result<T, WorkspaceError> {
    tokio::task::spawn_blocking(work).await?
}
