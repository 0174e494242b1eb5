//! Sorting a million values in a few milliseconds.

/// A value in the upper half, whose it is in the lower.
pub(super) type Entry = u64;

/// Bits of a pass: the counters of a pass stay in the nearest cache.
const BITS: u32 = 11;

const PASSES: usize = 3;

const MASK: u64 = (1 << BITS) - 1;

/// The entry of a value that a row has.
pub(super) fn entry(value: u32, row: usize) -> Entry {
    u64::from(value) << 32 | u64::from(super::narrow(row as u64))
}

/// The value of an entry.
pub(super) const fn value(entry: Entry) -> u32 {
    (entry >> 32) as u32
}

/// The row of an entry.
#[expect(clippy::cast_possible_truncation, reason = "the lower half is meant")]
pub(super) const fn row(entry: Entry) -> usize {
    entry as u32 as usize
}

/// Sorts by value, digit by digit from the last; entries of one value keep their order.
pub(super) fn sort(entries: &mut Vec<Entry>) {
    let mut sorted = vec![0; entries.len()];
    for pass in 0..PASSES {
        let mut counts = [0_usize; 1 << BITS];
        for entry in &*entries {
            counts[digit(*entry, pass)] += 1;
        }
        // All share the digit: small values have nothing in the upper ones.
        if counts.contains(&entries.len()) {
            continue;
        }
        let mut next = 0;
        for count in &mut counts {
            next += std::mem::replace(count, next);
        }
        for entry in &*entries {
            let place = &mut counts[digit(*entry, pass)];
            sorted[*place] = *entry;
            *place += 1;
        }
        std::mem::swap(entries, &mut sorted);
    }
}

#[expect(clippy::cast_possible_truncation, reason = "eleven bits are left")]
const fn digit(entry: Entry, pass: usize) -> usize {
    (entry >> (32 + BITS * pass as u32) & MASK) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_come_in_the_order_of_their_values_and_then_as_they_stood() {
        for largest in [1, 2000, 100_000, u64::from(u32::MAX)] {
            let of = |row: usize| u32::try_from(row as u64 * 2_654_435_761 % largest).unwrap();
            let mut entries: Vec<Entry> = (0..5000).map(|row| entry(of(row), row)).collect();
            let mut expected = entries.clone();
            expected.sort_unstable();
            sort(&mut entries);
            assert_eq!(entries, expected, "{largest}");
        }
    }

    #[test]
    fn entry_gives_back_its_value_and_row() {
        for (of, at) in [(0, 0), (7, 3), (u32::MAX, 70_000)] {
            assert_eq!((value(entry(of, at)), row(entry(of, at))), (of, at));
        }
        sort(&mut Vec::new());
    }
}
