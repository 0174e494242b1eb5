//! The items of a job, and what is in one of them.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use chrono::DateTime;

use super::{Files, MAX_TEXT_BYTES, unready};
use crate::engine::ports::Unready;
use crate::job::{ForEach, Input, InputSource, ItemSource, Job, Output, Which};
use crate::piece::Item;
use crate::workspace::deliver::blocking;
use crate::workspace::error::WorkspaceError;
use crate::workspace::fetch::shown;
use crate::workspace::inputs::{RunCommands, read_list, read_text};
use crate::workspace::item_variables::ItemVariables;
use crate::workspace::items::{self, Listing};
use crate::workspace::output::place;
use crate::workspace::reserved::real;
use crate::workspace::template::Variables;

impl Files {
    /// The items of a job in their order, without a look into files for what has changed.
    ///
    /// # Errors
    ///
    /// They cannot be read, there are too many, or two of them would have one output.
    pub async fn items(&self, job: &Job, commands: RunCommands) -> Result<Listing, Unready> {
        let Some(for_each) = &job.for_each else {
            return Ok(Listing::None);
        };
        let is_elsewhere = match &for_each.source {
            ItemSource::Files { .. } => false,
            ItemSource::Lines(list) | ItemSource::Records(list) => {
                matches!(
                    list.source,
                    InputSource::Command { .. } | InputSource::Url(_)
                )
            }
        };
        if is_elsewhere && commands == RunCommands::No {
            return Ok(Listing::NotRun);
        }
        let items = self.list_all(job, &for_each.source).await;
        items.map(Listing::Items).map_err(|error| unready(&error))
    }

    /// The items of a job in their order; those that are files have a mark if the job goes by what has changed.
    pub(super) async fn list_marked(&self, job: &Job) -> Result<Vec<Item>, WorkspaceError> {
        let Some(for_each) = &job.for_each else {
            return Ok(Vec::new());
        };
        let items = self.list_all(job, &for_each.source).await?;
        match (&for_each.source, for_each.which) {
            (ItemSource::Files { folder, .. }, Which::ChangedSinceSuccess) => {
                self.mark_files(folder, items).await
            }
            (ItemSource::Files { .. }, Which::All)
            | (ItemSource::Lines(_) | ItemSource::Records(_), _) => Ok(items),
        }
    }

    async fn list_all(&self, job: &Job, source: &ItemSource) -> Result<Vec<Item>, WorkspaceError> {
        let items = match source {
            ItemSource::Files { folder, pattern } => {
                let pattern = pattern.clone();
                self.reader
                    .read(folder, move |folder| items::files(folder, &pattern))
                    .await?
            }
            ItemSource::Lines(list) => items::lines(&name_of(list), &self.text_of(list).await?)?,
            ItemSource::Records(list) => {
                items::records(&name_of(list), &self.text_of(list).await?)?
            }
        };
        self.with_places(job, items).await
    }

    async fn text_of(&self, list: &Input) -> Result<String, WorkspaceError> {
        read_list(list, &self.secrets, &self.reader).await
    }

    /// The items, if each has an output of its own: what is paid for must not be lost to the next one.
    async fn with_places(&self, job: &Job, items: Vec<Item>) -> Result<Vec<Item>, WorkspaceError> {
        let Some(output) = job.output.clone() else {
            return Ok(items);
        };
        let zone = self.zones.get(&job.schedule.zone)?;
        let paths = Paths {
            folder: self.folder.clone(),
            // Which slot it is makes no difference between items.
            variables: Variables::of(&job.id, DateTime::UNIX_EPOCH, &zone),
            for_each: job.for_each.clone(),
        };
        blocking(move || {
            paths.check(&output, &items)?;
            Ok(items)
        })
        .await
    }

    /// A file that cannot be read keeps an empty mark: it is told of when it is its turn, and the others are not held
    /// up. One that does not answer ends the listing, or each of its neighbours would be waited for as long.
    async fn mark_files(
        &self,
        folder: &Path,
        items: Vec<Item>,
    ) -> Result<Vec<Item>, WorkspaceError> {
        let mut marked = Vec::with_capacity(items.len());
        for mut item in items {
            let path = folder.join(&item.name);
            let mark = self
                .reader
                .read(&path, |path| items::mark_of_file(path, MAX_TEXT_BYTES))
                .await;
            match mark {
                Ok(mark) => item.mark = mark,
                Err(WorkspaceError::Unreadable { source, .. }) if is_gone(&source) => continue,
                Err(WorkspaceError::Unreadable { .. } | WorkspaceError::NotAFile { .. }) => {}
                Err(error) => return Err(error),
            }
            marked.push(item);
        }
        Ok(marked)
    }

