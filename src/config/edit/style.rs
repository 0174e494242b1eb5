//! How an expression is written where another stood.

use super::super::source::Place;

/// An expression in double quotes; none holds a quote or a backslash.
pub(super) fn quoted(cron: &str) -> String {
    format!("\"{cron}\"")
}

/// An expression as the text at a place is written: in its quotes, or without
/// them where it can stand so. Inside a block text (`|`, `>`) it stands as it is.
pub(super) fn in_style_of(place: &Place, cron: &str) -> String {
    match place.text().as_bytes().first() {
        Some(b'"') => quoted(cron),
        Some(b'\'') => format!("'{cron}'"),
        _ if is_block(place) || is_plain(place.text(), cron) => cron.to_owned(),
        _ => quoted(cron),
    }
}

/// Whether an expression may take the place of one without quotes: it begins
/// with a digit, and has no comma where the old one had none: in a list a
/// comma would end it.
fn is_plain(old: &str, cron: &str) -> bool {
    cron.starts_with(|first: char| first.is_ascii_digit())
        && (!cron.contains(',') || old.contains(','))
}

/// Whether a text without quotes is a block text: before it, on a line above, stands its sign.
fn is_block(place: &Place) -> bool {
    let before = &place.source().text()[..place.span().start];
    let Some((above, indent)) = before.rsplit_once('\n') else {
        return false;
    };
    let mut lines = above.lines().rev();
    let sign = lines
        .find(|line| !line.trim().is_empty())
        .unwrap_or_default();
    let sign = sign.split(" #").next().unwrap_or_default().trim_end();
    let word = sign.rsplit([' ', '\t']).next().unwrap_or_default();
    indent.trim().is_empty()
        && word.starts_with(['|', '>'])
        && word[1..]
            .chars()
            .all(|c| c == '+' || c == '-' || c.is_ascii_digit())
}
