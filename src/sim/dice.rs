//! Dice that repeat.

use std::sync::{Mutex, PoisonError};

use crate::engine::ports::Dice;

/// Dice that draw the same numbers in every run: one fixed number, or a sequence from a seed.
#[derive(Debug)]
pub struct SimDice {
    source: Mutex<Source>,
}

#[derive(Debug, Clone, Copy)]
enum Source {
    Fixed(f64),
    Seeded(u64),
}

impl SimDice {
    /// Draws this number for ever; 0 ≤ `draw` < 1. One half means no jitter.
    #[must_use]
    pub fn fixed(draw: f64) -> Self {
        Self::from(Source::Fixed(draw))
    }

    /// Draws a sequence that the seed sets.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self::from(Source::Seeded(seed))
    }

    fn from(source: Source) -> Self {
        Self {
            source: Mutex::new(source),
        }
    }
}

impl Dice for SimDice {
    fn draw(&self) -> f64 {
        let mut source = self.source.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *source {
            Source::Fixed(draw) => *draw,
            Source::Seeded(state) => unit(split_mix(state)),
        }
    }
}

/// The `SplitMix64` generator of Steele, Lea and Flood (2014): small, and good enough for jitter and faults.
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    scramble(*state)
}

/// The finalizer of `SplitMix64`: each bit of the input changes about half of those of the output.
pub(super) const fn scramble(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// The upper 53 bits as a number in 0 ≤ d < 1: as many as a float holds exactly.
pub(super) fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_and_another_differs() {
        let draws = |seed| {
            let dice = SimDice::seeded(seed);
            [dice.draw(), dice.draw(), dice.draw()].map(f64::to_bits)
        };
        assert_eq!(draws(7), draws(7));
        assert_ne!(draws(7), draws(8));
    }

    #[test]
    fn every_draw_is_at_least_zero_and_below_one() {
        let dice = SimDice::seeded(1);
        assert!((0..10_000).all(|_| (0.0..1.0).contains(&dice.draw())));
        assert!(unit(u64::MAX) < 1.0);
    }

    #[test]
    fn fixed_dice_draw_their_number() {
        let dice = SimDice::fixed(0.5);
        let draws = [dice.draw(), dice.draw()].map(f64::to_bits);
        assert_eq!(draws, [0.5_f64.to_bits(); 2]);
    }
}
