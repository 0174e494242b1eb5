use super::*;
use crate::price::Estimate;
use crate::sim::world::DEFAULT_WORLD;

const MINUTE: u64 = 60_000;

fn start() -> DateTime<Utc> {
    "2026-12-01T00:00:00Z".parse().unwrap()
}

fn load(input_tokens: u64) -> StepLoad {
    StepLoad {
        input_tokens,
        cached: None,
        max_tokens: 1000,
        estimate: Estimate::default(),
    }
}

fn cached(input_tokens: u64, tokens: u64, ttl: CacheTtl) -> StepLoad {
    StepLoad {
        cached: Some(CachedPart {
            mark: 1,
            tokens,
            ttl,
        }),
        ..load(input_tokens)
    }
}

fn ask(load: &StepLoad, at_ms: u64, call: u64) -> Asked<'_> {
    Asked {
        at_ms,
        group: 0,
        call,
        load,
        timeout: Duration::from_mins(10),
        first_byte_timeout: Duration::from_mins(5),
    }
}

fn server(world: &WorldModel) -> Server {
    Server::new(Arc::new(world.clone()), 1, (start(), 14), 2).unwrap()
}

fn well() -> WorldModel {
    WorldModel::default().well()
}

fn tokens(served: Served) -> Usage {
    match served.end {
        ServedEnd::Answered(usage) => usage,
        other => panic!("{other:?}"),
    }
}

#[test]
fn default_file_says_what_holds_without_one() {
    let world = WorldModel::from_yaml(DEFAULT_WORLD).unwrap();
    assert_eq!(world, WorldModel::default());
    let nothing = WorldModel::from_yaml("# nothing here\n\n").unwrap();
    assert_eq!(nothing, world);
}

#[test]
fn well_world_answers_everything_in_its_median_time() {
    let world = well();
    let mut server = server(&world);
    for call in 0..200 {
        let met = server.serve(ask(&load(0), call * 1000, call));
        assert_eq!(tokens(met).output_tokens, 400);
        assert_eq!(met.latency.as_millis(), 1200 + 6666);
        assert_eq!(met.first_byte.unwrap().as_millis(), 1200);
    }
}

#[test]
fn request_over_the_limit_is_told_when_there_is_room() {
    let mut world = well();
    world.limit.requests = 2;
    let mut server = server(&world);
    let small = load(10);
    for (at, call) in [(0, 1), (10_500, 2)] {
        assert!(matches!(
            server.serve(ask(&small, at, call)).end,
            ServedEnd::Answered(_)
        ));
    }
    // What is refused counts as well: there is room when the second has left, at 70.5 s.
    let wait = Some(Duration::from_secs(59));
    let third = server.serve(ask(&small, 11_500, 3));
    assert_eq!(third.end, ServedEnd::Limited(wait));
    assert_eq!(third.first_byte, None);
    let other_group = Asked {
        group: 1,
        ..ask(&small, 12_000, 5)
    };
    assert!(matches!(
        server.serve(other_group).end,
        ServedEnd::Answered(_)
    ));
    let later = server.serve(ask(&small, 70_500, 6));
    assert!(matches!(later.end, ServedEnd::Answered(_)), "{later:?}");
}

#[test]
fn hint_of_a_congested_limit_says_when_there_is_room_and_not_when_the_oldest_leaves() {
    let mut world = well();
    world.limit.requests = 20;
    let mut server = server(&world);
    let small = load(10);
    for call in 0..10 {
        server.serve(ask(&small, call * 1000, call));
    }
    // From here on a tenth of the limit is there: of what was sent, all but one has to leave first.
    world.congestion.part = 0.1;
    world.congestion.per_day = 1000.0;
    world.congestion.lasts = Duration::from_hours(24);
    let mut congested = Server::new(Arc::new(world), 1, (start(), 14), 1).unwrap();
    congested.groups = server.groups;
    let refused = congested.serve(ask(&small, 9_500, 100));
    let wait = Some(Duration::from_mins(1));
    assert_eq!(
        refused.end,
        ServedEnd::Limited(wait),
        "the one at 9 s leaves at 69 s"
    );
}

#[test]
fn hint_is_left_out_where_the_world_has_none() {
    let mut world = well();
    (world.limit.requests, world.limit.hint) = (1, false);
    let mut server = server(&world);
    let small = load(10);
    server.serve(ask(&small, 0, 1));
    let second = server.serve(ask(&small, 1, 2));
    assert_eq!(second.end, ServedEnd::Limited(None));
}

#[test]
fn tokens_are_limited_too_and_those_of_the_cache_are_free() {
    let mut world = well();
    world.limit.input_tokens = 15_000;
    let mut server = server(&world);
    let large = cached(10_000, 9_000, CacheTtl::OneHour);
    assert_eq!(
        tokens(server.serve(ask(&large, 0, 1))).cache_write_1h_tokens,
        9_000
    );
    let warm = tokens(server.serve(ask(&large, 1, 2)));
    assert_eq!((warm.cache_read_tokens, warm.input_tokens), (9_000, 1_000));
    let cold = load(10_000);
    let third = server.serve(ask(&cold, 2, 3));
    assert!(matches!(third.end, ServedEnd::Limited(_)), "{third:?}");
}

