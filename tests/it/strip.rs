//! The strip as a library draws it: exact text, and formats that any reader takes.

mod xml;

use std::collections::BTreeMap;
use std::time::Duration;

use offpeak::job::{GroupId, JobId};
use offpeak::lint::{Rules, Subject};
use offpeak::schedule::{CronExpr, PeakWindow, PeakWindows, Timetable, Zones};
use offpeak::strip::text::{Glyphs, Look, Painter};
use offpeak::strip::{Days, Strip, ics, svg};
use proptest::prelude::*;

/// Jobs as `(group, name, cron, zone)`, drawn in a zone with the default windows.
struct Drawing {
    subjects: Vec<Subject>,
    rules: Rules,
    groups: BTreeMap<GroupId, Vec<JobId>>,
}

impl Drawing {
    fn new(zone: &str, jobs: &[(&str, &str, &str, &str)]) -> Self {
        let get = |zone: &str| Zones::bundled().get(zone).unwrap();
        let window = |start: u16, end: u16| PeakWindow {
            start: start * 60,
            end: end * 60,
            days: [true; 7],
        };
        let peaks = PeakWindows::new(get(zone), vec![window(7, 9), window(18, 23)]);
        let subject = |(group, name, cron, zone): &(&str, &str, &str, &str)| {
            let timetable = Timetable::new(vec![CronExpr::parse(cron).unwrap()], get(zone));
            let subject = Subject::new(JobId::new(name), GroupId::new(group), timetable);
            if name.starts_with("pickup:") {
                return subject;
            }
            subject.lasting(Duration::from_mins(25))
        };
        Self {
            subjects: jobs.iter().map(subject).collect(),
            rules: Rules::new(Duration::from_mins(15), Duration::from_mins(45), peaks),
            groups: BTreeMap::new(),
        }
    }

    fn over(&self, from: &str, days: u16) -> Strip<'_> {
        let zone = self.rules.peaks.zone().clone();
        let days = Days::starting(zone, from.parse().unwrap(), days);
        Strip::new(days, &self.rules, &self.subjects, &self.groups)
    }
}

/// The whole strip as plain text.
fn text(strip: &Strip<'_>, width: usize, glyphs: Glyphs) -> String {
    let mut painter = Painter::new(strip, Look::new(width, glyphs));
    let mut lines = painter.head();
    for lane in &strip.lanes {
        lines.push(Vec::new());
        lines.extend(painter.lane(lane));
    }
    lines.push(Vec::new());
    lines.extend(painter.legend());
    let mut text = String::new();
    for line in lines {
        text.extend(line.into_iter().map(|span| span.text));
        text.push('\n');
    }
    text
}

fn night() -> Drawing {
    let tokyo = "Asia/Tokyo";
    Drawing::new(
        tokyo,
        &[
            ("main", "digest", "0 2 * * *", tokyo),
            ("main", "review", "45 2 * * tue,fri", tokyo),
            ("main", "clash", "5 2 * * sun", tokyo),
            ("main", "late", "50 23 * * *", tokyo),
            ("main", "pickup:main", "30 5 * * *", tokyo),
            ("archive", "berlin", "0 8 * * mon-fri", "Europe/Berlin"),
            ("archive", "morning", "50 6 * * wed", tokyo),
            ("archive", "peak", "0 7 * * sat", tokyo),
        ],
    )
}

#[test]
fn a_week_is_drawn_narrow() {
    let night = night();
    insta::assert_snapshot!(text(
        &night.over("2026-12-01T00:00:00Z", 7),
        40,
        Glyphs::Ascii
    ));
}

#[test]
fn a_week_is_drawn_wide() {
    let night = night();
    insta::assert_snapshot!(text(
        &night.over("2026-12-01T00:00:00Z", 7),
        160,
        Glyphs::Unicode
    ));
}

#[test]
fn weeks_of_the_clock_changes_are_drawn_in_civil_time() {
    let berlin = "Europe/Berlin";
    let drawing = Drawing::new(
        berlin,
        &[
            ("main", "a-skipped", "30 2 * * *", berlin),
            ("main", "b-tokyo", "0 21 * * *", "Asia/Tokyo"),
            ("main", "c-even", "*/30 4 * * *", berlin),
        ],
    );
    let spring = text(&drawing.over("2027-03-25T12:00:00Z", 7), 106, Glyphs::Ascii);
    let autumn = text(&drawing.over("2026-10-24T12:00:00Z", 3), 106, Glyphs::Ascii);
    insta::assert_snapshot!(format!("{spring}\n{autumn}"));
}

