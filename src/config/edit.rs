//! Writes new cron expressions into YAML files and leaves every other byte alone.
//!
//! An edit is planned on the masked text, where every byte stands where it
//! stands in the file. The result is parsed again: its tree must be the same
//! but for the expressions that change. Only then are files written.

mod diff;
mod leaf;
mod style;
mod write;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::lint::Change;
use crate::schedule::CronExpr;

use super::files;
use super::node::{Entry, Node, Value};
use super::source::{Place, Source};
use super::sources::Sources;

pub use diff::{DiffLine, Side};
pub use write::{WriteError, write};

use leaf::{Leaf, Tree};

/// What changes in one file.
#[derive(Debug, Clone)]
pub struct FileEdit {
    source: Arc<Source>,
    /// In the order of the file; they do not overlap.
    splices: Vec<Splice>,
}

/// New text in the place of old.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Splice {
    start: usize,
    end: usize,
    text: String,
}

/// A change that is not made, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The change.
    pub change: Change,
    /// Where its expression stands, if that is known.
    pub place: Option<Place>,
    /// Why, and the way out.
    pub reason: String,
}

impl FileEdit {
    /// The absolute path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.source.path()
    }

    /// The path as shown to people.
    #[must_use]
    pub fn file(&self) -> &str {
        self.source.name()
    }

    /// The text after the edit, secrets masked.
    #[must_use]
    pub fn text(&self) -> String {
        self.spliced(self.source.text())
    }

    /// The new text of a file of which the source is the masked text.
    fn spliced(&self, text: &str) -> String {
        let mut new = text.to_owned();
        for splice in self.splices.iter().rev() {
            new.replace_range(splice.start..splice.end, &splice.text);
        }
        new
    }
}

impl Splice {
    fn new(span: Range<usize>, text: String) -> Self {
        Self {
            start: span.start,
            end: span.end,
            text,
        }
    }
}

/// Plans changes, file by file in the order of their paths.
///
/// # Errors
///
/// Every change that cannot be made without another that nobody asked for; then none is planned.
pub fn edits(sources: &Sources, changes: &[Change]) -> Result<Vec<FileEdit>, Vec<Refusal>> {
    let mut files: BTreeMap<PathBuf, (Arc<Source>, Vec<&Change>)> = BTreeMap::new();
    let mut refusals = Vec::new();
    for change in changes {
        match sources.place_of(change) {
            Some(place) if let Some(other) = sources.sharing(change, &place) => {
                let reason = format!(
                    "group `{other}` takes its pickup slots from the same list; give each group its own: `pickup: {{ {}: [...], {other}: [...] }}`",
                    change.group
                );
                refusals.push(refusal(change, Some(place), reason));
            }
            Some(place) => {
                let source = place.source();
                let file = files.entry(source.path().to_owned());
                let (_, changes) = file.or_insert_with(|| (Arc::clone(source), Vec::new()));
                changes.push(change);
            }
            None => refusals.push(refusal(change, None, "its place is not known")),
        }
    }
    let mut edits = Vec::new();
    for (source, changes) in files.into_values() {
        match file_edit(&source, &changes) {
            Ok(edit) => edits.push(edit),
            Err(refused) => refusals.extend(refused),
        }
    }
    if refusals.is_empty() {
        Ok(edits)
    } else {
        Err(refusals)
    }
}

fn refusal(change: &Change, place: Option<Place>, reason: impl Into<String>) -> Refusal {
    Refusal {
        change: change.clone(),
        place,
        reason: reason.into(),
    }
}

/// The edit of one file; if its result is wrong, the changes that are wrong alone are refused, or all.
fn file_edit(source: &Arc<Source>, changes: &[&Change]) -> Result<FileEdit, Vec<Refusal>> {
    let Ok(document) = files::parse(Arc::clone(source)) else {
        let refused = |change: &&Change| refusal(change, None, "the file cannot be read");
        return Err(changes.iter().map(refused).collect());
    };
    let tree = Tree::new(&document.tree);
    let mut found: Vec<(&Change, Leaf<'_>)> = Vec::new();
    let mut refusals = Vec::new();
    for change in changes {
        match tree.leaf(change) {
            Ok(leaf) => found.push((change, leaf)),
            Err((place, reason)) => refusals.push(refusal(change, place, reason)),
        }
    }
    if !refusals.is_empty() {
        return Err(refusals);
    }
    if let Some(edit) = planned(source, &tree, &found) {
        return Ok(edit);
    }
    let is_wrong = |one: &&_| planned(source, &tree, std::slice::from_ref(*one)).is_none();
    let mut wrong: Vec<_> = found.iter().filter(is_wrong).collect();
    if wrong.is_empty() {
        wrong = found.iter().collect();
    }
    let reason = "the file would not read the same after the change; write the expression in quotes, on a line of its own";
    let refused = |(change, leaf): &(&Change, Leaf<'_>)| {
        refusal(change, Some(leaf.node.place.clone()), reason)
    };
    Err(wrong.into_iter().map(refused).collect())
}

/// The edit, if its result is the tree as it was but for the expressions that change.
fn planned(
    source: &Arc<Source>,
    tree: &Tree<'_>,
    changes: &[(&Change, Leaf<'_>)],
) -> Option<FileEdit> {
    let mut splices = Vec::new();
    for (change, leaf) in changes {
        // What is no expression could say anything.
        CronExpr::parse(&change.to).ok()?;
        splices.extend(leaf.splices(tree, changes, change));
    }
    splices.sort_unstable();
    splices.dedup();
    let overlap = |pair: &[Splice]| pair[1].start < pair[0].end;
    if splices.windows(2).any(overlap) {
        return None;
    }
    let edit = FileEdit {
        source: Arc::clone(source),
        splices,
    };
    let text = edit.text();
    let new = Source::new(source.path().to_owned(), source.name(), text);
    let mut new = files::parse(new).ok()?.tree;
    let mut old = tree.root.clone();
    for (change, leaf) in changes {
        let said = leaf::cleared(&mut new, &leaf.path)?;
        if !matches!(said, Value::Text(text) if text.trim() == change.to) {
            return None;
        }
        leaf::cleared(&mut old, &leaf.path)?;
    }
    is_same(&old, &new).then_some(edit)
}

/// Whether two trees say the same, wherever it stands.
fn is_same(one: &Node, two: &Node) -> bool {
    match (&one.value, &two.value) {
        (Value::List(one), Value::List(two)) => {
            one.len() == two.len() && one.iter().zip(two).all(|(one, two)| is_same(one, two))
        }
        (Value::Map(one), Value::Map(two)) => {
            let entry = |(one, two): (&Entry, &Entry)| {
                is_same(&one.key, &two.key) && is_same(&one.value, &two.value)
            };
            one.len() == two.len() && one.iter().zip(two).all(entry)
        }
        (one, two) => one == two,
    }
}
