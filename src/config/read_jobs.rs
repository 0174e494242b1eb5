//! Job files: one job each, or a list of them; and what only shows over all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::job::{JobId, TextSource};
use crate::lint::Rule;

use super::checked::KeySource;
use super::context::{Context, plain};
use super::decode_job::{DecodedJob, job};
use super::decode_output::normal_path;
use super::decode_settings::Settings;
use super::fields::{Field, Fields};
use super::files::{Document, is_yaml};
use super::mistakes::Mistake;
use super::node::{Node, Value};
use super::source::{Place, Source};
use super::typed;

/// The jobs so far.
#[derive(Debug)]
pub struct Jobs<'s> {
    settings: &'s Settings,
    /// A list, and by name only at the end: the nodes of a map that grows are half empty, and ten thousand jobs are
    /// many megabytes.
    decoded: Vec<(JobId, DecodedJob)>,
    ids: BTreeMap<JobId, Place>,
    /// The job files.
    files: BTreeSet<PathBuf>,
}

impl<'s> Jobs<'s> {
    /// No jobs so far.
    pub fn new(settings: &'s Settings) -> Self {
        Self {
            settings,
            decoded: Vec::new(),
            ids: BTreeMap::new(),
            files: BTreeSet::new(),
        }
    }

    /// Reads the job or the jobs of one file.
    pub fn read(&mut self, cx: &mut Context<'_>, document: &Document) {
        self.files.insert(plain(document.source.path()));
        self.read_file(cx, document);
        cx.job = None;
    }

    /// Reports what only shows over all jobs, and hands them over by name.
    pub fn finish(mut self, cx: &mut Context<'_>, store: &Path) -> Vec<(JobId, DecodedJob)> {
        self.decoded.sort_by(|(a, _), (b, _)| a.cmp(b));
        self.report_collisions(cx);
        self.report_overwrites(cx, store);
        self.decoded
    }

    /// An answer must not take the place of a file that offpeak itself reads or keeps.
    fn report_overwrites(&self, cx: &mut Context<'_>, store: &Path) {
        let settings = cx.folder.join("offpeak.yaml");
        let keys = self
            .settings
            .keys
            .values()
            .filter_map(|key| match &key.source {
                KeySource::File(path) => Some(plain(path)),
                KeySource::Env(_) | KeySource::Credential(_) => None,
            });
        let folders: BTreeSet<&Path> = self.files.iter().filter_map(|it| it.parent()).collect();
        let prompts = self.decoded.iter().flat_map(|(_, job)| prompt_files(job));
        let read: BTreeSet<PathBuf> = self
            .files
            .iter()
            .cloned()
            .chain(prompts)
            .chain([settings])
            .chain(keys)
            .collect();
        for (id, Written { path, place, .. }) in self.written() {
            let target = plain(&cx.folder.join(normal_path(path, id.as_str())));
            let whose = if target.starts_with(store) {
                "lies in the store's folder"
            } else if read.contains(&target) {
                "is a file that offpeak reads"
            } else if is_yaml(&target) && target.parent().is_some_and(|it| folders.contains(it)) {
                "would become a job"
            } else {
                continue;
            };
            let message = format!("the output `{path}` {whose}");
            let mut mistake = Mistake::new(Rule::OutputCollision, place.clone(), message)
                .help("write into a folder of its own, for example `out/{{ job }}/{{ date }}.md`");
            mistake.job = Some(id.clone());
            cx.report(mistake);
        }
    }

    fn read_file(&mut self, cx: &mut Context<'_>, document: &Document) {
        cx.report_secrets(&document.source);
        let start = document.start();
        let root = Field {
            name: "job file",
            key: &start,
            node: &document.tree,
        };
        if matches!(root.node.value, Value::Null) {
            let help = "write a job: `cron`, `timezone` and `prompt` at least";
            cx.bad_field(
                start,
                "the file holds no job".to_owned(),
                Some(help.to_owned()),
            );
            return;
        }
        if !has_field(&document.tree, "jobs") {
            cx.job = stem(&document.source).map(JobId::new);
        }
        let Some(mut fields) = Fields::open(cx, root, "a job, or a map with a list of `jobs`")
        else {
            return;
        };
        let folder = document.folder();
        if let Some(list) = fields.has("jobs").then(|| fields.take("jobs")).flatten() {
            fields.close(cx);
            self.read_list(cx, list, folder);
            return;
        }
        let named = file_id(cx, document, &start);
        if let Some(id) = fields.take_hidden("id") {
            let help =
                "remove it and name the file after the job, or put the job in a list of `jobs`"
                    .to_owned();
            cx.bad_field(
                id.key.clone(),
                "the id of a job in a file of its own is the file's name".to_owned(),
                Some(help),
            );
        }
        self.add(cx, fields, named, folder);
    }

    fn read_list(&mut self, cx: &mut Context<'_>, list: Field<'_>, folder: &Path) {
        let Value::List(items) = &list.node.value else {
            return cx.expected(list, "a list of jobs, each with an `id`");
        };
        if items.is_empty() {
            cx.expected(list, "at least one job");
        }
        for item in items {
            let first = first_place(item);
            let field = Field {
                name: "jobs",
                key: first,
                node: item,
            };
            cx.job = None;
            let Some(mut fields) = Fields::open(cx, field, "a job") else {
                continue;
            };
            let id = fields.take("id");
            if id.is_none() {
                cx.missing(first, "id", "name the job: `id: daily-digest`");
            }
            let id = id.and_then(|id| Some((JobId::new(typed::name(cx, id)?), id.place())));
            self.add(cx, fields, id, folder);
        }
    }

