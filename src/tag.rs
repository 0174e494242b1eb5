//! How many tags a prompt may hold, and how much a tag.
//!
//! The template engine reads and frees an expression by recursion: a tag of a
//! hundred thousand signs would overflow the stack, which ends the process.
//! Whatever compiles a template asks here first.

use std::ops::Range;

/// Words and signs in one tag: many times what a prompt needs, and little of a stack.
pub const MAX_WORDS: usize = 300;

/// Tags in one prompt: each costs some hundred bytes while the prompt is made.
pub const MAX_TAGS: usize = 20_000;

/// What is too much for the template engine, with the tag where it shows, in bytes of the text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Excess {
    /// A tag holds more than [`MAX_WORDS`].
    #[error("a tag holds more than {MAX_WORDS} words and signs")]
    Words(Range<usize>),
    /// There are more tags than [`MAX_TAGS`]; this is the first too many.
    #[error("the template holds more than {MAX_TAGS} tags")]
    Tags(Range<usize>),
}

impl Excess {
    /// The tag where it shows, in bytes of the text.
    #[must_use]
    pub fn span(&self) -> Range<usize> {
        match self {
            Self::Words(span) | Self::Tags(span) => span.clone(),
        }
    }
}

/// The first thing in a template that is too much; `None` if all is bearable.
///
/// ```
/// use offpeak::tag::{Excess, excess};
///
/// let chain = format!("a {{{{ 1{} }}}}", " + 1".repeat(200));
/// assert_eq!(excess(&chain), Some(Excess::Words(2..chain.len())));
/// assert_eq!(excess("{{ date|upper }}"), None);
/// ```
#[must_use]
pub fn excess(text: &str) -> Option<Excess> {
    let (mut from, mut tags) = (0, 0);
    while let Some(start) = text[from..].find('{').map(|at| from + at) {
        let inside = start + 2;
        from = match text.as_bytes().get(start + 1) {
            Some(b'#') => end_of(text, inside, "#}"),
            Some(b'{' | b'%') => {
                let tag = read(text, inside);
                tags += 1;
                if tag.words > MAX_WORDS {
                    return Some(Excess::Words(start..tag.end));
                }
                if tags > MAX_TAGS {
                    return Some(Excess::Tags(start..tag.end));
                }
                if is_named(&text[inside..tag.end], "raw") {
                    end_of_raw(text, tag.end)
                } else {
                    tag.end
                }
            }
            Some(_) | None => start + 1,
        };
    }
    None
}

struct Tag {
    end: usize,
    words: usize,
}

/// A tag from behind its opening to behind its closing, as the engine reads it: not within quotes, nor within brackets.
fn read(text: &str, inside: usize) -> Tag {
    let bytes = text.as_bytes();
    let (mut at, mut words, mut open) = (inside, 0, 0_isize);
    while let Some(byte) = bytes.get(at) {
        let closes = matches!(text.get(at..at + 2), Some("}}" | "%}"));
        if closes && open == 0 {
            return Tag { end: at + 2, words };
        }
        match byte {
            b'"' | b'\'' => {
                words += 1;
                at = end_of_quotes(bytes, at);
                continue;
            }
            b'(' | b'[' | b'{' => open += 1,
            b')' | b']' | b'}' => open -= 1,
            _ => {}
        }
        let within_word = is_word(*byte) && at > inside && is_word(bytes[at - 1]);
        if !byte.is_ascii_whitespace() && !within_word {
            words += 1;
        }
        at += 1;
    }
    Tag {
        end: text.len(),
        words,
    }
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}

fn is_named(tag: &str, name: &str) -> bool {
    let tag = tag.trim_start_matches(['-', '+', ' ', '\t', '\n', '\r']);
    tag.strip_prefix(name)
        .is_some_and(|rest| !rest.bytes().next().is_some_and(is_word))
}

/// Where the tag begins that ends a raw part.
fn end_of_raw(text: &str, from: usize) -> usize {
    let tags = text[from..].match_indices("{%").map(|(at, _)| from + at);
    let mut ends = tags.filter(|at| is_named(&text[at + 2..], "endraw"));
    ends.next().unwrap_or(text.len())
}

fn end_of_quotes(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 2,
            byte if *byte == bytes[start] => return at + 1,
            _ => at += 1,
        }
    }
    bytes.len()
}

fn end_of(text: &str, from: usize, end: &str) -> usize {
    let rest = text.get(from..).unwrap_or_default();
    rest.find(end)
        .map_or(text.len(), |at| from + at + end.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_hundred_words_pass_and_one_more_does_not() {
        let tag = |count: usize| format!("x {{{{ {} }}}} y", "a ".repeat(count));
        assert_eq!(excess(&tag(MAX_WORDS)), None);
        let text = tag(MAX_WORDS + 1);
        assert_eq!(excess(&text), Some(Excess::Words(2..text.len() - 2)));
        let said = "a tag holds more than 300 words and signs";
        assert_eq!(excess(&text).unwrap().to_string(), said);
    }

    #[test]
    fn twenty_thousand_tags_pass_and_one_more_does_not() {
        assert_eq!(excess(&"{{a}}".repeat(MAX_TAGS)), None);
        let found = excess(&"{{a}}".repeat(MAX_TAGS + 2)).unwrap();
        assert_eq!(found.span(), 5 * MAX_TAGS..5 * MAX_TAGS + 5);
        assert_eq!(found.to_string(), "the template holds more than 20000 tags");
    }

    #[test]
    fn every_form_of_recursion_counts() {
        for sign in [
            "-",
            "not ",
            ".a",
            "|upper",
            "+1",
            "[",
            "(",
            "~'a'",
            " and b",
            "{",
            "if a else ",
        ] {
            for (open, close) in [("{{ ", " }}"), ("{% if ", " %}")] {
                let text = format!("{open}a{}{close}", sign.repeat(400));
                assert!(excess(&text).is_some(), "{text}");
            }
        }
    }

    #[test]
    fn texts_outside_of_tags_and_within_quotes_do_not_count() {
        let words = "- ".repeat(1_000);
        for text in [
            words.clone(),
            format!("{{ {words} }}"),
            format!("{{# {words} #}} {{{{ a }}}}"),
            format!("{{{{ '{words}' }}}}"),
            format!("{{% raw %}}{{{{ {words} {{% endraw %}} {{{{ a }}}}"),
        ] {
            assert_eq!(excess(&text), None, "{text}");
        }
    }

    #[test]
    fn brackets_and_quotes_do_not_hide_the_end() {
        let words = "-".repeat(1_000);
        for text in [
            format!("{{{{ {{'a': {{}}}} {words} }}}}"),
            format!("{{{{ '}}}}' {words} }}}}"),
            format!("{{{{ '\\'}}}}' {words} }}}}"),
        ] {
            assert!(excess(&text).is_some(), "{text}");
        }
        assert_eq!(excess("{{ 'é"), None);
        assert_eq!(excess("{{ '\\"), None);
        assert_eq!(excess("{{"), None);
    }
}
