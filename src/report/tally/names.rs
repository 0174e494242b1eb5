//! Numbers in place of names: a row names its job a million times.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Names in the order in which they came.
#[derive(Debug, Default)]
pub(in super::super) struct Names {
    numbers: HashMap<String, u32, BuildHasherDefault<Quick>>,
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

    /// How many there are.
    pub(super) const fn len(&self) -> usize {
        self.order.len()
    }
}

/// A hash that costs less than the row: names come from files of our own user, so nobody is to be kept from choosing
/// them badly.
#[derive(Debug, Default)]
pub(super) struct Quick(u64);

/// Odd, and without a pattern in its bits.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

impl Quick {
    const fn mix(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(MIX);
    }
}

impl Hasher for Quick {
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.mix(u64::from_le_bytes(word));
        }
    }

    fn write_u8(&mut self, byte: u8) {
        self.mix(byte.into());
    }

    fn write_u32(&mut self, word: u32) {
        self.mix(word.into());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_their_numbers_in_whatever_order_they_are_asked_for() {
        let mut names = Names::default();
        let all: Vec<String> = (0..500).map(|n| format!("job-{n:03}")).collect();
        for name in &all {
            names.number(name);
        }
        for (at, name) in all.iter().enumerate().rev() {
            assert_eq!(names.number(name) as usize, at);
        }
        assert_eq!((names.len(), names.get(7)), (500, Some("job-007")));
    }

    #[test]
    fn hash_tells_names_apart_that_share_a_beginning() {
        let hash = |name: &str| {
            let mut quick = Quick::default();
            quick.write(name.as_bytes());
            quick.finish()
        };
        let mut all: Vec<u64> = (0..500).map(|n| hash(&format!("job-{n:03}"))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 500);
    }
}
