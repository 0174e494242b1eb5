//! `notify` and `deadman`: who can be told. Addresses are secrets that stand elsewhere.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::engine::alert::Change;
use crate::lint::Rule;

use super::checked::{DeadmanConfig, NotifyConfig, NotifyWay, WebhookFormat};
use super::context::Context;
use super::decode_keys::{named, variable};
use super::decode_settings::{BUILT_IN, DAY, SECOND};
use super::fields::{Field, Fields, open_entries};
use super::mistakes::Mistake;
use super::node::Value;
use super::typed;

/// What an entry gets that does not say: as long as a healthy receiver could ever take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Reads `notify`.
pub fn notify(cx: &mut Context<'_>, field: Field<'_>) -> Option<BTreeMap<String, NotifyConfig>> {
    let mut targets = BTreeMap::new();
    for entry in open_entries(cx, field, "a map of names to `{ webhook_env: VARIABLE }`")? {
        let Some(field) = Field::of(entry) else {
            continue;
        };
        let named = named(cx, field, "notify entry");
        let config = target(cx, field);
        if let Some(name) = named {
            // An entry with a mistake stays known, so that the jobs that name it are not wrong too.
            let nowhere = || NotifyConfig {
                way: NotifyWay::Command(Vec::new()),
                on: BTreeSet::new(),
                timeout: TIMEOUT,
            };
            targets
                .entry(name.to_owned())
                .or_insert(config.unwrap_or_else(nowhere));
        }
    }
    Some(targets)
}

fn target(cx: &mut Context<'_>, field: Field<'_>) -> Option<NotifyConfig> {
    if let Value::Text(_) = field.node.value {
        address_literal(cx, field, "webhook_env: OPS_WEBHOOK_URL");
        return None;
    }
    let expected = "`{ webhook_env: VARIABLE }` or `{ command: [PROGRAM] }`";
    let mut fields = Fields::open(cx, field, expected)?;
    for name in ["webhook", "webhook_url", "url"] {
        if let Some(address) = fields.take_hidden(name) {
            address_literal(cx, address, "webhook_env: OPS_WEBHOOK_URL");
        }
    }
    let webhook = fields.take("webhook_env");
    let command = fields.take("command");
    let format = fields.take("format");
    let on = fields.take("on");
    let timeout = fields.take("timeout");
    fields.close(cx);
    let way = way(cx, field, (webhook, command, format));
    let on = match on {
        None => Some(BTreeSet::from(Change::ALL)),
        Some(on) => changes(cx, on),
    };
    let timeout = match timeout {
        None => Some(TIMEOUT),
        Some(timeout) => typed::duration(cx, timeout, SECOND..=DAY),
    };
    Some(NotifyConfig {
        way: way?,
        on: on?,
        timeout: timeout?,
    })
}

/// Webhook or program: exactly one of `webhook_env` and `command`, and what `format` says of the former.
fn way(
    cx: &mut Context<'_>,
    owner: Field<'_>,
    (webhook, command, format): (Option<Field<'_>>, Option<Field<'_>>, Option<Field<'_>>),
) -> Option<NotifyWay> {
    match (webhook, command) {
        (Some(webhook), None) => {
            let address_env = variable(cx, webhook, "OPS_WEBHOOK_URL");
            let format = match format {
                None => Some(WebhookFormat::Json),
                Some(format) => shape(cx, format),
            };
            Some(NotifyWay::Webhook {
                address_env: address_env?,
                format: format?,
            })
        }
        (None, Some(command)) => {
            if let Some(format) = format {
                let help = "remove it: a program always gets the JSON";
                cx.refuse(format, "`format` is for `webhook_env` only", help);
            }
            Some(NotifyWay::Command(typed::argv(cx, command)?))
        }
        (Some(_), Some(command)) => {
            let reason = "`webhook_env` and `command` exclude each other";
            cx.refuse(command, reason, "keep one of them, or make two entries");
            None
        }
        (None, None) => {
            let help = "name the variable that holds the address: `webhook_env: OPS_WEBHOOK_URL`; \
                        or a program: `command: [PROGRAM]`";
            cx.missing(owner.key, "webhook_env", help);
            None
        }
    }
}

fn shape(cx: &mut Context<'_>, field: Field<'_>) -> Option<WebhookFormat> {
    let words = [
        ("json", WebhookFormat::Json),
        ("slack", WebhookFormat::Slack),
    ];
    typed::word(cx, field, &words)
}

fn changes(cx: &mut Context<'_>, field: Field<'_>) -> Option<BTreeSet<Change>> {
    let words = Change::ALL.map(|change| (change.as_str(), change));
    let Value::List(items) = &field.node.value else {
        cx.expected(field, "a list such as `[failed, recovered]`");
        return None;
    };
    if items.is_empty() {
        cx.expected(field, "at least one of `failed`, `held` and `recovered`");
        return None;
    }
    let read: Vec<_> = items
        .iter()
        .map(|item| typed::word(cx, field.element(item), &words))
        .collect();
    read.into_iter().collect()
}

/// Reads `deadman`; `None` if it names no address.
pub fn deadman(cx: &mut Context<'_>, root: &mut Fields<'_>) -> Option<DeadmanConfig> {
    let mut fields = root.section(cx, "deadman");
    for name in ["url", "address"] {
        if let Some(address) = fields.take_hidden(name) {
            address_literal(cx, address, "url_env: DEADMAN_URL");
        }
    }
    let url_env = fields.read(cx, "url_env", |cx, f| variable(cx, f, "DEADMAN_URL"));
    let timeout = fields
        .read(cx, "timeout", |cx, f| typed::duration(cx, f, SECOND..=DAY))
        .expect(BUILT_IN);
    fields.close(cx);
    Some(DeadmanConfig {
        url_env: url_env?,
        timeout,
    })
}

/// Refuses an address that stands in a file.
pub fn address_literal(cx: &mut Context<'_>, field: Field<'_>, instead: &str) {
    let message = format!(
        "`{}`: a webhook's address is a secret and must not stand in this file",
        field.name
    );
    let help = format!("put it in an environment variable: `{{ {instead} }}`");
    cx.report(Mistake::new(Rule::LiteralSecret, field.place(), message).help(help));
}
