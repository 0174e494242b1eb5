//! What the parser says of a broken text, in our words: what stands there, and what to write.

use std::sync::Arc;

use serde_yaml::Error;
use serde_yaml::budget::BudgetBreach;

use super::bare;
use super::node::{MAX_DEPTH, MAX_NODES, MAX_REPLAYED};
use super::source::{Place, Source};

/// Why a text is no YAML.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct YamlError {
    /// Where, if the parser says so.
    pub place: Option<Place>,
    /// What was found.
    pub message: String,
    /// What to write instead.
    pub help: Option<String>,
}

/// What was found, and what to write instead.
struct Words {
    found: String,
    help: String,
}

/// What is said of an error of the parser that stands at a place.
pub fn explain(source: &Arc<Source>, error: &Error, place: Option<Place>) -> YamlError {
    let error = error.without_snippet();
    let is_broken = matches!(
        error,
        Error::Message { .. } | Error::ExternalMessage { .. } | Error::UnknownAnchor { .. }
    );
    if let Some(place) = place.as_ref().filter(|_| is_broken)
        && let Some(bare) = bare::value(place)
    {
        return bare;
    }
    if matches!(error, Error::MultipleDocuments { .. }) {
        return YamlError {
            place: place.map(|place| document_start(source, &place)),
            message: "this is no single YAML document: a second one begins here".to_owned(),
            help: Some(
                "put each job in a file of its own, or all of them under `jobs:`".to_owned(),
            ),
        };
    }
    let words = words(error, place.as_ref());
    YamlError {
        place: place.map(|place| at_tab(&place)),
        message: format!("this is no YAML: {}", words.found),
        help: Some(words.help),
    }
}

fn words(error: &Error, place: Option<&Place>) -> Words {
    match error {
        Error::Message { msg, .. } | Error::ExternalMessage { msg, .. } => scanned(msg, place),
        Error::AliasError { error, .. } => words(error.without_snippet(), place),
        Error::Budget { breach, .. } => exceeded(breach),
        Error::UnknownAnchor { .. } => say(
            "no anchor of this name stands before it",
            "define the anchor first, as in `&name`, or put the text in quotes",
        ),
        Error::AliasReplayCounterOverflow { .. }
        | Error::AliasReplayLimitExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. } => unfolded(),
        Error::RecursiveReferencesRequireWeakTypes { .. } => say(
            "this alias stands within its own anchor",
            "write the value out",
        ),
        Error::MergeValueNotMapOrSeqOfMaps { .. } | Error::MergeKeyNotAllowed { .. } => say(
            "`<<` takes a map or a list of maps",
            "name an anchor of a map: `<<: *name`",
        ),
        Error::InvalidBinaryBase64 { .. } | Error::BinaryNotUtf8 { .. } => say(
            "this `!!binary` holds no text",
            "take the tag away and write the text itself",
        ),
        Error::Eof { .. } => scanned("EOF", place),
        // What is left concerns types that a tree of any values never asks for.
        _ => scanned("", place),
    }
}

fn say(found: &str, help: &str) -> Words {
    Words {
        found: found.to_owned(),
        help: help.to_owned(),
    }
}

fn unfolded() -> Words {
    Words {
        found: format!("the aliases of this file unfold to more than {MAX_REPLAYED} values"),
        help: "write the values out, or put jobs in files of their own".to_owned(),
    }
}

fn exceeded(breach: &BudgetBreach) -> Words {
    match breach {
        BudgetBreach::Depth { .. } => nested(),
        BudgetBreach::Aliases { .. }
        | BudgetBreach::Anchors { .. }
        | BudgetBreach::AliasAnchorRatio { .. }
        | BudgetBreach::RecordedAnchorEvents { .. }
        | BudgetBreach::RecordedAnchorBytes { .. }
        | BudgetBreach::ScalarBytes { .. }
        | BudgetBreach::MergeKeys { .. } => unfolded(),
        _ => Words {
            found: format!("the file holds more than {MAX_NODES} keys and values"),
            help: "divide it into several files".to_owned(),
        },
    }
}

fn nested() -> Words {
    Words {
        found: format!("lists and maps stand more than {MAX_DEPTH} deep in one another"),
        help: "no field needs more than six; look for a bracket too many".to_owned(),
    }
}