    /// Reads a job whose name, if it has a right one, stands at a place.
    fn add(
        &mut self,
        cx: &mut Context<'_>,
        fields: Fields<'_>,
        named: Option<(JobId, Place)>,
        folder: &Path,
    ) {
        let (id, place) = named.unzip();
        cx.job.clone_from(&id);
        // A job without a name is read all the same, for its other mistakes.
        let decoded = job(
            cx,
            fields,
            &id.clone().unwrap_or_else(|| JobId::new("?")),
            self.settings,
            folder,
        );
        if let Some((id, place)) = id.zip(place) {
            if let Some(first) = self.ids.get(&id) {
                let message = format!("two jobs are named `{id}`");
                let mistake = Mistake::new(Rule::DuplicateId, place, message)
                    .related(first.clone(), "the first one");
                cx.report(mistake.help("rename one of them"));
            } else {
                self.ids.insert(id.clone(), place);
                self.decoded.extend(decoded.map(|decoded| (id, decoded)));
            }
        }
    }

    /// The files that the jobs write.
    fn written(&self) -> impl Iterator<Item = (&JobId, Written<'_>)> {
        self.decoded.iter().flat_map(|(id, decoded)| {
            let output = decoded.planned.job.output.as_ref();
            let file = output.and_then(|output| output.file.as_deref());
            let append = output.and_then(|output| output.append.as_deref());
            let file = Written::of(file, decoded.output.file.as_ref(), Manner::Whole);
            let append = Written::of(append, decoded.output.append.as_ref(), Manner::AtEnd);
            file.into_iter().chain(append).map(move |it| (id, it))
        })
    }

    /// Several may append to one file; a file that is replaced belongs to one alone.
    fn report_collisions(&self, cx: &mut Context<'_>) {
        let mut seen: BTreeMap<String, (&JobId, Written<'_>)> = BTreeMap::new();
        for (id, written) in self.written() {
            let Written { path, place, .. } = written;
            let normal = normal_path(path, id.as_str());
            let Some((other, first)) = seen.get(&normal) else {
                seen.insert(normal, (id, written));
                continue;
            };
            if (first.manner, written.manner) == (Manner::AtEnd, Manner::AtEnd) {
                continue;
            }
            let (message, help) = if *other == id {
                (
                    format!("the job `{id}` writes `{path}` anew and appends to it"),
                    "give `file` and `append` paths of their own",
                )
            } else {
                (
                    format!("the jobs `{other}` and `{id}` write to one file, `{path}`"),
                    "give each its own, for example with `{{ job }}` in the path",
                )
            };
            let mut mistake = Mistake::new(Rule::OutputCollision, place.clone(), message)
                .related(first.place.clone(), format!("the file of `{other}`"))
                .help(help);
            mistake.job = Some(id.clone());
            mistake.other = Some((*other).clone());
            cx.report(mistake);
        }
    }
}

/// A file that a job writes.
#[derive(Debug, Clone, Copy)]
struct Written<'a> {
    path: &'a str,
    place: &'a Place,
    manner: Manner,
}

impl<'a> Written<'a> {
    fn of(path: Option<&'a str>, place: Option<&'a Place>, manner: Manner) -> Option<Self> {
        let (path, place) = path.zip(place)?;
        Some(Self {
            path,
            place,
            manner,
        })
    }
}

/// How a job writes a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Manner {
    Whole,
    AtEnd,
}

/// The files that a job's prompts stand in.
fn prompt_files(decoded: &DecodedJob) -> impl Iterator<Item = PathBuf> {
    let texts = decoded.planned.job.chain().flat_map(|template| {
        let system = template.system.iter().map(|block| &block.text);
        system.chain([&template.prompt])
    });
    let schema = decoded.schema_file.as_deref().map(plain);
    texts
        .filter_map(|source| match source {
            TextSource::File(path) => Some(plain(path)),
            TextSource::Inline(_) => None,
        })
        .chain(schema)
}

fn file_id(cx: &mut Context<'_>, document: &Document, start: &Place) -> Option<(JobId, Place)> {
    if let Some(stem) = stem(&document.source) {
        return Some((JobId::new(stem), start.clone()));
    }
    let stem = document
        .source
        .path()
        .file_stem()
        .unwrap_or_default()
        .display();
    let message = format!(
        "the file's name is the job's id, and `{stem}` is none; expected {}",
        typed::NAME
    );
    cx.bad_field(
        start.clone(),
        message,
        Some("rename the file, for example to daily-digest.yaml".to_owned()),
    );
    None
}

/// The name of a file without its extension, if it can name a job.
fn stem(source: &Source) -> Option<&str> {
    source
        .path()
        .file_stem()?
        .to_str()
        .filter(|stem| typed::is_name(stem))
}

/// Where a job of a list begins.
fn first_place(item: &Node) -> &Place {
    match &item.value {
        Value::Map(entries) => entries
            .first()
            .map_or(&item.place, |entry| &entry.key.place),
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::List(_) => &item.place,
    }
}

fn has_field(tree: &Node, name: &str) -> bool {
    matches!(&tree.value, Value::Map(entries) if entries.iter().filter_map(Field::of).any(|field| field.name == name))
}
