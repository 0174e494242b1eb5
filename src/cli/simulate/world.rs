//! The world that is lived in: the built-in one, or that of a file.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use crate::cli::{CliError, Context};
use crate::config::read_bounded;
use crate::sim::world::{WorldError, WorldModel};

/// Where the form of a world is seen.
const HELP: &str = "`offpeak simulate --print-world` prints a whole one";

/// The world that is lived in.
#[derive(Debug)]
pub struct World {
    /// What it is like.
    pub model: Arc<WorldModel>,
    /// The file as it was named; `None` for the built-in one.
    pub file: Option<String>,
}

impl World {
    /// Reads a world file; none means the built-in world.
    ///
    /// # Errors
    ///
    /// The file cannot be read, or is no world: with the place of the mistake.
    pub fn read(context: &Context, file: Option<&Path>) -> Result<Self, CliError> {
        let Some(file) = file else {
            return Ok(Self {
                model: Arc::default(),
                file: None,
            });
        };
        let name = file.display().to_string();
        let path = context.path(file);
        let text = read_bounded(&path).map_err(|error| CliError::Refused {
            what: format!(
                "{}: {error}",
                path.strip_prefix(".").unwrap_or(&path).display()
            ),
            help: error.help().to_owned(),
        })?;
        if text.lines().all(is_blank) {
            // The built-in world would be lived in under the name of a file that a failed redirection left.
            return Err(CliError::Refused {
                what: format!("{name}: holds nothing"),
                help: HELP.to_owned(),
            });
        }
        let model = WorldModel::from_yaml(&text).map_err(|error| CliError::Refused {
            what: format!("{name}{}", problem(&text, &error)),
            help: HELP.to_owned(),
        })?;
        Ok(Self {
            model: Arc::new(model),
            file: Some(name),
        })
    }

    /// The error for a world in which nobody can live.
    #[must_use]
    pub fn refused(&self, error: &WorldError) -> CliError {
        CliError::Refused {
            what: format!("{}: {error}", self.words()),
            help: HELP.to_owned(),
        }
    }

    /// How it is called in a sentence.
    #[must_use]
    pub fn words(&self) -> String {
        match &self.file {
            None => "the built-in world".to_owned(),
            Some(file) => format!("the world of {file}"),
        }
    }
}

/// Whether a line of YAML says nothing.
fn is_blank(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#')
}

/// What is wrong, after its place: `:LINE:COLUMN: …`.
fn problem(text: &str, error: &WorldError) -> String {
    let said = error.to_string();
    let field = match error {
        WorldError::Malformed { problem } => return placed(problem),
        WorldError::Bounds { field, .. } => field,
        WorldError::Window { .. } => "peaks.windows",
        WorldError::Zone { .. } => "peaks.timezone",
    };
    let mut words = String::new();
    if let Some((line, column)) = place_of(text, field) {
        // Writing to a text cannot fail.
        let _ = write!(words, ":{line}:{column}");
    }
    words + ": " + &said
}

/// The parser tells the place in words, somewhere in what it says; here it stands in front, as for every other file.
fn placed(problem: &str) -> String {
    let told = || {
        let (before, rest) = problem.split_once("line ")?;
        let (line, rest) = number(rest)?;
        let (column, rest) = number(
            rest.strip_prefix(" column ")
                .or(rest.strip_prefix(", column "))?,
        )?;
        let before = before.trim_end().trim_end_matches("at").trim_end();
        let after = rest.trim_start_matches([':', ',', ' ']);
        let said = [before.trim_end_matches([':', ',']), after];
        let said: Vec<&str> = said.into_iter().filter(|part| !part.is_empty()).collect();
        Some(format!(":{line}:{column}: {}", said.join(": ")))
    };
    told().unwrap_or_else(|| format!(": {problem}"))
}

/// The number at the start of a text, and what follows it.
fn number(text: &str) -> Option<(usize, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..digits].parse().ok()?, &text[digits..]))
}

/// The line and column, counted from 1, of a field such as `overload.per_day`, or of the last of its parts that
/// is there.
fn place_of(text: &str, field: &str) -> Option<(usize, usize)> {
    let mut at = None;
    let mut from = 0;
    for part in field.split('.') {
        let Some(found) = key_after(text, part, from) else {
            break;
        };
        at = Some(found);
        from = found + part.len();
    }
    let before = &text[..at?];
    let line = before.rsplit('\n').next().unwrap_or_default();
    Some((before.matches('\n').count() + 1, line.chars().count() + 1))
}

/// Where a key begins, outside of comments.
fn key_after(text: &str, key: &str, from: usize) -> Option<usize> {
    let found = text[from..].match_indices(key).map(|(at, _)| from + at);
    found.into_iter().find(|at| {
        let line = text[..*at].rsplit('\n').next().unwrap_or_default();
        let is_start = line
            .chars()
            .next_back()
            .is_none_or(|c| !c.is_alphanumeric() && c != '_');
        let is_key = text[at + key.len()..].trim_start().starts_with(':');
        is_start && is_key && !line.contains('#')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(yaml: &str) -> String {
        problem(yaml, &WorldModel::from_yaml(yaml).unwrap_err())
    }

    #[test]
    fn every_mistake_has_its_place() {
        for (yaml, expected) in [
            (
                "# overload: per_day\noverload:\n  lasts: 4m\n  per_day: 2000\n",
                ":4:3: `overload.per_day`: 2000 is outside 0 to 1000",
            ),
            (
                "limit: { requests: 0 }",
                ":1:10: `limit.requests`: 0 is outside 1 or more",
            ),
            (
                "peaks: { windows: [\"7-9\"] }",
                ":1:10: `peaks.windows`: `7-9` is no window of a day such as `07:00-09:00`",
            ),
            (
                "faults: { cut: 0.9, silence: 0.9 }",
                ":1:1: `faults.server_error + cut + silence`: 1.803 is outside 0 to 1",
            ),
        ] {
            assert_eq!(said(yaml), expected);
        }
    }

    #[test]
    fn numbers_are_told_without_their_dust() {
        assert!(
            said("faults: { server_error: 0.7, cut: 0.501, silence: 0.002 }")
                .ends_with(": 1.203 is outside 0 to 1")
        );
        assert!(said("limit: { per: 8d }").ends_with(": 8d is outside at most 7d"));
    }

    #[test]
    fn what_the_parser_says_comes_after_its_place() {
        for yaml in [
            "overload: { per_day: often }",
            "overload: { per_dy: 1 }",
            "overload: [",
            "batches: { lasts: 30 }",
            "latency: 5",
        ] {
            let said = said(yaml);
            assert!(said.starts_with(":1:"), "{said}");
            assert!(!said.contains("line 1"), "{said}");
        }
    }
}
