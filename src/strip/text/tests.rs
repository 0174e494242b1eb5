use super::super::fixture::{Fixture, at, strip_of};
use super::*;

fn told(lines: Vec<Line>) -> Vec<String> {
    let texts = lines
        .into_iter()
        .map(|line| line.into_iter().map(|span| span.text));
    texts.map(Iterator::collect).collect()
}

fn lane_of(fixture: &Fixture, width: usize) -> (Vec<String>, Vec<String>) {
    let strip = fixture.over(at("2026-12-01T00:00:00Z"), 1);
    let mut painter = Painter::new(&strip, Look::new(width, Glyphs::Ascii));
    let lane = told(painter.lane(&strip.lanes[0]));
    (lane, told(painter.legend()))
}

#[test]
fn slots_in_one_cell_are_counted_and_the_count_ends_at_nine() {
    let crons: Vec<String> = (0..12).map(|minute| format!("{minute} 2 * * *")).collect();
    let names: Vec<String> = (0..12).map(|number| format!("j{number:02}")).collect();
    let jobs = names
        .iter()
        .zip(&crons)
        .map(|(name, cron)| (name.as_str(), cron.as_str()));
    let jobs: Vec<(&str, &str)> = jobs
        .chain([("z", "0 5 * * *"), ("zz", "30 5 * * *")])
        .collect();
    let (lane, legend) = lane_of(&strip_of("UTC", &jobs), 40);
    assert_eq!(lane[1], "          00    06    12    18");
    assert_eq!(lane[2], "Tue 12-01 ..9..2=##.........#####.");
    assert_eq!(lane[3], "            !");
    assert!(
        legend.join(" ").contains("a number is so many slots"),
        "{legend:?}"
    );
}

#[test]
fn jobs_after_the_letters_are_drawn_as_one_sign_and_counted() {
    let names: Vec<String> = (0..60).map(|number| format!("j{number:02}")).collect();
    let jobs: Vec<(&str, &str)> = names
        .iter()
        .map(|name| {
            (
                name.as_str(),
                if name == "j55" {
                    "0 5 * * *"
                } else {
                    "0 5 1 1 *"
                },
            )
        })
        .collect();
    let (lane, legend) = lane_of(&strip_of("UTC", &jobs), 40);
    assert_eq!(lane[2], "Tue 12-01 .....*.##.........#####.");
    assert_eq!(lane.len(), 3 + 52 + 1, "{lane:#?}");
    assert_eq!(lane.last().unwrap(), "  and 8 more, drawn as *");
    assert!(
        legend
            .join(" ")
            .contains("* slot of a job without a letter"),
        "{legend:?}"
    );
}

#[test]
fn legend_explains_what_was_drawn_and_nothing_else() {
    let (_, legend) = lane_of(&strip_of("UTC", &[("a", "0 5 * * *")]), 100);
    assert_eq!(
        legend,
        [
            "Signs: a letter is a slot of that job; = run at its longest; # peak window; a column is 20 min."
        ]
    );
    let (lane, legend) = lane_of(&strip_of("UTC", &[("a", "0 5 1 1 *")]), 100);
    assert_eq!(
        lane,
        [
            "main: no slots in these days",
            "  a  a  no slot in these days"
        ]
    );
    assert_eq!(legend, Vec::<String>::new());
}

#[test]
fn run_in_a_window_has_a_sign_of_its_own() {
    let (lane, _) = lane_of(&strip_of("UTC", &[("a", "45 6 * * *")]), 106);
    assert!(lane[2].contains("...a%%######..."), "{}", lane[2]);
}

#[test]
fn disabled_jobs_are_listed_up_to_twenty() {
    let mut fixture = strip_of("UTC", &[("a", "0 5 * * *")]);
    let names = (0..23).map(|number| crate::job::JobId::new(format!("off{number:02}")));
    fixture
        .groups
        .insert(crate::job::GroupId::new("main"), names.collect());
    let (lane, _) = lane_of(&fixture, 80);
    assert_eq!(lane[4], "  -  off00  disabled, not drawn");
    assert_eq!(lane.last().unwrap(), "  and 3 more disabled");
    assert_eq!(lane.len(), 4 + 20 + 1);
}

#[test]
fn no_line_is_wider_than_asked() {
    let fixture = strip_of(
        "Asia/Tokyo",
        &[
            ("a-job-with-a-rather-long-name", "*/7 * * * *"),
            ("b", "0 7 * * *"),
        ],
    );
    let strip = fixture.over(at("2026-12-01T00:00:00Z"), 7);
    for width in [40, 54, 79, 80, 103, 120, 200, 400] {
        let mut painter = Painter::new(&strip, Look::new(width, Glyphs::Unicode));
        let lines = [
            painter.head(),
            painter.lane(&strip.lanes[0]),
            painter.legend(),
        ]
        .concat();
        for line in told(lines) {
            assert!(columns_of(&line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn trouble_is_toned_and_told_without_tone() {
    let fixture = strip_of("UTC", &[("a", "0 7 * * *")]);
    let strip = fixture.over(at("2026-12-01T00:00:00Z"), 1);
    let mut painter = Painter::new(&strip, Look::new(80, Glyphs::Ascii));
    let lines = painter.lane(&strip.lanes[0]);
    let wrong = lines
        .iter()
        .flatten()
        .filter(|span| span.tone == Tone::Trouble);
    let texts: Vec<&str> = wrong.map(|span| span.text.trim_start()).collect();
    assert_eq!(texts, ["a", "!"]);
    assert!(
        told(lines)
            .last()
            .unwrap()
            .ends_with("! 1 slot in a peak window")
    );
}
