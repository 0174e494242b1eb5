//! Properties of the calculus: fire times against a minute walk, order,
//! windows, open slots, and texts that nobody meant.

mod reference;

use std::sync::LazyLock;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Timelike as _, Utc};
use croner::parser::{CronParser, Seconds, Year};
use offpeak::job::{GroupId, JobId};
use offpeak::schedule::defer::{Carried, Clearance, target};
use offpeak::schedule::{
    Agenda, AgendaLine, CronExpr, DeferRule, PeakWindow, PeakWindows, Resolved, Timetable, Zone,
    Zones,
};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use reference::{Clock, Reference, ZONES, instant, minute};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

/// Each zone is built once for all cases.
fn zone(name: &str) -> Zone {
    static BUILT: LazyLock<Zones> = LazyLock::new(Zones::bundled);
    BUILT.get(name).unwrap()
}

fn timetable(zone_name: &str, exprs: &[String]) -> Timetable {
    let exprs = exprs
        .iter()
        .map(|text| CronExpr::parse(text).unwrap())
        .collect();
    Timetable::new(exprs, zone(zone_name))
}

#[test]
fn whole_years_agree_with_a_minute_walk_in_every_zone() {
    const EXPRS: [&str; 6] = [
        "0,30 0-3,23 * * *",
        "*/20 * * * *",
        "*/15 2 * * *",
        "30 2 L * 7L",
        "45 23 1W,15 */2 *",
        "5 0 */3 * 1-5",
    ];
    for zone in ZONES {
        // Samoa left out 2011-12-30; elsewhere the year ahead has all the changes there are.
        let year = if zone == "Pacific/Apia" { 2011 } else { 2027 };
        let after = minute(at(&format!("{year}-01-01T00:00:00Z")));
        let until = minute(at(&format!("{}-01-01T00:00:00Z", year + 1)));
        let clock = Clock::new(zone, after, until);
        for text in EXPRS {
            let expected = clock.fires(&Reference::new(text), after, until);
            let found = timetable(zone, &[text.to_owned()]).between(instant(after), instant(until));
            let found: Vec<i64> = found.into_iter().map(minute).collect();
            assert_eq!(found, expected, "{text} in {zone}, {year}");
        }
    }
}

/// One field: stars, steps, ranges, lists and single values.
fn field(values: std::ops::RangeInclusive<u32>) -> impl Strategy<Value = String> {
    let (min, max) = (*values.start(), *values.end());
    let list: Vec<String> = values.clone().map(|value| value.to_string()).collect();
    prop_oneof![
        2 => Just("*".to_owned()),
        2 => (1..=max).prop_map(|step| format!("*/{step}")),
        3 => values.clone().prop_map(|value| value.to_string()),
        2 => (values.clone(), values).prop_map(|(a, b)| format!("{}-{}", a.min(b), a.max(b))),
        1 => (min..=max, 1..=max).prop_map(move |(from, step)| format!("{from}-{max}/{step}")),
        2 => subsequence(list, 1..=4).prop_map(|items| items.join(",")),
    ]
}

fn expression() -> impl Strategy<Value = String> {
    let days = prop_oneof![
        6 => Just("* * *".to_owned()),
        2 => (field(1..=31), field(1..=12), field(0..=7)).prop_map(|(d, m, w)| format!("{d} {m} {w}")),
        1 => select(vec!["L * *", "15W * *", "* * 5L", "* * 1#2", "LW * 0#1"]).prop_map(str::to_owned),
    ];
    (field(0..=59), field(0..=23), days).prop_map(|(m, h, days)| format!("{m} {h} {days}"))
}

