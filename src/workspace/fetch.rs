//! Fetches an input from the web: one GET, few redirects, bounded time and size.
//!
//! Without secret headers up to five redirects are followed; with them none to
//! another origin, which would learn the secrets. None leads from `https` to
//! `http`, nor from outside to an address of this machine or its network, whose
//! services trust whoever asks from there.

use std::time::Duration;

use reqwest::header::{
    ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, HeaderName, HeaderValue, LOCATION,
};
use reqwest::{Response, StatusCode, Url};
use secrecy::SecretString;

use super::address::RequestError;
use super::cut::{Head, Total};
use super::error::WorkspaceError;
use super::secrets::Secrets;
use crate::anthropic::{http_client, redact};
use crate::engine::ports::Clock;
use crate::job::WebInput;

/// Redirects that one fetch follows.
const MAX_REDIRECTS: usize = 5;

/// A shorter word of a header is no secret by itself, such as `Bearer`.
const MIN_SECRET: usize = 8;

/// Why an address brought nothing. Neither headers nor what the library says are repeated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// It does not parse, or is neither `http` nor `https`.
    #[error("it is no http or https URL")]
    NoUrl,
    /// The HTTP client cannot be set up, such as without system certificates.
    #[error("the HTTP client cannot be set up; are the system's certificates installed?")]
    Client,
    /// No connection, a broken one, or another status than success.
    #[error(transparent)]
    Request(#[from] RequestError),
    /// It took too long.
    #[error("it was not there within {0:?}")]
    TimedOut(Duration),
    /// It was asked for plain.
    #[error("the answer is compressed, although it was asked for plain")]
    Compressed,
    /// A redirect that is not followed.
    #[error(transparent)]
    Redirect(#[from] RedirectError),
}

/// Why a redirect is not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RedirectError {
    /// No address that can be asked, or one with a password in it.
    #[error("it is redirected to what is no plain http or https URL")]
    NoUrl,
    /// From `https` to `http`.
    #[error("it is redirected from https to http")]
    Unsafe,
    /// To another origin, with secrets.
    #[error(
        "it is redirected to another origin, which must not get the headers of `header_env`; \
         write the address that it leads to"
    )]
    Elsewhere,
    /// From outside to the inside.
    #[error("it is redirected from outside to an address of this machine or its network")]
    Inward,
    /// Again and again.
    #[error("it is redirected more than {MAX_REDIRECTS} times")]
    TooOften,
}

/// What is at an address, keeping at least one byte more than `max_bytes`.
pub(super) async fn fetch(
    input: &WebInput,
    max_bytes: usize,
    secrets: &Secrets,
    clock: &dyn Clock,
) -> Result<Head, WorkspaceError> {
    let (headers, words) = headers(input, secrets)?;
    let fetched = tokio::select! {
        biased;
        fetched = get(&input.address, &headers, max_bytes) => fetched,
        () = clock.sleep(input.timeout) => Err(FetchError::TimedOut(input.timeout)),
    };
    match fetched {
        Ok(head) => Ok(without(head, max_bytes, &words)),
        Err(problem) => Err(WorkspaceError::NotFetched {
            address: shown(&input.address),
            problem,
        }),
    }
}

/// An address as messages show it: a query may hold what is nobody's business.
pub(super) fn shown(address: &str) -> String {
    match address.split_once(['?', '#']) {
        Some((before, _)) => format!("{before}?…"),
        None => address.to_owned(),
    }
}

/// The secret headers, and the words in them that are secrets.
fn headers(
    input: &WebInput,
    secrets: &Secrets,
) -> Result<(HeaderMap, Vec<SecretString>), WorkspaceError> {
    let (mut headers, mut words) = (HeaderMap::new(), Vec::new());
    for (name, variable) in &input.header_env {
        let text = secrets.value(variable)?;
        let name = HeaderName::from_bytes(name.as_bytes());
        let value = HeaderValue::from_str(text);
        let (Ok(name), Ok(mut value)) = (name, value) else {
            return Err(WorkspaceError::BadHeader {
                variable: variable.clone(),
            });
        };
        value.set_sensitive(true);
        headers.insert(name, value);
        let all = text.split_whitespace().chain([text]);
        let secret = all.filter(|word| word.len() >= MIN_SECRET);
        words.extend(secret.map(SecretString::from));
    }
    Ok((headers, words))
}

async fn get(address: &str, headers: &HeaderMap, max_bytes: usize) -> Result<Head, FetchError> {
    let mut url = Url::parse(address).map_err(|_| FetchError::NoUrl)?;
    for _ in 0..=MAX_REDIRECTS {
        let response = ask(&url, headers).await?;
        let Some(location) = location(&response) else {
            return read(response, max_bytes).await;
        };
        url = follow(&url, &location?, headers)?;
    }
    Err(RedirectError::TooOften.into())
}

