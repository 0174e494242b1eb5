//! Whether a JSON value is what a JSON Schema describes: the keywords that the API itself honours for an answer.
//!
//! Small on purpose: types, required and further properties, items, fixed values, alternatives and references within
//! the schema. A keyword that is not read here (a length, a pattern, a format) is not checked.

use std::cell::Cell;

use serde_json::{Map, Value};

/// A schema that refers to itself is followed no deeper; the parser takes no value that is deeper.
const MAX_DEPTH: usize = 256;

/// Steps of one comparison: alternatives that refer to each other would be tried for ever. What is left after so many
/// is not checked.
const MAX_STEPS: u32 = 1_000_000;

/// Characters of a name from an answer that are shown.
const MAX_SHOWN: usize = 60;

/// The first thing in which a value differs from a schema, as a sentence; `None` if it does not.
pub fn misfit(schema: &Value, value: &Value) -> Option<String> {
    let check = Check {
        root: schema,
        steps: Cell::new(0),
    };
    let (path, problem) = check.first(schema, value, 0)?;
    Some(match path.as_str() {
        "" => format!("the answer {problem}"),
        path => format!("`{}` {problem}", shown(path)),
    })
}

/// Where something is wrong, as `/items/2/title`, and what.
type Misfit = (String, String);

struct Check<'s> {
    root: &'s Value,
    steps: Cell<u32>,
}

