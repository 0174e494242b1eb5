//! Secrets: the header that a key becomes, and texts that must not repeat it.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::{ExposeSecret, SecretString};

use super::target::Auth;
use crate::secret::SecretError;

/// What stands in a text where a secret stood.
const REDACTED: &str = "[redacted]";

/// How every key of the API begins; such a word is redacted even if it is none of ours.
const KEY_PREFIX: &str = "sk-ant-";

/// The secret without the blanks around it, if it can travel in a header.
///
/// # Errors
/// Where it cannot.
pub(super) fn checked(secret: &SecretString) -> Result<SecretString, SecretError> {
    crate::secret::checked(secret.expose_secret()).map(SecretString::from)
}

/// The header that carries a checked secret; marked sensitive, so that no one prints or indexes it.
///
/// `None` cannot happen for a secret from [`checked`].
pub(super) fn header(auth: Auth, secret: &SecretString) -> Option<(HeaderName, HeaderValue)> {
    let secret = secret.expose_secret();
    let (name, value) = match auth {
        Auth::ApiKey => (
            HeaderName::from_static("x-api-key"),
            HeaderValue::from_str(secret),
        ),
        Auth::Bearer => (
            AUTHORIZATION,
            HeaderValue::from_str(&format!("Bearer {secret}")),
        ),
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    Some((name, value))
}

/// The text without this secret and without any word that looks like a key.
pub(super) fn redact(text: &str, secret: &SecretString) -> String {
    let mut rest = text;
    let replaced;
    if rest.contains(secret.expose_secret()) {
        replaced = rest.replace(secret.expose_secret(), REDACTED);
        rest = &replaced;
    }
    let mut clean = String::with_capacity(rest.len());
    while let Some(start) = rest.find(KEY_PREFIX) {
        clean.push_str(&rest[..start]);
        clean.push_str(REDACTED);
        let key = &rest[start..];
        let end = key.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '_'));
        rest = &key[end.unwrap_or(key.len())..];
    }
    clean.push_str(rest);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text)
    }

    #[test]
    fn header_is_sensitive_and_carries_one_of_two_names() {
        let (name, value) = header(Auth::ApiKey, &secret("abc")).unwrap();
        assert_eq!(
            (name.as_str(), value.to_str().unwrap()),
            ("x-api-key", "abc")
        );
        assert!(value.is_sensitive());
        let (name, value) = header(Auth::Bearer, &secret("abc")).unwrap();
        assert_eq!(
            (name.as_str(), value.to_str().unwrap()),
            ("authorization", "Bearer abc")
        );
        assert!(!format!("{value:?}").contains("abc"));
    }

    #[test]
    fn own_secret_and_every_word_like_a_key_are_redacted() {
        let own = secret("gateway-7");
        let cases = [
            ("bad key gateway-7.", "bad key [redacted]."),
            (
                "key sk-ant-api03-A_b-c, again sk-ant-x",
                "key [redacted], again [redacted]",
            ),
            ("nothing here", "nothing here"),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(text, &own), expected);
        }
    }
}
