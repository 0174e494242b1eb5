//! The item that a dry run shows, and the later steps of a chain.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use crate::anthropic::wire;
use crate::cli::{CliError, Context, linting};
use crate::engine::ports::Unready;
use crate::job::{InputSource, ItemSource, Job, OnEmptyInput, Request, Which};
use crate::outcome::FailReason;
use crate::piece::Item;
use crate::slot::Slot;
use crate::workspace::{Files, Listing, Prepared, Preview, RunCommands};

/// The item that is shown, of how many.
pub struct Shown {
    /// How many there are; `None` if they come from a command that was not run, or an address that was not fetched.
    count: Option<usize>,
    item: Option<Item>,
}

impl Shown {
    /// Whether the job has no item now.
    pub fn is_empty(&self) -> bool {
        self.count == Some(0)
    }
}

/// What a slot would send for the item of a name, or else for the first one; and which that is, if the job has items.
pub fn preview(
    context: &Context,
    files: &Files,
    (job, slot): (&Job, &Slot),
    commands: RunCommands,
    wanted: Option<&str>,
) -> Result<(Preview, Option<Shown>), CliError> {
    let listing = context.block_on(async { Ok(files.items(job, commands).await) })?;
    let shown = match listing {
        Ok(Listing::None) => match wanted {
            None => None,
            Some(_) => {
                return Err(CliError::Refused {
                    what: format!("job `{}` has no items", job.id),
                    help: "leave out --item; a job has items by its `for_each`".to_owned(),
                });
            }
        },
        Ok(Listing::NotRun) => Some(Shown {
            count: None,
            item: None,
        }),
        Ok(Listing::Items(items)) => Some(Shown {
            count: Some(items.len()),
            item: chosen(items, wanted)?,
        }),
        Err(unready) => return Ok((nothing(job, Prepared::Failed(unready)), None)),
    };
    let item = match &shown {
        None => None,
        Some(Shown { count: None, .. }) => return Ok((nothing(job, Prepared::NotListed), shown)),
        Some(Shown { item: None, .. }) => return Ok((nothing(job, without_items(job)), shown)),
        Some(Shown { item, .. }) => item.as_ref(),
    };
    let preview = context.block_on(async { Ok(files.preview(job, slot, commands, item).await) })?;
    Ok((preview, shown))
}

fn chosen(items: Vec<Item>, wanted: Option<&str>) -> Result<Option<Item>, CliError> {
    let Some(name) = wanted else {
        return Ok(items.into_iter().next());
    };
    if let Some(found) = items.iter().find(|item| item.name == name) {
        return Ok(Some(found.clone()));
    }
    let known: Vec<&str> = items.iter().map(|item| item.name.as_str()).collect();
    Err(CliError::Refused {
        what: format!("there is no item `{name}`"),
        help: match known.len() {
            0 => "there is no item at all now".to_owned(),
            1..=20 => linting::nearest("item", name, &known),
            count => match crate::config::nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("there are {count} items, and none has a name like that"),
            },
        },
    })
}

fn nothing(job: &Job, prepared: Prepared) -> Preview {
    let output = job.output.as_ref();
    let none = |_: &String| Err("there is no item to write of".to_owned());
    Preview {
        prepared,
        then: Vec::new(),
        output: output.and_then(|output| output.file.as_ref()).map(none),
        append: output.and_then(|output| output.append.as_ref()).map(none),
    }
}

/// What becomes of a slot without an item.
fn without_items(job: &Job) -> Prepared {
    match job.on_empty_input {
        OnEmptyInput::Skip | OnEmptyInput::Send => Prepared::Empty,
        OnEmptyInput::Fail => Prepared::Failed(Unready {
            reason: FailReason::EmptyInput,
            message: "there is no item, and the job says `on_empty_input: fail`".to_owned(),
        }),
    }
}