impl Check<'_> {
    fn first(&self, schema: &Value, value: &Value, depth: usize) -> Option<Misfit> {
        let here = |problem: &str| Some((String::new(), problem.to_owned()));
        let rules = match schema {
            Value::Bool(false) => return here("is not allowed"),
            Value::Object(rules) if depth < MAX_DEPTH && self.has_steps() => rules,
            _ => return None,
        };
        if let Some(target) = rules.get("$ref").and_then(Value::as_str) {
            let pointer = target.strip_prefix('#').unwrap_or(target);
            let target = self.root.pointer(pointer)?;
            return self.first(target, value, depth + 1);
        }
        if let Some(expected) = rules.get("type").filter(|types| !is_of(types, value)) {
            return Some((
                String::new(),
                format!("is {}, expected {}", kind(value), types_in(expected)),
            ));
        }
        let is_listed = |values: &Value| values.as_array().is_none_or(|all| all.contains(value));
        if rules.get("enum").is_some_and(|values| !is_listed(values)) {
            return here("is none of the values that `enum` lists");
        }
        if rules.get("const").is_some_and(|only| only != value) {
            return here("is not the value that `const` asks for");
        }
        let inside = match value {
            Value::Object(fields) => self.first_field(rules, fields, depth),
            Value::Array(items) => self.first_item(rules, items, depth),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => None,
        };
        inside.or_else(|| self.first_alternative(rules, value, depth))
    }

    /// Takes a step, if there is one left.
    fn has_steps(&self) -> bool {
        let steps = self.steps.get();
        self.steps.set(steps.saturating_add(1));
        steps < MAX_STEPS
    }

    fn first_field(
        &self,
        rules: &Map<String, Value>,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> Option<Misfit> {
        let required = rules.get("required").and_then(Value::as_array);
        let mut required = required.into_iter().flatten().filter_map(Value::as_str);
        if let Some(name) = required.find(|name| !fields.contains_key(*name)) {
            return Some((String::new(), format!("has no `{}`", shown(name))));
        }
        let known = rules.get("properties").and_then(Value::as_object);
        let further = rules.get("additionalProperties");
        fields.iter().find_map(
            |(name, value)| match known.and_then(|known| known.get(name)) {
                Some(schema) => below(name, self.first(schema, value, depth + 1)),
                None if further == Some(&Value::Bool(false)) => {
                    let problem = format!("has a field `{}`, which is not allowed", shown(name));
                    Some((String::new(), problem))
                }
                None => below(name, self.first(further?, value, depth + 1)),
            },
        )
    }

    fn first_item(
        &self,
        rules: &Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Option<Misfit> {
        let schema = rules.get("items")?;
        let items = items.iter().enumerate();
        let wrong = |(index, item): (usize, &Value)| {
            below(&index.to_string(), self.first(schema, item, depth + 1))
        };
        items.map(wrong).find_map(|wrong| wrong)
    }

    /// Of `allOf` the first that the value fails; of `anyOf` and `oneOf` that it fails them all.
    fn first_alternative(
        &self,
        rules: &Map<String, Value>,
        value: &Value,
        depth: usize,
    ) -> Option<Misfit> {
        let list = |name: &str| rules.get(name).and_then(Value::as_array);
        let fails = |schema: &Value| self.first(schema, value, depth + 1);
        if let Some(wrong) = list("allOf").and_then(|all| all.iter().find_map(fails)) {
            return Some(wrong);
        }
        let name = ["anyOf", "oneOf"].into_iter().find(|name| {
            let any = list(name);
            any.is_some_and(|any| any.iter().all(|schema| fails(schema).is_some()))
        })?;
        Some((String::new(), format!("fits nothing of `{name}`")))
    }
}

/// The same misfit, seen from the value around it.
fn below(name: &str, misfit: Option<Misfit>) -> Option<Misfit> {
    misfit.map(|(path, problem)| (format!("/{name}{path}"), problem))
}

fn is_of(types: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("boolean") => value.is_boolean(),
        Some("string") => value.is_string(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        Some("number") => value.is_number(),
        // 1.0 is a whole number in a schema.
        Some("integer") => {
            let is_whole = |number: f64| number.fract() == 0.0;
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(is_whole)
        }
        Some(_) | None => true,
    };
    match types {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn types_in(types: &Value) -> String {
    let names: Vec<&str> = match types {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => name.as_str().into_iter().collect(),
    };
    format!("`{}`", names.join("` or `"))
}

/// A name of the answer's, short and without control characters.
fn shown(name: &str) -> String {
    let cut: String = name.chars().take(MAX_SHOWN).collect();
    let dots = if cut.len() < name.len() { "…" } else { "" };
    cut.replace(char::is_control, "\u{fffd}") + dots
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// A digest, as a job might ask for one.
    fn digest() -> Value {
        json!({
            "type": "object",
            "required": ["title", "items"],
            "additionalProperties": false,
            "properties": {
                "title": { "type": "string" },
                "items": { "type": "array", "items": { "$ref": "#/$defs/item" } },
                "score": { "type": ["integer", "null"] },
            },
            "$defs": {
                "item": {
                    "type": "object",
                    "required": ["level"],
                    "properties": {
                        "level": { "enum": ["low", "high"] },
                        "more": { "anyOf": [{ "type": "null" }, { "$ref": "#/$defs/item" }] },
                    },
                    "additionalProperties": { "type": "number" },
                },
            },
        })
    }

    #[test]
    fn what_fits_is_taken_and_each_misfit_is_told_with_its_place() {
        let table = [
            (json!({"title": "a", "items": []}), None),
            (
                json!({"title": "a", "score": 1.0, "items": [{"level": "low", "more": {"level": "high", "x": 1}}]}),
                None,
            ),
            (json!([]), Some("the answer is a list, expected `object`")),
            (json!({"title": "a"}), Some("the answer has no `items`")),
            (
                json!({"title": 1, "items": []}),
                Some("`/title` is a number, expected `string`"),
            ),
            (
                json!({"title": "a", "items": [], "zzz": 1}),
                Some("the answer has a field `zzz`, which is not allowed"),
            ),
            (
                json!({"title": "a", "items": [{"level": "low"}, {}]}),
                Some("`/items/1` has no `level`"),
            ),
            (
                json!({"title": "a", "items": [{"level": "none"}]}),
                Some("`/items/0/level` is none of the values that `enum` lists"),
            ),
            (
                json!({"title": "a", "items": [{"level": "low", "x": "1"}]}),
                Some("`/items/0/x` is a text, expected `number`"),
            ),
            (
                json!({"title": "a", "items": [{"level": "low", "more": {}}]}),
                Some("`/items/0/more` fits nothing of `anyOf`"),
            ),
            (
                json!({"title": "a", "items": [], "score": 0.5}),
                Some("`/score` is a number, expected `integer` or `null`"),
            ),
        ];
        for (value, expected) in table {
            assert_eq!(misfit(&digest(), &value).as_deref(), expected, "{value}");
        }
    }

    #[test]
    fn fixed_values_joined_rules_and_forbidden_ones_are_read() {
        let said = |schema: Value, value: Value| misfit(&schema, &value);
        assert_eq!(said(json!({"const": 1}), json!(1)), None);
        assert!(said(json!({"const": 1}), json!(2)).is_some());
        let both = json!({"allOf": [{"required": ["a"]}, {"required": ["b"]}]});
        assert_eq!(said(both.clone(), json!({"a": 1, "b": 1})), None);
        assert_eq!(
            said(both, json!({"a": 1})).unwrap(),
            "the answer has no `b`"
        );
        assert!(said(json!({"properties": {"a": false}}), json!({"a": 1})).is_some());
        assert_eq!(said(json!({"minLength": 9}), json!("short")), None);
    }

    /// A reference to itself would be followed for ever.
    #[test]
    fn schema_that_turns_in_a_circle_ends() {
        let schema = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/a"}}});
        assert_eq!(misfit(&schema, &json!(1)), None);
        assert_eq!(misfit(&json!({"$ref": "#/nowhere"}), &json!(1)), None);
        let never =
            json!({"allOf": [{"type": "number"}, {"anyOf": [{"$ref": "#"}, {"$ref": "#"}]}]});
        assert_eq!(
            misfit(
                &json!({"allOf": [never, {"$ref": "#"}, {"$ref": "#"}]}),
                &json!(1)
            ),
            None
        );
    }

    #[test]
    fn names_of_the_answer_are_shown_short_and_without_control_characters() {
        let schema = json!({"additionalProperties": false});
        let name = format!("\u{1b}[31m{}", "x".repeat(500));
        let said = misfit(&schema, &json!({ name: 1 })).unwrap();
        assert!(
            said.chars().count() < 150 && !said.contains('\u{1b}'),
            "{said}"
        );
    }
}
