//! Numbers in place of names: a row names its job a million times.

use std::collections::HashMap;

/// Names in the order in which they came.
#[derive(Debug, Default)]
pub(in super::super) struct Names {
    numbers: HashMap<String, u32>,
    order: Vec<String>,
    last: u32,
}

impl Names {
    /// The number of a name, a new one if need be. The name asked for last is found at once.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if self.get(self.last) == Some(name) {
            return self.last;
        }
        self.last = if let Some(number) = self.numbers.get(name) {
            *number
        } else {
            let number = u32::try_from(self.order.len()).unwrap_or(u32::MAX);
            self.order.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
            number
        };
        self.last
    }

    /// The name with this number.
    pub(in super::super) fn get(&self, number: u32) -> Option<&str> {
        self.order.get(number as usize).map(String::as_str)
    }
}
