//! The figures of an arm over one seed, and what each is counted in.

use std::fmt;

/// What a figure is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Unit {
    /// Things.
    Count,
    /// A ratio.
    Ratio,
    /// Milliseconds.
    Span,
    /// United States dollars.
    Dollars,
}

macro_rules! metrics {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $label:literal, $unit:ident;)*) => {
        /// A figure of one arm over one seed.
        ///
        /// ```
        /// use offpeak::trial::{Metric, Unit};
        ///
        /// assert_eq!(Metric::from_word("done_p99"), Some(Metric::DoneP99));
        /// assert_eq!(Metric::DoneP99.unit(), Unit::Span);
        /// assert_eq!(Metric::from_word("p98"), None);
        /// ```
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Metric { $($(#[$doc])* $variant,)* }

        impl Metric {
            /// Every figure, in the order in which they are shown.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word used in JSON and in conditions.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// The words used in tables.
            #[must_use]
            pub const fn label(self) -> &'static str {
                match self { $(Self::$variant => $label,)* }
            }

            /// What it is counted in.
            #[must_use]
            pub const fn unit(self) -> Unit {
                match self { $(Self::$variant => Unit::$unit,)* }
            }
        }
    };
}

metrics! {
    /// Slots at which work was due.
    Work = "work", "work due", Count;
    /// Work done in its own slot.
    InSlot = "in_slot", "in its slot", Count;
    /// Work done in a later slot, less than twelve hours after its own.
    Next = "next", "in the next", Count;
    /// Work done twelve hours after its slot or later.
    NextDay = "next_day", "the next day", Count;
    /// Work that was never done and that nothing waits to do.
    Lost = "lost", "lost", Count;
    /// Work that still waited when the span ended.
    Waiting = "waiting", "still waiting", Count;
    /// Calls that sent at least one request.
    Calls = "calls", "calls", Count;
    /// Of these, how many ended without an answer.
    Unanswered = "unanswered", "no answer", Count;
    /// Requests.
    Attempts = "attempts", "attempts", Count;
    /// Requests for an answer. Work that was put off wants the same answers again, and adds to these.
    MeanAttempts = "mean_attempts", "attempts a call", Ratio;
    /// Answers for which at least one request was in vain, in whichever run.
    TroubledCalls = "troubled_calls", "troubled calls", Count;
    /// Requests for each of these.
    AttemptsPerTroubledCall = "attempts_per_troubled_call", "per troubled call", Ratio;
    /// Requests that brought no answer.
    Wasted = "wasted", "wasted", Count;
    /// Requests that broke off after work had begun and that were sent again for the same answer, in whichever
    /// run: they may have been billed twice.
    Resent = "resent", "maybe billed twice", Count;
    /// The most requests of one group in any 60 seconds, as the server sees them. Two that are 60 seconds apart are not
    /// in one minute.
    SendsPerMinute = "sends_per_minute", "most in a minute", Count;
    /// A request, from its start to its end, however it ended: half took no longer.
    AttemptP50 = "attempt_p50", "attempt p50", Span;
    /// 95 of 100 requests took no longer.
    AttemptP95 = "attempt_p95", "attempt p95", Span;
    /// 99 of 100 requests took no longer.
    AttemptP99 = "attempt_p99", "attempt p99", Span;
    /// The longest request.
    AttemptMax = "attempt_max", "attempt max", Span;
    /// A call in its run, from its first request to its answer, waits included: half took no longer.
    ///
    /// A call that ended without an answer took longer than all that were answered: an arm that is quick to stop must
    /// not look quick to answer. A run that yielded before its first request made no call; it counts in the `done`
    /// figures.
    CallP50 = "call_p50", "call p50", Span;
    /// 95 of 100 calls took no longer.
    CallP95 = "call_p95", "call p95", Span;
    /// 99 of 100 calls took no longer.
    CallP99 = "call_p99", "call p99", Span;
    /// Work, from the slot at which it was due to its last complete answer, wherever that came: half took no longer.
    ///
    /// Work that was never done, or not yet, took longer than all that was done.
    DoneP50 = "done_p50", "due to done p50", Span;
    /// 95 of 100 pieces of work took no longer.
    DoneP95 = "done_p95", "due to done p95", Span;
    /// 99 of 100 pieces of work took no longer.
    DoneP99 = "done_p99", "due to done p99", Span;
    /// No piece of work took longer.
    DoneMax = "done_max", "due to done max", Span;
    /// Runs that yielded, at any gate.
    Yields = "yields", "yields", Count;
    /// Runs that yielded because the budget had no room.
    YieldsBudget = "yields_budget", "yields: budget", Count;
    /// Runs that yielded because the breaker was open.
    YieldsBreaker = "yields_breaker", "yields: breaker", Count;
    /// Runs that yielded for another reason.
    YieldsOther = "yields_other", "yields: other", Count;
    /// How often a breaker opened.
    Openings = "openings", "openings", Count;
    /// How often a breaker opened while the upstream was well.
    FalseOpenings = "false_openings", "false openings", Count;
    /// What the answers cost, as far as prices are known.
    Dollars = "dollars", "dollars", Dollars;
}

impl Metric {
    /// The metric with this word, if there is one.
    #[must_use]
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL
            .iter()
            .copied()
            .find(|metric| metric.as_str() == word)
    }

    /// Whether more of it is better: of work done in its slot alone. Of all else less is better, or neither.
    #[must_use]
    pub const fn is_better_high(self) -> bool {
        matches!(self, Self::InSlot)
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_snake_case_and_lead_back() {
        for metric in Metric::ALL {
            let word = metric.as_str();
            assert_eq!(Metric::from_word(word), Some(*metric), "{word}");
            let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            assert!(word.chars().all(is_plain), "{word}");
        }
    }

    #[test]
    fn every_metric_stands_at_its_own_number() {
        for (at, metric) in Metric::ALL.iter().enumerate() {
            assert_eq!(*metric as usize, at, "{metric}");
        }
    }

    #[test]
    fn percentiles_are_spans_and_nothing_else_is() {
        for metric in Metric::ALL {
            let word = metric.as_str();
            let is_percentile = ["_p50", "_p95", "_p99", "_max"]
                .iter()
                .any(|end| word.ends_with(end));
            assert_eq!(metric.unit() == Unit::Span, is_percentile, "{word}");
        }
    }

    #[test]
    fn labels_leave_room_for_the_columns_of_arms() {
        for metric in Metric::ALL {
            assert!(metric.label().len() <= 18, "{}", metric.label());
        }
    }
}
