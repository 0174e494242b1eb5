//! What `{{ item.… }}` holds.

use std::collections::BTreeMap;
use std::path::Path;

use minijinja::Value;

use crate::job::{ForEach, ItemSource};
use crate::piece::Item;

/// The variable that holds the item at hand.
pub(super) const ITEM: &str = "item";

/// The attribute that holds a record's own fields.
const FIELDS: &str = "fields";

/// Fields that a message lists; a record may have thousands.
const MAX_NAMES: usize = 30;

/// The attributes of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemVariables {
    texts: BTreeMap<&'static str, String>,
    /// The members of a record that is an object.
    fields: Option<BTreeMap<String, String>>,
}

impl ItemVariables {
    /// The attributes of an item; the text of a file is given apart, as it is read anew.
    pub(super) fn new(item: &Item, for_each: Option<&ForEach>, text: Option<String>) -> Self {
        let text = text.or_else(|| item.text.clone());
        let mut texts = BTreeMap::from([("name", item.name.clone())]);
        let mut fields = None;
        match (for_each.map(|it| &it.source), &item.text) {
            (Some(ItemSource::Files { folder, .. }), None) => {
                texts.insert("path", folder.join(&item.name).display().to_string());
                texts.insert("stem", stem(&item.name));
            }
            (Some(ItemSource::Records(_)), Some(text)) => fields = members(text),
            (_, Some(_) | None) => {}
        }
        if let Some((_, number)) = item.name.rsplit_once(' ').filter(|_| item.text.is_some()) {
            texts.insert("number", number.to_owned());
        }
        texts.extend(text.map(|text| ("text", text)));
        Self { texts, fields }
    }

    /// The same for use in a path. The names of files keep their folders, all of which lie below the pattern's own: two
    /// files of one name would otherwise have one output.
    pub(super) fn for_path(&self) -> Self {
        let is_file = self.texts.contains_key("path");
        let texts = self.texts.iter().map(|(name, text)| {
            let keeps = is_file && matches!(*name, "name" | "stem");
            (*name, if keeps { text.clone() } else { one_name(text) })
        });
        let fields = self.fields.as_ref().map(|fields| {
            let fields = fields.iter();
            fields
                .map(|(name, text)| (name.clone(), one_name(text)))
                .collect()
        });
        Self {
            texts: texts.collect(),
            fields,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        let texts = self.texts.iter();
        let texts = texts.map(|(name, text)| (*name, Value::from(text.as_str())));
        let fields = self.fields.as_ref().map(|fields| {
            let fields = fields.iter();
            let fields = fields.map(|(name, text)| (name.as_str(), Value::from(text.as_str())));
            (FIELDS, Value::from_pairs(fields))
        });
        Value::from_pairs(texts.chain(fields))
    }

    /// Whether `item`, one of its attributes or a record's field is there.
    pub(super) fn fills(&self, dotted: &str) -> bool {
        let mut parts = dotted.split('.').skip(1);
        match (parts.next(), parts.next(), &self.fields) {
            (None, _, _) => true,
            (Some(FIELDS), None, fields) => fields.is_some(),
            (Some(FIELDS), Some(name), Some(fields)) => fields.contains_key(name),
            (Some(FIELDS), Some(_), None) => false,
            (Some(name), _, _) => self.texts.contains_key(name),
        }
    }

    /// The dotted names of all that is there.
    pub(super) fn names(&self) -> impl Iterator<Item = String> {
        let texts = self.texts.keys().map(|name| format!("{ITEM}.{name}"));
        let fields = self.fields.iter().flat_map(BTreeMap::keys).take(MAX_NAMES);
        texts.chain(fields.map(|name| format!("{ITEM}.{FIELDS}.{name}")))
    }
}

/// A text that is one name in a path, or a part of one.
pub(super) fn one_name(text: &str) -> String {
    text.replace(['/', '\\', '\0'], "-")
}

/// The name without its extension, folders and all.
fn stem(name: &str) -> String {
    let path = Path::new(name);
    let stem = path.with_extension("");
    stem.to_str().unwrap_or(name).to_owned()
}

/// The members of a JSON object: texts as they are, other values as JSON.
fn members(text: &str) -> Option<BTreeMap<String, String>> {
    let object: serde_json::Map<String, serde_json::Value> = serde_json::from_str(text).ok()?;
    let members = object.into_iter().map(|(name, value)| match value {
        serde_json::Value::String(text) => (name, text),
        value => (name, value.to_string()),
    });
    Some(members.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Input, InputSource, Presence, Which};

    fn of(source: ItemSource, name: &str, text: Option<&str>) -> ItemVariables {
        let item = Item {
            name: name.to_owned(),
            key: String::new(),
            mark: String::new(),
            text: text.map(str::to_owned),
        };
        let for_each = ForEach {
            source,
            which: Which::All,
            limit: None,
        };
        ItemVariables::new(&item, Some(&for_each), None)
    }

    fn file(name: &str) -> ItemVariables {
        let source = ItemSource::Files {
            folder: "/docs".into(),
            pattern: "**/*".to_owned(),
        };
        of(source, name, None)
    }

    fn record(text: &str) -> ItemVariables {
        let source = ItemSource::Records(Box::new(Input {
            name: "records".to_owned(),
            source: InputSource::File("/list".into()),
            presence: Presence::Required,
            max_bytes: 100,
        }));
        of(source, "record 7", Some(text))
    }

    #[test]
    fn a_file_has_its_path_and_its_names_keep_their_folders_in_an_output() {
        let file = file("a/x.tar.gz");
        assert_eq!(file.texts["path"], "/docs/a/x.tar.gz");
        let safe = file.for_path();
        assert_eq!(safe.texts["name"], "a/x.tar.gz");
        assert_eq!(safe.texts["stem"], "a/x.tar");
        assert_eq!(safe.texts["path"], "-docs-a-x.tar.gz");
        assert!(!file.texts.contains_key("number"));
    }

    #[test]
    fn a_record_has_its_number_and_its_fields() {
        let record = record(r#"{"name": "A/B", "age": 7, "tags": ["x"]}"#);
        let fields = record.fields.as_ref().unwrap();
        assert_eq!(record.texts["number"], "7");
        assert_eq!(record.texts["name"], "record 7");
        let expected = [("age", "7"), ("name", "A/B"), ("tags", r#"["x"]"#)];
        let found = fields.iter().map(|(name, text)| (&**name, &**text));
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(record.for_path().fields.unwrap()["name"], "A-B");
    }

    #[test]
    fn what_is_not_there_is_known() {
        let record = record(r#"{"a": 1}"#);
        assert!(record.fills("item") && record.fills("item.fields.a") && record.fills("item.text"));
        assert!(!record.fills("item.fields.b") && !record.fills("item.a"));
        let list = super::tests::record("[1]");
        assert!(!list.fills("item.fields") && !list.fills("item.fields.a"));
        let names: Vec<String> = record.names().collect();
        assert_eq!(
            names,
            ["item.name", "item.number", "item.text", "item.fields.a"]
        );
    }
}
