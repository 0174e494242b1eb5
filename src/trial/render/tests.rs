use super::*;
use crate::trial::{Resamples, Score};

/// Seeds of an arm: `of(seed)` gives the figures that are not as in an empty log.
fn seeds(of: impl Fn(f64) -> Vec<(Metric, Value)>) -> Vec<Score> {
    let score = |seed: u32| {
        let mut score = Score::of(&crate::trial::Log::default());
        for (metric, value) in of(seed.into()) {
            score.set(metric, value);
        }
        score
    };
    (0..20).map(score).collect()
}

/// Two weeks of an arm. `stride` sets the order in which its seeds are good and bad.
fn weeks(wasted: f64, p99_ms: f64, stride: f64) -> Vec<Score> {
    use Value::{Beyond, Measured};

    seeds(|seed| {
        let seed = (seed * stride) % 20.0;
        let done_max = if seed < 12.0 { Measured(9e7) } else { Beyond };
        vec![
            (Metric::Work, Measured(336.0)),
            (Metric::InSlot, Measured(330.0 - seed)),
            (Metric::Next, Measured(seed)),
            (Metric::Calls, Measured(336.0)),
            (Metric::Attempts, Measured(336.0 + wasted + seed)),
            (Metric::MeanAttempts, Measured(1.5 + seed / 100.0)),
            (Metric::Wasted, Measured(wasted + seed)),
            (Metric::AttemptP50, Measured(9_000.0 + seed)),
            (Metric::DoneP99, Measured(p99_ms + 60_000.0 * seed)),
            (Metric::DoneMax, done_max),
            (Metric::Dollars, Measured(12.3 + seed / 10.0)),
        ]
    })
}

const FIRST: (f64, f64, f64) = (400.0, 5e6, 1.0);
const LAST: (f64, f64, f64) = (90.0, 2e6, 7.0);

fn summaries() -> [Summary; 4] {
    [FIRST, (300.0, 4e6, 3.0), (150.0, 4.1e6, 9.0), LAST]
        .map(|(wasted, p99_ms, stride)| Summary::of(&weeks(wasted, p99_ms, stride)))
}

fn arms(summaries: &[Summary]) -> Vec<Arm<'_>> {
    let called = [
        "old client, old times",
        "old client, new times",
        "layers, old times",
        "layers, new times",
    ];
    called
        .into_iter()
        .zip(summaries)
        .map(|(name, summary)| Arm { name, summary })
        .collect()
}

fn widest(text: &str) -> usize {
    text.lines().map(columns_of).max().unwrap()
}

#[test]
fn one_arm_is_a_table_of_spreads() {
    let summaries = summaries();
    let text = render_arm(&arms(&summaries)[0], 100);
    insta::assert_snapshot!(text);
    assert!(!text.contains("call p50"), "there was no call to measure");
}

#[test]
fn four_arms_stand_side_by_side_in_a_hundred_columns() {
    let summaries = summaries();
    let text = render_arms(&arms(&summaries), 100);
    assert!(widest(&text) <= 100, "{text}");
    insta::assert_snapshot!(text);
}

#[test]
fn quartiles_go_below_where_there_is_no_room_beside() {
    let summaries = summaries();
    let arms = arms(&summaries);
    let (metrics, _) = told_apart(&arms, 200);
    let room = beside(&arms, &metrics, Pad::Columns).width();
    let lines = |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let has_room = lines(render_arms(&arms, room));
    assert_eq!(has_room[..3], lines(render_arms(&arms, 200))[..3]);
    let text = render_arms(&arms, room - 1);
    assert!(widest(&text) < room, "{text}");
    assert!(lines(text).len() > has_room.len());
}