/// The lines about items and steps.
pub fn as_text(job: &Job, shown: Option<&Shown>, out: &mut dyn Write) -> io::Result<()> {
    if let Some(shown) = shown {
        let taken = job.for_each.as_ref().map_or_else(String::new, |for_each| {
            let most = for_each
                .limit
                .map_or_else(String::new, |limit| format!(", at most {limit} in a slot"));
            match for_each.which {
                Which::All => String::new(),
                Which::ChangedSinceSuccess => {
                    format!("; those that changed since the last success are taken{most}")
                }
            }
        });
        match (shown.count, &shown.item) {
            (None, _) => writeln!(out, "items     {}", not_listed(job))?,
            (Some(count), Some(item)) => {
                let counted = linting::counted(count, "item");
                writeln!(out, "items     {counted}, `{}` shown{taken}", item.name)?;
            }
            (Some(_), None) => writeln!(out, "items     none")?,
        }
    }
    if !job.then.is_empty() {
        writeln!(out, "steps     {}", names(job).join(", "))?;
    }
    Ok(())
}

/// Why the items are not known.
fn not_listed(job: &Job) -> &'static str {
    let list = job.for_each.as_ref().and_then(|it| match &it.source {
        ItemSource::Files { .. } => None,
        ItemSource::Lines(list) | ItemSource::Records(list) => Some(&list.source),
    });
    match list {
        Some(InputSource::Url(_)) => {
            "from an address that was not fetched; see them with --run-commands"
        }
        Some(InputSource::Command { .. } | InputSource::File(_)) | None => {
            "from a command that was not run; see them with --run-commands"
        }
    }
}

fn names(job: &Job) -> Vec<&str> {
    let names = job.chain().map(|step| step.name.as_deref());
    names.map(Option::unwrap_or_default).collect()
}

/// How many calls a slot makes at most, if that is known and more than one.
pub fn most_calls(job: &Job, shown: Option<&Shown>) -> Option<usize> {
    let items = shown.map_or(Some(1), |shown| shown.count)?;
    let limit = job.for_each.as_ref().and_then(|for_each| for_each.limit);
    let limit = limit.and_then(|limit| usize::try_from(limit).ok());
    let calls = items.min(limit.unwrap_or(items)) * job.chain().count();
    (calls > 1).then_some(calls)
}

/// The later steps, each with a word in the place of the answers before it.
pub fn steps_as_text(
    context: &Context,
    job: &Job,
    then: &[Result<Request, Unready>],
    out: &mut dyn Write,
) -> io::Result<()> {
    for (name, step) in names(job).into_iter().skip(1).zip(then) {
        match step {
            Ok(request) => {
                for block in &request.system {
                    let text = context.screen.still(block.text.trim_end());
                    writeln!(out, "\n--- step {name}, {}: system\n{text}", request.model)?;
                }
                let prompt = context.screen.still(request.prompt.trim_end());
                writeln!(
                    out,
                    "\n--- step {name}, {}: prompt\n{prompt}",
                    request.model
                )?;
            }
            Err(Unready { message, .. }) => {
                writeln!(out, "\nthe step `{name}` would fail: {message}")?;
            }
        }
    }
    Ok(())
}

/// The members `items` and `steps`, as far as the job has them.
pub fn as_json(
    job: &Job,
    shown: Option<&Shown>,
    then: &[Result<Request, Unready>],
) -> Map<String, Value> {
    let mut members = Map::new();
    if let Some(shown) = shown {
        let count = shown.count.map(|count| ("count".to_owned(), json!(count)));
        let item = shown.item.as_ref();
        let item = item.map(|item| ("shown".to_owned(), json!(item.name)));
        let items: Map<String, Value> = count.into_iter().chain(item).collect();
        members.insert("items".to_owned(), Value::Object(items));
    }
    if job.then.is_empty() {
        return members;
    }
    let step = |(index, name): (usize, &str)| {
        let step = index.checked_sub(1).and_then(|index| then.get(index));
        match step {
            None => json!({ "id": name }),
            Some(Ok(request)) => json!({ "id": name, "request": body(request) }),
            Some(Err(Unready { message, .. })) => json!({ "id": name, "failed": message }),
        }
    };
    let steps = names(job).into_iter().enumerate().map(step);
    members.insert("steps".to_owned(), steps.collect());
    members
}

/// The body of a request, or why there is none.
pub fn body(request: &Request) -> Value {
    wire::body(request).unwrap_or_else(|error| json!({ "unsendable": error.to_string() }))
}
