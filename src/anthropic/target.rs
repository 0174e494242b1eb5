//! Where requests go: the base URL and what may be joined to it.

use reqwest::Url;

/// Which header carries the key; never both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    /// `x-api-key`.
    ApiKey,
    /// `authorization: Bearer`.
    Bearer,
}

/// Why a text is no base URL.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It does not parse, or names no host. The text itself stays unsaid: a password or a token may be in it.
    #[error("base_url is no URL: {problem}; write it like `https://api.anthropic.com`")]
    Malformed {
        /// What the parser says.
        problem: String,
    },
    /// Neither `http` nor `https`.
    #[error("base_url has the scheme `{scheme}`; only `http` and `https` can be used")]
    Scheme {
        /// The scheme found.
        scheme: String,
    },
    /// A name or a password before the host: it would travel as a second credential. The text itself stays unsaid.
    #[error(
        "base_url carries a user name or password; remove it: the key travels in a header of its own"
    )]
    Credentials,
    /// A query or a fragment, which cannot be followed by a path.
    #[error(
        "base_url carries a query or a fragment; only scheme, host, port and a path can stand there"
    )]
    Query,
}

/// The address of `POST /v1/messages` under a base URL that may carry a path.
///
/// # Errors
/// What in the base URL cannot be used.
pub(super) fn messages_url(base_url: &str) -> Result<Url, TargetError> {
    let base_url = base_url.trim();
    let mut url = Url::parse(base_url).map_err(|error| TargetError::Malformed {
        problem: error.to_string(),
    })?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(TargetError::Scheme {
            scheme: url.scheme().to_owned(),
        });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(TargetError::Credentials);
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(TargetError::Query);
    }
    let path = format!("{}/v1/messages", url.path().trim_end_matches('/'));
    url.set_path(&path);
    Ok(url)
}

/// Whether the address is this machine itself, which no proxy could reach.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare
            .parse::<std::net::IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_joined_without_doubled_or_lost_slashes() {
        let cases = [
            (
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://api.anthropic.com/",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "http://host:8080/prefix",
                "http://host:8080/prefix/v1/messages",
            ),
            ("http://host/prefix/", "http://host/prefix/v1/messages"),
            ("http://host/a/b//", "http://host/a/b/v1/messages"),
            ("  http://[::1]:9\n", "http://[::1]:9/v1/messages"),
        ];
        for (base, expected) in cases {
            assert_eq!(messages_url(base).unwrap().as_str(), expected, "{base}");
        }
    }

    #[test]
    fn unusable_base_urls_say_what_is_wrong_and_never_a_password() {
        let cases = [
            ("api.anthropic.com", "is no URL"),
            ("https://", "is no URL"),
            ("ftp://host", "scheme `ftp`"),
            ("https://me:hunter2@host", "user name or password"),
            ("https://me:hunter2@ho st", "is no URL"),
            // Cause: a text that does not parse was repeated unless it had an `@`.
            ("https://me:hunter2", "is no URL"),
            ("https://ho st/?key=hunter2", "is no URL"),
            ("https://host/?key=hunter2", "query"),
            ("https://host/#x", "fragment"),
        ];
        for (base, expected) in cases {
            let message = messages_url(base).unwrap_err().to_string();
            assert!(message.contains(expected), "{base}: {message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }

    #[test]
    fn loopback_is_told_from_other_hosts() {
        let cases = [
            ("http://127.0.0.1:80", true),
            ("http://127.8.8.8", true),
            ("http://localhost:1", true),
            ("http://[::1]", true),
            ("http://10.0.0.1", false),
            ("https://localhost.example", false),
        ];
        for (base, expected) in cases {
            assert_eq!(
                is_loopback(&messages_url(base).unwrap()),
                expected,
                "{base}"
            );
        }
    }
}