async fn ask(url: &Url, headers: &HeaderMap) -> Result<Response, FetchError> {
    // The clock bounds the whole; the time to connect cannot be longer.
    let http = http_client(url, Duration::from_mins(5)).map_err(|_| FetchError::Client)?;
    let request = http
        .get(url.clone())
        .header(ACCEPT, "*/*")
        .header(ACCEPT_ENCODING, "identity")
        .headers(headers.clone());
    let sent = request.send().await;
    sent.map_err(|error| RequestError::of(&error).into())
}

/// Where a response leads, if it leads elsewhere.
fn location(response: &Response) -> Option<Result<String, RedirectError>> {
    let leads_on = matches!(
        response.status(),
        StatusCode::MOVED_PERMANENTLY
            | StatusCode::FOUND
            | StatusCode::SEE_OTHER
            | StatusCode::TEMPORARY_REDIRECT
            | StatusCode::PERMANENT_REDIRECT
    );
    let location = response.headers().get(LOCATION).filter(|_| leads_on)?;
    let text = location.to_str().map(str::to_owned);
    Some(text.map_err(|_| RedirectError::NoUrl))
}

/// The address that a redirect leads to, if it may be followed.
fn follow(from: &Url, location: &str, secret: &HeaderMap) -> Result<Url, RedirectError> {
    let to = from.join(location).map_err(|_| RedirectError::NoUrl)?;
    let is_plain = to.username().is_empty() && to.password().is_none();
    if !matches!(to.scheme(), "http" | "https") || !is_plain {
        Err(RedirectError::NoUrl)
    } else if from.scheme() == "https" && to.scheme() == "http" {
        Err(RedirectError::Unsafe)
    } else if !secret.is_empty() && from.origin() != to.origin() {
        Err(RedirectError::Elsewhere)
    } else if is_inside(&to) && !is_inside(from) {
        Err(RedirectError::Inward)
    } else {
        Ok(to)
    }
}

/// Whether an address says itself that it is of this machine or its network. What a name leads to is not looked up.
fn is_inside(url: &Url) -> bool {
    use std::net::{IpAddr, Ipv4Addr};
    let v4 = |ip: Ipv4Addr| {
        ip.is_loopback() || ip.is_private() || ip.is_link_local() || ip.is_unspecified()
    };
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    match bare.parse() {
        Ok(IpAddr::V4(ip)) => v4(ip),
        Ok(IpAddr::V6(ip)) => {
            let own = ip.is_loopback() || ip.is_unspecified();
            own || ip.is_unique_local()
                || ip.is_unicast_link_local()
                || ip.to_ipv4_mapped().is_some_and(v4)
        }
        Err(_) => {
            let name = host.trim_end_matches('.');
            name == "localhost" || name.ends_with(".localhost")
        }
    }
}

/// Reads no more than has to be shown, and one byte to know that there is more.
async fn read(mut response: Response, max_bytes: usize) -> Result<Head, FetchError> {
    if !response.status().is_success() {
        return Err(RequestError::Status(response.status().as_u16()).into());
    }
    let encoding = response.headers().get(CONTENT_ENCODING);
    if encoding.is_some_and(|it| !it.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err(FetchError::Compressed);
    }
    let length = response.content_length();
    let mut bytes = Vec::new();
    loop {
        let piece = response.chunk().await;
        let Some(piece) = piece.map_err(|_| RequestError::Broken)? else {
            let total = Total::Exactly(bytes.len() as u64);
            return Ok(Head { bytes, total });
        };
        bytes.extend_from_slice(&piece);
        if bytes.len() > max_bytes {
            let total = length.map_or(Total::MoreThan(max_bytes as u64), Total::Exactly);
            return Ok(Head { bytes, total });
        }
    }
}

/// The text without the secrets that were sent for it: a page may give back what it was asked with.
fn without(head: Head, max_bytes: usize, words: &[SecretString]) -> Head {
    if words.is_empty() {
        return head;
    }
    let is_cut = head.bytes.len() > max_bytes;
    let clean = |text: &str| {
        let words = words.iter();
        words.fold(text.to_owned(), |text, word| redact(&text, word))
    };
    let mut bytes = Vec::with_capacity(head.bytes.len());
    // What is no text stays as it is: a list of items is refused for it.
    for chunk in head.bytes.utf8_chunks() {
        bytes.extend(clean(chunk.valid()).into_bytes());
        bytes.extend(chunk.invalid());
    }
    // A text that became shorter must still show that it was cut.
    if is_cut && bytes.len() <= max_bytes {
        bytes.resize(max_bytes + 1, b' ');
    }
    Head { bytes, ..head }
}

#[cfg(test)]
mod tests;
