//! Fills variables into prompts and output paths.

use std::collections::BTreeMap;

use chrono::{DateTime, Datelike, FixedOffset, SecondsFormat, TimeZone, Utc};
use minijinja::{Environment, Error, ErrorKind, UndefinedBehavior, Value};

use super::error::WorkspaceError;
use super::item_variables::{ITEM, ItemVariables, one_name};
use crate::job::JobId;
use crate::schedule::Zone;
use crate::tag;

/// Instructions, and blocks of about 64 bytes of text, that one rendering may
/// use: room for 64 MB, twice what a request may hold, and a fraction of a second.
const FUEL: u64 = 1_000_000;

/// The values of a template's variables.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Variables {
    texts: BTreeMap<String, Value>,
    item: Option<ItemVariables>,
}

impl Variables {
    /// The variables that every template has: `date`, `slot`, `week`, `job`.
    ///
    /// Date and week are those of the slot in the job's zone, whenever the work is done.
    pub(super) fn of(job: &JobId, fire_at: DateTime<Utc>, zone: &Zone) -> Self {
        let date = zone.civil(fire_at).date();
        let week = date.iso_week();
        let texts = [
            ("date", date.format("%Y-%m-%d").to_string()),
            ("slot", with_offset(fire_at, zone)),
            ("week", format!("{}-W{:02}", week.year(), week.week())),
            ("job", job.to_string()),
        ];
        let texts = texts.map(|(name, text)| (name.to_owned(), Value::from(text)));
        Self {
            texts: BTreeMap::from(texts),
            item: None,
        }
    }

    /// Adds texts by name, inputs or answers; what is there already keeps its meaning.
    pub(super) fn with_texts<'a>(
        mut self,
        texts: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        for (name, text) in texts {
            let entry = self.texts.entry(name.to_owned());
            entry.or_insert_with(|| Value::from(text));
        }
        self
    }

    /// Adds the item at hand.
    pub(super) fn with_item(mut self, item: Option<ItemVariables>) -> Self {
        self.item = item;
        self
    }

    /// The same variables for use in a path: a value never adds a folder to it, but for the names of files, which are
    /// paths below a folder.
    pub(super) fn for_path(&self) -> Self {
        let texts = self.texts.iter();
        let safe = |value: &Value| value.as_str().map(|text| Value::from(one_name(text)));
        Self {
            texts: texts
                .filter_map(|(name, value)| Some((name.clone(), safe(value)?)))
                .collect(),
            item: self.item.as_ref().map(ItemVariables::for_path),
        }
    }

    fn to_value(&self) -> Value {
        let texts = self.texts.iter();
        let texts = texts.map(|(name, value)| (name.as_str(), value.clone()));
        let item = self.item.as_ref().map(|item| (ITEM, item.to_value()));
        Value::from_pairs(texts.chain(item))
    }

    /// Whether something fills a dotted name. Of other attributes than those of `item` the engine itself has a word.
    fn fills(&self, dotted: &str) -> bool {
        let name = dotted.split('.').next().unwrap_or(dotted);
        match &self.item {
            Some(item) if name == ITEM => item.fills(dotted),
            Some(_) | None => self.texts.contains_key(name),
        }
    }

    fn names(&self) -> Vec<String> {
        let item = self.item.iter().flat_map(ItemVariables::names);
        self.texts.keys().cloned().chain(item).collect()
    }
}

/// An instant as `{{ slot }}` shows it: RFC 3339 with the zone's offset.
pub(super) fn with_offset(at: DateTime<Utc>, zone: &Zone) -> String {
    match FixedOffset::east_opt(zone.offset_at(at)) {
        Some(offset) => offset
            .from_utc_datetime(&at.naive_utc())
            .to_rfc3339_opts(SecondsFormat::Secs, false),
        None => at.to_rfc3339_opts(SecondsFormat::Secs, true),
    }
}

/// Fills the variables into a text. `place` names the text in errors: a file, or what the text is.
///
/// A variable that nothing fills is an error, and so is a template that does too much work.
pub(super) fn render(
    place: &str,
    source: &str,
    variables: &Variables,
) -> Result<String, WorkspaceError> {
    if let Some(excess) = tag::excess(source) {
        return Err(WorkspaceError::Template {
            place: place.to_owned(),
            line: source[..excess.span().start].matches('\n').count() + 1,
            message: excess.to_string(),
        });
    }
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(FUEL));
    let failed = |error: &Error, unknown: &[String]| WorkspaceError::Template {
        place: place.to_owned(),
        line: error.line().unwrap_or(1),
        message: explain(error, unknown, variables),
    };
    let template = environment
        .template_from_named_str(place, source)
        .map_err(|error| failed(&error, &[]))?;
    template.render(variables.to_value()).map_err(|error| {
        let names = template.undeclared_variables(true).into_iter();
        let mut unknown: Vec<String> = names.filter(|name| !variables.fills(name)).collect();
        unknown.sort();
        failed(&error, &unknown)
    })
}

