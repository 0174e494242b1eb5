//! What a service manager hears of the daemon, over a socket of the test's own.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::time::Duration;

use offpeak::clock::monotonic_micros;

use crate::cli_daemon::{Log, SETTINGS, quiet};
use crate::cli_daemon_stop::{due_now, serving};
use crate::scenario::Scenario;

/// A service manager that only listens.
pub struct Manager {
    socket: UnixDatagram,
    /// What came with a line that was waited for, after it.
    left: RefCell<VecDeque<String>>,
    /// What `NOTIFY_SOCKET` says.
    pub address: String,
}

impl Manager {
    /// At a path in the scenario's folder.
    pub fn at_path(scenario: &Scenario) -> Self {
        let path = scenario.path().join("notify.sock");
        Self::listen(
            UnixDatagram::bind(&path).unwrap(),
            path.display().to_string(),
        )
    }

    /// At a name that is no file.
    fn at_name(scenario: &Scenario) -> Self {
        let name = format!("offpeak{}", scenario.path().display());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        Self::listen(
            UnixDatagram::bind_addr(&address).unwrap(),
            format!("@{name}"),
        )
    }

    fn listen(socket: UnixDatagram, address: String) -> Self {
        let patience = Duration::from_mins(1);
        socket.set_read_timeout(Some(patience)).unwrap();
        let left = RefCell::default();
        Self {
            socket,
            left,
            address,
        }
    }

    /// The next message, as its lines.
    #[track_caller]
    pub fn next(&self) -> Vec<String> {
        let mut buffer = [0; 4096];
        let read = self.socket.recv(&mut buffer).expect("a message");
        let text = String::from_utf8(buffer[..read].to_vec()).unwrap();
        assert!(text.ends_with('\n'), "{text:?}");
        text.lines().map(str::to_owned).collect()
    }

    /// Every line until one that begins like this, that one included.
    #[track_caller]
    pub fn until(&self, beginning: &str) -> Vec<String> {
        let mut left = self.left.borrow_mut();
        let mut lines = Vec::new();
        loop {
            if left.is_empty() {
                left.extend(self.next());
            }
            let line = left.pop_front().unwrap();
            let is_last = line.starts_with(beginning);
            lines.push(line);
            if is_last {
                return lines;
            }
        }
    }

