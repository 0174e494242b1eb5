//! Addresses from the environment, and requests to them.

use std::fmt;
use std::time::Duration;

use reqwest::header::CONTENT_TYPE;
use reqwest::{RequestBuilder, Url};

use crate::anthropic::http_client;

/// Why a text from the environment is no address. Nothing of the text is repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not parse, or is neither `http` nor `https`.
    #[error("it holds no http or https URL")]
    NoUrl,
    /// The HTTP client cannot be set up, such as without system certificates.
    #[error("the HTTP client cannot be set up; are the system's certificates installed?")]
    Client,
}

/// Why a request counts as not received. The address is not repeated, nor what the library says, which may name it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// No connection.
    #[error("there is no connection")]
    Connect,
    /// The connection broke.
    #[error("the connection broke")]
    Broken,
    /// An answer, and no success; a redirect is none.
    #[error("the answer has status {0}")]
    Status(u16),
}

impl RequestError {
    pub(super) fn of(error: &reqwest::Error) -> Self {
        if error.is_connect() {
            Self::Connect
        } else {
            Self::Broken
        }
    }

    /// Whether the same request may be received later: all but what the receiver will say again.
    pub(super) const fn may_pass(&self) -> bool {
        match self {
            Self::Connect | Self::Broken | Self::Status(408 | 429) => true,
            Self::Status(status) => !matches!(status, 400..500),
        }
    }
}

/// An address that requests can go to: a secret, which is never printed.
#[derive(Clone)]
pub struct Address {
    url: Url,
    http: reqwest::Client,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Address")
    }
}

impl Address {
    /// Checks a text; connects to nothing. A connection may take as long as `timeout`.
    ///
    /// # Errors
    /// Why requests cannot go there.
    pub fn new(text: &str, timeout: Duration) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|_| AddressError::NoUrl)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(AddressError::NoUrl);
        }
        let http = http_client(&url, timeout).map_err(|_| AddressError::Client)?;
        Ok(Self { url, http })
    }

    /// Posts JSON, once.
    pub(crate) async fn post(&self, body: String) -> Result<(), RequestError> {
        let request = self.http.post(self.url.clone());
        send(request.header(CONTENT_TYPE, "application/json").body(body)).await
    }

    /// Asks for the address, once.
    pub(crate) async fn get(&self) -> Result<(), RequestError> {
        send(self.http.get(self.url.clone())).await
    }
}

async fn send(request: RequestBuilder) -> Result<(), RequestError> {
    match request.send().await {
        Ok(answer) if answer.status().is_success() => Ok(()),
        Ok(answer) => Err(RequestError::Status(answer.status().as_u16())),
        Err(error) => Err(RequestError::of(&error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_address_is_not_repeated() {
        let timeout = Duration::from_secs(1);
        for text in [
            "",
            "hooks.example/planted",
            "ftp://host/planted",
            "https://",
            "planted",
        ] {
            let error = Address::new(text, timeout).unwrap_err();
            assert_eq!(error.to_string(), "it holds no http or https URL", "{text}");
        }
        let address = Address::new(" http://127.0.0.1:9/planted\n", timeout).unwrap();
        assert_eq!(format!("{address:?}"), "Address");
    }

    #[test]
    fn every_error_says_what_is_missing() {
        let client = AddressError::Client.to_string();
        assert!(client.contains("certificates"), "{client}");
        let table = [
            (RequestError::Connect, "there is no connection"),
            (RequestError::Broken, "the connection broke"),
            (RequestError::Status(302), "the answer has status 302"),
        ];
        for (error, text) in table {
            assert_eq!(error.to_string(), text);
        }
    }

    #[test]
    fn only_what_the_receiver_says_again_is_final() {
        for (status, may_pass) in [
            (302, true),
            (399, true),
            (400, false),
            (404, false),
            (408, true),
            (429, true),
            (499, false),
            (500, true),
        ] {
            assert_eq!(
                RequestError::Status(status).may_pass(),
                may_pass,
                "{status}"
            );
        }
        assert!(RequestError::Connect.may_pass() && RequestError::Broken.may_pass());
    }
}
