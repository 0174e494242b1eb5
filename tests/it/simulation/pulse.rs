//! The engine's signs of life: when they come, what they say, and when they must not come.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join;
use offpeak::engine::pulse::{Beat, Health, LONGEST_SLEEP};
use offpeak::engine::{Pulse, Stop, serve_with_pulse};
use offpeak::sim::{self, Scripted, SimUpstream};

use super::harness::{House, at, job, rotation, seconds, single};
use offpeak::engine::ports::Clock;

/// When each sign of life came, as a span since the start, and what it said.
type Felt = Arc<Mutex<Vec<(Duration, Beat)>>>;

/// Runs the daemon with this longest sleep beside a script, until the span is over.
fn felt(
    house: &House,
    longest: Duration,
    span: Duration,
    script: impl Future<Output = ()>,
) -> Vec<(Duration, Beat)> {
    let (pulse, mut beats) = Pulse::new(longest);
    let (plans, stop) = (house.plans.subscribe(), house.stop.subscribe());
    let daemon = serve_with_pulse(house.world(), plans, stop, house.sender(), pulse);
    let felt = Felt::default();
    let feeling = async {
        while beats.changed().await.is_ok() {
            let beat = beats.borrow_and_update().clone();
            felt.lock().unwrap().push((house.clock.elapsed(), beat));
        }
    };
    let limit = house.clock.elapsed() + span;
    sim::run_until(&house.clock, limit, join(join(daemon, feeling), script));
    std::mem::take(&mut *felt.lock().unwrap())
}

fn widest_gap(felt: &[(Duration, Beat)]) -> Duration {
    let gaps = felt
        .windows(2)
        .map(|pair| pair[1].0.saturating_sub(pair[0].0));
    gaps.max().unwrap()
}

#[test]
fn idle_engine_wakes_at_most_once_in_half_a_minute() {
    let house = House::new("2026-12-01T10:00", single().build(), SimUpstream::healthy);
    let felt = felt(&house, LONGEST_SLEEP, seconds(600), std::future::ready(()));
    // At the start and then every half minute, both ends of the ten minutes included.
    assert_eq!((felt.len(), widest_gap(&felt)), (21, seconds(30)));
    let next = felt[0].1.next.as_ref().unwrap();
    assert_eq!(next.fire_at, at("2026-12-01T17:00"));
    assert_eq!(next.job, Some(job("a")));
}

#[test]
fn shorter_sleep_is_kept_to_whatever_there_is_to_do() {
    let house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(50), "an answer")])
    });
    let felt = felt(&house, seconds(2), seconds(180), std::future::ready(()));
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    assert_eq!(widest_gap(&felt), seconds(2));
}

#[test]
fn store_that_never_answers_stops_the_signs_of_life() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let lives = std::cell::Cell::new(false);
    let script = async {
        house.until("2026-12-01T16:55").await;
        house.gate.stick();
        house.until("2026-12-01T20:00").await;
        lives.set(true);
    };
    let felt = felt(&house, LONGEST_SLEEP, seconds(4 * 3_600), script);
    assert!(lives.get(), "the rest of the process goes on");
    let last = felt.last().unwrap().0;
    assert!(last <= seconds(300), "alive after {last:?}");
}

#[test]
fn store_that_fails_for_hours_is_no_reason_to_be_silent() {
    let house = House::new("2026-12-01T16:50", rotation().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T16:55").await;
        house.gate.close();
        house.until("2026-12-01T19:30").await;
        house.gate.open();
    };
    let felt = felt(&house, LONGEST_SLEEP, seconds(4 * 3_600), script);
    assert!(widest_gap(&felt) <= LONGEST_SLEEP);
    let ill: Vec<Duration> = felt
        .iter()
        .filter(|(_, beat)| beat.health == Health::Failing)
        .map(|(when, _)| *when)
        .collect();
    assert!(
        ill[0] >= seconds(300) && ill[0] <= seconds(330),
        "{:?}",
        ill[0]
    );
    assert!(*ill.last().unwrap() <= seconds(160 * 60));
    assert_eq!(felt.last().unwrap().1.health, Health::Sound);
}

#[test]
fn failing_store_is_asked_as_often_as_a_short_watchdog_wants() {
    let house = House::new("2026-12-01T16:50", single().build(), SimUpstream::healthy);
    let script = async {
        house.until("2026-12-01T16:51").await;
        house.gate.close();
    };
    let felt = felt(&house, seconds(1), seconds(120), script);
    assert_eq!(felt.last().unwrap().1.health, Health::Failing);
    assert_eq!(widest_gap(&felt), seconds(1));
}

#[test]
fn drain_gives_signs_of_life_until_it_is_over() {
    let house = House::new("2026-12-01T16:59", rotation().build(), |clock| {
        SimUpstream::scripted(clock, [Scripted::answer(seconds(25), "an answer")])
    });
    let script = async {
        house.until("2026-12-01T17:00").await;
        house.clock.sleep(seconds(10)).await;
        house.stop.send_replace(Stop::Drain);
    };
    let felt = felt(&house, seconds(2), seconds(120), script);
    assert_eq!(house.runs(), ["a scheduled: succeeded"]);
    assert_eq!(widest_gap(&felt), seconds(2));
    let last = felt.last().unwrap().0;
    assert!(last >= seconds(83) && last <= seconds(85), "{last:?}");
}
