//! `offpeak.yaml` over the built-in defaults.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::guard::{GuardPolicy, RetryPolicy};
use crate::job::KeyId;
use crate::price::OwnPrice;
use crate::schedule::DeferPolicy;

use super::checked::{Auth, DeadmanConfig, KeyConfig, NotifyConfig, UpstreamConfig};
use super::context::Context;
use super::decode_defaults::{DefaultZone, JobDefaults, Pickup, job_defaults, pickup};
use super::decode_policies::{breaker, budget, defer, retry};
use super::decode_rules::{DecodedRules, rules};
use super::fields::{Field, Fields};
use super::{decode_keys, decode_notify, decode_prices, typed};

/// The built-in file is right; a test of this module reads it.
pub const BUILT_IN: &str = "defaults.yaml holds every setting";

/// No time.
pub const ZERO: Duration = Duration::ZERO;
/// The shortest span that makes sense for most limits.
pub const SECOND: Duration = Duration::from_secs(1);
/// The longest span that makes sense for most limits.
pub const DAY: Duration = Duration::from_hours(24);
/// The longest span that anything is kept.
pub const TEN_YEARS: Duration = Duration::from_hours(3_650 * 24);

/// What `offpeak.yaml` says, defaults filled in.
#[derive(Debug)]
pub struct Settings {
    /// Keys by name.
    pub keys: BTreeMap<KeyId, KeyConfig>,
    /// Who can be told.
    pub notify: BTreeMap<String, NotifyConfig>,
    /// What is pinged after good slots.
    pub deadman: Option<DeadmanConfig>,
    /// Where requests go.
    pub upstream: UpstreamConfig,
    /// Gaps, peak windows and severities.
    pub rules: DecodedRules,
    /// How calls are retried.
    pub retry: RetryPolicy,
    /// Budget and breaker of every group.
    pub guard: GuardPolicy,
    /// What models cost, where the user says so.
    pub prices: Vec<OwnPrice>,
    /// How yielded work is carried.
    pub defer: DeferPolicy,
    /// Pickup slots.
    pub pickup: Pickup,
    /// What a job gets that does not say.
    pub defaults: JobDefaults,
    /// The store's folder as written, and how long rows are kept.
    pub store: (PathBuf, Duration),
    /// How long requests in flight may go on after the stop signal.
    pub grace: Duration,
}

/// Reads the settings; `user` lies over `base`, and paths are relative to `folder`.
pub fn settings(
    cx: &mut Context<'_>,
    user: Option<Field<'_>>,
    base: Field<'_>,
    folder: &Path,
) -> Settings {
    let mut root = Fields::over(cx, user, base);
    let keys = root
        .read(cx, "keys", |cx, field| decode_keys::keys(cx, field, folder))
        .expect(BUILT_IN);
    let notify = root
        .read(cx, "notify", decode_notify::notify)
        .expect(BUILT_IN);
    let deadman = decode_notify::deadman(cx, &mut root);
    let upstream = upstream(cx, &mut root);
    let rules = rules(cx, &mut root);
    let retry = retry(cx, &mut root);
    let guard = GuardPolicy {
        budget: budget(cx, &mut root),
        breaker: breaker(cx, &mut root),
    };
    let prices = root
        .read(cx, "prices", decode_prices::prices)
        .expect(BUILT_IN);
    let defaults = job_defaults(cx, &mut root, &keys);
    let mut defer_fields = root.section(cx, "defer");
    let defer = defer(cx, &mut defer_fields, None);
    let pickup_zone = match &defaults.zone {
        DefaultZone::Named(zone) => zone.clone(),
        DefaultZone::None | DefaultZone::Wrong => rules.peaks.zone().clone(),
    };
    let pickup = defer_fields
        .read(cx, "pickup", |cx, field| {
            pickup(cx, field, &keys, &pickup_zone)
        })
        .expect(BUILT_IN);
    defer_fields.close(cx);
    let store = store(cx, &mut root);
    let mut daemon = root.section(cx, "daemon");
    let grace = daemon
        .read(cx, "grace", |cx, f| typed::duration(cx, f, ZERO..=DAY))
        .expect(BUILT_IN);
    daemon.close(cx);
    root.close(cx);
    Settings {
        keys,
        notify,
        deadman,
        upstream,
        rules,
        retry,
        guard,
        prices,
        defer,
        pickup,
        defaults,
        store,
        grace,
    }
}

fn upstream(cx: &mut Context<'_>, root: &mut Fields<'_>) -> UpstreamConfig {
    let mut fields = root.section(cx, "upstream");
    let base_url = fields.read(cx, "base_url", base_url).expect(BUILT_IN);
    let version = fields.read(cx, "version", version).expect(BUILT_IN);
    let auth = fields
        .read(cx, "auth", |cx, f| {
            typed::word(
                cx,
                f,
                &[("x-api-key", Auth::ApiKey), ("bearer", Auth::Bearer)],
            )
        })
        .expect(BUILT_IN);
    let mut timeouts = fields.section(cx, "timeouts");
    let mut timeout = |cx: &mut Context<'_>, name| {
        timeouts
            .read(cx, name, |cx, f| {
                typed::duration(cx, f, Duration::from_millis(1)..=DAY)
            })
            .expect(BUILT_IN)
    };
    let (connect, first_byte, idle) = (
        timeout(cx, "connect"),
        timeout(cx, "first_byte"),
        timeout(cx, "idle"),
    );
    timeouts.close(cx);
    let max_answer_bytes = fields
        .read(cx, "max_answer_bytes", typed::size)
        .expect(BUILT_IN);
    fields.close(cx);
    UpstreamConfig {
        base_url,
        version,
        auth,
        connect,
        first_byte,
        idle,
        max_answer_bytes,
    }
}

fn base_url(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let text = typed::text(cx, field)?;
    let parsed = reqwest::Url::parse(&text).ok();
    let fits = |url: &reqwest::Url| {
        matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.query().is_none()
            && url.fragment().is_none()
    };
    if parsed.is_some_and(|url| fits(&url)) {
        return Some(text);
    }
    cx.expected(
        field,
        "an http or https URL without user, query or fragment, such as `https://api.anthropic.com`",
    );
    None
}

fn version(cx: &mut Context<'_>, field: Field<'_>) -> Option<String> {
    let text = typed::text(cx, field)?;
    // The parser alone would take blanks and signs, which then stood in a header.
    let date = chrono::NaiveDate::parse_from_str(&text, "%Y-%m-%d");
    if text.len() == 10 && date.is_ok_and(|date| date.to_string() == text) {
        return Some(text);
    }
    cx.expected(field, "a version of the API such as `2023-06-01`");
    None
}

fn store(cx: &mut Context<'_>, root: &mut Fields<'_>) -> (PathBuf, Duration) {
    let mut fields = root.section(cx, "store");
    let path = fields.read(cx, "path", typed::text).expect(BUILT_IN);
    let keep = fields
        .read(cx, "keep", |cx, f| typed::duration(cx, f, DAY..=TEN_YEARS))
        .expect(BUILT_IN);
    fields.close(cx);
    (PathBuf::from(path), keep)
}
