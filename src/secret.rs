//! What the text of a secret must look like, so that a header can carry it.
//!
//! The configuration asks when it fetches a key, and the client before it
//! sends: one set of rules, so that neither takes what the other refuses.
//! Nothing here keeps or repeats the text.

/// Why a text cannot be a secret. Nothing of the text is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SecretError {
    /// Nothing but blanks.
    #[error("the secret is empty")]
    Empty,
    /// A blank, a line break or another control character inside.
    #[error(
        "the secret has a blank or a line break at character {at}; a key is one word on one line"
    )]
    Blank {
        /// Counted from 1, after trimming.
        at: usize,
    },
    /// A character that no header takes.
    #[error(
        "the secret has a character outside ASCII at character {at}; was it copied from formatted text?"
    )]
    NotAscii {
        /// Counted from 1, after trimming.
        at: usize,
    },
    /// A quotation mark at its beginning or end.
    #[error("the secret stands in quotation marks; remove them")]
    Quoted,
}

/// The text without the blanks around it, if a header can carry it.
///
/// # Errors
/// What makes it no secret, and at which character.
///
/// ```
/// use offpeak::secret::{SecretError, checked};
///
/// assert_eq!(checked(" sk-ant-1\n"), Ok("sk-ant-1"));
/// assert_eq!(checked("\"sk-ant-1\""), Err(SecretError::Quoted));
/// ```
pub fn checked(text: &str) -> Result<&str, SecretError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(SecretError::Empty);
    }
    let quotes = ['"', '\''];
    if trimmed.starts_with(quotes) || trimmed.ends_with(quotes) {
        return Err(SecretError::Quoted);
    }
    for (index, character) in trimmed.chars().enumerate() {
        let at = index + 1;
        if !character.is_ascii() {
            return Err(SecretError::NotAscii { at });
        }
        if !character.is_ascii_graphic() {
            return Err(SecretError::Blank { at });
        }
    }
    Ok(trimmed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blanks_around_a_secret_are_trimmed() {
        assert_eq!(checked("  sk-ant-abc\r\n"), Ok("sk-ant-abc"));
    }

    #[test]
    fn unusable_secrets_are_refused_with_a_place_and_without_themselves() {
        let cases = [
            ("", SecretError::Empty),
            (" \n", SecretError::Empty),
            ("hunter2\nhunter3", SecretError::Blank { at: 8 }),
            ("hunter 2", SecretError::Blank { at: 7 }),
            ("hunter\u{7}2", SecretError::Blank { at: 7 }),
            ("hunt\u{2013}er", SecretError::NotAscii { at: 5 }),
            ("\"hunter2\"", SecretError::Quoted),
            ("'hunter2'", SecretError::Quoted),
            ("hunter2\"", SecretError::Quoted),
        ];
        for (text, expected) in cases {
            let error = checked(text).unwrap_err();
            assert_eq!(error, expected, "{text:?}");
            assert!(!format!("{error} {error:?}").contains("hunter"));
        }
    }
}