#[test]
fn picture_is_well_formed_and_reaches_for_nothing() {
    let night = night();
    let svg = svg::picture(&night.over("2026-12-01T00:00:00Z", 7));
    xml::check(&svg).unwrap();
    assert!(svg.starts_with("<svg "));
    assert!(svg.contains("prefers-color-scheme:dark"));
    let without_namespace = svg.replacen("http://www.w3.org/2000/svg", "", 1);
    for word in [
        "http",
        "<script",
        "href",
        "@import",
        "@font-face",
        "<foreignObject",
    ] {
        assert!(!without_namespace.contains(word), "{word}");
    }
}

#[test]
fn checker_of_xml_finds_what_is_wrong() {
    for wrong in [
        "<a>",
        "<a></b>",
        "<a/><b/>",
        "<a x=1/>",
        "<a x=\"<\"/>",
        "<a>&nope;</a>",
        "<a>&</a>",
        "<a x=\"1\" x=\"2\"/>",
        "text",
        "<a>\u{1}</a>",
    ] {
        assert!(xml::check(wrong).is_err(), "{wrong}");
    }
    xml::check("<a x=\"1\" y='2'>t &amp; &#39;<b/></a>\n").unwrap();
}

#[test]
fn calendar_holds_an_event_a_slot_with_a_uid_that_stays() {
    let night = night();
    let calendar = ics::calendar(&night.over("2026-12-01T00:00:00Z", 7)).unwrap();
    let lines = unfolded(&calendar);
    assert_eq!(lines[0], "BEGIN:VCALENDAR");
    assert_eq!(lines.last().unwrap(), "END:VCALENDAR");
    let of = |name: &str| {
        let lines = lines.iter();
        lines
            .filter_map(|line| line.strip_prefix(name))
            .collect::<Vec<_>>()
    };
    let uids = of("UID:");
    // Seven of digest, late, pickup; two of review; one of clash, morning, peak; five of berlin.
    assert_eq!(uids.len(), 7 * 3 + 2 + 3 + 5);
    let distinct: std::collections::BTreeSet<&&str> = uids.iter().collect();
    assert_eq!(distinct.len(), uids.len());
    assert!(uids.contains(&"digest-20261130T170000Z@offpeak"));
    let later = ics::calendar(&night.over("2026-12-02T00:00:00Z", 1)).unwrap();
    assert!(
        unfolded(&later)
            .iter()
            .filter(|line| line.starts_with("UID:"))
            .all(|uid| lines.contains(uid))
    );
    assert!(
        of("DTSTAMP:")
            .iter()
            .all(|stamp| *stamp == "20261130T150000Z")
    );
    assert!(of("DURATION:").contains(&"PT25M"));
    assert_eq!(of("TRANSP:").len(), uids.len());
}

/// Content lines, unfolded; every line ends with CRLF and holds no more than 75 octets.
fn unfolded(calendar: &str) -> Vec<String> {
    let body = calendar.strip_suffix("\r\n").unwrap();
    let mut lines: Vec<String> = Vec::new();
    for line in body.split("\r\n") {
        assert!(!line.contains(['\r', '\n']) && line.len() <= 75, "{line:?}");
        match (line.strip_prefix(' '), lines.last_mut()) {
            (Some(rest), Some(last)) => last.push_str(rest),
            _ => lines.push(line.to_owned()),
        }
    }
    lines
}

/// A TEXT value as a reader takes it.
fn unescaped(value: &str) -> String {
    let mut text = String::new();
    let mut chars = value.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next().unwrap() {
                'n' => text.push('\n'),
                c @ ('\\' | ';' | ',') => text.push(c),
                c => panic!("\\{c} in {value}"),
            },
            ';' | ',' => panic!("bare {c} in {value}"),
            c => text.push(c),
        }
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_name_comes_back_out_of_a_calendar(name in "\\PC{1,120}", group in "\\PC{1,120}") {
        let drawing = Drawing::new("UTC", &[(&group, &format!("x{name}"), "0 5 * * *", "UTC")]);
        let calendar = ics::calendar(&drawing.over("2026-12-01T00:00:00Z", 1)).unwrap();
        let lines = unfolded(&calendar);
        let value = |name: &str| {
            let value = lines.iter().find_map(|line| line.strip_prefix(name)).unwrap();
            unescaped(value)
        };
        prop_assert_eq!(value("SUMMARY:"), format!("x{name}"));
        prop_assert_eq!(value("CATEGORIES:"), group.clone());
        let head = format!("Group: {group}\nCron: 0 5 * * *\nZone: UTC");
        prop_assert!(value("DESCRIPTION:").starts_with(&head));
    }

    #[test]
    fn any_name_makes_a_well_formed_picture(name in any::<String>(), group in any::<String>()) {
        let drawing = Drawing::new("UTC", &[(&group, &format!("x{name}"), "0 7 * * *", "UTC")]);
        let svg = svg::picture(&drawing.over("2026-12-01T00:00:00Z", 1));
        prop_assert!(xml::check(&svg).is_ok(), "{:?}", xml::check(&svg));
    }
}
