//! A folder, the stand-in, and daemons that are killed: slots fire at once, because the past is moved back.

use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use offpeak::clock::SystemClock;
use offpeak::engine::ports::Clock;
use offpeak::standin::{Script, Seen, Standin};
use rusqlite::{Connection, params};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::log::Lines;
use crate::scenario::{Running, Scenario};

/// Fires every minute, so that a slot is always less than a minute late.
const EVERY_MINUTE: &str = "* * * * *";

/// So many milliseconds are waited for what must come.
const PATIENCE: u32 = 20_000;

/// At the end of a minute nothing is made due.
const LAST_SECONDS: i64 = 10;

/// Fires on leap days only.
const NEVER: &str = "0 5 29 2 *";

/// A working folder whose upstream is a stand-in in this process.
pub struct House {
    pub scenario: Scenario,
    standin: Standin,
    _runtime: Runtime,
}

/// A daemon and what it has logged so far.
pub struct Daemon {
    pub running: Running,
    log: Lines,
}

impl House {
    /// A folder with these settings beside the address of the stand-in, which behaves by this script.
    pub fn new(script: &str, settings: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let script = Script::from_yaml(script).unwrap();
        let standin = {
            let _inside = runtime.enter();
            Standin::start(script, Arc::new(SystemClock::new()), 7).unwrap()
        };
        let upstream = format!("upstream: {{ base_url: \"{}\" }}\n", standin.base_url());
        let peaks = "rules: { peaks: { windows: [] } }\n";
        let scenario = Scenario::new()
            .file("offpeak.yaml", &format!("{upstream}{peaks}{settings}"))
            .env("ANTHROPIC_API_KEY", "test-key-1234");
        Self {
            scenario,
            standin,
            _runtime: runtime,
        }
    }

    /// Writes a job that is not due; `more` are further lines of it.
    pub fn job(&self, name: &str, more: &str) {
        let prompt = format!("prompt: {{ text: \"This is {name}.\" }}\n");
        let text = format!("cron: \"{NEVER}\"\ntimezone: UTC\n{prompt}{more}");
        self.scenario.write(&format!("jobs/{name}.yaml"), text);
    }

    /// A store that a daemon has used.
    pub fn settle(&self) {
        let mut daemon = self.daemon();
        daemon.until("plan stands");
        daemon.stop();
    }

    /// Moves everything on record an hour back and makes these jobs due and the others not: a daemon that starts now
    /// fires each once, and claims of before are in nobody's way.
    ///
    /// The slot is that of this minute, as every instant but a future one has one. It must still be on time when the
    /// daemon comes to it: at the turn of a minute it would be a minute late, skipped, and the next one in its place.
    pub fn make_due(&self, jobs: &[&str]) {
        for path in self.scenario.files("jobs") {
            let name = path.trim_start_matches("jobs/").trim_end_matches(".yaml");
            let cron = if jobs.contains(&name) {
                EVERY_MINUTE
            } else {
                NEVER
            };
            let text = self.scenario.read(&path);
            let (_, rest) = text.split_once('\n').unwrap();
            self.scenario
                .write(&path, format!("cron: \"{cron}\"\n{rest}"));
        }
        let store = self.store();
        move_back(&store);
        let slot = early_in_a_minute().timestamp() / 60 * 60_000;
        // The slots of before have moved away from the schedules that named them.
        store.execute("DELETE FROM schedules", []).unwrap();
        for job in jobs {
            store
                .execute(
                    "INSERT INTO schedules (name, fingerprint, starts_at) VALUES (?1, ?2, ?3)",
                    params![
                        format!("job:{job}"),
                        format!("UTC\n{EVERY_MINUTE}"),
                        slot - 1
                    ],
                )
                .unwrap();
        }
        store
            .execute("UPDATE meta SET watermark = ?1", [slot - 1])
            .unwrap();
    }

    /// The store's file, for what no command does.
    pub fn store(&self) -> Connection {
        let store = Connection::open(self.scenario.path().join(".offpeak/offpeak.db")).unwrap();
        store.busy_timeout(Duration::from_secs(20)).unwrap();
        store
    }

    /// Starts a daemon.
    pub fn daemon(&self) -> Daemon {
        Daemon::start(&self.scenario)
    }

