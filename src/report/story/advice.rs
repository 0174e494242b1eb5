//! What a person may do about a slot.

use chrono::SecondsFormat;

use super::clock::Face;
use super::{Advice, End, Knowledge, Record};
use crate::outcome::{FailReason, IncompleteReason, SkipReason, YieldReason};

/// What is to be done, most important first; empty if nothing is.
pub(super) fn advice(
    record: &Record,
    end: &End<'_>,
    knowledge: Knowledge,
    face: &Face<'_>,
) -> Vec<Advice> {
    let mut found = Vec::new();
    match end {
        End::Nothing | End::Succeeded(_) | End::Collecting => {}
        End::Running => found.push(say(
            "see whether a daemon is at work; the next start of one closes what nobody drives",
            "offpeak status".to_owned(),
        )),
        End::Waits(_) => waits(record, face, &mut found),
        End::Incomplete(reason) => {
            found.push(Advice {
                text: mend_answer(*reason, knowledge),
                command: None,
            });
            found.extend(again(record, knowledge, "then have the slot done anew"));
        }
        End::Failed(reason) => {
            found.extend(mend_failure(*reason, record));
            match reason {
                FailReason::Output => {}
                FailReason::Fatal
                | FailReason::NotAMessage
                | FailReason::CarriedTooOften
                | FailReason::Expired
                | FailReason::Exhausted
                | FailReason::Input
                | FailReason::EmptyInput
                | FailReason::Key
                | FailReason::JobGone
                | FailReason::Interrupted
                | FailReason::Dropped
                | FailReason::MaxCost
                | FailReason::OverBudget
                | FailReason::UnknownPrice => {
                    found.extend(again(record, knowledge, "have the slot done anew"));
                }
            }
        }
        End::Exhausted | End::Yielded(_) => {
            found.extend(again(record, knowledge, "have the slot done anew"));
        }
        End::Skipped(reason) => skipped(*reason, record, knowledge, &mut found),
    }
    found
}

fn say(text: &str, command: String) -> Advice {
    Advice {
        text: text.to_owned(),
        command: Some(command),
    }
}

/// What may keep waiting work from going on.
fn waits(record: &Record, face: &Face<'_>, found: &mut Vec<Advice>) {
    for pause in record.pauses.iter().filter(|pause| pause.is_on) {
        found.push(say(
            "the work waits until the pause ends; lift it",
            format!("offpeak resume {}", pause.target),
        ));
    }
    match &record.hold {
        Some(hold) if hold.until.is_none() => found.push(say(
            &format!(
                "group `{}` sends nothing until a person lifts its hold ({}); mend the cause, then",
                hold.group, hold.note
            ),
            format!("offpeak resume {}", hold.group),
        )),
        Some(hold) => found.push(Advice {
            text: format!(
                "nothing: the hold of group `{}` lifts by itself{}",
                hold.group,
                hold.until
                    .map_or_else(String::new, |at| format!(" at {}", face.at(at)))
            ),
            command: None,
        }),
        None => {}
    }
    let is_capped = record
        .works
        .iter()
        .any(|work| work.reason == YieldReason::MaxCost);
    if is_capped {
        found.push(Advice {
            text: "raise `max_cost` if one run is to do it all".to_owned(),
            command: None,
        });
    }
}

fn again(record: &Record, knowledge: Knowledge, what: &str) -> Option<Advice> {
    if !knowledge.is_planned {
        return None;
    }
    let at = record.fire_at.to_rfc3339_opts(SecondsFormat::AutoSi, true);
    Some(say(what, format!("offpeak retry {} {at}", record.job)))
}

fn mend_answer(reason: IncompleteReason, knowledge: Knowledge) -> String {
    match reason {
        IncompleteReason::Truncated => match knowledge.max_tokens {
            Some(most) => format!("raise `max_tokens` of the job (now {most}), or ask for less"),
            None => "raise `max_tokens` of the job, or ask for less".to_owned(),
        },
        IncompleteReason::Refused => "look at the prompt and at what the inputs brought".to_owned(),
        IncompleteReason::Empty | IncompleteReason::Unfinished => {
            "look at the prompt, at the tools of the job and at its `max_tokens`".to_owned()
        }
        IncompleteReason::FailedCheck => {
            "look at the answer that was kept, and at the job's `check` or `answer_schema`"
                .to_owned()
        }
    }
}

fn mend_failure(reason: FailReason, record: &Record) -> Option<Advice> {
    let job = &record.job;
    let text = match reason {
        FailReason::Fatal => {
            return Some(say(
                "see the whole request, and mend the job",
                format!("offpeak dry-run {job}"),
            ));
        }
        FailReason::Input => {
            return Some(say(
                "see what cannot be read, and mend it",
                format!("offpeak dry-run {job} --run-commands"),
            ));
        }
        FailReason::Key => {
            return Some(say(
                "see which secret is missing, and put it there",
                "offpeak config".to_owned(),
            ));
        }
        FailReason::Output => {
            return Some(say(
                "the answer is kept; mend the place, or read it",
                format!("offpeak history {job} --text"),
            ));
        }
        FailReason::NotAMessage => {
            "look at `upstream.base_url`: something else than the API answers there"
        }
        FailReason::CarriedTooOften => {
            "raise `defer.max`, or give the group more slots (`defer.pickup`)"
        }
        FailReason::Expired => {
            "raise `defer.expires_after`, or give the group more slots (`defer.pickup`)"
        }
        FailReason::MaxCost => "raise `max_cost`, or ask for less (`max_tokens`)",
        FailReason::OverBudget => {
            "raise `budget.dollars` of the group, or ask for less (`max_tokens`)"
        }
        FailReason::UnknownPrice => "name the model's price in `prices` of offpeak.yaml",
        FailReason::JobGone => "put the job back, or enable it",
        FailReason::Exhausted
        | FailReason::EmptyInput
        | FailReason::Interrupted
        | FailReason::Dropped => return None,
    };
    Some(Advice {
        text: text.to_owned(),
        command: None,
    })
}

fn skipped(reason: SkipReason, record: &Record, knowledge: Knowledge, found: &mut Vec<Advice>) {
    let wanted = "if it is wanted all the same";
    match reason {
        SkipReason::EmptyInput | SkipReason::Merged => {}
        SkipReason::Overlap => {
            found.push(say(
                "give the job's slots more room, or its runs less to do; see how long they may take",
                "offpeak validate".to_owned(),
            ));
            found.extend(again(record, knowledge, wanted));
        }
        SkipReason::Disabled => found.push(Advice {
            text: "take `enabled: false` out of the job if it is to fire".to_owned(),
            command: None,
        }),
        SkipReason::Missed => found.extend(again(record, knowledge, wanted)),
        SkipReason::Paused => {
            for pause in record.pauses.iter().filter(|pause| pause.is_on) {
                found.push(say(
                    "the pause is on still; lift it",
                    format!("offpeak resume {}", pause.target),
                ));
            }
            found.extend(again(record, knowledge, wanted));
        }
    }
}
