//! Tells the night as it goes: a line an event, and on a terminal a clock below.

use std::io::Write;

use chrono::{DateTime, FixedOffset, Utc};

use crate::cli::screen::{Kind, Screen};
use crate::engine::Notice;
use crate::engine::ports::{Fate, Finish};
use crate::outcome::{Attempt, Class, Outcome};
use crate::report::View;
use crate::slot::Slot;

/// An instant as the report shows it.
#[must_use]
pub fn jst(at: DateTime<Utc>) -> DateTime<FixedOffset> {
    at.with_timezone(&View::jst(0).offset)
}

/// Tells the night as it goes.
#[derive(Debug)]
pub struct Narrator {
    screen: Screen,
}

impl Narrator {
    /// For this terminal.
    #[must_use]
    pub fn new(screen: Screen) -> Self {
        Self { screen }
    }

    /// Tells one notice.
    pub fn tell(
        &self,
        out: &mut dyn Write,
        now: DateTime<Utc>,
        notice: &Notice,
    ) -> std::io::Result<()> {
        let Some((job, words)) = self.words(notice) else {
            return Ok(());
        };
        self.clear(out)?;
        writeln!(out, "{}  {job:<18} {words}", jst(now).format("%H:%M:%S"))
    }

    /// Redraws the clock on a terminal.
    pub fn tick(&self, out: &mut dyn Write, now: DateTime<Utc>) -> std::io::Result<()> {
        if self.screen.kind == Kind::Terminal {
            write!(
                out,
                "\r\x1b[K{}",
                self.screen
                    .styled("2", &jst(now).format("%H:%M JST").to_string())
            )?;
            out.flush()?;
        }
        Ok(())
    }

    /// Wipes the clock.
    pub fn clear(&self, out: &mut dyn Write) -> std::io::Result<()> {
        if self.screen.kind == Kind::Terminal {
            write!(out, "\r\x1b[K")?;
        }
        Ok(())
    }

    fn words(&self, notice: &Notice) -> Option<(String, String)> {
        match notice {
            Notice::Started { slot, origin, .. } => {
                let due = jst(slot.fire_at).format("%H:%M");
                Some((slot.job.to_string(), format!("starts: {origin}, due {due}")))
            }
            Notice::Attempted { slot, attempt } => {
                Some((slot.job.to_string(), self.attempt(attempt)))
            }
            Notice::Ended { slot, finish } => {
                Some((slot.job.to_string(), self.ended(slot, finish)))
            }
            Notice::Recorded { slot, fate } => match fate {
                Fate::Fire => None,
                Fate::Skip(reason) => Some((slot.job.to_string(), format!("skipped: {reason}"))),
                Fate::CatchUp(_) => {
                    Some((slot.job.to_string(), "missed; caught up later".to_owned()))
                }
            },
            Notice::StoreFailed { message } => {
                Some(("store".to_owned(), self.screen.styled("31", message)))
            }
            Notice::Planned { .. }
            | Notice::Redelivered { .. }
            | Notice::Recovered { .. }
            | Notice::Unrecorded { .. }
            | Notice::SteppedBack { .. }
            | Notice::ClockUnset { .. }
            | Notice::SpanSkipped { .. }
            | Notice::ZonesChanged { .. }
            | Notice::StoreWorks { .. }
            | Notice::Draining { .. } => None,
        }
    }

    fn attempt(&self, attempt: &Attempt) -> String {
        let n = attempt.n;
        let Some(end) = &attempt.end else {
            return format!("attempt {n} goes out");
        };
        let took = format!("{:.1} s", end.latency.as_secs_f64());
        let status = end
            .status
            .map(|status| format!("{status} "))
            .unwrap_or_default();
        match end.class {
            Some(Class::Success) => format!("attempt {n}: answered after {took}"),
            Some(Class::Retryable | Class::Fatal) => {
                let what = end
                    .error_type
                    .as_deref()
                    .or(end.message.as_deref())
                    .unwrap_or("failed");
                let hint = end
                    .hint
                    .map(|hint| format!(", retry-after {} s", hint.as_secs()))
                    .unwrap_or_default();
                self.screen.styled(
                    "33",
                    &format!("attempt {n}: {status}{what} after {took}{hint}"),
                )
            }
            None => self
                .screen
                .styled("33", &format!("attempt {n}: cancelled after {took}")),
        }
    }

    fn ended(&self, slot: &Slot, finish: &Finish) -> String {
        let to = finish.deferral.as_ref().and_then(|deferral| deferral.to);
        let to = to.map_or_else(
            || "a later slot".to_owned(),
            |to| jst(to).format("%H:%M").to_string(),
        );
        match &finish.outcome {
            Outcome::Succeeded => self.screen.styled("32", "succeeded"),
            Outcome::Yielded(reason) => self
                .screen
                .styled("36", &format!("yields ({reason}); the work goes to {to}")),
            Outcome::Exhausted if finish.deferral.is_some() => self
                .screen
                .styled("36", &format!("exhausted; the work goes to {to}")),
            Outcome::Exhausted | Outcome::Incomplete(_) | Outcome::Failed(_) => self.screen.styled(
                "31",
                &format!(
                    "{} (due {})",
                    finish.outcome,
                    jst(slot.fire_at).format("%H:%M")
                ),
            ),
            Outcome::Skipped(reason) => format!("skipped: {reason}"),
        }
    }
}
