//! Why a text is no world.

/// Why a text is no world.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WorldError {
    /// It is no YAML, or has a field of the wrong name or type.
    #[error("{problem}")]
    Malformed {
        /// What was found and expected, with line and column.
        problem: String,
    },
    /// A number is outside its bounds.
    #[error("`{field}`: {found} is outside {expected}")]
    Bounds {
        /// The field with those it stands in, such as `overload.per_day`.
        field: &'static str,
        /// The number.
        found: String,
        /// What it may be.
        expected: &'static str,
    },
    /// A peak window cannot be read.
    #[error("`peaks.windows`: `{found}` is no window of a day such as `07:00-09:00`")]
    Window {
        /// What was found.
        found: String,
    },
    /// The zone is not known.
    #[error("`peaks.timezone`: {problem}")]
    Zone {
        /// What is wrong with it, with a suggestion.
        problem: String,
    },
}
