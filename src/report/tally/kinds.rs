//! Which group, job and model work counts to: one number for the three.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::names::Quick;

/// Numbers of names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(in super::super) struct Kind {
    pub group: u32,
    pub job: u32,
    pub model: u32,
}

/// The kinds that occur, some more than there are jobs.
#[derive(Debug, Default)]
pub(in super::super) struct Kinds {
    numbers: HashMap<Kind, u32, BuildHasherDefault<Quick>>,
    order: Vec<Kind>,
}

impl Kinds {
    /// The number of a kind, a new one if need be.
    pub(super) fn number(&mut self, kind: Kind) -> u32 {
        *self.numbers.entry(kind).or_insert_with(|| {
            self.order.push(kind);
            u32::try_from(self.order.len() - 1).unwrap_or(u32::MAX)
        })
    }

    /// The number of the same kind but for its model.
    pub(super) fn of_model(&mut self, number: u32, model: u32) -> u32 {
        let kind = self.get(number);
        if kind.model == model {
            number
        } else {
            self.number(Kind { model, ..kind })
        }
    }

    /// The kind with this number, one that was given out.
    pub(in super::super) fn get(&self, number: u32) -> Kind {
        self.order[number as usize]
    }
}
