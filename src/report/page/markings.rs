//! Small pieces of markup.

use crate::markup::escaped;

/// A name from outside: escaped, and with its own direction, so that it cannot turn the text around it.
pub(super) fn bdi(name: &str) -> String {
    format!("<bdi>{}</bdi>", escaped(name))
}

/// A text in which what stands between backticks is code.
pub(super) fn coded(text: &str) -> String {
    let parts: Vec<&str> = text.split('`').collect();
    if parts.len().is_multiple_of(2) {
        return bdi(text);
    }
    let parts = parts.iter().enumerate().map(|(at, part)| {
        if at % 2 == 1 {
            format!("<code>{}</code>", bdi(part))
        } else {
            escaped(part)
        }
    });
    parts.collect()
}

/// A part of the page with its heading; `id` is unique in it.
pub(super) fn section(id: &str, heading: &str, body: &str) -> String {
    format!(
        "<section aria-labelledby=\"{id}\">\n<h2 id=\"{id}\">{}</h2>\n{body}</section>\n",
        escaped(heading)
    )
}

/// A paragraph of plain text.
pub(super) fn paragraph(class: &str, text: &str) -> String {
    format!("<p class=\"{class}\">{}</p>\n", escaped(text))
}

/// What the signs of a picture mean: each a drawing of 30 by 14 and a word.
pub(super) fn key(entries: &[(String, &str)]) -> String {
    let items = entries.iter().map(|(drawing, word)| {
        format!(
            "<li><svg class=\"sign\" viewBox=\"0 0 30 14\" width=\"30\" height=\"14\" aria-hidden=\"true\" \
             focusable=\"false\">{drawing}</svg>{}</li>\n",
            escaped(word)
        )
    });
    format!("<ul class=\"key\">\n{}</ul>\n", items.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_between_backticks_is_code() {
        assert_eq!(
            coded("a `b` & `<c>`"),
            "a <code><bdi>b</bdi></code> &amp; <code><bdi>&lt;c&gt;</bdi></code>"
        );
        assert_eq!(coded("plain"), "plain");
        assert_eq!(coded("odd `b"), "<bdi>odd `b</bdi>", "no pair");
    }

    #[test]
    fn names_bring_no_markup_and_keep_their_direction() {
        assert_eq!(
            bdi("<script>\u{202e}\"'"),
            "<bdi>&lt;script&gt;\u{202e}&quot;&#39;</bdi>"
        );
    }
}