    /// Reads on until a status with this text.
    #[track_caller]
    pub fn until_status(&self, text: &str) -> String {
        loop {
            let line = self.until("STATUS=").pop().unwrap();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// What is there and was not read; nothing is waited for.
    fn rest(&self) -> Vec<String> {
        self.socket.set_nonblocking(true).unwrap();
        let mut lines = Vec::from(self.left.take());
        let mut buffer = [0; 4096];
        while let Ok(read) = self.socket.recv(&mut buffer) {
            let text = String::from_utf8(buffer[..read].to_vec()).unwrap();
            lines.extend(text.lines().map(str::to_owned));
        }
        lines
    }
}

/// A quiet daemon under a manager.
fn managed(watchdog: &[(&str, &str)]) -> (Scenario, Manager) {
    let scenario = quiet();
    let manager = Manager::at_path(&scenario);
    let scenario = watchdog
        .iter()
        .fold(scenario, |scenario, (name, value)| {
            scenario.env(name, value)
        })
        .env("NOTIFY_SOCKET", &manager.address);
    (scenario, manager)
}

const MORE: &str = "enabled: false\ncron: \"0 5 * * *\"\ntimezone: UTC\nprompt: { text: hi }\n";

/// From the start to the end, with nothing in between.
fn lives_and_dies(scenario: Scenario, manager: &Manager) {
    let scenario = scenario.env("NOTIFY_SOCKET", &manager.address);
    let log = Log::start(&scenario, &["daemon"]);
    let first = manager.next();
    assert_eq!(first[0], "READY=1", "{first:?}");
    assert!(
        first[1].starts_with("STATUS=1 job; next: later at Tue 20"),
        "{first:?}"
    );
    assert!(first[1].ends_with("02-29 14:00 JST"), "{first:?}");
    assert_eq!(first.len(), 2);
    log.signal("TERM");
    let last = manager.next();
    // Twice the grace of 20 s, and half a minute for the last writes.
    assert_eq!(last[..2], ["STOPPING=1", "EXTEND_TIMEOUT_USEC=70000000"]);
    assert!(last[2].starts_with("STATUS=stopping"), "{last:?}");
    assert_eq!(log.code(), 0);
    assert_eq!(manager.rest(), [""; 0]);
}

#[test]
fn manager_hears_when_the_first_plan_stands_and_when_the_end_begins() {
    let scenario = quiet();
    let manager = Manager::at_path(&scenario);
    lives_and_dies(scenario, &manager);
}

// A crate that spoke for us took `@name` for a file of that name, so that nobody heard it.
#[test]
fn manager_may_listen_at_an_abstract_name() {
    let scenario = quiet();
    let manager = Manager::at_name(&scenario);
    lives_and_dies(scenario, &manager);
}

#[test]
fn daemon_that_refuses_to_start_is_never_ready() {
    let (scenario, manager) = managed(&[]);
    scenario.write("jobs/broken.yaml", "cron: \"0 99 * * *\"\n");
    scenario.run(&["daemon"]).exits(1);
    assert_eq!(manager.rest(), [""; 0]);
}

#[test]
fn reload_is_announced_with_its_instant_and_ends_ready_whatever_comes_of_it() {
    let (scenario, manager) = managed(&[]);
    let log = Log::start(&scenario, &["daemon"]);
    manager.until("STATUS=");

    scenario.write("jobs/more.yaml", MORE);
    let before = monotonic_micros();
    log.signal("HUP");
    let said = manager.until("READY=1");
    assert_eq!(said[0], "RELOADING=1", "{said:?}");
    let at = said[1].strip_prefix("MONOTONIC_USEC=").unwrap();
    let at: u64 = at.parse().unwrap();
    assert!((before..=monotonic_micros()).contains(&at), "{said:?}");
    assert!(said[2].starts_with("STATUS=reading the files again"));
    let status = manager.until("STATUS=").pop().unwrap();
    assert!(status.starts_with("STATUS=2 jobs; next: later"), "{status}");

    // The same without a signal, and with files that cannot be used.
    scenario.write("jobs/more.yaml", "cron: \"0 99 * * *\"\n");
    let said = manager.until("READY=1");
    assert_eq!(said[0], "RELOADING=1", "{said:?}");
    assert!(said[1].starts_with("MONOTONIC_USEC="));
    let status = manager.until_status("cannot be used");
    assert!(
        status.contains("; the plan before them stands; 2 jobs; "),
        "{status}"
    );

    // And with files that were the old ones all along.
    scenario.write("jobs/more.yaml", MORE);
    manager.until("RELOADING=1");
    manager.until("READY=1");
    assert!(manager.until_status("2 jobs").starts_with("STATUS=2 jobs"));
    log.signal("TERM");
    assert_eq!(manager.until("STOPPING=1").last().unwrap(), "STOPPING=1");
    assert_eq!(log.code(), 0);
}

#[test]
fn watchdog_is_fed_twice_in_its_time() {
    // Nobody ever asked how fast it was: the engine's usual pace of half a minute would have been good enough.
    let (scenario, manager) = managed(&[("WATCHDOG_USEC", "300000")]);
    let log = Log::start(&scenario, &["daemon"]);
    manager.until("READY=1");
    let before = monotonic_micros();
    for _ in 0..5 {
        manager.until("WATCHDOG=1");
    }
    // Less than a second; far more on a machine that has much else to do, but not one usual sleep.
    let took = Duration::from_micros(monotonic_micros() - before);
    assert!(took < Duration::from_secs(20), "{took:?}");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn watchdog_of_another_process_is_not_fed() {
    let (scenario, manager) = managed(&[("WATCHDOG_USEC", "50000"), ("WATCHDOG_PID", "1")]);
    let log = Log::start(&scenario, &["daemon"]);
    manager.until("READY=1");
    log.signal("HUP");
    let said = manager.until("READY=1");
    assert!(!said.contains(&"WATCHDOG=1".to_owned()), "{said:?}");
    log.signal("TERM");
    let said = manager.until("STOPPING=1");
    assert!(!said.contains(&"WATCHDOG=1".to_owned()), "{said:?}");
    assert_eq!(log.code(), 0);
}

#[test]
fn store_that_fails_is_in_the_status_and_the_watchdog_is_fed_all_the_same() {
    let (scenario, manager) = managed(&[("WATCHDOG_USEC", "200000")]);
    let log = Log::start(&scenario, &["daemon"]);
    manager.until("READY=1");
    let path = |name: &str| scenario.path().join(".offpeak").join(name);
    std::fs::rename(path("offpeak.db"), path("away.db")).unwrap();
    let status = manager.until_status("the store does not work");
    assert!(status.contains("; 1 job; next: later"), "{status}");
    for _ in 0..5 {
        manager.until("WATCHDOG=1");
    }
    std::fs::rename(path("away.db"), path("offpeak.db")).unwrap();
    assert!(manager.until_status("1 job").starts_with("STATUS=1 job"));
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn status_says_how_the_last_slot_went() {
    let (scenario, _mock) = serving("latency: { median: 1ms }\n", "");
    let manager = Manager::at_path(&scenario);
    let scenario = scenario.env("NOTIFY_SOCKET", &manager.address);
    due_now(&scenario);
    let log = Log::start(&scenario, &["daemon"]);
    let status = manager.until_status("last: ");
    assert!(
        status.contains("next: later at ") && status.ends_with("; last: later succeeded"),
        "{status}"
    );
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn status_says_that_a_group_is_held_until_it_is_resumed() {
    let refuses = "latency: { median: 1ms }\nrules: [{ then: { error: { status: 402 } } }]\n";
    let (scenario, _mock) = serving(refuses, "");
    let manager = Manager::at_path(&scenario);
    let scenario = scenario
        .env("NOTIFY_SOCKET", &manager.address)
        .env("WATCHDOG_USEC", "200000");
    due_now(&scenario);
    let log = Log::start(&scenario, &["daemon"]);
    let status = manager.until_status("group main is held");
    assert!(
        status.starts_with("STATUS=group main is held until `offpeak resume main`; 1 job; "),
        "{status}"
    );
    scenario.run(&["resume", "main"]).exits(0);
    let status = manager.until_status("1 job");
    assert!(status.starts_with("STATUS=1 job; "), "{status}");
    log.signal("TERM");
    assert_eq!(log.code(), 0);
}

#[test]
fn socket_that_is_not_there_harms_nobody() {
    let unusable = "NOTIFY_SOCKET cannot be used; the service manager is told nothing";
    let deaf = "the service manager does not hear us";
    for (address, said) in [
        ("", vec!["plan stands"]),
        ("/no/such/socket", vec!["plan stands", deaf]),
        ("@offpeak-nobody-listens-here", vec!["plan stands", deaf]),
        ("no/absolute/path", vec![unusable, "plan stands"]),
        ("vsock:2:1234", vec![unusable, "plan stands"]),
    ] {
        let scenario = quiet()
            .env("NOTIFY_SOCKET", address)
            .env("WATCHDOG_USEC", "100000");
        let mut log = Log::start(&scenario, &["daemon"]);
        for message in said {
            log.until(message);
        }
        log.signal("TERM");
        // Once is enough.
        let rest = log.rest();
        assert!(!rest.contains("service manager"), "{address}: {rest}");
        assert_eq!(log.code(), 0, "{address}");
    }
}

/// A manager that does not read has a queue that fills up; the daemon must not wait for it.
#[test]
fn manager_that_never_reads_holds_nothing_up() {
    let (scenario, manager) = managed(&[("WATCHDOG_USEC", "20000")]);
    let mut log = Log::start(&scenario, &["daemon"]);
    log.until("the service manager does not hear us");
    log.signal("TERM");
    log.until("stopped");
    assert_eq!(log.code(), 0);
    assert_eq!(manager.rest()[0], "READY=1");
}

#[test]
fn program_of_a_job_cannot_speak_to_the_manager() {
    let scenario = Scenario::new()
        .file("offpeak.yaml", SETTINGS)
        .file(
            "jobs/later.yaml",
            "cron: \"0 5 29 2 *\"\ntimezone: UTC\ninputs: { all: { command: [\"env\"] } }\n\
             prompt: { text: \"{{ all }}\" }\n",
        )
        .env("PATH", "/usr/bin:/bin")
        .env("KEPT", "yes")
        .env("NOTIFY_SOCKET", "/run/notify")
        .env("WATCHDOG_USEC", "1000000")
        .env("WATCHDOG_PID", "1");
    let done = scenario
        .run(&["dry-run", "later", "--run-commands"])
        .exits(0);
    assert!(done.stdout.contains("KEPT=yes"), "{}", done.stdout);
    for name in ["NOTIFY_SOCKET", "WATCHDOG"] {
        assert!(!done.stdout.contains(name), "{name}: {}", done.stdout);
    }
}
