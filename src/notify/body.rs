//! Alerts as texts: JSON for programs, sentences for chat rooms.

use chrono::{DateTime, SecondsFormat, Utc};
use serde::Serialize;

use crate::engine::alert::{Alert, Ending, News};
use crate::guard::Hold;

/// The twin of an alert in JSON; members without a value are left out.
#[derive(Debug, Serialize)]
struct Body<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    job: Option<&'a str>,
    group: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fire_at: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    attempts: Option<u32>,
    at: String,
}

/// An alert as one JSON object: `event`, `job`, `group`, `fire_at`, `outcome`, `reason`, `note`, `attempts`, `at`.
#[must_use]
pub fn json(alert: &Alert) -> String {
    let bare = Body {
        event: alert.change().as_str(),
        job: None,
        group: alert.group.as_str(),
        fire_at: None,
        outcome: None,
        reason: None,
        note: None,
        attempts: None,
        at: instant(alert.at),
    };
    let body = match &alert.news {
        News::Failed(ending, attempts) | News::Works(ending, attempts) => Body {
            job: Some(ending.slot.job.as_str()),
            fire_at: Some(instant(ending.slot.fire_at)),
            outcome: Some(ending.outcome.as_str()),
            reason: ending.outcome.reason(),
            note: ending.note.as_deref(),
            attempts: *attempts,
            ..bare
        },
        News::Held(hold) | News::Free(hold) => Body {
            reason: Some(hold.cause.as_str()),
            note: Some(&hold.note),
            ..bare
        },
    };
    serde_json::json!(body).to_string()
}

/// An alert in the shape that Slack and its kin take: `{"text": "…"}`.
#[must_use]
pub fn slack(alert: &Alert) -> String {
    // The three characters that begin markup there.
    let text = sentences(alert)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    serde_json::json!({ "text": text }).to_string()
}

/// An alert in one or two plain sentences.
#[must_use]
pub fn sentences(alert: &Alert) -> String {
    let group = &alert.group;
    match &alert.news {
        News::Failed(ending, attempts) => {
            let (job, due) = (&ending.slot.job, minute(ending.slot.fire_at));
            let tried = match attempts {
                None => String::new(),
                Some(1) => ", 1 attempt".to_owned(),
                Some(n) => format!(", {n} attempts"),
            };
            let told = format!(
                "offpeak: job {job} failed in its slot of {due} ({}{tried}).",
                ending.outcome
            );
            with_note(told, ending.note.as_deref())
        }
        News::Works(Ending { slot, .. }, _) => format!(
            "offpeak: job {} works again: its slot of {} succeeded.",
            slot.job,
            minute(slot.fire_at)
        ),
        News::Held(hold) => with_note(
            format!(
                "offpeak: group {group} is held {} ({}).",
                end(hold, group.as_str()),
                hold.cause.as_str()
            ),
            Some(&hold.note),
        ),
        News::Free(hold) => {
            format!(
                "offpeak: group {group} is no longer held ({}).",
                hold.cause.as_str()
            )
        }
    }
}

fn end(hold: &Hold, group: &str) -> String {
    match hold.until {
        Some(until) => format!("until {}", minute(until)),
        None => format!("until `offpeak resume {group}`"),
    }
}

/// The note as a second sentence.
fn with_note(told: String, note: Option<&str>) -> String {
    let Some(note) = note.filter(|note| !note.is_empty()) else {
        return told;
    };
    let mut letters = note.chars();
    let first = letters
        .next()
        .map(|first| first.to_uppercase().to_string())
        .unwrap_or_default();
    let stop = if note.ends_with('.') { "" } else { "." };
    format!("{told} {first}{}{stop}", letters.as_str())
}

fn instant(at: DateTime<Utc>) -> String {
    at.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

fn minute(at: DateTime<Utc>) -> String {
    at.format("%Y-%m-%d %H:%M UTC").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::guard::HoldCause;
    use crate::job::{GroupId, JobId};
    use crate::outcome::{FailReason, Outcome, RunId};
    use crate::slot::Slot;

    fn alert(news: News) -> Alert {
        Alert {
            group: GroupId::new("main"),
            news,
            at: "2026-12-01T20:01:02.500Z".parse().unwrap(),
        }
    }

    fn ending(outcome: Outcome, note: Option<&str>) -> Ending {
        Ending {
            slot: Slot {
                fire_at: "2026-12-01T20:00:00Z".parse().unwrap(),
                job: JobId::new("digest"),
            },
            run: RunId(7),
            outcome,
            note: note.map(str::to_owned),
            later: None,
            at: "2026-12-01T20:01:02Z".parse().unwrap(),
        }
    }

    fn hold(until: Option<&str>) -> Hold {
        Hold {
            cause: HoldCause::Billing,
            until: until.map(|until| until.parse().unwrap()),
            since: "2026-12-01T20:01:02Z".parse().unwrap(),
            note: "pay the <bill>".to_owned(),
        }
    }

    #[test]
    fn a_failed_job_is_told_with_all_that_is_known() {
        let fatal = ending(Outcome::Failed(FailReason::Fatal), Some("no such model"));
        let alert = alert(News::Failed(fatal, Some(2)));
        assert_eq!(
            json(&alert),
            r#"{"event":"failed","job":"digest","group":"main","fire_at":"2026-12-01T20:00:00Z","outcome":"failed","reason":"fatal","note":"no such model","attempts":2,"at":"2026-12-01T20:01:02.500Z"}"#
        );
        assert_eq!(
            sentences(&alert),
            "offpeak: job digest failed in its slot of 2026-12-01 20:00 UTC (failed: fatal, 2 attempts). No such model."
        );
    }

    #[test]
    fn a_job_that_works_again_is_one_sentence() {
        let alert = alert(News::Works(ending(Outcome::Succeeded, None), None));
        assert_eq!(
            json(&alert),
            r#"{"event":"recovered","job":"digest","group":"main","fire_at":"2026-12-01T20:00:00Z","outcome":"succeeded","at":"2026-12-01T20:01:02.500Z"}"#
        );
        assert_eq!(
            sentences(&alert),
            "offpeak: job digest works again: its slot of 2026-12-01 20:00 UTC succeeded."
        );
    }

    #[test]
    fn a_hold_says_who_lifts_it() {
        let held = alert(News::Held(hold(None)));
        assert_eq!(
            json(&held),
            r#"{"event":"held","group":"main","reason":"billing","note":"pay the <bill>","at":"2026-12-01T20:01:02.500Z"}"#
        );
        assert_eq!(
            slack(&held),
            r#"{"text":"offpeak: group main is held until `offpeak resume main` (billing). Pay the &lt;bill&gt;."}"#
        );
        let until = alert(News::Held(hold(Some("2027-01-01T00:00:00Z"))));
        assert!(sentences(&until).contains("is held until 2027-01-01 00:00 UTC (billing)"));
        let free = alert(News::Free(hold(None)));
        assert_eq!(
            sentences(&free),
            "offpeak: group main is no longer held (billing)."
        );
        assert!(json(&free).contains(r#""event":"recovered""#));
    }

    #[test]
    fn a_single_attempt_and_an_empty_note_read_well() {
        let one = ending(Outcome::Exhausted, Some(""));
        let text = sentences(&alert(News::Failed(one, Some(1))));
        assert!(text.ends_with("(exhausted, 1 attempt)."), "{text}");
    }
}