#[test]
fn request_larger_than_the_limit_has_room_when_it_is_alone() {
    let mut world = well();
    world.limit.input_tokens = 100;
    let mut server = server(&world);
    let large = load(5_000);
    let first = server.serve(ask(&large, 0, 1));
    assert!(matches!(first.end, ServedEnd::Answered(_)), "{first:?}");
    let second = server.serve(ask(&large, 1, 2));
    assert!(matches!(second.end, ServedEnd::Limited(_)), "{second:?}");
}

#[test]
fn cache_lives_for_its_time_and_is_renewed_by_reading() {
    let world = well();
    let mut server = server(&world);
    let load = cached(2_000, 1_500, CacheTtl::FiveMinutes);
    let read = |server: &mut Server, at, call| {
        tokens(server.serve(ask(&load, at, call))).cache_read_tokens
    };
    assert_eq!(read(&mut server, 0, 1), 0, "cold");
    assert_eq!(read(&mut server, 4 * MINUTE, 2), 1_500);
    assert_eq!(read(&mut server, 9 * MINUTE - 1, 3), 1_500, "renewed");
    assert_eq!(
        read(&mut server, 14 * MINUTE - 1, 4),
        0,
        "too late by a hair"
    );
}

#[test]
fn dead_world_refuses_everything_at_once() {
    let world = WorldModel::default().well().dead();
    let mut server = server(&world);
    for call in 0..50 {
        let met = server.serve(ask(&load(10), call * MINUTE, call));
        assert_eq!(met.end, ServedEnd::Overloaded);
        assert!(met.latency <= Duration::from_secs(1));
    }
    assert!(!server.is_well(0));
}

#[test]
fn refused_call_is_refused_however_often_it_is_sent() {
    let mut world = well();
    world.faults.refused = 0.5;
    let mut server = server(&world);
    let small = load(10);
    let mut refused = 0;
    for call in 0..200 {
        let ends: Vec<bool> = (0..5)
            .map(|n| {
                let at = (call * 5 + n) * 10_000;
                server.serve(ask(&small, at, call)).end == ServedEnd::Refused
            })
            .collect();
        assert!(ends.iter().all(|end| *end == ends[0]), "{call}: {ends:?}");
        refused += u32::from(ends[0]);
    }
    assert!((70..130).contains(&refused), "{refused}");
}

#[test]
fn silence_and_long_answers_end_at_the_patience_of_the_client() {
    let mut world = well();
    world.faults.silence = 1.0;
    let small = load(10);
    let silent = server(&world).serve(ask(&small, 0, 1));
    assert_eq!(silent.end, ServedEnd::FirstByteTimeout);
    assert_eq!(silent.latency, Duration::from_mins(5));
    let mut world = well();
    world.latency.output_per_second = 0.5;
    let long = server(&world).serve(ask(&small, 0, 1));
    assert_eq!(long.end, ServedEnd::Timeout);
    assert_eq!(long.latency, Duration::from_mins(10));
}

#[test]
fn cut_comes_between_the_first_byte_and_the_last() {
    let mut world = well();
    world.faults.cut = 1.0;
    let mut server = server(&world);
    for call in 0..100 {
        let met = server.serve(ask(&load(10), call * 1000, call));
        assert_eq!(met.end, ServedEnd::Cut);
        assert!(met.latency >= met.first_byte.unwrap());
        assert!(met.latency < Duration::from_secs(8));
    }
}

/// The point of it all: what one client sends more does not change what another meets with the same request.
#[test]
fn same_request_meets_the_same_fate_whatever_else_was_sent() {
    let mut world = WorldModel::default();
    world.limit.requests = u32::MAX;
    world.limit.input_tokens = u64::MAX;
    world.faults.server_error = 0.2;
    let small = load(10);
    let (mut quiet, mut busy) = (server(&world), server(&world));
    for call in 0..500 {
        let at = call * MINUTE;
        for extra in 0..3 {
            busy.serve(ask(&small, at, 1_000_000 + call * 3 + extra));
        }
        assert_eq!(
            quiet.serve(ask(&small, at, call)),
            busy.serve(ask(&small, at, call))
        );
    }
}

#[test]
fn mistakes_in_a_world_file_are_named_with_their_place() {
    for (yaml, expected) in [
        ("latency: { firstbyte: 1s }", "line 1"),
        ("latency: { first_byte: soon }", "no span of time"),
        (
            "overload: { failure_ratio: 1.5 }",
            "`overload.failure_ratio`: 1.5 is outside 0 to 1",
        ),
        (
            "limit: { requests: 0 }",
            "`limit.requests`: 0 is outside 1 or more",
        ),
        (
            "limit: { per: 0s }",
            "`limit.per`: 0s is outside 1ms or more",
        ),
        (
            "peaks: { windows: [\"9-7\"] }",
            "`9-7` is no window of a day",
        ),
        (
            "peaks: { windows: [\"09:00-07:00\"] }",
            "no window of a day",
        ),
        (
            "peaks: { windows: [\"07:00-24:01\"] }",
            "no window of a day",
        ),
        ("peaks: { timezone: JST }", "`peaks.timezone`"),
        ("latency: { first_byte: 8d }", "at most 7d"),
        ("faults: { server_error: 0.6, cut: 0.6 }", "outside 0 to 1"),
        ("latency: { spread: .nan }", "outside 0 to 2"),
        ("- 1", "line 1"),
    ] {
        let error = WorldModel::from_yaml(yaml).unwrap_err().to_string();
        assert!(error.contains(expected), "{yaml}: {error}");
    }
}
