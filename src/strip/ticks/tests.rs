use super::super::fixture::{Fixture, at, lane, strip_of};
use super::*;
use crate::lint::{self, Level, Rule};

/// The instants in trouble of the first lane, a letter each for what is wrong: `c` collides, `p` in a peak window.
fn trouble(fixture: &Fixture, from: &str, count: u16) -> Vec<String> {
    let strip = fixture.over(at(from), count);
    let ticks = ticks(&strip, lane(&strip));
    let wrong = ticks.iter().filter(|tick| tick.trouble.is_any());
    let told = wrong.map(|tick| {
        let collides = if tick.trouble.collides { "c" } else { "" };
        let peak = if tick.trouble.is_peak { "p" } else { "" };
        format!("{} {collides}{peak}", tick.at.format("%d %H:%M"))
    });
    told.collect()
}

#[test]
fn a_thousand_jobs_at_one_instant_are_one_tick() {
    let names: Vec<String> = (0..1_000).map(|number| format!("j{number:03}")).collect();
    let jobs: Vec<(&str, &str)> = names
        .iter()
        .map(|name| (name.as_str(), "0 2 * * *"))
        .collect();
    let fixture = strip_of("UTC", &jobs);
    let strip = fixture.over(at("2026-12-01T00:00:00Z"), 2);
    let ticks = ticks(&strip, lane(&strip));
    assert_eq!(ticks.len(), 2);
    assert_eq!(
        (ticks[0].slots, &ticks[0].members[..]),
        (1_000, &[0, 1, 2, 3][..])
    );
}

#[test]
fn fifteen_minutes_are_far_enough_and_one_less_is_not() {
    let far = strip_of("UTC", &[("a", "0 2 * * *"), ("b", "15 2 * * *")]);
    assert_eq!(
        trouble(&far, "2026-12-01T00:00:00Z", 1),
        Vec::<String>::new()
    );
    let near = strip_of("UTC", &[("a", "0 2 * * *"), ("b", "14 2 * * *")]);
    assert_eq!(
        trouble(&near, "2026-12-01T00:00:00Z", 1),
        ["01 02:00 c", "01 02:14 c"]
    );
}

#[test]
fn windows_hold_their_first_minute_and_not_their_last() {
    let fixture = strip_of("UTC", &[("a", "0 7,9 * * *"), ("b", "59 6,8 * * fri")]);
    assert_eq!(trouble(&fixture, "2026-12-01T00:00:00Z", 1), ["01 07:00 p"]);
}

#[test]
fn neighbours_before_and_after_the_days_count() {
    let fixture = strip_of("UTC", &[("a", "50 23 * * *"), ("b", "0 0 * * *")]);
    assert_eq!(
        trouble(&fixture, "2026-12-01T00:00:00Z", 1),
        ["01 00:00 c", "01 23:50 c"]
    );
}

#[test]
fn what_is_off_or_accepted_is_no_trouble() {
    let jobs = [("a", "0 7 * * *"), ("b", "5 7 * * *"), ("c", "10 7 * * *")];
    let mut fixture = strip_of("UTC", &jobs);
    fixture.rules.levels.set(Rule::PeakWindow, Level::Off);
    let reason = "they share nothing".to_owned();
    fixture.subjects[1]
        .accepted
        .insert(Rule::KeyGap, reason.clone());
    // `a` and `c` still stand ten minutes apart.
    assert_eq!(
        trouble(&fixture, "2026-12-01T00:00:00Z", 1),
        ["01 07:00 c", "01 07:10 c"]
    );
    fixture.subjects[0].accepted.insert(Rule::KeyGap, reason);
    assert_eq!(
        trouble(&fixture, "2026-12-01T00:00:00Z", 1),
        Vec::<String>::new()
    );
}

#[test]
fn what_is_drawn_as_trouble_is_what_the_linter_finds() {
    let crons = [
        "0 5 * * *",
        "5 5 * * tue",
        "*/20 3 * * *",
        "10 3 29 2 *",
        "0 */6 * * *",
        "30 2 * * sun",
        "45 23 * * *",
        "0 0 1 * *",
        "15 18 L * *",
        "0 9 * * mon-fri",
    ];
    for zone in ["Asia/Tokyo", "Europe/Berlin"] {
        for (first, one) in crons.iter().enumerate() {
            for two in &crons[first..] {
                let fixture = strip_of(zone, &[("a", one), ("b", two)]);
                // A week with the end of a month and a clock change of Berlin.
                let strip = fixture.over(at("2027-03-26T12:00:00Z"), 7);
                let from = strip.days.starts_at();
                let ticks = ticks(&strip, lane(&strip));
                let found = lint::check(&fixture.subjects, &fixture.rules, from).findings;
                for (rule, holds) in [
                    (
                        Rule::KeyGap,
                        (|trouble| trouble.collides) as fn(Trouble) -> bool,
                    ),
                    (Rule::PeakWindow, |trouble| trouble.is_peak),
                ] {
                    let drawn = ticks.iter().filter(|tick| holds(tick.trouble));
                    let findings = found.iter().filter(|finding| finding.rule == rule);
                    let instants = findings.filter_map(|finding| finding.at);
                    let inside = instants.filter(|at| *at < strip.days.ends_at());
                    let (first, drawn) =
                        (inside.min(), drawn.map(|tick| tick.at).collect::<Vec<_>>());
                    // A pair is told by its later firing; its earlier one may be the first that is drawn.
                    let agrees = first.map_or(drawn.is_empty(), |first| drawn.contains(&first));
                    // A pair over either end of the days is half drawn, and told outside them or not at all.
                    let edge = |at: &DateTime<Utc>| {
                        *at - from < TimeDelta::minutes(15)
                            || strip.days.ends_at() - *at < TimeDelta::minutes(15)
                    };
                    let half = first.is_none() && drawn.iter().all(edge);
                    assert!(
                        agrees || half,
                        "{zone}: {one} and {two}: {rule}: {first:?} {drawn:?}"
                    );
                }
            }
        }
    }
}
