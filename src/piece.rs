//! The pieces of a slot's work: the items that a job makes calls for, and the calls of one run.
//!
//! A plain job has one piece and one call. `for_each` splits a slot's work into
//! items, `steps` makes a chain of calls for each, and a call that pauses or
//! whose model is gone is followed by a further part.

use std::fmt;
use std::sync::Arc;

/// One of the things that a job makes a call for each: a file, a line, a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Item {
    /// What people call it, unique within a slot: a path below the pattern's folder, or `line 7`.
    pub name: String,
    /// What the memory of successes knows it by: a file's name, or a mark of a line's content, so that a line that
    /// moved stays the same.
    pub key: String,
    /// A mark of its content, to tell whether it changed since.
    pub mark: String,
    /// Its text, kept with the slot; `None` for a file, which is read anew when it is its turn.
    pub text: Option<String>,
}

/// Which call of a run: one answer that is wanted.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallName {
    /// The item's name; `None` for a job without `for_each`.
    pub item: Option<Arc<str>>,
    /// The step of the chain, counted from 1.
    pub step: u32,
    /// Counted from 1: further parts continue a paused answer, or ask the fallback model.
    pub part: u32,
}

impl CallName {
    /// The one call of a plain job.
    #[must_use]
    pub const fn only() -> Self {
        Self {
            item: None,
            step: 1,
            part: 1,
        }
    }
}

impl Default for CallName {
    fn default() -> Self {
        Self::only()
    }
}

impl fmt::Display for CallName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let item = self.item.as_deref().map(|item| format!("`{item}`"));
        let step = (self.step > 1).then(|| format!("step {}", self.step));
        let part = (self.part > 1).then(|| format!("part {}", self.part));
        let words: Vec<String> = item.into_iter().chain(step).chain(part).collect();
        f.pad(&words.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_call_needs_no_words() {
        assert_eq!(CallName::only().to_string(), "");
    }

    #[test]
    fn words_name_what_is_beyond_the_plain_call() {
        let name = CallName {
            item: Some(Arc::from("a.md")),
            step: 2,
            part: 3,
        };
        assert_eq!(name.to_string(), "`a.md`, step 2, part 3");
    }
}
