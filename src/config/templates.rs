//! Checks prompt and path templates before the night they are needed.

use std::ops::Range;

use minijinja::{Environment, ErrorKind, UndefinedBehavior};

use crate::lint::Rule;

use super::context::Context;
use super::mistakes::{Mistake, Related};
use super::source::Place;
use super::value::{listed, nearest};

/// The variables that every template has.
pub const BUILT_IN: [&str; 4] = ["date", "slot", "week", "job"];
/// Steps of a trial: a template of a thousand tags stays below.
const TRIAL_FUEL: u64 = 50_000;

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

/// Reports a template that cannot be read, and variables that nothing fills.
pub fn check(cx: &mut Context<'_>, template: &Template<'_>, variables: &[&str]) {
    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_fuel(Some(TRIAL_FUEL));
    let compiled = match environment.template_from_str(template.text) {
        Ok(compiled) => compiled,
        Err(error) => return broken(cx, template, &error),
    };
    let mut unknown: Vec<String> = compiled.undeclared_variables(false).into_iter().collect();
    unknown.retain(|name| !variables.contains(&name.as_str()));
    unknown.sort_unstable();
    for name in &unknown {
        unknown_variable(cx, template, name, variables);
    }
    if !unknown.is_empty() {
        return;
    }
    // A filter or a test that does not exist only shows when it is used.
    let trial = minijinja::Value::from_pairs(
        variables
            .iter()
            .map(|name| (*name, minijinja::Value::from("x"))),
    );
    match compiled.render(trial) {
        Err(error) if error.kind() != ErrorKind::OutOfFuel => broken(cx, template, &error),
        Ok(_) | Err(_) => {}
    }
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

fn unknown_variable(cx: &mut Context<'_>, template: &Template<'_>, name: &str, variables: &[&str]) {
    let whole = template.place.span();
    let place = match find_variable(template.place.text(), name) {
        Some(span) => template
            .place
            .at(whole.start + span.start..whole.start + span.end),
        None => template.place.clone(),
    };
    let known = format!("known here: {}", listed(variables.iter().copied()));
    let help = nearest(name, variables.iter().copied())
        .map_or(known, |near| format!("did you mean `{near}`?"));
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
        let open = from
            + text[from..]
                .find("{{")
                .into_iter()
                .chain(text[from..].find("{%"))
                .min()?;
        let inside = open + 2;
        let close = text[inside..]
            .find("}}")
            .into_iter()
            .chain(text[inside..].find("%}"))
            .min();
        let end = close.map_or(text.len(), |length| inside + length);
        if let Some(span) = find_word(&text[inside..end], name) {
            return Some(inside + span.start..inside + span.end);
        }
        from = end;
    }
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
