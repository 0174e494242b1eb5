//! Checks prompt and path templates before the night they are needed.

use std::collections::BTreeSet;
use std::ops::Range;

use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use crate::lint::Rule;
use crate::tag::{self, Excess};

use super::context::Context;
use super::item_variables::{ITEM, ItemKind};
use super::mistakes::{Mistake, Related};
use super::source::Place;
use super::value::{listed, nearest};

/// The variables that every template has.
pub const BUILT_IN: [&str; 4] = ["date", "slot", "week", "job"];
/// Steps of a trial: a template of a thousand tags stays below.
const TRIAL_FUEL: u64 = 50_000;
/// Steps of a first trial: enough for all but a few templates.
const SHORT_TRIAL_FUEL: u64 = 300;
/// Templates that get the long trial: a file may hold forty thousand jobs, each with a loop in a loop.
const MAX_LONG_TRIALS: usize = 100;

/// Unknown variables of one template that are told at once.
const MAX_UNKNOWN: usize = 100;

/// A template and where it stands.
#[derive(Debug)]
pub struct Template<'a> {
    /// The template as it reads.
    pub text: &'a str,
    /// The template as it is written, in YAML or in a file of its own.
    pub place: Place,
    /// Where the job names the file.
    pub named: Option<Related>,
}

/// The variables that something fills.
#[derive(Debug, Clone, Copy)]
pub struct Variables<'a> {
    /// Those that hold a text.
    pub texts: &'a [&'a str],
    /// What `item` holds; `None` if there is no `for_each`.
    pub item: Option<ItemKind>,
}

impl Variables<'_> {
    /// Every name in the words of a message.
    fn names(self) -> Vec<String> {
        let texts = self.texts.iter().map(|name| (*name).to_owned());
        let attributes = self.item.map_or(&[][..], ItemKind::attributes).iter();
        let attributes = attributes.map(|attribute| match *attribute {
            "fields" => format!("{ITEM}.fields.FIELD"),
            name => format!("{ITEM}.{name}"),
        });
        texts.chain(attributes).collect()
    }

    fn sample(self) -> minijinja::Value {
        let texts = self.texts.iter();
        let texts = texts.map(|name| (*name, minijinja::Value::from("x")));
        let item = self.item.map(|item| (ITEM, item.sample()));
        minijinja::Value::from_pairs(texts.chain(item))
    }
}

/// Reports a template that cannot be read, and variables that nothing fills.
pub fn check(cx: &mut Context<'_>, template: &Template<'_>, variables: Variables<'_>) {
    if let Some(excess) = tag::excess(template.text) {
        return too_much(cx, template, &excess);
    }
    let environment = environment(SHORT_TRIAL_FUEL);
    let compiled = match environment.template_from_str(template.text) {
        Ok(compiled) => compiled,
        Err(error) => return broken(cx, template, &error),
    };
    let used = compiled.undeclared_variables(true).into_iter();
    let known: BTreeSet<&str> = variables.texts.iter().copied().collect();
    let is_filled = |dotted: &String| {
        let name = dotted.split('.').next().unwrap_or(dotted);
        match variables.item {
            Some(item) if name == ITEM => item.has(dotted),
            Some(_) | None => known.contains(name),
        }
    };
    let unknown = used.filter(|dotted| !is_filled(dotted));
    let unknown: BTreeSet<String> = unknown
        .map(|dotted| blamed(dotted, variables.item))
        .collect();
    let mut unknown: Vec<String> = unknown.into_iter().collect();
    // Each is looked for in the text; whoever mends a hundred is told of the next.
    unknown.truncate(MAX_UNKNOWN);
    for name in &unknown {
        unknown_variable(cx, template, name, variables);
    }
    if !unknown.is_empty() {
        return;
    }
    // A filter or a test that does not exist only shows when it is used.
    let values = variables.sample();
    let is_out_of_fuel = |error: &minijinja::Error| error.kind() == ErrorKind::OutOfFuel;
    let mut tried = compiled.render(&values);
    if tried.as_ref().is_err_and(is_out_of_fuel) && cx.long_trials < MAX_LONG_TRIALS {
        cx.long_trials += 1;
        tried = self::environment(TRIAL_FUEL)
            .template_from_str(template.text)
            .and_then(|compiled| compiled.render(&values));
    }
    match tried {
        Err(error) if !is_out_of_fuel(&error) => broken(cx, template, &error),
        Ok(_) | Err(_) => {}
    }
}

/// What of a dotted name nothing fills: an attribute of `item`, or a variable.
fn blamed(mut dotted: String, item: Option<ItemKind>) -> String {
    let is_attribute = item.is_some() && dotted.starts_with("item.");
    let parts = if is_attribute { 2 } else { 1 };
    let length = dotted.split('.').take(parts).map(|part| part.len() + 1);
    let length = length.sum::<usize>() - 1;
    dotted.truncate(length);
    dotted
}

fn environment(fuel: u64) -> Environment<'static> {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(fuel));
    environment
}

