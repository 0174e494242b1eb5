//! Arguments of what a person tells the schedule: `pause`, `resume`, `retry` and `drop`.

use std::convert::Infallible;
use std::time::Duration;

use chrono::{DateTime, Utc};
use clap::Args as ClapArgs;

use super::instant;

/// Arguments of `pause`.
#[derive(Debug, ClapArgs)]
pub struct Pause {
    /// A job or a group; `job:NAME` or `group:NAME` where both have the name.
    #[arg(value_name = "NAME")]
    pub name: String,
    /// When the pause ends by itself, such as `2026-12-24` or `2026-12-24T05:00:00+09:00`; `offpeak resume` if not
    /// given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub until: Option<DateTime<Utc>>,
    /// How long it lasts, such as `90m`, `8h` or `30d`.
    #[arg(long = "for", value_name = "SPAN", value_parser = span, conflicts_with = "until")]
    pub span: Option<Duration>,
    /// Why; shown in `status`.
    #[arg(long, value_name = "TEXT", value_parser = one_line)]
    pub reason: Option<String>,
}

/// Arguments of `resume`.
#[derive(Debug, ClapArgs)]
pub struct Resume {
    /// A job or a group, whose name is the key's if the key has no group; `job:NAME` or `group:NAME` where both have
    /// it.
    #[arg(value_name = "NAME")]
    pub name: String,
}

/// Arguments of `retry`.
#[derive(Debug, ClapArgs)]
pub struct Retry {
    /// The job's name.
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The fire time of its slot, as `history --format json` prints it; its newest slot if not given.
    #[arg(value_name = "INSTANT", value_parser = instant)]
    pub fire_at: Option<DateTime<Utc>>,
}

/// Arguments of `drop`.
#[derive(Debug, ClapArgs)]
pub struct DropWork {
    /// The job's name.
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The fire time of the slot whose work waits, as `status --format json` prints it; the newest such if not given.
    #[arg(value_name = "INSTANT", value_parser = instant)]
    pub fire_at: Option<DateTime<Utc>>,
    /// Everything of this job that waits.
    #[arg(long, conflicts_with = "fire_at")]
    pub all: bool,
    /// Why; kept in the history.
    #[arg(long, value_name = "TEXT", value_parser = one_line)]
    pub reason: Option<String>,
}

/// Reads a span of time that is longer than nothing.
pub(super) fn span(text: &str) -> Result<Duration, String> {
    let read = crate::span::parse(text).filter(|span| !span.is_zero());
    read.ok_or_else(|| "expected a span longer than nothing, such as 90m, 8h or 30d".to_owned())
}

/// Reads a text that is kept and shown as part of a line: what would end the line, move the cursor or turn the line
/// around becomes a blank.
#[expect(
    clippy::unnecessary_wraps,
    reason = "a reader of arguments may refuse; this one would repeat the signs in doing so"
)]
fn one_line(text: &str) -> Result<String, Infallible> {
    let breaks =
        |c: char| c.is_control() || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let still = text.replace(breaks, " ");
    Ok(still.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_a_unit_and_is_longer_than_nothing() {
        assert_eq!(span("8h"), Ok(Duration::from_hours(8)));
        for text in ["0s", "8", "soon"] {
            assert!(span(text).unwrap_err().contains("8h"), "{text}");
        }
    }

    #[test]
    fn a_reason_is_one_line_that_moves_nothing() {
        for (text, kept) in [
            ("holidays", "holidays"),
            ("down,\r\n  see mail\n", "down, see mail"),
            ("\u{1b}[2Jgone\u{7}", "[2Jgone"),
            ("a\u{2028}b\u{202e}c\u{9b}d", "a b c d"),
            ("\t\u{e9}t\u{e9} \u{1f3d6}", "\u{e9}t\u{e9} \u{1f3d6}"),
        ] {
            assert_eq!(one_line(text).unwrap(), kept, "{text:?}");
        }
    }
}
