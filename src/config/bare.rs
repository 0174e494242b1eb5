//! Values that need quotes and have none: cron expressions first of all.

use super::explain::YamlError;
use super::source::Place;

/// Longer lines are not written out again in advice.
const MAX_ADVISED: usize = 100;

/// What to say if the parser stopped at a sign that cannot begin a value, as `*` in `cron: */5 * * * *`.
pub fn value(place: &Place) -> Option<YamlError> {
    let text = &place.source().text()[place.span().start..];
    let sign = text.chars().next()?;
    let line = text.lines().next().unwrap_or_default();
    let is_bare = match sign {
        '*' => is_star_of_cron(line),
        '@' => line[1..].starts_with(|c: char| c.is_ascii_alphabetic()),
        '%' | '`' => true,
        _ => false,
    };
    if !is_bare {
        return None;
    }
    let whole = whole_value(place);
    Some(YamlError {
        message: format!("this is no YAML: a value cannot begin with `{sign}` without quotes"),
        help: Some(advice(&whole)),
        place: Some(whole),
    })
}

/// The line of a place with its value in quotes, if it is a field whose value can simply be quoted.
pub fn quoted_line(place: &Place) -> Option<String> {
    let source = place.source();
    let line = source.text()[source.line_span(place.line())].trim();
    let (name, value) = line.split_once(": ")?;
    let value = value.trim();
    let quotable = line.len() <= MAX_ADVISED && !value.starts_with(['[', '{', '|', '>', '\'']);
    (quotable && !line.contains(['"', '\\'])).then(|| format!("{name}: \"{value}\""))
}

/// A star that begins a cron expression, and no alias.
fn is_star_of_cron(line: &str) -> bool {
    let next = line.as_bytes().get(1);
    next.is_none_or(|byte| b" ,/-]".contains(byte) || byte.is_ascii_digit())
}

/// The value in quotes, after its name or dash where that is all there is before it.
fn advice(whole: &Place) -> String {
    let source = whole.source();
    let text = whole.text();
    if text.len() > MAX_ADVISED || text.contains(['"', '\\']) {
        return "put it in quotes".to_owned();
    }
    let line = source.line_start(whole.line());
    let before = source.text()[line..whole.span().start].trim();
    if before.len() <= MAX_ADVISED && !before.contains(['[', '{', '"', '\'']) {
        format!("put it in quotes: `{before} \"{text}\"`")
    } else {
        format!("put it in quotes: `\"{text}\"`")
    }
}

/// From the first sign of the value to its end; the parser may stop at a later one.
fn whole_value(place: &Place) -> Place {
    let source = place.source();
    let line = source.line_span(place.line());
    let before = &source.text()[line.start..place.span().start];
    let in_list = before.contains(['[', '{']);
    let begins_after: &[char] = if in_list { &[':', '[', '{', ','] } else { &[] };
    let begin = match before.rfind(begins_after) {
        Some(at) => at + 1,
        None => value_start(before),
    };
    let blanks = before[begin..].len() - before[begin..].trim_start_matches(' ').len();
    let start = line.start + begin + blanks;
    let rest = &source.text()[start..line.end];
    let ends: &[char] = if in_list { &[',', ']', '}'] } else { &[] };
    let end = [rest.find(ends), rest.find(" #")];
    let end = end.into_iter().flatten().min().unwrap_or(rest.len());
    place.at(start..start + rest[..end].trim_end().len())
}

/// Where the value of a block line begins: after the first `: `, or after the dashes of a list.
fn value_start(before: &str) -> usize {
    before.find(": ").map_or_else(
        || before.len() - before.trim_start_matches([' ', '-']).len(),
        |at| at + 2,
    )
}

#[cfg(test)]
mod tests {
    use super::super::source::Source;
    use super::*;

    fn said(text: &str, at: usize) -> Option<(String, String)> {
        let source = Source::new("/w/a.yaml".into(), "a.yaml", text.into());
        let said = value(&source.place(at..at + 1))?;
        Some((said.place?.text().to_owned(), said.help?))
    }

    #[test]
    fn the_whole_value_is_marked_and_written_with_quotes() {
        for (text, at, value, help) in [
            ("cron: * 5 * * *", 6, "* 5 * * *", "`cron: \"* 5 * * *\"`"),
            ("cron: @daily # x", 6, "@daily", "`cron: \"@daily\"`"),
            (
                "cron: */5 1,2 * 1-3 *",
                14,
                "*/5 1,2 * 1-3 *",
                "`cron: \"*/5 1,2 * 1-3 *\"`",
            ),
            ("  - * * * * *", 4, "* * * * *", "`- \"* * * * *\"`"),
            (
                "a: [x, */5 * * * *, y]",
                7,
                "*/5 * * * *",
                "`\"*/5 * * * *\"`",
            ),
            ("{ cron: * * * * * }", 8, "* * * * *", "`\"* * * * *\"`"),
            ("d: `x` y", 3, "`x` y", "`d: \"`x` y\"`"),
        ] {
            let help = format!("put it in quotes: {help}");
            assert_eq!(said(text, at), Some((value.to_owned(), help)), "{text}");
        }
    }

    #[test]
    fn an_alias_is_none_and_a_long_value_is_not_repeated() {
        assert_eq!(said("a: *name", 3), None);
        assert_eq!(said("a: @", 3), None);
        let long = format!("a: * {}", "x".repeat(200));
        assert_eq!(said(&long, 3).unwrap().1, "put it in quotes");
    }
}
