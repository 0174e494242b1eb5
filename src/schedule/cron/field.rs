//! One field of an expression: checked by us so that an error has a place,
//! then read by croner, which owns the grammar.

use croner::CronComponent;

use super::CronError;
use super::token::Token;

/// Which field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Field {
    Minute,
    Hour,
    DayOfMonth,
    Month,
    DayOfWeek,
}

/// A field that was read.
#[derive(Debug)]
pub(super) struct Parsed {
    component: CronComponent,
    /// Vixie's mark of an unrestricted field; `*/2` has it too.
    pub(super) starts_with_star: bool,
    /// `L` among the days of the month.
    pub(super) has_last_day: bool,
    /// `LW` among the days of the month.
    pub(super) has_last_working_day: bool,
}

/// What was said of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// Nothing.
    Plain,
    /// `W`: the nearest working day.
    Nearest,
    /// `#n`: the nth of the month, 1 to 5.
    Nth(u8),
    /// `L` after a weekday: the last of the month.
    Last,
}

impl Mark {
    /// The bit that croner keeps for it in a component.
    const fn bit(self) -> u8 {
        match self {
            Self::Plain => 1,
            Self::Nth(n) => 1 << n,
            Self::Last => 1 << 6,
            Self::Nearest => 1 << 7,
        }
    }
}

/// Every `#n`.
const NTH: u8 = 0b11_1110;

impl Parsed {
    /// The plain values, ascending.
    pub(super) fn values(&self) -> Vec<u16> {
        self.component.values()
    }

    /// The values with this mark, ascending; Sunday may be 0 or 7.
    pub(super) fn marked(&self, mark: Mark) -> Vec<u16> {
        self.component.get_set_values(mark.bit())
    }
}

impl Field {
    /// The field's name in messages.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Minute => "minute",
            Self::Hour => "hour",
            Self::DayOfMonth => "day of month",
            Self::Month => "month",
            Self::DayOfWeek => "day of week",
        }
    }

    /// The least and the greatest value.
    pub(super) const fn bounds(self) -> (u16, u16) {
        match self {
            Self::Minute => (0, 59),
            Self::Hour => (0, 23),
            Self::DayOfMonth => (1, 31),
            Self::Month => (1, 12),
            Self::DayOfWeek => (0, 7),
        }
    }

    /// How many different values there are: Sunday has two numbers.
    pub(super) const fn size(self) -> u16 {
        match self {
            Self::Minute => 60,
            Self::Hour => 24,
            Self::DayOfMonth => 31,
            Self::Month => 12,
            Self::DayOfWeek => 7,
        }
    }

    /// The names that stand for values, and the value of the first.
    pub(super) const fn names(self) -> (&'static [&'static str], u16) {
        const MONTHS: &[&str] = &[
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ];
        const WEEKDAYS: &[&str] = &["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
        match self {
            Self::Minute | Self::Hour | Self::DayOfMonth => (&[], 0),
            Self::Month => (MONTHS, 1),
            Self::DayOfWeek => (WEEKDAYS, 0),
        }
    }

    /// The marks that croner allows in the field.
    const fn marks(self) -> u8 {
        match self {
            Self::Minute | Self::Hour | Self::Month => 0,
            Self::DayOfMonth => Mark::Last.bit() | Mark::Nearest.bit(),
            Self::DayOfWeek => Mark::Last.bit() | NTH,
        }
    }

    /// Reads a field that starts at this byte of the expression.
    pub(super) fn parse(self, text: &str, start: usize) -> Result<Parsed, CronError> {
        let mut numbers = String::with_capacity(text.len());
        let (mut has_last_day, mut has_last_working_day) = (false, false);
        let mut at = start;
        for item in text.split(',') {
            let item = Token {
                field: self,
                text: item,
                start: at,
            };
            let plain = item.in_numbers(text)?;
            at = item.span().end + 1;
            match plain.as_str() {
                // croner merges the two into the latter, so they are kept here.
                "L" if self == Self::DayOfMonth => has_last_day = true,
                "LW" => has_last_working_day = true,
                _ => {
                    numbers.push_str(if numbers.is_empty() { "" } else { "," });
                    numbers.push_str(&plain);
                }
            }
        }
        let (min, max) = self.bounds();
        let mut component = CronComponent::new(min, max, self.marks(), 0);
        component.parse(&numbers).map_err(|error| {
            CronError::new(
                start..start + text.len(),
                format!("{} `{text}` is not understood: {error}", self.name()),
            )
        })?;
        Ok(Parsed {
            component,
            starts_with_star: text.starts_with('*'),
            has_last_day,
            has_last_working_day,
        })
    }
}