    /// What `item` holds in the templates of a call. The text of a file is read anew.
    pub(super) async fn read_item(
        &self,
        job: &Job,
        item: &Item,
    ) -> Result<ItemVariables, WorkspaceError> {
        let for_each = job.for_each.as_ref();
        let text = match (
            &item.text,
            for_each.and_then(|it| path_of(&it.source, item)),
        ) {
            (Some(_), _) => None,
            (None, Some(path)) => {
                let read = self
                    .reader
                    .read(&path, |path| read_text(path, MAX_TEXT_BYTES));
                Some(read.await.map_err(|error| match error {
                    WorkspaceError::Unreadable { source, .. } if is_gone(&source) => {
                        let problem = format!("{} has gone since it was listed", path.display());
                        wrong(item, problem)
                    }
                    other => other,
                })?)
            }
            (None, None) => {
                let problem = "it was a file, and the job's items are no files any more";
                return Err(wrong(item, problem.to_owned()));
            }
        };
        Ok(ItemVariables::new(item, for_each, text))
    }
}

/// What the paths of items' outputs are made of.
struct Paths {
    folder: PathBuf,
    variables: Variables,
    for_each: Option<ForEach>,
}

impl Paths {
    /// Refuses two items of one file, an item whose answer goes into the file that it is, and one to whose file another
    /// appends.
    fn check(&self, output: &Output, items: &[Item]) -> Result<(), WorkspaceError> {
        let mut taken: BTreeMap<PathBuf, &str> = BTreeMap::new();
        if let Some(pattern) = &output.file {
            for item in items {
                let Some(path) = self.of(item, ("output.file", pattern))? else {
                    continue;
                };
                if let Some(other) = taken.insert(path, &item.name) {
                    let problem = format!(
                        "its answer and that of `{other}` would have one file; use `{{{{ item.name }}}}` in the output's path"
                    );
                    return Err(wrong(item, problem));
                }
            }
        }
        if let Some(pattern) = &output.append {
            for item in items {
                let path = self.of(item, ("output.append", pattern))?;
                if let Some(other) = path.and_then(|path| taken.get(&path)) {
                    let problem = format!(
                        "its answer would be appended to the file of `{other}`, which is written anew; \
                         append to a file elsewhere"
                    );
                    return Err(wrong(item, problem));
                }
            }
        }
        Ok(())
    }

    /// Where the answer of an item goes; `None` if a variable of the path is missing: that is told of when it is the
    /// item's turn, and holds up no other.
    fn of(
        &self,
        item: &Item,
        (what, pattern): (&str, &str),
    ) -> Result<Option<PathBuf>, WorkspaceError> {
        let of_item = ItemVariables::new(item, self.for_each.as_ref(), None);
        let variables = self.variables.clone().with_item(Some(of_item));
        let path = match place(&self.folder, (what, pattern), &variables) {
            Ok(target) => target.path,
            Err(WorkspaceError::Template { .. }) => return Ok(None),
            Err(error) => return Err(wrong(item, error.to_string())),
        };
        let for_each = self.for_each.as_ref();
        let own = for_each.and_then(|it| path_of(&it.source, item));
        let is_own =
            |own: PathBuf| own.file_name() == path.file_name() && real(&own) == real(&path);
        if own.is_some_and(is_own) {
            let problem = match what {
                "output.append" => "the answer would be appended to the file itself",
                _ => "the answer would take the place of the file itself",
            };
            let problem = format!("{problem}; write into a folder of its own");
            return Err(wrong(item, problem));
        }
        Ok(Some(path))
    }
}

/// The file that an item is; `None` if it is none.
fn path_of(source: &ItemSource, item: &Item) -> Option<PathBuf> {
    match source {
        ItemSource::Files { folder, .. } if item.text.is_none() => Some(folder.join(&item.name)),
        ItemSource::Files { .. } | ItemSource::Lines(_) | ItemSource::Records(_) => None,
    }
}

/// How errors name a list.
fn name_of(list: &Input) -> String {
    match &list.source {
        InputSource::File(path) => path.display().to_string(),
        InputSource::Command { argv, .. } => {
            format!("`{}`", argv.first().map_or("", String::as_str))
        }
        InputSource::Url(input) => shown(&input.address),
    }
}

fn wrong(item: &Item, problem: String) -> WorkspaceError {
    WorkspaceError::Items {
        place: format!("item `{}`", item.name),
        problem,
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}
