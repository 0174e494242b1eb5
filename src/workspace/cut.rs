//! Texts of bounded size, with a visible mark where something is missing.

/// The beginning of a text, and how long the whole of it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Head {
    /// At least one byte more than may be shown, if there are that many.
    pub(super) bytes: Vec<u8>,
    /// The length of the whole.
    pub(super) total: Total,
}

/// The length of a whole text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Total {
    /// This many bytes.
    Exactly(u64),
    /// Reading stopped here; there was more.
    MoreThan(u64),
}

impl Head {
    /// The text, cut to at most `max_bytes` of the source, at the boundary of a character.
    ///
    /// Bytes that are no UTF-8 are replaced by `U+FFFD`. A cut text ends with a line
    /// that says how much is shown.
    pub(super) fn into_text(mut self, max_bytes: usize) -> String {
        if self.bytes.len() <= max_bytes {
            return String::from_utf8_lossy(&self.bytes).into_owned();
        }
        let shown = boundary(&self.bytes, max_bytes);
        self.bytes.truncate(shown);
        let mut text = String::from_utf8_lossy(&self.bytes).into_owned();
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let total = match self.total {
            Total::Exactly(total) => total.to_string(),
            Total::MoreThan(read) => format!("more than {read}"),
        };
        text + &format!("[cut: {shown} of {total} bytes shown]\n")
    }
}

/// The largest cut at or below `max` that splits no character. `bytes` is longer than `max`.
fn boundary(bytes: &[u8], max: usize) -> usize {
    let is_continuation = |at: usize| {
        bytes
            .get(at)
            .is_some_and(|byte| byte & 0b1100_0000 == 0b1000_0000)
    };
    // A character has at most three continuation bytes; with more of them in a row this is no UTF-8, and any cut will do.
    (max.saturating_sub(3)..=max)
        .rev()
        .find(|&at| !is_continuation(at))
        .unwrap_or(max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(bytes: &[u8]) -> Head {
        Head {
            bytes: bytes.to_vec(),
            total: Total::Exactly(bytes.len() as u64),
        }
    }

    #[test]
    fn text_of_exactly_the_limit_stays_whole() {
        assert_eq!(head(b"abcd").into_text(4), "abcd");
    }

    #[test]
    fn one_byte_more_is_cut_and_marked() {
        assert_eq!(
            head(b"abcde").into_text(4),
            "abcd\n[cut: 4 of 5 bytes shown]\n"
        );
    }

    #[test]
    fn mark_stands_on_a_line_of_its_own_only_once() {
        assert_eq!(
            head(b"ab\ncd").into_text(3),
            "ab\n[cut: 3 of 5 bytes shown]\n"
        );
    }

    #[test]
    fn cut_never_splits_a_character() {
        let text = "日本語"; // Three bytes each.
        for (max, shown) in [(3, "日"), (4, "日"), (5, "日"), (6, "日本"), (8, "日本")] {
            let cut = head(text.as_bytes()).into_text(max);
            assert_eq!(
                cut,
                format!("{shown}\n[cut: {} of 9 bytes shown]\n", shown.len()),
                "max {max}"
            );
        }
    }

    #[test]
    fn limit_below_the_first_character_shows_the_mark_alone() {
        assert_eq!(
            head("日本".as_bytes()).into_text(2),
            "[cut: 0 of 6 bytes shown]\n"
        );
        assert_eq!(head(b"ab").into_text(0), "[cut: 0 of 2 bytes shown]\n");
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced() {
        assert_eq!(head(b"a\xffb").into_text(9), "a\u{fffd}b");
    }

    #[test]
    fn cut_among_bytes_that_are_no_text_shows_all_that_fits() {
        assert_eq!(
            head(&[0x80; 9]).into_text(6),
            format!("{}\n[cut: 6 of 9 bytes shown]\n", "\u{fffd}".repeat(6))
        );
    }

    #[test]
    fn unknown_total_says_so() {
        let head = Head {
            bytes: b"yyyyy".to_vec(),
            total: Total::MoreThan(1000),
        };
        assert_eq!(
            head.into_text(4),
            "yyyy\n[cut: 4 of more than 1000 bytes shown]\n"
        );
    }
}
