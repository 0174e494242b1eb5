use chrono::FixedOffset;

use super::super::samples::{at, night, run};
use super::*;
use crate::outcome::{Outcome, YieldReason};

#[test]
fn runs_are_a_table_with_times_in_japan() {
    let expected = "\
slot (JST)        job     origin     outcome               attempts  latency  note
2026-12-05 02:00  digest  scheduled  succeeded                    2     1.0s
2026-12-05 02:45  links   scheduled  yielded: breaker             0        -  deferred to 2026-12-05 04:00
2026-12-05 04:00  docs    scheduled  succeeded                    1     1.0s
2026-12-05 02:45  links   deferred   succeeded                    1     1.0s
2026-12-05 04:45  notes   scheduled  failed: fatal                1    210ms  HTTP 400 invalid_request_er…
2026-12-05 04:45  idle    scheduled  skipped: empty_input         0        -
2026-12-05 04:50  late    scheduled  running                      0        -
";
    assert_eq!(render_runs(&night(), &View::jst(106)), expected);
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
