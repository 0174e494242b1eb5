//! Estimates, spans and dollars in words.

use super::super::Prefix;
use crate::job::CacheTtl;

/// `system prompt`, or the part of it that a prefix is.
pub(super) fn what(prefix: &Prefix) -> String {
    match prefix.block {
        None => "system prompt".to_owned(),
        Some(block) => format!("system prompt up to block {block}"),
    }
}

/// Where the breakpoint of a prefix stands, or would stand.
pub(super) fn place(prefix: &Prefix) -> String {
    match prefix.block {
        None => "`system`".to_owned(),
        Some(block) => format!("block {block} of `system`"),
    }
}

/// `1h`, as users write it.
pub(super) const fn ttl(ttl: CacheTtl) -> &'static str {
    match ttl {
        CacheTtl::FiveMinutes => "5m",
        CacheTtl::OneHour => "1h",
    }
}

/// `5 minutes`, for a sentence.
pub(super) const fn life(ttl: CacheTtl) -> &'static str {
    match ttl {
        CacheTtl::FiveMinutes => "5 minutes",
        CacheTtl::OneHour => "an hour",
    }
}

/// `about 12,000 tokens`: an estimate has two digits at most that mean something from a thousand on.
pub(super) fn tokens(count: u64) -> String {
    let unit = match count {
        0..1_000 => 1,
        1_000..10_000 => 100,
        _ => 1_000,
    };
    format!("about {} tokens", grouped((count + unit / 2) / unit * unit))
}

/// `12,000`.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in digits.char_indices() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `a`, `b`, `c` and 4 more.
pub(super) fn names(names: &[&str]) -> String {
    const SHOWN: usize = 3;
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.as_slice() {
        [] => String::new(),
        [only] => only.clone(),
        [init @ .., last] if quoted.len() <= SHOWN => format!("{} and {last}", init.join(", ")),
        _ => format!(
            "{} and {} more",
            quoted[..SHOWN].join(", "),
            quoted.len() - SHOWN
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn estimates_are_rounded_to_what_they_are_worth() {
        let told = [0, 999, 1_049, 9_950, 12_400, 1_234_567].map(tokens);
        assert_eq!(
            told,
            [
                "about 0 tokens",
                "about 999 tokens",
                "about 1,000 tokens",
                "about 10,000 tokens",
                "about 12,000 tokens",
                "about 1,235,000 tokens"
            ]
        );
    }

    #[test]
    fn three_names_are_told_and_the_rest_is_counted() {
        assert_eq!(names(&["a"]), "`a`");
        assert_eq!(names(&["a", "b", "c"]), "`a`, `b` and `c`");
        assert_eq!(
            names(&["a", "b", "c", "d", "e"]),
            "`a`, `b`, `c` and 2 more"
        );
    }
}