fn explain(error: &Error, unknown: &[String], variables: &Variables) -> String {
    match (error.kind(), unknown) {
        (ErrorKind::UndefinedError, [_, ..]) => {
            format!(
                "nothing fills {}; the variables are {}",
                quoted(unknown),
                quoted(&variables.names())
            )
        }
        (ErrorKind::OutOfFuel, _) => {
            "the template does too much work or makes too long a text".to_owned()
        }
        (kind, _) => match error.detail() {
            Some(detail) => format!("{kind}: {detail}"),
            None => kind.to_string(),
        },
    }
}

fn quoted<'a>(names: impl IntoIterator<Item = &'a String>) -> String {
    names
        .into_iter()
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Variables {
        let nothing = Variables {
            texts: BTreeMap::new(),
            item: None,
        };
        nothing.with_texts(pairs.iter().copied())
    }

    fn failure(source: &str, pairs: &[(&str, &str)]) -> String {
        render("prompt.md", source, &variables(pairs))
            .unwrap_err()
            .to_string()
    }

    #[test]
    fn variables_are_filled_in_without_escaping() {
        let filled = render(
            "x.html",
            "a {{ log }} b",
            &variables(&[("log", "<1 & \"2\">")]),
        );
        assert_eq!(filled.unwrap(), "a <1 & \"2\"> b");
    }

    #[test]
    fn value_is_never_expanded_again() {
        let text = "{{ job }} {% for x in y %} {# note #}";
        assert_eq!(
            render("x", "{{ log }}", &variables(&[("log", text), ("job", "j")])).unwrap(),
            text
        );
    }

    #[test]
    fn unknown_variable_is_named_with_its_place_and_the_known_ones() {
        assert_eq!(
            failure("one\ntwo {{ lgo }}", &[("log", ""), ("date", "")]),
            "prompt.md:2: nothing fills `lgo`; the variables are `date`, `log`"
        );
    }

    #[test]
    fn attribute_of_a_text_is_an_error() {
        assert!(
            failure("{{ log.lines }}", &[("log", "x")]).starts_with("prompt.md:1: undefined value")
        );
    }

    #[test]
    fn broken_syntax_names_its_line() {
        assert!(
            failure("one\n\n{{ log", &[("log", "")]).starts_with("prompt.md:3: syntax error: ")
        );
    }

    #[test]
    fn condition_on_an_empty_input_is_false() {
        let source = "{% if notes %}N{% else %}-{% endif %}";
        assert_eq!(
            render("x", source, &variables(&[("notes", "")])).unwrap(),
            "-"
        );
        assert_eq!(
            render("x", source, &variables(&[("notes", "y")])).unwrap(),
            "N"
        );
    }

    #[test]
    fn template_that_grows_without_bound_is_stopped() {
        let doubling = format!(
            "{{% set a = 'x' * 1000 %}}{}{{{{ a }}}}",
            "{% set a = a ~ a %}".repeat(40)
        );
        assert_eq!(
            failure(&doubling, &[]),
            "prompt.md:1: the template does too much work or makes too long a text"
        );
    }

    #[test]
    fn a_tag_that_would_overflow_the_stack_is_refused() {
        // The file may have changed since it was checked; the daemon must outlive it.
        let text = format!("one\n{{{{ date{} }}}}", ".a".repeat(100_000));
        let error = render("prompt.md", &text, &variables(&[("date", "x")])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "prompt.md:2: a tag holds more than 300 words and signs"
        );
    }

    #[test]
    fn input_of_many_megabytes_is_filled_in() {
        let text = "x".repeat(20 << 20);
        assert_eq!(
            render("x", "{{ log }}", &variables(&[("log", &text)]))
                .unwrap()
                .len(),
            text.len()
        );
    }

    #[test]
    fn input_does_not_take_the_name_of_a_built_in_variable() {
        let both = variables(&[("date", "built in")]).with_texts([("date", "input")]);
        assert_eq!(both, variables(&[("date", "built in")]));
    }

    #[test]
    fn value_adds_no_folder_to_a_path() {
        let safe = variables(&[("job", "a/../b\\c")]).for_path();
        assert_eq!(render("x", "{{ job }}", &safe).unwrap(), "a-..-b-c");
    }
}
