//! Text that may stand in markup, in XML as in HTML.
//!
//! Names of jobs, groups and models come from files and from the store: whatever is drawn passes here.

/// A text as content or as a quoted attribute: markup escaped, and what XML 1.0 cannot hold replaced.
///
/// ```
/// use offpeak::markup::escaped;
///
/// assert_eq!(escaped("<b> & \"c\""), "&lt;b&gt; &amp; &quot;c&quot;");
/// ```
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(c),
            '\u{fffe}' | '\u{ffff}' => safe.push('\u{fffd}'),
            c if c.is_control() => safe.push('\u{fffd}'),
            c => safe.push(c),
        }
    }
    safe
}

/// The beginning of a text of at most so many characters, with a mark if it is not the whole.
///
/// ```
/// assert_eq!(offpeak::markup::cut("abcdef", 4), "abc…");
/// ```
#[must_use]
pub fn cut(text: &str, chars: usize) -> String {
    if text.chars().count() <= chars {
        return text.to_owned();
    }
    let kept: String = text.chars().take(chars.saturating_sub(1)).collect();
    format!("{}\u{2026}", kept.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_is_escaped_and_what_xml_cannot_hold_is_replaced() {
        assert_eq!(
            escaped("<a b=\"c\" d='e'>&"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;"
        );
        assert_eq!(
            escaped("a\u{0}b\u{1b}c\nd\u{ffff}"),
            "a\u{fffd}b\u{fffd}c\nd\u{fffd}"
        );
    }

    #[test]
    fn long_text_is_cut_with_a_mark() {
        assert_eq!(cut("abcd", 4), "abcd");
        assert_eq!(cut("abc def", 5), "abc\u{2026}");
    }
}
