//! `rules`: gaps, peak windows, and how bad each rule is; `accept` of a job.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::lint::{Level, Levels, Rule};
use crate::schedule::{PeakWindow, PeakWindows};

use super::context::Context;
use super::decode_settings::{BUILT_IN, DAY, ZERO};
use super::fields::{Field, Fields, open_entries};
use super::source::Place;
use super::{typed, value};

/// What `rules` says.
#[derive(Debug)]
pub struct DecodedRules {
    /// The least gap within a group.
    pub min_gap: Duration,
    /// The gap below which advice is given.
    pub comfortable_gap: Duration,
    /// When nothing fires.
    pub peaks: PeakWindows,
    /// How bad each rule is.
    pub levels: Levels,
}

/// What a job says of a rule that it accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accepted {
    /// Why.
    pub reason: String,
    /// Where the rule is named.
    pub place: Place,
}

/// Reads `rules`: the least gap, the comfortable gap, the windows, the severities.
pub fn rules(cx: &mut Context<'_>, root: &mut Fields<'_>) -> DecodedRules {
    let mut fields = root.section(cx, "rules");
    let mut gap = |cx: &mut Context<'_>, name| {
        fields
            .read(cx, name, |cx, f| typed::duration(cx, f, ZERO..=DAY))
            .expect(BUILT_IN)
    };
    let (min_gap, comfortable_gap) = (gap(cx, "min_gap"), gap(cx, "comfortable_gap"));
    let levels = fields.read(cx, "severity", levels).unwrap_or_default();
    let mut peaks = fields.section(cx, "peaks");
    let zone = peaks.read(cx, "timezone", typed::zone).expect(BUILT_IN);
    let days = peaks.read(cx, "days", days).unwrap_or([true; 7]);
    let windows = peaks
        .read(cx, "windows", |cx, field| windows(cx, field, days))
        .expect(BUILT_IN);
    peaks.close(cx);
    fields.close(cx);
    DecodedRules {
        min_gap,
        comfortable_gap,
        peaks: PeakWindows::new(zone, windows),
        levels,
    }
}

fn levels(cx: &mut Context<'_>, field: Field<'_>) -> Option<Levels> {
    let entries = open_entries(cx, field, "a map such as `{ overrun: off }`")?;
    let mut levels = Levels::default();
    for entry in entries.iter().filter_map(Field::of) {
        let rule = rule(cx, entry, Rule::is_settable);
        let words = [
            ("error", Level::Error),
            ("warn", Level::Warn),
            ("off", Level::Off),
        ];
        if let Some((rule, level)) = rule.zip(typed::word(cx, entry, &words)) {
            levels.set(rule, level);
        }
    }
    Some(levels)
}

/// Reads `accept` of a job: rules, each with the reason why its findings are accepted.
pub fn accept(cx: &mut Context<'_>, field: Field<'_>) -> Option<BTreeMap<Rule, Accepted>> {
    let expected = "a map of rules to reasons such as `{ key-gap: \"staging key\" }`";
    let entries = open_entries(cx, field, expected)?;
    let mut accepted = BTreeMap::new();
    for entry in entries.iter().filter_map(Field::of) {
        let rule = rule(cx, entry, Rule::is_acceptable);
        if let Some((rule, reason)) = rule.zip(typed::text(cx, entry)) {
            let place = entry.key.clone();
            accepted.insert(rule, Accepted { reason, place });
        }
    }
    Some(accepted)
}

/// The rule that an entry is named after, if it may stand there.
fn rule(cx: &mut Context<'_>, field: Field<'_>, may: fn(Rule) -> bool) -> Option<Rule> {
    let names = || {
        Rule::ALL
            .iter()
            .filter(|rule| may(**rule))
            .map(|rule| rule.as_str())
    };
    let found = Rule::named(field.name);
    if let Some(rule) = found.filter(|rule| may(*rule)) {
        return Some(rule);
    }
    let (message, help) = if let Some(rule) = found {
        refusal(rule)
    } else {
        let near = value::nearest(field.name, names());
        let help = near.map_or_else(
            || format!("the rules are {}", value::listed(names())),
            |name| format!("did you mean `{name}`?"),
        );
        (format!("there is no rule `{}`", field.name), help)
    };
    cx.bad_field(field.key.clone(), message, Some(help));
    None
}

/// Why a rule cannot stand in `severity` or in `accept`, and what to do.
fn refusal(rule: Rule) -> (String, String) {
    if !rule.is_settable() {
        return (
            format!("`{rule}` always stays an error"),
            format!(
                "remove this and mend what it finds; `offpeak validate --explain {rule}` says how"
            ),
        );
    }
    let reason = if rule == Rule::UnusedAccept {
        "is about `accept` itself: no job can accept it"
    } else {
        "is no matter of one job: no job can accept it"
    };
    (
        format!("`{rule}` {reason}"),
        format!(
            "for the whole folder write in offpeak.yaml `rules: {{ severity: {{ {rule}: off }} }}`"
        ),
    )
}

fn days(cx: &mut Context<'_>, field: Field<'_>) -> Option<[bool; 7]> {
    let days = value::days(&typed::text(cx, field)?);
    if days.is_none() {
        cx.expected(field, "days such as `mon-fri` or `sat,sun`");
    }
    days
}

fn windows(cx: &mut Context<'_>, field: Field<'_>, days: [bool; 7]) -> Option<Vec<PeakWindow>> {
    let read = |cx: &mut Context<'_>, item| -> Option<Vec<PeakWindow>> {
        let parts = value::window(&typed::text(cx, item)?);
        if parts.is_none() {
            cx.expected(item, "a window such as `\"07:00-09:00\"`");
        }
        let mut day_after = days;
        day_after.rotate_right(1);
        let window = |(index, (start, end))| PeakWindow {
            start,
            end,
            days: if index == 0 { days } else { day_after },
        };
        Some(parts?.into_iter().enumerate().map(window).collect())
    };
    let read: Vec<_> = typed::one_or_many(field)
        .into_iter()
        .map(|item| read(cx, item))
        .collect();
    Some(read.into_iter().collect::<Option<Vec<_>>>()?.concat())
}
