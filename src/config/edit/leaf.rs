//! From a change to the value in the tree that says its expression.

use crate::lint::Change;

use super::super::fields::Field;
use super::super::node::{Entry, Node, Value};
use super::super::source::Place;
use super::{Splice, style};

/// A parsed file, with every text that came through an alias.
#[derive(Debug)]
pub(super) struct Tree<'t> {
    pub(super) root: &'t Node,
    aliased: Vec<Aliased<'t>>,
}

/// A text that came through an alias.
#[derive(Debug)]
struct Aliased<'t> {
    node: &'t Node,
    /// Where `*name` stands.
    site: &'t Place,
    names: Names,
}

/// What an alias names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The text itself.
    Text,
    /// A list or map that holds it.
    Whole,
}

/// An expression in the tree.
#[derive(Debug, Clone)]
pub(super) struct Leaf<'t> {
    pub(super) node: &'t Node,
    pub(super) path: Vec<Step>,
}

/// One step down a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Step {
    /// To the value of this entry.
    Entry(usize),
    /// To this item.
    Item(usize),
}

/// Where a reason shows, and the reason itself.
type Flaw = (Option<Place>, String);

/// A way down a tree.
#[derive(Debug)]
struct Walk<'t> {
    node: &'t Node,
    path: Vec<Step>,
    /// The alias through which the way led.
    through: Option<&'t Place>,
}

impl<'t> Tree<'t> {
    /// Looks for aliases.
    pub(super) fn new(root: &'t Node) -> Self {
        let mut aliased = Vec::new();
        collect(root, Names::Text, &mut aliased);
        Self { root, aliased }
    }

    /// The expression that a change is about, if it can change without another that nobody asked for.
    pub(super) fn leaf(&self, change: &Change) -> Result<Leaf<'t>, Flaw> {
        let lost = || (None, "its place in the file was not found".to_owned());
        let walk = self.walk(change).ok_or_else(lost)?;
        let place = &walk.node.place;
        match &walk.node.value {
            Value::Text(text) if text.split_whitespace().eq(change.from.split_whitespace()) => {}
            Value::Text(_)
            | Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Map(_) => return Err(lost()),
        }
        let of_whole =
            |aliased: &&Aliased<'_>| aliased.names == Names::Whole && aliased.node.place == *place;
        let shared = walk.through.or_else(|| {
            let whole = self.aliased.iter().find(of_whole);
            whole.map(|aliased| aliased.site)
        });
        if let Some(site) = shared {
            let reason = format!(
                "it is written once for several places, through `{}`; write it out in each",
                site.text()
            );
            return Err((Some(site.clone()), reason));
        }
        Ok(Leaf {
            node: walk.node,
            path: walk.path,
        })
    }

    fn walk(&self, change: &Change) -> Option<Walk<'t>> {
        let root = Walk {
            node: self.root,
            path: Vec::new(),
            through: None,
        };
        let is_pickup = change.job.as_str() == format!("pickup:{}", change.group);
        let list = if is_pickup {
            let pickup = root.field("defer")?.field("pickup")?;
            if matches!(pickup.node.value, Value::Map(_)) {
                pickup.field(change.group.as_str())?
            } else {
                pickup
            }
        } else if position(self.root, "jobs").is_some() {
            root.field("jobs")?
                .job(change.job.as_str())?
                .field("cron")?
        } else {
            root.field("cron")?
        };
        if matches!(list.node.value, Value::List(_)) {
            return list.item(change.cron);
        }
        (change.cron == 0).then_some(list)
    }
}

impl<'t> Walk<'t> {
    fn field(mut self, name: &str) -> Option<Self> {
        let at = position(self.node, name)?;
        let entry = &self.node.entries()[at];
        self.through = self.through.or(entry.key.alias.as_ref());
        Some(self.to(Step::Entry(at), &entry.value))
    }

    fn item(self, at: usize) -> Option<Self> {
        let item = items(self.node).get(at)?;
        Some(self.to(Step::Item(at), item))
    }

    /// To the job of a name in a list of jobs.
    fn job(self, id: &str) -> Option<Self> {
        let is_named = |item: &Node| {
            let id_of = position(item, "id").map(|at| &item.entries()[at].value.value);
            matches!(id_of, Some(Value::Text(text)) if text == id)
        };
        let at = items(self.node).iter().position(is_named)?;
        self.item(at)
    }

    fn to(mut self, step: Step, node: &'t Node) -> Self {
        // The alias of the node itself is no matter of its way.
        self.through = self.through.or(self.node.alias.as_ref());
        self.path.push(step);
        self.node = node;
        self
    }
}

impl Leaf<'_> {
    /// The new text, where it goes.
    ///
    /// An alias is taken out, so that its definition stays as it is. Where the
    /// definition changes, each alias of it that stays gets the old expression.
    pub(super) fn splices(
        &self,
        tree: &Tree<'_>,
        changes: &[(&Change, Leaf<'_>)],
        change: &Change,
    ) -> Vec<Splice> {
        if let Some(alias) = &self.node.alias {
            return vec![Splice::new(alias.span(), style::quoted(&change.to))];
        }
        let place = &self.node.place;
        let new = style::in_style_of(place, &change.to);
        let mut splices = vec![Splice::new(place.span(), new)];
        let moves = |site: &Place| {
            let sites = changes
                .iter()
                .filter_map(|(_, leaf)| leaf.node.alias.as_ref());
            sites.into_iter().any(|other| other == site)
        };
        let users = tree.aliased.iter().filter(|user| user.node.place == *place);
        for user in users.filter(|user| !moves(user.site)) {
            splices.push(Splice::new(user.site.span(), style::quoted(&change.from)));
        }
        splices
    }
}

/// Takes the value at a path and leaves nothing there.
pub(super) fn cleared(root: &mut Node, path: &[Step]) -> Option<Value> {
    let mut node = root;
    for step in path {
        node = match (&mut node.value, step) {
            (Value::Map(entries), Step::Entry(at)) => &mut entries.get_mut(*at)?.value,
            (Value::List(items), Step::Item(at)) => items.get_mut(*at)?,
            (_, _) => return None,
        };
    }
    Some(std::mem::replace(&mut node.value, Value::Null))
}

/// Every text below a node that came through an alias.
fn collect<'t>(node: &'t Node, names: Names, found: &mut Vec<Aliased<'t>>) {
    let below = match node.alias {
        Some(_) => Names::Whole,
        None => names,
    };
    match &node.value {
        Value::List(items) => items.iter().for_each(|item| collect(item, below, found)),
        Value::Map(entries) => {
            for entry in entries {
                let below = if entry.key.alias.is_some() {
                    Names::Whole
                } else {
                    below
                };
                collect(&entry.value, below, found);
            }
        }
        Value::Text(_) => {
            let site = node.alias.as_ref();
            found.extend(site.map(|site| Aliased { node, site, names }));
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) => {}
    }
}

fn position(node: &Node, name: &str) -> Option<usize> {
    let is_named = |entry: &Entry| Field::of(entry).is_some_and(|field| field.name == name);
    node.entries().iter().position(is_named)
}

fn items(node: &Node) -> &[Node] {
    match &node.value {
        Value::List(items) => items,
        Value::Null
        | Value::Bool(_)
        | Value::Int(_)
        | Value::Float(_)
        | Value::Text(_)
        | Value::Map(_) => &[],
    }
}
