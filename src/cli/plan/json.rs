//! The slots as JSON, written as they are found: a long plan is never held.

use std::io::Write;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::cli::json::instant;
use crate::strip::{Lane, Strip};

/// A strip, and whether the daemon would start.
pub struct StripTwin<'s, 'a> {
    pub strip: &'s Strip<'a>,
    pub ok: bool,
}

impl StripTwin<'_, '_> {
    /// Prints it on one line.
    pub fn print(&self, out: &mut dyn Write) -> std::io::Result<()> {
        let mut out = std::io::BufWriter::new(out);
        serde_json::to_writer(&mut out, self)?;
        writeln!(out)?;
        out.flush()
    }
}

impl Serialize for StripTwin<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let strip = self.strip;
        let peaks = &strip.rules.peaks;
        let windows: Vec<String> = peaks.windows().iter().map(ToString::to_string).collect();
        let groups: Vec<LaneTwin<'_, '_>> = strip
            .lanes
            .iter()
            .map(|lane| LaneTwin { strip, lane })
            .collect();
        let mut twin = serializer.serialize_struct("Strip", 7)?;
        twin.serialize_field("version", &1)?;
        twin.serialize_field("from", &instant(strip.days.starts_at()))?;
        twin.serialize_field("until", &instant(strip.days.ends_at()))?;
        twin.serialize_field("zone", strip.days.zone().name())?;
        twin.serialize_field("windows", &windows)?;
        twin.serialize_field("ok", &self.ok)?;
        twin.serialize_field("groups", &groups)?;
        twin.end()
    }
}

struct LaneTwin<'s, 'a> {
    strip: &'s Strip<'a>,
    lane: &'s Lane<'a>,
}

impl Serialize for LaneTwin<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut twin = serializer.serialize_struct("Lane", 2)?;
        twin.serialize_field("group", self.lane.group.as_str())?;
        twin.serialize_field("slots", &SlotsTwin(self))?;
        twin.end()
    }
}

/// The slots of a lane, found a day at a time.
struct SlotsTwin<'l, 's, 'a>(&'l LaneTwin<'s, 'a>);

impl Serialize for SlotsTwin<'_, '_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let LaneTwin { strip, lane } = self.0;
        let days = strip.days.rows().iter();
        let firings = days.flat_map(|day| lane.firings(day.starts_at, day.ends_at));
        serializer.collect_seq(firings.map(|firing| {
            let member = &lane.members[firing.member];
            SlotTwin {
                job: member.subject.job.as_str(),
                at: instant(firing.at),
                worst_case_seconds: member.worst_case.as_secs(),
                pickup: member.is_pickup(),
            }
        }))
    }
}

#[derive(Serialize)]
struct SlotTwin<'a> {
    job: &'a str,
    at: String,
    worst_case_seconds: u64,
    pickup: bool,
}
