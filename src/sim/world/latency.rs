//! How long an answer takes.

use std::time::Duration;

use super::chance::{Chance, Question};
use super::model::LatencyModel;

/// What an answer is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Size {
    /// Input tokens that are not read from the cache.
    pub cold: u64,
    /// Input tokens that are.
    pub cached: u64,
    /// Tokens of output.
    pub output: u64,
}

/// What stretches it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Strain {
    /// How many times as wide the upper half of the draw is; 1 off peak.
    pub spread: f64,
    /// How many times as long everything takes; 1 while the upstream is well.
    pub slowdown: f64,
}

/// How long an answer takes to its first byte and in all, before anybody's patience ends.
pub(super) fn latency(
    model: &LatencyModel,
    size: Size,
    strain: Strain,
    (chance, request): (Chance, (u64, u64)),
) -> (Duration, Duration) {
    let over = size.cold.saturating_sub(model.bend_over) as f64;
    let cold = size.cold as f64 + over * (model.bend - 1.0);
    let first = model.first_byte.as_secs_f64()
        + cold / 1000.0 * model.per_1k_cold.as_secs_f64()
        + size.cached as f64 / 1000.0 * model.per_1k_cached.as_secs_f64();
    let total = first + size.output as f64 / model.output_per_second;
    let factor = widened(factor(model, chance, request), strain.spread) * strain.slowdown;
    (seconds(first * factor), seconds(total * factor))
}

/// Half of all factors are below 1.
fn factor(model: &LatencyModel, chance: Chance, request: (u64, u64)) -> f64 {
    let factor = (model.spread * chance.normal(Question::Latency, request)).exp();
    if chance.draw(Question::Tail, request) >= model.tail.share {
        return factor;
    }
    // Pareto with alpha 2, by inversion.
    let stretch = 1.0 / (1.0 - chance.draw(Question::Stretch, request)).sqrt();
    factor * model.tail.factor * stretch
}

/// What is above the median moves away from it, so that p50 stays and the way from there to p95 is so many times as
/// long: what the spread of a peak is said to do.
fn widened(factor: f64, spread: f64) -> f64 {
    if factor > 1.0 {
        1.0 + spread * (factor - 1.0)
    } else {
        factor
    }
}

/// No answer takes longer than a week; every client's patience is shorter.
fn seconds(value: f64) -> Duration {
    Duration::from_secs_f64(value.clamp(0.0, 604_800.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALM: Strain = Strain {
        spread: 1.0,
        slowdown: 1.0,
    };

    const SMALL: Size = Size {
        cold: 0,
        cached: 0,
        output: 0,
    };

    fn flat() -> LatencyModel {
        let mut model = LatencyModel {
            spread: 0.0,
            ..LatencyModel::default()
        };
        model.tail.share = 0.0;
        model
    }

    fn of(size: Size, strain: Strain) -> (u128, u128) {
        let (first, total) = latency(&flat(), size, strain, (Chance::new(1), (1, 1)));
        (first.as_millis(), total.as_millis())
    }

    #[test]
    fn input_delays_the_first_byte_and_output_the_last() {
        assert_eq!(of(SMALL, CALM), (1200, 1200));
        let size = Size {
            cold: 2000,
            cached: 10_000,
            output: 600,
        };
        assert_eq!(of(size, CALM), (1200 + 120 + 50, 1370 + 10_000));
    }

    #[test]
    fn cold_input_bends_at_its_bound_and_not_before() {
        let cold = |cold| of(Size { cold, ..SMALL }, CALM).0;
        assert_eq!(cold(12_000), 1200 + 720);
        assert_eq!(cold(13_000), 1200 + 720 + 120, "twice as steep");
        let cached = |cached| of(Size { cached, ..SMALL }, CALM).0;
        assert_eq!(cached(13_000), 1200 + 65, "the cache does not bend");
    }

    #[test]
    fn slow_upstream_takes_all_of_it_longer() {
        let slow = Strain {
            slowdown: 2.0,
            ..CALM
        };
        assert_eq!(of(SMALL, slow), (2400, 2400));
    }

    fn sorted(strain: Strain) -> Vec<Duration> {
        let mut model = LatencyModel::default();
        model.tail.share = 0.0;
        let of = |at| latency(&model, SMALL, strain, (Chance::new(1), (at, 1))).1;
        let mut all: Vec<Duration> = (0..4000).map(of).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn peak_widens_the_way_from_p50_to_p95_and_leaves_p50() {
        let calm = sorted(CALM);
        let peak = sorted(Strain {
            spread: 3.5,
            ..CALM
        });
        let p50 = |all: &[Duration]| all[1990].as_secs_f64();
        let way = |all: &[Duration]| all[3799].as_secs_f64() - p50(all);
        let moved = p50(&peak) / p50(&calm);
        assert!((0.95..1.05).contains(&moved), "{moved}");
        let wider = way(&peak) / way(&calm);
        assert!((3.2..3.8).contains(&wider), "{wider}");
    }

    #[test]
    fn few_take_many_times_as_long() {
        let mut model = flat();
        model.tail.share = 0.02;
        let of = |at| latency(&model, SMALL, CALM, (Chance::new(1), (at, 1))).1;
        let slow = (0..10_000).filter(|at| of(*at) >= Duration::from_millis(4800));
        let share = slow.count() as f64 / 10_000.0;
        assert!((share - 0.02).abs() < 0.005, "{share}");
    }
}
