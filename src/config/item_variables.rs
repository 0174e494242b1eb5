//! What `{{ item.… }}` may name, by where the items of a job come from.

use std::sync::Arc;

use minijinja::Value;
use minijinja::value::Object;

use super::fields::Field;
use super::node::{Node, Value as Yaml};

/// The variable that holds the item at hand.
pub const ITEM: &str = "item";

/// The attribute under which a record's own fields are found.
const FIELDS: &str = "fields";

/// Where the items of a job come from, as far as templates go by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ItemKind {
    /// Files.
    Files,
    /// Files by their names alone: a path is settled without a look into them.
    FileNames,
    /// Lines of a text.
    Lines,
    /// JSON values.
    Records,
    /// `for_each` has a mistake of its own: whatever the templates name is let pass.
    Unclear,
}

impl ItemKind {
    /// The kind that `for_each` names, with or without other mistakes.
    pub fn of(node: &Node) -> Self {
        let entries = match &node.value {
            Yaml::Map(entries) => entries.as_slice(),
            Yaml::Null
            | Yaml::Bool(_)
            | Yaml::Int(_)
            | Yaml::Float(_)
            | Yaml::Text(_)
            | Yaml::List(_) => &[],
        };
        let mut kinds = entries
            .iter()
            .filter_map(Field::of)
            .filter_map(|field| match field.name {
                "files" => Some(Self::Files),
                "lines" => Some(Self::Lines),
                "records" => Some(Self::Records),
                _ => None,
            });
        match (kinds.next(), kinds.next()) {
            (Some(kind), None) => kind,
            (Some(_) | None, _) => Self::Unclear,
        }
    }

    /// The same for the path of an output.
    pub const fn in_path(self) -> Self {
        match self {
            Self::Files | Self::FileNames => Self::FileNames,
            Self::Lines => Self::Lines,
            Self::Records => Self::Records,
            Self::Unclear => Self::Unclear,
        }
    }

    /// The attributes of an item of this kind.
    pub const fn attributes(self) -> &'static [&'static str] {
        match self {
            Self::Files => &["name", "path", "stem", "text"],
            Self::FileNames => &["name", "path", "stem"],
            Self::Lines => &["name", "number", "text"],
            Self::Records => &["fields", "name", "number", "text"],
            Self::Unclear => &["fields", "name", "number", "path", "stem", "text"],
        }
    }

    /// Whether a dotted name such as `item.fields.email` may be filled in, as far as that is known before a run.
    pub fn has(self, dotted: &str) -> bool {
        let mut parts = dotted.split('.').skip(1);
        parts
            .next()
            .is_none_or(|name| self == Self::Unclear || self.attributes().contains(&name))
    }

    /// An item to try templates with.
    pub fn sample(self) -> Value {
        Value::from_pairs(self.attributes().iter().map(|name| match *name {
            FIELDS => (*name, Value::from_object(AnyField)),
            _ => (*name, Value::from("x")),
        }))
    }
}

/// A record that has every field.
#[derive(Debug)]
struct AnyField;

impl Object for AnyField {
    fn get_value(self: &Arc<Self>, _key: &Value) -> Option<Value> {
        Some(Value::from("x"))
    }
}
