//! The real daemon and the real `run`, killed at random moments: each slot ends once, nothing is lost, nothing is sent
//! blindly, and every output is whole.

pub mod house;
mod moment;
mod verdict;

use std::time::Duration;

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};

use house::{House, eventually, rest};
use moment::Moment;

use crate::scenario::Ends;

/// The jobs of the house; each has its own answer.
const JOBS: [&str; 5] = ["amber", "birch", "cedar", "daisy", "elder"];

/// The job whose one output takes the place of an older one, which is kept.
const KEEPER: &str = "elder";

/// What stands in the place of the output of [`KEEPER`] from the start.
const OLDER: &str = "the good one of yesterday\n";

/// Answers that take a moment, after faults that are worth a retry.
fn script() -> String {
    let answers = JOBS.map(|job| {
        format!(
            "  - when: {{ contains: \"This is {job}.\" }}\n    then: {{ answer: {{ text: {:?} }} }}\n",
            answer_of(job)
        )
    });
    format!(
        "latency: {{ median: 60ms, spread: 0.6, max: 200ms }}
rules:
  - {{ when: {{ share: 0.15 }}, then: {{ error: {{ status: 529 }} }} }}
  - {{ when: {{ share: 0.1 }}, then: {{ cut: {{ after: 5 }} }} }}
  - {{ when: {{ share: 0.05 }}, then: {{ hang_up: {{}} }} }}
{}",
        answers.concat()
    )
}

const SETTINGS: &str = "retry: { base_delay: 10ms, max_delay: 40ms }
budget: { calls: 1000, per: 1s }
breaker: { min_samples: 15, failure_ratio: 0.8, window: 2s, cooldown: 1s }
defaults: { timeout: 30s }
";

/// The whole answer of a job: long, so that half of it can be told from all.
fn answer_of(job: &str) -> String {
    format!("{job} and {job} again. ").repeat(4_000)
}

fn house() -> House {
    let house = House::new(&script(), SETTINGS);
    for job in JOBS {
        let output = if job == KEEPER {
            format!("output: {{ file: out/{job}/latest.md, keep_previous: true }}\n")
        } else {
            format!("output: {{ file: \"out/{job}/{{{{ slot }}}}.md\" }}\n")
        };
        house.job(job, &output);
    }
    house
        .scenario
        .write(&format!("out/{KEEPER}/latest.md"), OLDER);
    house.settle();
    house
}

/// Kills a daemon once at each moment of a seeded round, starts the next one over what is left, and judges.
fn daemons_are_killed(seed: u64, rounds: usize) {
    let house = house();
    let mut draws = StdRng::seed_from_u64(seed);
    for round in 0..rounds {
        let moment = Moment::ALL[round % Moment::ALL.len()];
        let count = draws.random_range(1..=3);
        let due: Vec<&str> = JOBS.sample(&mut draws, count).copied().collect();
        house.make_due(&due);
        moment.kill(&house, &mut draws);
        verdict::after_a_kill(&house, &format!("seed {seed}, round {round}, {moment:?}"));
    }
    verdict::at_the_end(&house, rounds);
}

#[test]
fn a_daemon_killed_at_any_moment_loses_nothing_and_sends_nothing_blindly() {
    daemons_are_killed(1, 22);
}

#[test]
fn a_daemon_killed_at_other_moments_loses_nothing_either() {
    daemons_are_killed(2, 22);
}

#[test]
fn a_run_killed_beside_a_living_daemon_leaves_the_daemon_at_work() {
    let house = house();
    let mut draws = StdRng::seed_from_u64(3);
    house.make_due(&["amber"]);
    let mut daemon = house.daemon();
    daemon.until("plan stands");
    for round in 0..12 {
        let job = *JOBS.choose(&mut draws).unwrap();
        let before = house.requests_of(job).len();
        let run = house.scenario.start(&["run", job]);
        if round % 2 == 0 {
            rest(Duration::from_millis(draws.random_range(0..150)));
        } else {
            eventually("the run sends", || house.requests_of(job).len() > before);
            rest(Duration::from_millis(draws.random_range(0..60)));
        }
        run.signal("KILL");
        run.wait();
        verdict::after_a_kill(&house, &format!("round {round}, {job}"));
    }
    assert_eq!(house.status()["daemon"]["pid"], daemon.running.id());
    daemon.stop();
    // Their leases run out while the past moves back; the first `run` after that closes them.
    house.make_due(&[]);
    house.make_due(&[]);
    house.scenario.run(&["run", "amber"]);
    let runs = house.history();
    assert!(runs.iter().all(|run| run["outcome"].is_string()));
    assert!(runs.iter().any(|run| run["reason"] == "interrupted"));
    verdict::at_the_end(&house, 12);
}

#[test]
fn a_program_that_outlives_its_daemon_does_not_keep_the_lock() {
    let house = House::new("{}", "");
    house.job(
        "amber",
        "inputs: { log: { command: [sh, -c, \"echo $$ > ../id; exec sleep 20\"] } }\n\
         on_empty_input: send\n",
    );
    house.settle();
    house.make_due(&["amber"]);
    let mut daemon = house.daemon();
    daemon.until("run started");
    let id = || std::fs::read_to_string(house.scenario.path().join("id")).unwrap_or_default();
    eventually("the program runs", || id().ends_with('\n'));
    let _ends = Ends::of(&id());
    daemon.kill();
    house.make_due(&[]);
    let mut next = house.daemon();
    next.until("a run that was cut off is closed");
    next.stop();
    assert_eq!(house.requests().len(), 0);
    house.is_sound();
}