fn broken(cx: &mut Context<'_>, template: &Template<'_>, error: &minijinja::Error) {
    let detail = error
        .detail()
        .map_or_else(|| error.kind().to_string(), str::to_owned);
    let line = template.place.line() + error.line().unwrap_or(1) - 1;
    let line = template.place.source().line_span(line);
    let indent = template.place.source().text()[line.clone()]
        .chars()
        .take_while(|c| *c == ' ')
        .count();
    let whole = template.place.span();
    let span =
        (line.start + indent).clamp(whole.start, whole.end)..line.end.clamp(whole.start, whole.end);
    let place = if span.is_empty() {
        template.place.clone()
    } else {
        template.place.at(span)
    };
    let mut mistake = Mistake::new(
        Rule::BadField,
        place,
        format!("the template cannot be used: {detail}"),
    )
    .help("a literal `{{` is written `{{ '{{' }}`");
    mistake.related.clone_from(&template.named);
    cx.report(mistake);
}

/// Reports what the engine could not bear.
fn too_much(cx: &mut Context<'_>, template: &Template<'_>, excess: &Excess) {
    let span = excess.span();
    let help = match excess {
        Excess::Words(_) => "divide it into several tags, with `{% set name = … %}` for the parts",
        Excess::Tags(_) => "move text into an input: its text is never read as a template",
    };
    let written = template.place.text();
    let place = match written.find(&template.text[span.clone()]) {
        Some(at) => {
            let start = template.place.span().start + at;
            template.place.at(start..start + span.len())
        }
        None => template.place.clone(),
    };
    let mut mistake = Mistake::new(Rule::BadField, place, excess.to_string()).help(help);
    mistake.related.clone_from(&template.named);
    cx.report(mistake);
}

fn unknown_variable(
    cx: &mut Context<'_>,
    template: &Template<'_>,
    name: &str,
    variables: Variables<'_>,
) {
    let whole = template.place.span();
    let place = match find_variable(template.place.text(), name) {
        Some(span) => template
            .place
            .at(whole.start + span.start..whole.start + span.end),
        None => template.place.clone(),
    };
    let names = variables.names();
    let names = || names.iter().map(String::as_str);
    // Of an attribute, `item.` is no likeness.
    let near = match (variables.item, name.strip_prefix("item.")) {
        (Some(item), Some(attribute)) => nearest(attribute, item.attributes().iter().copied())
            .map(|near| format!("{ITEM}.{near}")),
        (_, Some(_) | None) => nearest(name, names()).map(str::to_owned),
    };
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None if name == ITEM => {
            "an item is there only with `for_each`, for example `for_each: { files: \"docs/*.md\" }`"
                .to_owned()
        }
        None => format!("known here: {}", listed(names())),
    };
    let mut mistake = Mistake::new(
        Rule::UnknownVariable,
        place,
        format!("nothing fills the variable `{name}`"),
    )
    .help(help);
    mistake.related.clone_from(&template.named);
    cx.report(mistake);
}

/// The first use of a name inside `{{ … }}` or `{% … %}`, not as an attribute and not in quotes.
fn find_variable(text: &str, name: &str) -> Option<Range<usize>> {
    let mut from = 0;
    loop {
        let inside = from + pair_start(&text[from..])? + 2;
        let close = pair_end(&text[inside..]);
        let end = close.map_or(text.len(), |length| inside + length);
        if let Some(span) = find_word(&text[inside..end], name) {
            return Some(inside + span.start..inside + span.end);
        }
        from = end;
    }
}

/// The first `{{` or `{%`: one search for both, or a text without one of them is read to its end for each tag.
fn pair_start(text: &str) -> Option<usize> {
    text.match_indices('{')
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].starts_with(['{', '%']))
}

/// The first `}}` or `%}`.
fn pair_end(text: &str) -> Option<usize> {
    text.match_indices(['}', '%'])
        .map(|(at, _)| at)
        .find(|at| text[at + 1..].starts_with('}'))
}

fn find_word(tag: &str, name: &str) -> Option<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    tag.match_indices(name)
        .map(|(at, _)| at..at + name.len())
        .find(|span| {
            let before = &tag[..span.start];
            !before.ends_with(|c| is_word(c) || c == '.')
                && !tag[span.end..].starts_with(is_word)
                && before.matches(['"', '\'']).count().is_multiple_of(2)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        find_variable(text, name).map(|span| &text[span.start..])
    }

    #[test]
    fn a_variable_is_found_inside_tags_only() {
        assert_eq!(found("log {{ log }}", "log"), Some("log }}"));
        assert_eq!(
            found("{{ date }} {% if x and log %}", "log"),
            Some("log %}")
        );
        assert_eq!(found("log", "log"), None);
    }

    #[test]
    fn a_part_of_a_word_an_attribute_and_a_text_are_no_variable() {
        assert_eq!(
            found("{{ logs }} {{ a.log }} {{ 'log' }} {{ log }}", "log"),
            Some("log }}")
        );
        assert_eq!(found("{{ é }}{{ 'ü' ~ log }}", "log"), Some("log }}"));
    }
}
