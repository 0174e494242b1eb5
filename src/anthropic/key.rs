//! The header that a key becomes.

use reqwest::header::{AUTHORIZATION, HeaderName, HeaderValue};
use secrecy::zeroize::Zeroizing;
use secrecy::{ExposeSecret, SecretString};

use super::target::Auth;
use crate::secret::SecretError;

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
            HeaderValue::from_str(&Zeroizing::new(format!("Bearer {secret}"))),
        ),
    };
    let mut value = value.ok()?;
    value.set_sensitive(true);
    Some((name, value))
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
}
