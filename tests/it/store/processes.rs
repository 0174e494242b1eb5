//! Several processes on one file at once, and one that is killed at any point.
//!
//! A child is this test binary again: an ignored test does the child's part,
//! and finds its folder in the environment.

use super::*;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Lines};
use std::process::{Child, ChildStdout, Command, Stdio};

const FOLDER: &str = "OFFPEAK_TEST_STORE";
/// The window of the budget that is hammered; five may go in it.
const HAMMERED_MS: u64 = 100;
const PART: &str = "OFFPEAK_TEST_PART";

/// A child that does one part, and its lines.
struct Part {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Part {
    fn start(part: &str, folder: &Path) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "store::processes::part_of_a_child",
                "--exact",
                "--ignored",
                "--nocapture",
                "--quiet",
            ])
            .env(FOLDER, folder)
            .env(PART, part)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, lines }
    }

    /// The next line that the part itself wrote.
    fn next(&mut self) -> Option<String> {
        let ours = |line: std::io::Result<String>| line.ok()?.strip_prefix("| ").map(str::to_owned);
        self.lines.by_ref().find_map(ours)
    }

    fn finish(mut self) -> Vec<String> {
        let lines = std::iter::from_fn(|| self.next()).collect();
        assert!(self.child.wait().unwrap().success());
        lines
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a child learns its part from the environment"
)]
fn told(name: &str) -> String {
    std::env::var(name).expect("started by a test")
}

/// A line for the parent, out before anything else happens.
#[expect(clippy::print_stdout, reason = "the parent reads it")]
fn say(line: &str) {
    println!("| {line}");
}

#[test]
#[ignore = "the children of the other tests run this"]
fn part_of_a_child() {
    let store = SqliteStore::open(Path::new(&told(FOLDER))).unwrap();
    match told(PART).split_once(' ').unwrap() {
        ("claim", _) => claim_everything(&store),
        ("admit", second_text) => ask_for_admission(&store, second(second_text.parse().unwrap())),
        ("hammer", _) => hammer(&store),
        ("night", start) => live_through_a_night(&store, start.parse().unwrap()),
        (other, _) => panic!("no such part: {other}"),
    }
}

/// Claims each of fifty slots, and says which it got.
fn claim_everything(store: &SqliteStore) {
    for at in 0..50 {
        let slots = vec![claim("digest", minute(at), Fate::Fire)];
        let claimed = wait(store.claim(Tick {
            now: minute(at),
            watermark: minute(at),
            slots,
        }))
        .unwrap();
        if !claimed.is_empty() {
            say(&at.to_string());
        }
    }
}

/// Asks twenty times at one instant, and says how often the answer was yes.
fn ask_for_admission(store: &SqliteStore, now: DateTime<Utc>) {
    let start = offpeak::engine::ports::ManualStart {
        slot: slot("digest", now),
        group: main_group(),
        model: String::new(),
        lease_until: now,
    };
    let run = wait(store.begin_manual(start)).unwrap();
    let admitted = (1..=20)
        .filter(|&n| wait(admit(store, run, n, now)).unwrap().is_ok())
        .count();
    say(&admitted.to_string());
}

/// Asks as fast as it can, by the real clock, for half a second.
#[expect(clippy::disallowed_methods, reason = "processes share no other clock")]
fn hammer(store: &SqliteStore) {
    let start = offpeak::engine::ports::ManualStart {
        slot: slot("digest", Utc::now()),
        group: main_group(),
        model: String::new(),
        lease_until: Utc::now(),
    };
    let run = wait(store.begin_manual(start)).unwrap();
    let over = Utc::now() + TimeDelta::milliseconds(500);
    let (group, wait_before) = (main_group(), Duration::ZERO);
    let budget = BudgetPolicy::new(5, Duration::from_millis(HAMMERED_MS)).unwrap();
    let policy = GuardPolicy { budget, ..policy() };
    for n in 1.. {
        let now = Utc::now();
        if now >= over {
            return;
        }
        let ask = Ask {
            run,
            call: &CallName::only(),
            model: "claude-test",
            group: &group,
            policy: &policy,
            n,
            wait: wait_before,
            lease: wait_before,
            reserve: None,
            now,
        };
        let _ = wait(store.admit(ask)).unwrap();
    }
}

