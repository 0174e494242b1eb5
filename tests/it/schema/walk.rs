//! Ways through a schema, and the same ways through a sample.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::LazyLock;

use offpeak::config::{JOB_SCHEMA, SETTINGS_SCHEMA};
use serde_json::{Map, Value, json};

use super::sample::Kind;

static SCHEMAS: LazyLock<[Value; 2]> =
    LazyLock::new(|| [SETTINGS_SCHEMA, JOB_SCHEMA].map(|text| serde_json::from_str(text).unwrap()));

/// From a value to one inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// A field of this name.
    Field(&'static str),
    /// A field whose name the user chooses.
    Any,
    /// An element of a list.
    Item,
}

/// A place in a schema.
#[derive(Debug, Clone)]
pub struct Spot {
    /// The kind of file.
    pub kind: Kind,
    steps: Vec<Step>,
    /// The node with its notes, and what it refers to, from reference to reference.
    chain: Vec<&'static Value>,
    /// The end of the chain, which has the rules.
    target: &'static Value,
    /// The name of the definition that it refers to.
    pub definition: Option<&'static str>,
    /// The maps and lists around it, the outermost first: one for each step.
    parents: Vec<&'static Value>,
}

/// Every place in the schema of a kind, the whole map first. What a listed job shares with one in a file of its own is
/// left out; a test holds the two together.
pub fn spots(kind: Kind) -> Vec<Spot> {
    let [settings, job] = &*SCHEMAS;
    let root = match kind {
        Kind::Settings => settings,
        Kind::Job => &job["definitions"]["job"],
        Kind::Listed => &job["definitions"]["listed_job"],
    };
    let mut found = Vec::new();
    collect(Spot::new(kind, Vec::new(), root, Vec::new()), &mut found);
    found
}

fn collect(spot: Spot, found: &mut Vec<Spot>) {
    let inside = spot.children();
    found.push(spot);
    for child in inside {
        if !child.is_shared() {
            collect(child, found);
        }
    }
}

