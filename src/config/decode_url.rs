//! `url` of an input or a list of items: an address to fetch, and the secrets that go with it, which stand elsewhere.

use std::ops::Range;
use std::time::Duration;

use reqwest::Url;
use reqwest::header::HeaderName;

use crate::job::WebInput;
use crate::lint::Rule;

use super::context::Context;
use super::decode_keys::{self, is_named, is_variable, variable};
use super::fields::{Field, open_entries};
use super::mistakes::Mistake;
use super::node::{Entry, Node, Value};
use super::typed;

/// Headers that the HTTP client sets itself.
const OWN_HEADERS: [&str; 9] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Names under which an address of a webhook may stand by mistake.
pub const LITERAL_WEBHOOKS: [&str; 3] = ["webhook", "webhook_url", "url"];

/// Reads `url` and `header_env`.
pub fn web_input(
    cx: &mut Context<'_>,
    field: Field<'_>,
    header_env: Option<Field<'_>>,
    timeout: Duration,
) -> Option<WebInput> {
    let address = address(cx, field);
    let header_env = match header_env {
        None => Some(Vec::new()),
        Some(headers) => read_headers(cx, headers),
    };
    Some(WebInput {
        address: address?,
        header_env: header_env?,
        timeout,
    })
}

fn address(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let text = typed::text(cx, field)?;
    if user_info(&text).is_some() {
        let message = format!(
            "`{}`: a user or a password stands in this address",
            field.name
        );
        let help = "take it out, and name the variable that holds a header: \
                    `header_env: { Authorization: FEED_TOKEN }`, where FEED_TOKEN is `Basic …` or `Bearer …`";
        cx.report(Mistake::new(Rule::LiteralSecret, field.place(), message).help(help));
        return None;
    }
    let is_plain = text.trim() == text && !text.contains(char::is_control);
    let url = Url::parse(&text).ok().filter(Url::has_host);
    if is_plain && url.is_some_and(|url| matches!(url.scheme(), "http" | "https")) {
        return Some(text);
    }
    cx.expected(
        field,
        "an http or https URL such as `https://example.org/feed.xml`",
    );
    None
}

fn read_headers(cx: &mut Context<'_>, field: Field<'_>) -> Option<Vec<(String, String)>> {
    let entries = open_entries(cx, field, "a map such as `{ Authorization: FEED_TOKEN }`")?;
    let headers: Vec<_> = entries
        .iter()
        .filter_map(Field::of)
        .map(|header| read_header(cx, header))
        .collect();
    headers.into_iter().collect()
}

fn read_header(cx: &mut Context<'_>, field: Field<'_>) -> Option<(String, String)> {
    let name = HeaderName::from_bytes(field.name.as_bytes()).ok();
    let problem = match &name {
        None => Some("is no name of a header"),
        Some(name) if OWN_HEADERS.contains(&name.as_str()) => Some("is set by offpeak itself"),
        Some(_) => None,
    };
    if let Some(problem) = problem {
        let message = format!("`header_env`: `{}` {problem}", field.name);
        let help = "write a header such as `Authorization` or `X-Api-Key`".to_owned();
        cx.bad_field(field.key.clone(), message, Some(help));
    }
    let variable = variable(cx, field, "FEED_TOKEN");
    Some((name.filter(|_| problem.is_none())?.to_string(), variable?))
}

/// Where a user and a password stand in an address, without the `@`.
fn user_info(text: &str) -> Option<Range<usize>> {
    let start = text.find("//").map_or(0, |at| at + 2);
    let rest = text.get(start..)?;
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let at = rest.get(..end)?.rfind('@')?;
    Some(start..start + at)
}

/// Hides what may be a secret in the wrong place in a job, or in a list of jobs.
pub fn hide(tree: &Node, spans: &mut Vec<Range<usize>>) {
    for entry in tree.entries() {
        if is_named(entry, "jobs")
            && let Value::List(jobs) = &entry.value.value
        {
            for job in jobs {
                hide_job(job, spans);
            }
        }
    }
    hide_job(tree, spans);
}

fn hide_job(job: &Node, spans: &mut Vec<Range<usize>>) {
    for entry in job.entries() {
        if is_named(entry, "output") {
            let literal = |field: &Entry| LITERAL_WEBHOOKS.iter().any(|name| is_named(field, name));
            let wrong = |field: &Entry| is_named(field, "webhook_env") && !names_variable(field);
            let fields = entry.value.entries().iter();
            for field in fields.filter(|field| literal(field) || wrong(field)) {
                decode_keys::hide(&field.value, spans);
            }
        } else if is_named(entry, "inputs") {
            for field in entry
                .value
                .entries()
                .iter()
                .flat_map(|input| input.value.entries())
            {
                hide_input(field, spans);
            }
        } else if is_named(entry, "for_each") {
            let sources = entry.value.entries().iter();
            for field in sources.flat_map(|list| list.value.entries()) {
                hide_input(field, spans);
            }
        }
    }
}

fn hide_input(field: &Entry, spans: &mut Vec<Range<usize>>) {
    if is_named(field, "url") {
        return match &field.value.value {
            Value::Text(text) => {
                let range = user_info(text);
                let hidden = range.map(|range| typed::within(&field.value, text, range).span());
                spans.extend(hidden);
            }
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::List(_)
            | Value::Map(_) => decode_keys::hide(&field.value, spans),
        };
    }
    if !is_named(field, "header_env") {
        return;
    }
    let Value::Map(headers) = &field.value.value else {
        return decode_keys::hide(&field.value, spans);
    };
    for header in headers.iter().filter(|header| !names_variable(header)) {
        decode_keys::hide(&header.value, spans);
    }
}

fn names_variable(field: &Entry) -> bool {
    matches!(&field.value.value, Value::Text(text) if is_variable(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn user_and_password_are_found_before_the_host_only() {
        let found = |text: &str| user_info(text).map(|range| text[range].to_owned());
        assert_eq!(found("https://me:pass@host/x"), Some("me:pass".to_owned()));
        assert_eq!(found("https://me@x:p@host"), Some("me@x:p".to_owned()));
        assert_eq!(found("me:pass@host/x"), Some("me:pass".to_owned()));
        for text in [
            "https://host/@me",
            "https://host?a=b@c",
            "https://host#@",
            "host",
            "",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }
}
