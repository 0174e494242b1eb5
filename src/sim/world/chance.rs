//! Chance by name: the same question gets the same draw, whoever asks it and however often.
//!
//! A stream that is drawn from in turn gives a client that asks once more other draws from there on. Here each draw
//! is a hash of what it is for, so that every arm of a comparison meets the same requests.

use std::f64::consts::TAU;

use crate::sim::dice::{scramble, unit};

/// What a draw is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Question {
    /// How often something begins in an hour.
    Count,
    /// When in that hour.
    Start,
    /// For how long.
    Length,
    /// Whether what may begin does.
    Keep,
    /// Whether an overloaded upstream refuses.
    Refusal,
    /// What goes wrong with a request.
    Fault,
    /// Whether a call is refused for what it is.
    Fatal,
    /// How long a request takes.
    Latency,
    /// Whether it is one of the few.
    Tail,
    /// How much longer those take.
    Stretch,
    /// How long a refusal takes, or after which part an answer breaks off.
    Cut,
    /// How long an answer is.
    Answer,
}

/// The draws of one seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chance(u64);

impl Chance {
    pub(super) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number in 0 ≤ d < 1.
    pub(super) fn draw(self, question: Question, (what, which): (u64, u64)) -> f64 {
        unit(self.hash(question, what, which))
    }

    /// A number of the normal distribution with mean 0 and deviation 1, by Box and Muller (1958).
    pub(super) fn normal(self, question: Question, (what, which): (u64, u64)) -> f64 {
        let bits = self.hash(question, what, which);
        // One minus a draw is never zero, so that its logarithm is finite.
        let radius = (-2.0 * (1.0 - unit(bits)).ln()).sqrt();
        radius * (TAU * unit(scramble(bits))).cos()
    }

    fn hash(self, question: Question, what: u64, which: u64) -> u64 {
        let seeded = scramble(self.0 ^ scramble(question as u64 + 1));
        scramble(scramble(seeded ^ what) ^ which)
    }
}

/// A mark of a text, by FNV-1a and then scrambled: FNV's upper bits are weak for short texts.
pub(in crate::sim) fn mark(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    scramble(text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_question_gets_the_same_draw_and_another_another() {
        let chance = Chance::new(7);
        let of = |chance: Chance, question, what| chance.draw(question, what).to_bits();
        let first = of(chance, Question::Fault, (1, 2));
        assert_eq!(first, of(Chance::new(7), Question::Fault, (1, 2)));
        for other in [
            of(chance, Question::Fault, (1, 3)),
            of(chance, Question::Fault, (2, 2)),
            of(chance, Question::Fault, (2, 1)),
            of(chance, Question::Tail, (1, 2)),
            of(Chance::new(8), Question::Fault, (1, 2)),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn draws_are_even_and_normal_ones_have_their_mean_and_deviation() {
        let chance = Chance::new(1);
        let of = 20_000;
        let mean = |draw: &dyn Fn(u64) -> f64| (0..of).map(draw).sum::<f64>() / of as f64;
        let even = mean(&|at| chance.draw(Question::Start, (at, 0)));
        assert!((even - 0.5).abs() < 0.01, "{even}");
        let normal = |at| chance.normal(Question::Latency, (at, 0));
        let centre = mean(&normal);
        let square = mean(&|at| normal(at) * normal(at));
        assert!(centre.abs() < 0.03, "{centre}");
        assert!((square - 1.0).abs() < 0.05, "{square}");
    }

    #[test]
    fn marks_tell_texts_apart() {
        assert_eq!(mark("a"), mark("a"));
        assert_ne!(mark("a"), mark("b"));
        assert_ne!(mark("ab"), mark("ba"));
    }
}