/// Calls for every map that refers to a definition.
pub fn each_reference(schema: &Value, call: &mut dyn FnMut(&Map<String, Value>)) {
    match schema {
        Value::Object(map) => {
            if map.contains_key("$ref") {
                call(map);
            }
            for value in map.values() {
                each_reference(value, call);
            }
        }
        Value::Array(items) => {
            for item in items {
                each_reference(item, call);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

impl Spot {
    fn new(
        kind: Kind,
        steps: Vec<Step>,
        node: &'static Value,
        parents: Vec<&'static Value>,
    ) -> Self {
        let [settings, job] = &*SCHEMAS;
        let schema = if kind == Kind::Settings {
            settings
        } else {
            job
        };
        let (mut target, mut definition) = (node, None);
        let mut chain = vec![node];
        while let Some(reference) = target["$ref"].as_str() {
            let pointer = reference.trim_start_matches('#');
            target = schema.pointer(pointer).unwrap();
            definition = pointer.rsplit('/').next();
            chain.push(target);
        }
        Self {
            kind,
            steps,
            chain,
            target,
            definition,
            parents,
        }
    }

    fn children(&self) -> Vec<Self> {
        let child = |step, node| {
            let steps = [self.steps.as_slice(), &[step]].concat();
            let parents = [self.parents.as_slice(), &[self.target]].concat();
            Self::new(self.kind, steps, node, parents)
        };
        let fields = self
            .fields()
            .map(|(name, node)| child(Step::Field(name), node));
        let any = self.target.get("additionalProperties");
        let any = any.filter(|node| node.is_object());
        fields
            .chain(any.map(|node| child(Step::Any, node)))
            .chain(self.target.get("items").map(|node| child(Step::Item, node)))
            .collect()
    }

    /// Whether it is a field of a listed job that refers to the same field of a job.
    fn is_shared(&self) -> bool {
        let shared = format!("#/definitions/job/properties/{}", self.path());
        self.kind == Kind::Listed && self.chain[0]["$ref"] == shared
    }

    /// The fields that may stand here; `false` marks those that may not.
    fn fields(&self) -> impl Iterator<Item = (&'static str, &'static Value)> {
        let fields = self.target.get("properties").and_then(Value::as_object);
        fields
            .into_iter()
            .flatten()
            .filter(|(_, node)| **node != Value::Bool(false))
            .map(|(name, node)| (name.as_str(), node))
    }

    /// The names of its fields.
    pub fn names(&self) -> BTreeSet<String> {
        self.fields().map(|(name, _)| name.to_owned()).collect()
    }

    /// The way to it.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The way to it as a text.
    pub fn path(&self) -> String {
        let parts: Vec<&str> = self
            .steps
            .iter()
            .map(|step| match step {
                Step::Field(name) => name,
                Step::Any => "*",
                Step::Item => "[]",
            })
            .collect();
        parts.join(".")
    }

    /// Whether it is a map with fields of its own and no others.
    pub fn is_closed_map(&self) -> bool {
        self.target["additionalProperties"] == json!(false)
    }

    /// Whether nothing has a name of its own inside.
    pub fn is_leaf(&self) -> bool {
        let parts = ["properties", "additionalProperties"];
        parts.iter().all(|part| self.target.get(part).is_none())
    }

    /// A note or rule of the place, or else of what it refers to.
    pub fn get(&self, key: &str) -> Option<&'static Value> {
        self.chain.iter().find_map(|node| node.get(key))
    }

    /// What an editor shows.
    pub fn description(&self) -> &'static str {
        self.get("description")
            .and_then(Value::as_str)
            .unwrap_or_default()
    }

    /// The default.
    pub fn default(&self) -> Option<Value> {
        self.get("default").cloned()
    }

    /// The examples.
    pub fn examples(&self) -> Vec<Value> {
        let examples = self.get("examples").and_then(Value::as_array);
        examples.cloned().unwrap_or_default()
    }

    /// Every value that may stand here, where there are few.
    pub fn words(&self) -> Vec<Value> {
        if self.target["type"] == "boolean" {
            return vec![json!(true), json!(false)];
        }
        let words = self.target.get("enum").and_then(Value::as_array);
        words.cloned().unwrap_or_default()
    }

    /// A right file but for this value.
    pub fn plant(&self, value: Value) -> Value {
        let mut map = self.room();
        if self.path() == "on_empty_input" && value == "send" || self.path() == "output.file" {
            // Without an item there is no call to send; and each item needs a file of its own.
            let map = map.as_object_mut().unwrap();
            map.retain(|name, _| !["for_each", "concurrency"].contains(&name.as_str()));
            map.insert("output".to_owned(), json!({ "file": "out.md" }));
        }
        if self.path() == "delivery" && value == "batch" {
            // What needs an answer at once.
            let map = map.as_object_mut().unwrap();
            let at_once = ["steps", "fallback_model", "concurrency"];
            map.retain(|name, _| !at_once.contains(&name.as_str()));
            map.insert("prompt".to_owned(), json!({ "text": "Hello." }));
        }
        *slot(&mut map, &self.steps) = value;
        self.kind.document(map)
    }

    /// The sample without what excludes something on the way.
    fn room(&self) -> Value {
        let mut map = self.kind.sample();
        if self.path().starts_with("for_each.records") {
            map["for_each"]["records"] = map["for_each"]["lines"].clone();
        }
        for (index, (step, parent)) in self.steps.iter().zip(&self.parents).enumerate() {
            if let Step::Field(name) = step {
                let owner = slot(&mut map, &self.steps[..index]);
                remove_excluded(owner, parent, name);
            }
        }
        map
    }

    /// A right file but for an unknown field in this map.
    pub fn plant_unknown(&self) -> Value {
        let mut map = self.room();
        slot(&mut map, &self.steps)["zzz"] = json!(1);
        self.kind.document(map)
    }

    /// Takes out of a map what its rules do not let stand together.
    pub fn settle(&self, map: &mut Value, keep: &str) {
        remove_excluded(map, self.target, keep);
    }
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = format!("{:?}", self.kind).to_lowercase();
        write!(f, "{kind} {}", self.path())
    }
}

/// The value at the end of a way; what is no map or list on the way becomes one. A map becomes the first of a list.
fn slot<'v>(mut value: &'v mut Value, steps: &[Step]) -> &'v mut Value {
    for step in steps {
        value = match step {
            Step::Field(name) => {
                if !value.is_object() {
                    *value = json!({});
                }
                &mut value[*name]
            }
            Step::Any => {
                if !value.is_object() {
                    *value = json!({ "main": null });
                }
                value.as_object_mut().unwrap().values_mut().next().unwrap()
            }
            Step::Item => {
                if !value.is_array() {
                    let first = Some(value.take()).filter(Value::is_object);
                    *value = json!([first]);
                }
                &mut value[0]
            }
        };
    }
    value
}

/// Removes what excludes a field, and then what needs a field that is gone.
fn remove_excluded(map: &mut Value, rules: &Value, keep: &str) {
    let Some(map) = map.as_object_mut() else {
        return;
    };
    let alternatives = |rules: &Value| -> Vec<String> {
        let rules = rules.as_array().into_iter().flatten();
        let required = rules.filter_map(|rule| rule["required"][0].as_str());
        required.map(str::to_owned).collect()
    };
    let exclusive = alternatives(&rules["oneOf"]);
    if exclusive.iter().any(|name| name == keep) {
        map.retain(|name, _| name == keep || !exclusive.contains(name));
    }
    for (dependent, needs) in rules["dependencies"].as_object().into_iter().flatten() {
        let mut needed = alternatives(&needs["anyOf"]);
        needed.extend(needs[0].as_str().map(str::to_owned));
        if needed.iter().any(|needed| map.contains_key(needed)) {
            continue;
        }
        if dependent == keep {
            map.retain(|name, _| !exclusive.contains(name));
            let name = needed.remove(0);
            let value = if name == "url" {
                "http://needed"
            } else {
                "needed"
            };
            map.insert(name, json!(value));
        } else {
            map.shift_remove(dependent);
        }
    }
}