/// Fires slot after slot until it is killed: each yields, and the next carries it on. Says each step when it is done.
fn live_through_a_night(store: &SqliteStore, start: i64) {
    for at in (start..start + 10_000).map(|step| minute(step * 45)) {
        let slots = vec![
            claim("digest", at, Fate::Fire),
            claim("review", at, Fate::Fire),
        ];
        for claimed in wait(store.claim(Tick {
            now: at,
            watermark: at,
            slots,
        }))
        .unwrap()
        {
            say(&format!("claimed {}", claimed.run.0));
            // Two slots at one instant, so the second finds what the first has spent.
            if wait(admit(store, claimed.run, 1, at)).unwrap().is_ok() {
                say(&format!("sent {}", claimed.run.0));
            }
            let deferral = Some(next_slot(at));
            let yielded = ended(claimed.run, Outcome::Yielded(YieldReason::Peak), at);
            wait(store.finish(Finish {
                deferral,
                ..yielded
            }))
            .unwrap();
            say(&format!("yielded {}", claimed.run.0));
        }
        let (group, fire_at) = (main_group(), at + TimeDelta::minutes(1));
        let pickup = PickupAt {
            group: &group,
            home: &group,
            job: None,
            fire_at,
            skip: &[],
        };
        while let Some(taken) = wait(store.take_deferral(pickup, fire_at)).unwrap() {
            say(&format!("took {}", taken.run.0));
            let carried = Some(taken.deferral.id);
            let done = ended(taken.run, Outcome::Succeeded, fire_at);
            wait(store.finish(Finish { carried, ..done })).unwrap();
            say(&format!("succeeded {}", taken.run.0));
        }
    }
}

#[test]
fn each_slot_goes_to_exactly_one_process() {
    let folder = tempfile::tempdir().unwrap();
    let parts = [(); 3].map(|()| Part::start("claim all", folder.path()));
    let mut claimed: Vec<i64> = parts
        .into_iter()
        .flat_map(Part::finish)
        .map(|line| line.parse().unwrap())
        .collect();
    claimed.sort_unstable();
    assert_eq!(claimed, (0..50).collect::<Vec<_>>());
    let store = SqliteStore::open(folder.path()).unwrap();
    assert_eq!(
        wait(store.history(HistoryFilter::default())).unwrap().len(),
        50
    );
}

#[test]
fn budget_holds_across_processes() {
    let folder = tempfile::tempdir().unwrap();
    let admitted = |instant: &str| -> usize {
        let parts = [(); 3].map(|()| Part::start(instant, folder.path()));
        parts
            .into_iter()
            .flat_map(Part::finish)
            .map(|line| line.parse::<usize>().unwrap())
            .sum()
    };
    // Sixty ask at once; five may go in any ten seconds.
    assert_eq!(admitted("admit 0"), 5);
    assert_eq!(admitted("admit 9"), 0);
    assert_eq!(admitted("admit 10"), 5);
}

#[test]
fn no_window_ever_holds_more_than_the_budget() {
    let folder = tempfile::tempdir().unwrap();
    let parts = [(); 3].map(|()| Part::start("hammer all", folder.path()));
    for part in parts {
        part.finish();
    }
    let store = SqliteStore::open(folder.path()).unwrap();
    let runs = wait(store.history(HistoryFilter::default())).unwrap();
    let mut sent: Vec<_> = runs
        .iter()
        .flat_map(|run| &run.attempts)
        .map(|sent| sent.started_at)
        .collect();
    sent.sort_unstable();
    assert!(!sent.is_empty());
    // The history cuts to the millisecond, so a whole window may look one shorter.
    let window = TimeDelta::milliseconds(i64::try_from(HAMMERED_MS).unwrap() - 1);
    for six in sent.windows(6) {
        assert!(six[5] - six[0] >= window, "{six:?}");
    }
}