/// A part of the scanner's sentence, what was found, and what to write; the first that fits counts.
const SCANNED: [(&str, &str, &str); 21] = [
    (
        "tab",
        "a tab stands where blanks belong",
        "indent with blanks: two for each level",
    ),
    (
        "unclosed quote",
        "the quote that opens here is never closed",
        "write the same quote again where the text ends",
    ),
    (
        "document indicator",
        "`---` or `...` stands within quotes",
        "close the quotes before it, or indent the line",
    ),
    (
        "unclosed bracket",
        "the bracket that opens here is never closed",
        "close it, or write one field a line without brackets",
    ),
    (
        "mismatched bracket",
        "the bracket that opens here is closed by one of another kind",
        "close `{` with `}` and `[` with `]`",
    ),
    (
        "misplaced bracket",
        "a bracket closes here that was never opened",
        "take it away, or put the text in quotes",
    ),
    (
        "simple key",
        "a field's name lacks its `:`",
        "write `name: value`, with a blank after the colon",
    ),
    (
        "expected key",
        "this line does not begin where the fields around it begin",
        "begin all fields of a map in one column; put a text that goes on over several lines in quotes",
    ),
    (
        "expected '-'",
        "this line does not begin where the list around it begins",
        "begin all items of a list in one column with `- `",
    ),
    (
        "expected ','",
        "a comma or the closing bracket is missing before this",
        "put commas between the items; put a text with `,`, `:` or brackets in quotes",
    ),
    (
        "trailing content",
        "something follows the closing quote",
        "put the whole text in one pair of quotes",
    ),
    (
        "quoted scalar",
        "the `\\` in this text begins no escape",
        "write `\\\\` for a backslash, or put the text in single quotes",
    ),
    (
        "omment",
        "a comment stands where none can stand",
        "put a blank before `#`, or put the text in quotes",
    ),
    (
        "irective",
        "a line that begins with `%` is no part of a job",
        "take it away, or put the text in quotes",
    ),
    (
        "<document start>",
        "a line that begins with `%` is no part of a job",
        "take it away, or put the text in quotes",
    ),
    (
        "block scalar",
        "the text after `|` or `>` is not indented as one block",
        "begin its lines in one column, further right than the field's name",
    ),
    (
        "block",
        "a `-` cannot stand here",
        "begin each item of a list on a line of its own, or put the text in quotes",
    ),
    (
        "anchor or alias",
        "`&` or `*` begins a name here, and none follows",
        "put the text in quotes",
    ),
    (
        "tag",
        "`!` begins a tag here, and it is none",
        "put the text in quotes",
    ),
    (
        "indentation",
        "this line is not indented as its beginning needs",
        "indent what goes on over several lines further than its field's name",
    ),
    (
        "EOF",
        "the file ends in the middle of a value",
        "write the rest, or take the beginning away",
    ),
];

fn scanned(message: &str, place: Option<&Place>) -> Words {
    if message.contains("recursion limit") {
        return nested();
    }
    let is_colon = message.contains("':'") && !message.contains("simple key");
    if is_colon || message.contains("mapping values are not allowed") {
        let help = match place.and_then(bare::quoted_line) {
            Some(line) => format!("put the value in quotes: `{line}`"),
            None => "put the value in quotes".to_owned(),
        };
        return Words {
            found: "a `:` stands within a value".to_owned(),
            help: format!("{help}; a map in one line stands in braces: `{{ text: hello }}`"),
        };
    }
    let next = || place?.source().text()[place?.span().start..].chars().next();
    if message.contains("unexpected character")
        && let Some(letter) = next()
    {
        return Words {
            found: format!(
                "the character U+{:04X} cannot stand here",
                u32::from(letter)
            ),
            help: "take it away, or put the text in quotes".to_owned(),
        };
    }
    SCANNED
        .iter()
        .find(|(part, ..)| message.contains(part))
        .map_or_else(
            || {
                say(
                    "it breaks off here",
                    "look at the quotes, brackets and indentation before this place",
                )
            },
            |(_, found, help)| say(found, help),
        )
}

/// The tab before a place: the parser stops behind it.
fn at_tab(place: &Place) -> Place {
    let start = place.span().start;
    if place.source().text()[..start].ends_with('\t') {
        place.at(start - 1..start)
    } else {
        place.clone()
    }
}

/// The line of dashes before a place; the parser stops at what follows it.
fn document_start(source: &Arc<Source>, place: &Place) -> Place {
    let dashes = (1..=place.line())
        .rev()
        .map(|line| source.line_span(line))
        .find(|span| source.text()[span.clone()].starts_with("---"));
    dashes.map_or_else(
        || place.clone(),
        |span| source.place(span.start..span.start + 3),
    )
}
