//! Chance: the only file that draws it.

use std::sync::{Mutex, PoisonError};

use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};

use crate::engine::ports::Dice;

/// Draws from a seed: the same seed gives the same draws.
#[derive(Debug)]
pub struct SeededDice(Mutex<StdRng>);

impl SeededDice {
    /// Draws from this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self(Mutex::new(StdRng::seed_from_u64(seed)))
    }

    /// A seed from the system's entropy; small enough to type.
    #[must_use]
    #[expect(
        clippy::disallowed_methods,
        reason = "this file is where chance comes in"
    )]
    pub fn any_seed() -> u64 {
        rand::rng().random_range(1..100_000)
    }
}

impl Dice for SeededDice {
    fn draw(&self) -> f64 {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .random_range(0.0..1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_gives_the_same_draws_again() {
        let draws = |seed| {
            let dice = SeededDice::new(seed);
            [dice.draw(), dice.draw(), dice.draw()]
        };
        assert_eq!(draws(7).map(f64::to_bits), draws(7).map(f64::to_bits));
        assert_ne!(draws(7).map(f64::to_bits), draws(8).map(f64::to_bits));
    }

    #[test]
    fn draws_lie_between_0_and_1() {
        let dice = SeededDice::new(1);
        assert!(
            (0..1_000)
                .map(|_| dice.draw())
                .all(|draw| (0.0..1.0).contains(&draw))
        );
    }
}
