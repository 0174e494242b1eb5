//! The fields of a map, taken one by one; what is left over is unknown.
//!
//! A map may lie over a second one that holds defaults: a field that the upper
//! one lacks, or holds wrongly, is taken from the lower one.

use std::collections::BTreeMap;

use super::context::Context;
use super::node::{Entry, Node, Value};
use super::source::Place;
use super::value::{listed, nearest};

/// One field: its name, where the name stands, and its value.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    /// The name, for messages.
    pub name: &'a str,
    /// Where the name stands.
    pub key: &'a Place,
    /// The value.
    pub node: &'a Node,
}

impl<'a> Field<'a> {
    /// Where to mark a mistake in the value: the value, or the name if the value is empty or a collection.
    pub fn place(&self) -> Place {
        match &self.node.value {
            Value::List(_) | Value::Map(_) => self.key.clone(),
            Value::Null if self.node.place.span().is_empty() => self.key.clone(),
            _ => self.node.place.clone(),
        }
    }

    /// An element of a list in this field.
    pub fn element(&self, node: &'a Node) -> Self {
        Self {
            name: self.name,
            key: &node.place,
            node,
        }
    }

    /// An entry of a map whose names the user chooses.
    pub fn of(entry: &'a Entry) -> Option<Self> {
        let Value::Text(name) = &entry.key.value else {
            return None;
        };
        Some(Self {
            name,
            key: &entry.key.place,
            node: &entry.value,
        })
    }
}

/// The fields of a map that have not been taken yet.
#[derive(Debug)]
pub struct Fields<'a> {
    owner: Place,
    layers: Vec<&'a [Entry]>,
    known: Vec<&'static str>,
    hidden: Vec<&'static str>,
}

impl<'a> Fields<'a> {
    /// Opens a map; anything else is a mistake. An empty value is an empty map.
    pub fn open(cx: &mut Context<'_>, field: Field<'a>, expected: &str) -> Option<Self> {
        let entries = open_entries(cx, field, expected)?;
        Some(Self {
            owner: field.key.clone(),
            layers: vec![entries],
            known: Vec::new(),
            hidden: Vec::new(),
        })
    }

    /// Opens a map over its defaults; if it is no map, the defaults hold alone.
    pub fn over(cx: &mut Context<'_>, upper: Option<Field<'a>>, lower: Field<'a>) -> Self {
        let upper = upper.map(|field| {
            (
                field.key.clone(),
                open_entries(cx, field, "a map").unwrap_or_default(),
            )
        });
        let lower_entries = open_entries(cx, lower, "a map").unwrap_or_default();
        match upper {
            Some((owner, entries)) => Self {
                owner,
                layers: vec![entries, lower_entries],
                known: Vec::new(),
                hidden: Vec::new(),
            },
            None => Self {
                owner: lower.key.clone(),
                layers: vec![&[], lower_entries],
                known: Vec::new(),
                hidden: Vec::new(),
            },
        }
    }

    /// Where the map's name stands.
    pub fn owner(&self) -> &Place {
        &self.owner
    }

    /// The defaults alone.
    pub fn lower(&self) -> Self {
        let layers = vec![&[][..], self.layers.get(1).copied().unwrap_or_default()];
        Self {
            owner: self.owner.clone(),
            layers,
            known: Vec::new(),
            hidden: Vec::new(),
        }
    }

    /// Whether the upper map holds a field.
    pub fn has(&self, name: &str) -> bool {
        find(self.layers.first(), name).is_some()
    }

    /// Where the value of a field of the upper map stands; the map's name if it has no such field.
    pub fn place_of(&self, name: &str) -> Place {
        find(self.layers.first(), name).map_or_else(|| self.owner.clone(), |field| field.place())
    }

    /// Takes a field from the upper map, or else from the lower one.
    pub fn take(&mut self, name: &'static str) -> Option<Field<'a>> {
        self.candidates(name).into_iter().flatten().next()
    }

    /// Takes a field that is only ever a mistake, so that it is not suggested as a known name.
    pub fn take_hidden(&mut self, name: &'static str) -> Option<Field<'a>> {
        let field = self.take(name);
        self.known.pop();
        self.hidden.push(name);
        field
    }

    /// Takes a field and reads it; a wrong value of the upper map is reported and the lower one read instead.
    pub fn read<T>(
        &mut self,
        cx: &mut Context<'_>,
        name: &'static str,
        mut reader: impl FnMut(&mut Context<'_>, Field<'a>) -> Option<T>,
    ) -> Option<T> {
        self.candidates(name)
            .into_iter()
            .flatten()
            .find_map(|field| reader(cx, field))
    }

    /// Takes a map within the map, again over its defaults.
    pub fn section(&mut self, cx: &mut Context<'_>, name: &'static str) -> Self {
        match self.candidates(name) {
            [upper, Some(lower)] => Self::over(cx, upper, lower),
            [Some(field), None] => {
                let layers = vec![open_entries(cx, field, "a map").unwrap_or_default()];
                Self {
                    owner: field.key.clone(),
                    layers,
                    known: Vec::new(),
                    hidden: Vec::new(),
                }
            }
            [None, None] => Self {
                owner: self.owner.clone(),
                layers: vec![&[]],
                known: Vec::new(),
                hidden: Vec::new(),
            },
        }
    }

    /// Reports what nobody took, with the nearest name that would have been.
    pub fn close(self, cx: &mut Context<'_>) {
        for field in self
            .layers
            .first()
            .into_iter()
            .copied()
            .flatten()
            .filter_map(Field::of)
        {
            if self.known.contains(&field.name) || self.hidden.contains(&field.name) {
                continue;
            }
            let known = self.known.iter().copied();
            let help = cx.crowd.has_room(field.key).then(|| {
                nearest(field.name, known.clone()).map_or_else(
                    || format!("known here: {}", listed(known)),
                    |name| format!("did you mean `{name}`?"),
                )
            });
            cx.bad_field(
                field.key.clone(),
                format!("unknown field `{}`", field.name),
                help,
            );
        }
    }

    fn candidates(&mut self, name: &'static str) -> [Option<Field<'a>>; 2] {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        [
            find(self.layers.first(), name),
            find(self.layers.get(1), name),
        ]
    }
}

fn find<'a>(layer: Option<&&'a [Entry]>, name: &str) -> Option<Field<'a>> {
    layer?
        .iter()
        .filter_map(Field::of)
        .find(|field| field.name == name)
}

/// The entries of a map; reports repeated names and names that are no texts.
pub fn open_entries<'a>(
    cx: &mut Context<'_>,
    field: Field<'a>,
    expected: &str,
) -> Option<&'a [Entry]> {
    let entries = match &field.node.value {
        Value::Map(entries) => entries,
        Value::Null => return Some(&[]),
        Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) | Value::List(_) => {
            cx.expected(field, expected);
            return None;
        }
    };
    let mut seen: BTreeMap<&str, &Place> = BTreeMap::new();
    for entry in entries {
        let Some(field) = Field::of(entry) else {
            let message = format!("a field's name must be a text, found {}", entry.key.kind());
            cx.bad_field(
                entry.key.place.clone(),
                message,
                Some("put it in quotes".to_owned()),
            );
            continue;
        };
        match seen.get(field.name) {
            Some(first) => cx.repeated(field, first),
            None => drop(seen.insert(field.name, field.key)),
        }
    }
    Some(entries)
}
