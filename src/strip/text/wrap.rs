//! Lines that end between words.

/// How many columns a text takes; names of jobs hold no wide characters.
pub(super) fn columns_of(text: &str) -> usize {
    text.chars().count()
}

/// Holds two words together; shown as a blank.
pub(super) const TIE: char = '\u{a0}';

/// Breaks a text between words so that no line is wider than asked; lines after the first begin with an indent, less
/// of it where less than half of the width would be left. A longer word has a line to itself. Runs of blanks stay as
/// they are within a line.
pub(super) fn wrapped(text: &str, width: usize, indent: usize) -> Vec<String> {
    let indent = " ".repeat(if indent * 2 > width { 5 } else { indent });
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_inclusive(' ') {
        let fits = columns_of(&line) + columns_of(word.trim_end()) <= width;
        if !fits && !line.trim().is_empty() {
            lines.push(shown(&line));
            line.clone_from(&indent);
            if word.trim().is_empty() {
                continue;
            }
        }
        line.push_str(word);
    }
    if !line.trim().is_empty() {
        lines.push(shown(&line));
    }
    lines
}

fn shown(line: &str) -> String {
    line.trim_end().replace(TIE, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_end_between_words() {
        assert_eq!(wrapped("one two three", 8, 2), ["one two", "  three"]);
        assert_eq!(wrapped("one two three", 7, 2), ["one two", "  three"]);
        assert_eq!(wrapped("one two three", 6, 2), ["one", "  two", "  three"]);
        assert_eq!(wrapped("  a  name   text", 80, 2), ["  a  name   text"]);
        assert_eq!(wrapped("", 8, 2), Vec::<String>::new());
    }

    #[test]
    fn tied_words_stay_together() {
        assert_eq!(wrapped("one !\u{a0}two", 7, 2), ["one", "  ! two"]);
    }

    #[test]
    fn a_word_that_is_too_long_has_its_own_line() {
        assert_eq!(
            wrapped("a extraordinary b", 8, 1),
            ["a", " extraordinary", " b"]
        );
    }

    #[test]
    fn indent_leaves_at_least_half_of_the_width() {
        assert_eq!(wrapped("aaaa bbbb cccc", 12, 7), ["aaaa bbbb", "     cccc"]);
    }
}