/// A zone and a minute of the epoch, most often within a day and a half of a clock change.
fn place() -> impl Strategy<Value = (&'static str, i64)> {
    let around = (
        select(&ZONES[..]),
        any::<prop::sample::Index>(),
        -2160_i64..2160,
    );
    let (from, until) = (at("2011-06-01T00:00:00Z"), at("2055-01-01T00:00:00Z"));
    around.prop_map(move |(name, index, distance)| {
        let changes = zone(name).transitions(from, until);
        let near = if changes.is_empty() {
            minute(from) + index.index(20_000_000) as i64
        } else {
            minute(changes[index.index(changes.len())].at)
        };
        (name, near + distance)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn fire_times_around_clock_changes_agree_with_a_minute_walk(text in expression(), (name, after) in place()) {
        let until = after + 3 * 1440;
        let expected = Clock::new(name, after, until).fires(&Reference::new(&text), after, until);
        let table = timetable(name, std::slice::from_ref(&text));
        let found: Vec<i64> = table.between(instant(after), instant(until)).into_iter().map(minute).collect();
        prop_assert_eq!(&found, &expected);
        prop_assert_eq!(table.last_between(instant(after), instant(until)).map(minute), expected.last().copied());
        // From every minute of the first day the next fire time is the first that is left.
        for asked in (after..after + 1440).step_by(7) {
            let left = expected.iter().copied().find(|at| *at > asked);
            let next = table.next_after(instant(asked)).map(minute);
            match left {
                Some(_) => prop_assert_eq!(next, left),
                None => prop_assert!(next.is_none_or(|next| next > until)),
            }
        }
    }

    #[test]
    fn a_fire_time_matches_its_expression_and_is_the_earliest(text in expression(), (name, after) in place()) {
        let expr = CronExpr::parse(&text).unwrap();
        let table = timetable(name, std::slice::from_ref(&text));
        if let Some(next) = table.next_after(instant(after)) {
            prop_assert!(next > instant(after));
            prop_assert_eq!(table.between(instant(after), next), vec![next]);
            let civil = table.zone().civil(next);
            let time = u16::try_from(civil.hour() * 60 + civil.minute()).unwrap();
            let matches = expr.matches_day(civil.date()) && expr.times().contains(&time);
            let ends_a_gap = table
                .zone()
                .transitions(next - TimeDelta::seconds(1), next)
                .first()
                .is_some_and(|change| change.after > change.before);
            prop_assert!(matches || ends_a_gap, "{} in {}", civil, name);
        } else {
            prop_assert_eq!(expr.next_day(instant(after).date_naive()), None);
        }
    }

    #[test]
    fn a_timetable_is_the_union_of_its_expressions(texts in vec(expression(), 1..4), (name, after) in place()) {
        let (after, until) = (instant(after), instant(after + 2 * 1440));
        let mut expected: Vec<_> =
            texts.iter().flat_map(|text| timetable(name, std::slice::from_ref(text)).between(after, until)).collect();
        expected.sort_unstable();
        expected.dedup();
        let table = timetable(name, &texts);
        prop_assert_eq!(table.between(after, until), expected.clone());
        let next = table.next_after(after);
        prop_assert_eq!(next.filter(|next| *next <= until), expected.first().copied());
    }

    #[test]
    fn civil_time_and_resolution_are_inverse((name, minute) in place(), seconds in 0_i64..60) {
        let zone = zone(name);
        let at = instant(minute) + TimeDelta::seconds(seconds);
        let civil = zone.civil(at);
        match zone.resolve(civil) {
            Resolved::Unique(only) => prop_assert_eq!(only, at),
            Resolved::Fold(first, second) => {
                prop_assert!(first < second);
                prop_assert!(at == first || at == second);
                prop_assert_eq!((zone.civil(first), zone.civil(second)), (civil, civil));
            }
            Resolved::Gap(_) => prop_assert!(false, "an instant has a civil time"),
        }
        // A civil time an hour on may lie in a gap; its moment is the end of it.
        let later = civil + TimeDelta::hours(1);
        if let Resolved::Gap(end) = zone.resolve(later) {
            prop_assert!(zone.civil(end) > later);
            prop_assert!(zone.civil(end - TimeDelta::seconds(1)) < later);
        }
    }

    #[test]
    fn the_agenda_is_every_line_in_order(
        lines in vec((expression(), 0_usize..3, any::<bool>()), 1..8), (name, after) in place(), starts in 0_i64..2880,
    ) {
        let (start, until) = (instant(after), instant(after + 2880));
        let starts_after = instant(after + starts / 2);
        let lines: Vec<AgendaLine> = lines.iter().enumerate().map(|(n, (text, group, is_pickup))| AgendaLine {
            group: GroupId::new(format!("g{group}")),
            job: (!is_pickup).then(|| JobId::new(format!("j{n}"))),
            timetable: timetable(name, std::slice::from_ref(text)),
            starts_after,
        }).collect();
        let agenda = Agenda::new(lines.clone());
        let due = agenda.due(start, until);
        prop_assert!(due.is_sorted());
        prop_assert!(due.windows(2).all(|pair| pair[0] != pair[1]));
        for line in &lines {
            for at in line.timetable.between(start, until) {
                let is_due = due.iter().any(|e| e.fire_at == at && e.group == line.group && e.job == line.job);
                prop_assert_eq!(is_due, at > starts_after);
            }
        }
        prop_assert_eq!(agenda.next_after(start).filter(|next| next.fire_at <= until), due.first().cloned());
        let group = GroupId::new("g1");
        let of_group = due.iter().find(|entry| entry.group == group).cloned();
        prop_assert_eq!(agenda.next_in_group(&group, start).filter(|next| next.fire_at <= until), of_group);
        let reversed = Agenda::new(lines.into_iter().rev().collect());
        prop_assert_eq!(reversed.due(start, until), due);
    }
}

fn windows() -> impl Strategy<Value = Vec<PeakWindow>> {
    let window =
        (0_u16..1440, 1_u16..=600, any::<[bool; 7]>()).prop_map(|(start, length, days)| {
            PeakWindow {
                start,
                end: (start + length).min(1440),
                days,
            }
        });
    vec(window, 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_window_opens_and_starts_exactly_where_its_minutes_say(windows in windows(), (name, asked) in place()) {
        let peaks = PeakWindows::new(zone(name), windows.clone());
        let zone = zone(name);
        let is_peak = |minute: i64| {
            let civil = zone.civil(instant(minute));
            let time = civil.hour() * 60 + civil.minute();
            let weekday = chrono::Datelike::weekday(&civil).num_days_from_monday() as usize;
            windows.iter().any(|w| w.days[weekday] && (u32::from(w.start)..u32::from(w.end)).contains(&time))
        };
        for minute in asked..asked + 1440 {
            prop_assert_eq!(peaks.is_peak(instant(minute)), is_peak(minute));
        }
        let open = peaks.next_open(instant(asked)).map(minute);
        prop_assert_eq!(open, (asked..asked + 9 * 1440).find(|minute| !is_peak(*minute)));
        match peaks.next_start(instant(asked)).map(minute) {
            Some(start) => {
                prop_assert!(start > asked && is_peak(start));
                // Nothing turned from open to peak on the way.
                prop_assert!((asked + 1..start).all(|minute| is_peak(minute - 1) || !is_peak(minute)));
            }
            None => prop_assert!((asked + 1..asked + 8 * 1440).all(|minute| is_peak(minute - 1) || !is_peak(minute))),
        }
    }

    #[test]
    fn an_open_slot_is_the_earliest_minute_that_is_clear_of_everything(
        texts in vec((0_u32..60, 0_u32..24), 1..12),
        windows in windows(),
        taken in vec(0_i64..2880, 0..4),
        (now, wait, gap) in (0_i64..86_400, 0_i64..86_400, 1_i64..90),
    ) {
        let base = at("2027-03-27T00:00:00Z");
        let (job, group) = (JobId::new("j"), GroupId::new("g"));
        let lines = texts.iter().map(|(minute, hour)| AgendaLine {
            group: group.clone(),
            job: Some(job.clone()),
            timetable: timetable("Europe/London", &[format!("{minute} {hour} * * *")]),
            starts_after: DateTime::UNIX_EPOCH,
        });
        let agenda = Agenda::new(lines.collect());
        let peaks = PeakWindows::new(zone("Asia/Tokyo"), windows);
        let taken: Vec<_> = taken.into_iter().map(|minute| base + TimeDelta::minutes(minute)).collect();
        let now = base + TimeDelta::seconds(now);
        let not_before = now + TimeDelta::seconds(wait - 3600);
        let carried = Carried { job: &job, group: &group, not_before };
        let min_gap = Duration::from_secs(gap.unsigned_abs() * 60);
        let clearance = Clearance { min_gap, peaks: &peaks, taken: &taken };
        let found = target(DeferRule::OpenSlot, carried, now, &agenda, clearance).map(|target| target.fire_at);

        let gap = TimeDelta::minutes(gap);
        let is_clear = |at: DateTime<Utc>| {
            let near = |other: DateTime<Utc>| (at - other).abs() < gap;
            !peaks.is_peak(at)
                && !taken.iter().any(|other| near(*other))
                && !agenda.due(at - gap, at + gap).iter().any(|entry| near(entry.fire_at))
        };
        if let Some(found) = found {
            prop_assert!(found > now && found >= not_before && found.second() == 0 && is_clear(found));
        }
        let first = minute(now.max(not_before));
        let until = found.map_or(first + 1440, minute);
        let earlier = (first..until).map(instant).filter(|at| *at > now && *at >= not_before).find(|at| is_clear(*at));
        prop_assert_eq!(earlier, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn any_text_is_an_expression_or_has_a_mistake_at_a_place(
        text in prop_oneof![".{0,24}", "[0-9*/,\\-LW# a-z@?]{0,20}", "([0-9*/,\\-LW#]{1,5} ){4}[0-7*/,\\-L#a-z]{1,5}"],
    ) {
        match CronExpr::parse(&text) {
            Ok(expr) => {
                prop_assert!(!expr.times().is_empty() && expr.times().is_sorted());
                let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
                prop_assert!(parser.parse(&text).is_ok() || text.trim().starts_with('@'));
            }
            Err(error) => {
                prop_assert!(text.get(error.span.clone()).is_some(), "{:?} in {:?}", error, text);
                prop_assert!(!error.message.ends_with('.') && !error.message.is_empty());
            }
        }
    }
}