/// Arms of which every span reads as long as spans do.
fn wide() -> [Vec<Score>; 4] {
    [1.0, 3.0, 7.0, 9.0].map(|stride| {
        seeds(|seed| {
            let span = |at: f64| Value::Measured(3_723_000.0 * (at + (seed * stride) % 20.0));
            vec![
                (Metric::Wasted, Value::Measured(12_345.0 * (1.0 + seed))),
                (Metric::CallP99, span(24.0)),
                (Metric::DoneP99, span(36.0)),
                (Metric::Dollars, Value::Measured(1_234.5 + seed)),
            ]
        })
    })
}

#[test]
fn no_number_is_cut_where_there_is_little_room() {
    let wide = wide();
    let summaries = wide.each_ref().map(|scores| Summary::of(scores));
    let none = Resamples::draw(20, 0, &mut || 0.0);
    let contrasts = Contrast::all(&wide[0], &wide[3], &none);
    let effects: Vec<(String, &[Contrast])> = [
        "schedule, old client",
        "schedule, new client",
        "guards, old schedule",
        "guards, new schedule",
        "both together",
    ]
    .map(|name| (name.to_owned(), &contrasts[..]))
    .to_vec();
    for width in [80, 60] {
        let arms = arms(&summaries);
        for text in [
            render_arms(&arms, width),
            crate::trial::render_effects(&effects, width),
            render_contrasts(&arms[0], &arms[3], &contrasts, width),
            render_arm(&arms[0], width),
        ] {
            assert!(!text.contains('…'), "{text}");
            assert!(widest(&text) <= width, "{width}: {text}");
        }
    }
    let narrow = render_arms(&arms(&summaries), 60);
    assert_eq!(narrow.matches("due to done p99").count(), 2, "{narrow}");
}

#[test]
fn two_arms_have_their_quartiles_beside_the_medians() {
    let summaries = summaries();
    insta::assert_snapshot!(render_arms(&arms(&summaries)[..2], 100));
}

#[test]
fn arms_and_contrasts_are_markdown_rows_too() {
    let summaries = summaries();
    let arms = arms(&summaries);
    let contrasts = contrasts();
    insta::assert_snapshot!(
        markdown_arms(&arms[..2]) + "\n" + &markdown_contrasts(&arms[0], &arms[3], &contrasts)
    );
}

fn contrasts() -> Vec<Contrast> {
    let mut at = 0.0_f64;
    let mut draw = || {
        at = (at + 0.618_033_988_749_895).fract();
        at
    };
    let resamples = Resamples::draw(20, 400, &mut draw);
    let [first, last] = [FIRST, LAST].map(|(wasted, p99_ms, stride)| weeks(wasted, p99_ms, stride));
    Contrast::all(&first, &last, &resamples)
}

#[test]
fn contrast_names_both_arms_and_the_change() {
    let summaries = summaries();
    let arms = arms(&summaries);
    let text = render_contrasts(&arms[0], &arms[3], &contrasts(), 100);
    assert!(widest(&text) <= 100, "{text}");
    insta::assert_snapshot!(text);
    let narrow = render_contrasts(&arms[0], &arms[3], &contrasts(), 70);
    assert!(
        !narrow.contains(QUARTILES) && text.contains(QUARTILES),
        "{narrow}"
    );
    assert!(narrow.contains("interval"), "{narrow}");
}

#[test]
fn dash_is_explained_where_one_stands_and_only_there() {
    let explained = "longer than all that came to an answer";
    let summaries = summaries();
    assert!(render_arms(&arms(&summaries), 100).contains(explained));
    let none = Summary::of(&seeds(|_| Vec::new()));
    let arm = Arm {
        name: "new",
        summary: &none,
    };
    assert!(!render_arms(&[arm], 100).contains(explained));
    assert!(!render_arm(&arm, 100).contains(explained));
}

#[test]
fn no_arm_and_no_seed_are_drawn_without_figures() {
    assert_eq!(render_arms(&[], 100), "\n\n");
    let none = Summary::of(&[]);
    let arm = Arm {
        name: "new",
        summary: &none,
    };
    assert!(render_arm(&arm, 100).starts_with("new, 0 seeds\n"));
}
