use super::*;
use crate::trial::Log;

const METRIC: Metric = Metric::DoneP99;

/// One score a value.
fn scores(values: &[Value]) -> Vec<Score> {
    let score = |value: &Value| {
        let mut score = Score::of(&Log::default());
        score.set(METRIC, *value);
        score
    };
    values.iter().map(score).collect()
}

fn numbers(numbers: &[f64]) -> Vec<Score> {
    let values: Vec<Value> = numbers.iter().copied().map(Value::Measured).collect();
    scores(&values)
}

/// Draws that go through the unit interval evenly, in steps that hit every seed.
fn even() -> impl FnMut() -> f64 {
    let mut at = 0.0_f64;
    move || {
        at = (at + 0.618_033_988_749_895).fract();
        at
    }
}

fn resamples(seeds: usize) -> Resamples {
    Resamples::draw(seeds, 400, &mut even())
}

fn contrast(first: &[Score], second: &[Score]) -> Contrast {
    Contrast::of(METRIC, first, second, &resamples(first.len()))
}

fn estimate(contrast: &Contrast) -> Option<f64> {
    contrast.change.map(|change| change.estimate)
}

#[test]
fn differences_are_taken_within_a_seed() {
    let it = contrast(&numbers(&[10.0, 20.0, 40.0]), &numbers(&[15.0, 10.0, 20.0]));
    let measured = Value::Measured;
    let spread = it.difference;
    assert_eq!(
        (spread.least, spread.median, spread.most),
        (measured(-20.0), measured(-10.0), measured(5.0))
    );
    assert_eq!(
        (it.relative.least, it.relative.most),
        (measured(-0.5), measured(0.5))
    );
}

#[test]
fn change_is_the_ratio_of_the_means() {
    let it = contrast(&numbers(&[1.0, 99.0]), &numbers(&[3.0, 47.0]));
    assert_eq!(
        estimate(&it),
        Some(-0.5),
        "not the mean of +200 % and -53 %"
    );
}

#[test]
fn first_arm_with_none_has_no_relative_change() {
    let it = contrast(&numbers(&[0.0, 0.0]), &numbers(&[3.0, 4.0]));
    assert_eq!(it.change, None);
    assert_eq!(it.relative.measured, 0);
    assert_eq!(it.difference.median, Value::Measured(3.0));
}

#[test]
fn beyond_measure_on_one_side_is_more_or_less_than_any_number() {
    use Value::{Below, Beyond, Measured};

    let first = scores(&[Measured(1.0), Beyond, Beyond, Measured(1.0)]);
    let second = scores(&[Beyond, Measured(1.0), Beyond, Measured(2.0)]);
    let it = contrast(&first, &second);
    assert_eq!((it.difference.measured, it.beyond), (3, 1));
    assert_eq!((it.difference.least, it.difference.most), (Below, Beyond));
    assert_eq!((it.relative.least, it.relative.most), (Below, Beyond));
    assert_eq!(
        it.change, None,
        "a mean of what was not measured is not known"
    );
}

#[test]
fn seeds_with_nothing_to_measure_are_left_out_of_every_figure() {
    use Value::{Beyond, Measured, Nothing};

    let first = scores(&[Measured(10.0), Nothing, Measured(99.0), Nothing]);
    let second = scores(&[Measured(5.0), Measured(7.0), Nothing, Beyond]);
    let it = contrast(&first, &second);
    assert_eq!((it.difference.seeds, it.difference.measured), (4, 1));
    assert_eq!(estimate(&it), Some(-0.5));
}

#[test]
fn unlike_numbers_of_seeds_pair_as_far_as_both_go() {
    let it = contrast(&numbers(&[1.0, 2.0]), &numbers(&[2.0]));
    assert_eq!(it.difference.seeds, 1);
    assert_eq!(contrast(&[], &[]).change, None);
}