#[test]
fn half_open_breaker_gives_one_probe_to_all_handles() {
    let folder = tempfile::tempdir().unwrap();
    let bench = SqliteStore::open(folder.path()).unwrap();
    let slots = vec![claim("digest", minute(0), Fate::Fire)];
    let run = wait(bench.claim(Tick {
        now: minute(0),
        watermark: minute(0),
        slots,
    }))
    .unwrap()[0]
        .run;
    for n in 1..=2 {
        let permit = wait(admit(&bench, run, n, second(0))).unwrap().unwrap();
        let Tell {
            sample, hold, end, ..
        } = overloaded(n);
        let (group, policy) = (main_group(), policy());
        let told = Told {
            run,
            call: &CallName::only(),
            answer: None,
            batch: None,
            cost_usd: None,
            group: &group,
            policy: &policy,
            n,
            permit,
            sample,
            hold,
            bill: Bill::default(),
            end,
            now: second(1),
        };
        wait(bench.record(told)).unwrap();
    }
    let ask = |handle: u32| {
        let store = SqliteStore::open(folder.path()).unwrap();
        (0..10)
            .filter(|n| {
                wait(admit(&store, run, 3 + handle * 10 + n, second(61)))
                    .unwrap()
                    .is_ok()
            })
            .count()
    };
    let probes: usize = std::thread::scope(|scope| {
        let handles = [0, 1, 2].map(|handle| scope.spawn(move || ask(handle)));
        handles
            .into_iter()
            .map(|handle| handle.join().unwrap())
            .sum()
    });
    assert_eq!(probes, 1);
}

#[test]
fn process_killed_at_any_point_leaves_whole_steps() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = Vec::new();
    for life in 0_i64..8 {
        let mut part = Part::start(&format!("night {}", life * 10_000), folder.path());
        // The kill falls somewhere in the step after this line.
        let lines = 1 + usize::try_from(life).unwrap() * 3;
        said.extend((0..lines).map(|_| part.next().expect("the child lives on")));
        part.child.kill().unwrap();
        said.extend(std::iter::from_fn(|| part.next()));
        part.child.wait().unwrap();
        let store = SqliteStore::open(folder.path()).unwrap();
        let now = minute(life * 10_000 * 45 + 9_000 * 45);
        wait(store.recover(&[], now)).unwrap();
        assert_eq!(
            wait(store.recover(&[], now)).unwrap(),
            [],
            "nothing is left running"
        );
        check(&store, &said);
    }
}

/// What was said is there, and no work is lost or doubled.
fn check(store: &SqliteStore, said: &[String]) {
    let runs = wait(store.history(HistoryFilter::default())).unwrap();
    for line in said {
        let (what, id) = line.split_once(' ').unwrap();
        let id = RunId(id.parse().unwrap());
        let run = runs.iter().find(|run| run.id == id).expect(line);
        match what {
            "claimed" => assert_eq!(run.origin, Origin::Scheduled, "{line}"),
            "sent" => assert_eq!(run.attempts.len(), 1, "{line}"),
            "yielded" => assert_eq!(
                run.outcome,
                Some(Outcome::Yielded(YieldReason::Peak)),
                "{line}"
            ),
            "took" => assert_eq!(run.origin, Origin::Deferred, "{line}"),
            "succeeded" => assert_eq!(run.outcome, Some(Outcome::Succeeded), "{line}"),
            other => panic!("no such step: {other}"),
        }
    }
    let mut slots = BTreeSet::new();
    for run in runs.iter().filter(|run| run.origin == Origin::Scheduled) {
        let slot = slot(run.job.as_str(), run.fire_at);
        let record = wait(store.slot(slot.clone())).unwrap().expect("claimed");
        assert_eq!(record.outcome, run.outcome, "{slot:?}");
        assert!(run.outcome.is_some(), "{slot:?} has an end");
        assert!(slots.insert(slot), "a slot has one run of its own");
    }
    // Whatever yielded either waits once, or went on exactly once to an end.
    let pending = wait(store.deferrals()).unwrap();
    for slot in &slots {
        let waiting = pending
            .iter()
            .filter(|deferral| deferral.slot == *slot)
            .count();
        let carried = |run: &&Run| {
            run.origin != Origin::Scheduled && (run.fire_at, &run.job) == (slot.fire_at, &slot.job)
        };
        let over = |run: &&Run| !matches!(run.outcome, Some(Outcome::Yielded(_)));
        let ended = runs.iter().filter(carried).filter(over).count();
        assert_eq!(waiting + ended, 1, "{slot:?}");
    }
}
