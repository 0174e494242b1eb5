use chrono::FixedOffset;

use super::super::samples::{at, night, run};
use super::*;
use crate::outcome::{Outcome, YieldReason};

#[test]
fn runs_are_a_table_with_times_in_japan() {
    insta::assert_snapshot!(render_runs(&night(), &View::jst(130)));
}

#[test]
fn notes_stand_below_where_there_is_little_room() {
    let text = render_runs(&night(), &View::jst(80));
    insta::assert_snapshot!(text);
    for width in [80, 100] {
        for line in render_runs(&night(), &View::jst(width)).lines() {
            assert!(columns_of(line) <= width, "{width}: {line}");
        }
    }
}

#[test]
fn work_done_on_another_day_has_its_date() {
    let view = View::jst(80);
    assert_eq!(ran(at(0), at(0), &view), "");
    assert_eq!(ran(at(0), at(120), &view), "04:00");
    assert_eq!(ran(at(0), at(24 * 60), &view), "12-06 02:00");
}

#[test]
fn deferral_without_a_known_slot_names_its_instant() {
    let mut run = run(1, "a", 0, Outcome::Yielded(YieldReason::Hint)).deferred_to(45);
    run.deferred.as_mut().unwrap().to = None;
    run.note = Some("the server asked for 40 minutes".to_owned());
    let text = render_runs(&[run], &View::jst(200));
    assert!(
        text.ends_with("deferred, not before 2026-12-05 02:40; the server asked for 40 minutes\n"),
        "{text}"
    );
}

#[test]
fn view_shows_the_offset_it_was_given() {
    let view = View {
        offset: FixedOffset::east_opt(0).unwrap(),
        label: "UTC".to_owned(),
        width: 80,
    };
    let text = render_runs(&[run(1, "a", 0, Outcome::Succeeded)], &view);
    assert!(
        text.starts_with("slot (UTC)") && text.contains("2026-12-04 17:00"),
        "{text}"
    );
    assert_eq!(view.time(at(60)), "2026-12-04 18:00");
}

#[test]
fn line_is_never_wider_than_asked() {
    for width in [100, 106, 140] {
        for line in render_runs(&night(), &View::jst(width)).lines() {
            assert!(line.chars().count() <= width, "{width}: {line}");
        }
    }
}
