//! Whether an instant lies in a peak window, asked of the windows once a minute.

use std::collections::HashMap;
use std::fmt;

use chrono::{DateTime, Utc};

/// Remembers the answer of each minute: windows begin and end with one.
pub(super) struct PeakMap {
    is_peak: Box<dyn Fn(DateTime<Utc>) -> bool + Send>,
    minutes: HashMap<i64, bool>,
    last: Option<(i64, bool)>,
}

impl PeakMap {
    pub(super) fn new(is_peak: Box<dyn Fn(DateTime<Utc>) -> bool + Send>) -> Self {
        Self {
            is_peak,
            minutes: HashMap::new(),
            last: None,
        }
    }

    pub(super) fn is_peak(&mut self, at: DateTime<Utc>) -> bool {
        let minute = at.timestamp().div_euclid(60);
        if let Some((last, is_peak)) = self.last
            && last == minute
        {
            return is_peak;
        }
        let ask = &self.is_peak;
        let is_peak = *self.minutes.entry(minute).or_insert_with(|| ask(at));
        self.last = Some((minute, is_peak));
        is_peak
    }
}

impl fmt::Debug for PeakMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PeakMap")
            .field("minutes", &self.minutes.len())
            .finish_non_exhaustive()
    }
}