    /// Every request that the stand-in has seen for a job, oldest first.
    pub fn requests_of(&self, job: &str) -> Vec<Seen> {
        let text = format!("This is {job}.");
        let mut seen = self.requests();
        seen.retain(|seen| seen.body.contains(&text));
        seen
    }

    /// Every request that the stand-in has seen, oldest first.
    pub fn requests(&self) -> Vec<Seen> {
        self.standin.requests()
    }

    /// The runs on record, oldest first.
    pub fn history(&self) -> Vec<Value> {
        let done = self
            .scenario
            .run(&["history", "-n", "100000", "--format", "json"])
            .exits(0);
        let lines = done.stdout.lines();
        lines
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// The runs of a job.
    pub fn history_of(&self, job: &str) -> Vec<Value> {
        let mut runs = self.history();
        runs.retain(|run| run["job"] == job);
        runs
    }

    pub fn status(&self) -> Value {
        let done = self.scenario.run(&["status", "--format", "json"]).exits(0);
        done.json()
    }

    /// Asserts that the rows keep the promises.
    #[track_caller]
    pub fn is_sound(&self) {
        self.scenario.run(&["store", "check"]).exits(0);
    }
}

impl Daemon {
    fn start(scenario: &Scenario) -> Self {
        let mut running = scenario.start(&["daemon", "--allow-unsafe"]);
        let log = Lines::of(running.stderr());
        Self { running, log }
    }

    /// Reads on until a line with this message.
    #[track_caller]
    pub fn until(&mut self, message: &str) -> Value {
        self.log.until(message)
    }

    /// The next line with this message, if it has come.
    pub fn hear(&mut self, message: &str) -> Option<Value> {
        self.log.hear(message)
    }

    /// SIGKILL.
    pub fn kill(self) {
        self.running.signal("KILL");
        self.running.wait();
    }

    /// SIGTERM, and the end of a drain.
    #[track_caller]
    pub fn stop(self) {
        self.running.signal("TERM");
        assert_eq!(self.running.wait().code, 0);
    }
}

/// Polls until something holds; generous, because the machine may be busy.
#[track_caller]
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    assert!(soon(PATIENCE, &mut holds), "never: {what}");
}

/// Polls so many milliseconds until something holds, and says whether it did.
pub fn soon(millis: u32, mut holds: impl FnMut() -> bool) -> bool {
    for _ in 0..millis {
        if holds() {
            return true;
        }
        rest(Duration::from_millis(1));
    }
    false
}

/// A moment.
#[expect(
    clippy::disallowed_methods,
    reason = "other processes share no clock with us"
)]
pub fn rest(span: Duration) {
    std::thread::sleep(span);
}

/// Now, or the beginning of the next minute if this one is nearly over.
fn early_in_a_minute() -> DateTime<Utc> {
    loop {
        let now = SystemClock::new().now();
        if now.timestamp() % 60 < 60 - LAST_SECONDS {
            return now;
        }
        rest(Duration::from_millis(50));
    }
}

/// Takes an hour from every instant on record.
fn move_back(store: &Connection) {
    let columns = [
        ("slots", "fire_at"),
        ("slots", "claimed_at"),
        ("slots", "closed_at"),
        ("runs", "fire_at"),
        ("runs", "started_at"),
        ("runs", "lease_until"),
        ("runs", "finished_at"),
        ("runs", "next_not_before"),
        ("runs", "next_at"),
        ("attempts", "started_at"),
        ("deferrals", "fire_at"),
        ("deferrals", "not_before"),
        ("deferrals", "to_at"),
        ("deferrals", "created_at"),
        ("deferrals", "ended_at"),
        ("pauses", "since"),
        ("pauses", "until"),
        ("pauses", "ended_at"),
    ];
    store.execute_batch("BEGIN IMMEDIATE").unwrap();
    for (table, column) in columns {
        // In two steps: a row must not meet the one that stands where it goes.
        for value in [format!("3600000 - {column}"), format!("-{column}")] {
            let update = format!("UPDATE {table} SET {column} = {value}");
            store.execute(&update, []).unwrap();
        }
    }
    store.execute_batch("COMMIT").unwrap();
}

/// An instant of the JSON output.
pub fn instant(value: &Value) -> DateTime<Utc> {
    value.as_str().unwrap().parse().unwrap()
}
