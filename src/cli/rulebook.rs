//! `docs/rules.md`, embedded: a section for every rule of the linter.
//!
//! `validate --explain` prints it and SARIF carries it. A test holds every
//! rule to one section with all its parts.

use crate::lint::{Rule, Severity};

const RULES: &str = include_str!("../../docs/rules.md");

/// The name under which a file that cannot be read is reported; no rule, as nothing could be looked at.
pub const UNREADABLE: &str = "unreadable";

/// What begins the part of a section behind what it means.
const FIRST_PART: &str = "**Fails:**";

/// What is written about one rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Section {
    /// The rule's name, or `unreadable`.
    pub name: &'static str,
    /// One line.
    pub summary: &'static str,
    /// The whole section without its heading, as Markdown.
    pub body: &'static str,
}

/// Every section: the rules in their order, then `unreadable`.
pub fn sections() -> impl Iterator<Item = Section> {
    RULES.split("\n## ").skip(1).map(|text| {
        let (name, body) = text.split_once('\n').unwrap_or((text, ""));
        let body = body.trim();
        Section {
            name,
            summary: body.lines().next().unwrap_or_default(),
            body,
        }
    })
}

/// The section of a name.
#[must_use]
pub fn section(name: &str) -> Option<Section> {
    sections().find(|section| section.name == name)
}

impl Section {
    /// The rule that it is about; `None` for `unreadable`.
    #[must_use]
    pub fn rule(&self) -> Option<Rule> {
        Rule::named(self.name)
    }

    /// How bad a finding is, unless the settings say otherwise.
    #[must_use]
    pub fn severity(&self) -> Severity {
        self.rule().map_or(Severity::Error, Rule::severity)
    }

    /// What the rule means and why it matters, on one line.
    #[must_use]
    pub fn meaning(&self) -> String {
        let parts = self.body.split(FIRST_PART).next().unwrap_or_default();
        let paragraphs = parts
            .split("\n\n")
            .filter(|paragraph| !paragraph.starts_with("**"));
        let words: Vec<&str> = paragraphs.flat_map(str::split_whitespace).collect();
        words.join(" ")
    }
}

/// Markdown as it is read on a terminal: code is indented instead of fenced, and nothing is bold.
///
/// Backticks around a name stay: they tell it from the words around it, as in every message.
#[must_use]
pub fn plain(markdown: &str) -> String {
    let mut text = String::new();
    let mut indent = "";
    for line in markdown.lines() {
        if line.starts_with("```") {
            indent = if indent.is_empty() { "    " } else { "" };
            continue;
        }
        if indent.is_empty() {
            text.push_str(&line.replace("**", ""));
        } else if !line.is_empty() {
            text.push_str(indent);
            text.push_str(line);
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_indented_and_nothing_is_bold() {
        let markdown = "**Fails:** a `b`.\n\n```yaml\n# a\n\nc: \"**/*.md\"\n```\n\nd\n";
        assert_eq!(
            plain(markdown),
            "Fails: a `b`.\n\n    # a\n\n    c: \"**/*.md\"\n\nd\n"
        );
    }

    #[test]
    fn a_section_tells_its_meaning_in_one_line() {
        let section = section("key-gap").unwrap();
        let meaning = section.meaning();
        assert!(meaning.starts_with(section.summary), "{meaning}");
        assert!(!meaning.contains("**") && !meaning.contains('\n'));
    }

    #[test]
    fn an_unreadable_file_is_an_error_and_no_rule() {
        let section = section(UNREADABLE).unwrap();
        assert_eq!(section.rule(), None);
        assert_eq!(section.severity(), Severity::Error);
        assert_eq!(super::section("no-such-rule"), None);
    }
}