#[test]
fn interval_holds_the_estimate_and_is_a_point_where_all_seeds_agree() {
    let first: Vec<f64> = (0..40).map(|seed| 10.0 + f64::from(seed % 7)).collect();
    let half: Vec<f64> = first.iter().map(|number| number / 2.0).collect();
    let change = contrast(&numbers(&first), &numbers(&half)).change.unwrap();
    let ends = change.interval.unwrap();
    assert_eq!(
        (ends.low, ends.high),
        (Value::Measured(-0.5), Value::Measured(-0.5))
    );

    let other: Vec<f64> = (0..40).map(|seed| 5.0 + f64::from(seed % 3)).collect();
    let change = contrast(&numbers(&first), &numbers(&other)).change.unwrap();
    let ends = change.interval.unwrap();
    let (low, high) = (ends.low.measured().unwrap(), ends.high.measured().unwrap());
    assert!(
        low < change.estimate && change.estimate < high,
        "{low} {change:?} {high}"
    );
    assert!(high - low < 0.2, "forty seeds bound it: {low} to {high}");
}

#[test]
fn interval_needs_ten_seeds_that_were_measured() {
    let interval = |seeds: usize| {
        let mut first = numbers(&vec![2.0; seeds]);
        first.extend(scores(&[Value::Nothing]));
        let it = contrast(&first, &numbers(&vec![1.0; seeds + 1]));
        it.change.unwrap().interval
    };
    assert_eq!(interval(9), None);
    assert!(interval(10).is_some());
}

#[test]
fn interval_needs_resamples_of_just_these_seeds() {
    let scores = numbers(&[1.0; 12]);
    let interval = |resamples: &Resamples| {
        let it = Contrast::of(METRIC, &scores, &scores, resamples);
        it.change.unwrap().interval
    };
    assert_eq!(interval(&resamples(11)), None);
    assert_eq!(interval(&Resamples::draw(12, 38, &mut even())), None);
    assert!(interval(&Resamples::draw(12, 39, &mut even())).is_some());
}

#[test]
fn resample_without_any_in_the_first_arm_bounds_nothing_from_above() {
    let mut first = vec![0.0; 20];
    first[3] = 1.0;
    let it = contrast(&numbers(&first), &numbers(&[1.0; 20]));
    assert_eq!(estimate(&it), Some(19.0));
    assert_eq!(it.change.unwrap().interval.unwrap().high, Value::Beyond);
}

/// Of 99 resamples the third from either end, of 79 the second: the numbers of Efron and Tibshirani.
#[test]
fn ends_of_the_interval_are_counted_from_both_sides_alike() {
    for (count, outside) in [(39, 0), (78, 0), (79, 1), (99, 1), (119, 2)] {
        let pairs: Vec<(f64, f64)> = (0..count).map(|at| (1.0, f64::from(at))).collect();
        // Resample number n is seed n alone, so that its change is n - 1.
        let seeds = pairs.len();
        let one_each = Resamples {
            seeds,
            count: seeds,
            picks: (0..seeds).flat_map(|at| vec![at; seeds]).collect(),
        };
        let ends = interval(&pairs, &one_each).unwrap();
        let expected =
            [outside, count - 1 - outside].map(|at| Value::Measured(f64::from(at) - 1.0));
        assert_eq!([ends.low, ends.high], expected, "{count}");
    }
}

#[test]
fn draws_name_every_seed_and_none_besides() {
    let mut chance = [0.0, 0.249_9, 0.25, 0.999_999].into_iter().cycle();
    let drawn = Resamples::draw(4, 1, &mut || chance.next().unwrap());
    assert_eq!(drawn.picks, [0, 0, 1, 3]);
    let none = Resamples::draw(0, 5, &mut || 0.5);
    assert_eq!(none.each().count(), 0);
}

#[test]
fn all_figures_come_in_their_order() {
    let scores = numbers(&[1.0]);
    let contrasts = Contrast::all(&scores, &scores, &resamples(1));
    let metrics: Vec<Metric> = contrasts.iter().map(|it| it.metric).collect();
    assert_eq!(metrics, Metric::ALL);
}
