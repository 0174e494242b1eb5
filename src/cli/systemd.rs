//! What a service manager is told, as `sd_notify(3)` has it: lines in one datagram.
//!
//! Written out here because it is short, and because a manager that does not
//! read must never hold a slot up: a message that finds its queue full is lost,
//! and [`super::bulletin`] says again what matters.

use std::fmt::Write;
use std::io;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tracing::warn;

use crate::clock;
use crate::config::Environment;
use crate::engine::pulse::LONGEST_SLEEP;

const SOCKET: &str = "NOTIFY_SOCKET";
const WATCHDOG_USEC: &str = "WATCHDOG_USEC";
const WATCHDOG_PID: &str = "WATCHDOG_PID";

/// No watchdog makes the engine wake more often.
const SHORTEST_SLEEP: Duration = Duration::from_millis(10);

/// One thing to say.
#[derive(Debug, Clone, Copy)]
pub enum State<'a> {
    /// The first plan stands, or a reload is over.
    Ready,
    /// The files are read again; [`State::Ready`] follows.
    Reloading,
    /// The stop signal came, and the end is no further away than this.
    Stopping(Duration),
    /// A line for a person.
    Status(&'a str),
    /// The engine lives.
    Watchdog,
    /// The start goes on, and is given up no sooner than this from now.
    Patience(Duration),
}

/// Whether a message got through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Heard {
    /// It did, or there is nobody to hear it.
    Yes,
    /// It is lost.
    No,
}

/// The service manager; often there is none, and that is no fault.
#[derive(Debug)]
pub struct Manager {
    ear: Option<Ear>,
    watchdog: Option<Duration>,
}

/// Where it listens.
#[derive(Debug)]
struct Ear {
    socket: UnixDatagram,
    address: SocketAddr,
    /// One complaint is enough.
    is_deaf: AtomicBool,
}

impl Manager {
    /// The manager that the environment names.
    #[must_use]
    pub fn of(environment: &Environment) -> Self {
        let address = environment.get(SOCKET).filter(|text| !text.is_empty());
        let ear = address.and_then(|address| {
            let ear = Ear::new(address);
            ear.inspect_err(|error| warn!(address, %error, "NOTIFY_SOCKET cannot be used; the service manager is told nothing"))
                .ok()
        });
        let watchdog = ear.as_ref().and_then(|_| watchdog(environment));
        Self { ear, watchdog }
    }

    /// How long the engine may sleep, so that two signs of life fall into the watchdog's time.
    #[must_use]
    pub fn longest_sleep(&self) -> Duration {
        let half = self.watchdog.map_or(LONGEST_SLEEP, |span| span / 2);
        half.clamp(SHORTEST_SLEEP, LONGEST_SLEEP)
    }

    /// Says these things in one message, and whether they were heard; never waits.
    pub fn tell(&self, states: &[State<'_>]) -> Heard {
        let Some(ear) = &self.ear else {
            return Heard::Yes;
        };
        let has_watchdog = self.watchdog.is_some();
        let wanted = |state: &&State<'_>| has_watchdog || !matches!(state, State::Watchdog);
        let text: String = states.iter().filter(wanted).map(line).collect();
        if text.is_empty() {
            return Heard::Yes;
        }
        let sent = ear.socket.send_to_addr(text.as_bytes(), &ear.address);
        let was_deaf = ear.is_deaf.swap(sent.is_err(), Ordering::Relaxed);
        let Err(error) = sent else {
            return Heard::Yes;
        };
        if !was_deaf {
            warn!(%error, "the service manager does not hear us");
        }
        Heard::No
    }
}

impl Ear {
    fn new(text: &str) -> io::Result<Self> {
        let address = address(text)?;
        let socket = UnixDatagram::unbound()?;
        // One thread sends this and fires the slots.
        socket.set_nonblocking(true)?;
        let is_deaf = AtomicBool::new(false);
        Ok(Self {
            socket,
            address,
            is_deaf,
        })
    }
}

/// A path, or `@` and an abstract name.
fn address(text: &str) -> io::Result<SocketAddr> {
    match text.strip_prefix('@') {
        Some(name) => abstract_address(name),
        None if text.starts_with('/') => SocketAddr::from_pathname(text),
        None => Err(io::Error::new(
            io::ErrorKind::InvalidInput,
            "it is neither an absolute path nor an abstract name",
        )),
    }
}

#[cfg(target_os = "linux")]
fn abstract_address(name: &str) -> io::Result<SocketAddr> {
    use std::os::linux::net::SocketAddrExt;
    SocketAddr::from_abstract_name(name)
}

#[cfg(not(target_os = "linux"))]
fn abstract_address(_name: &str) -> io::Result<SocketAddr> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The watchdog's time, if it watches this process.
fn watchdog(environment: &Environment) -> Option<Duration> {
    let micros: u64 = environment.get(WATCHDOG_USEC)?.parse().ok()?;
    let is_ours = match environment.get(WATCHDOG_PID) {
        Some(pid) => pid.parse() == Ok(std::process::id()),
        None => true,
    };
    (is_ours && micros > 0).then(|| Duration::from_micros(micros))
}

fn line(state: &State<'_>) -> String {
    match state {
        State::Ready => "READY=1\n".to_owned(),
        // `Type=notify-reload` goes by the instant: it tells this reload from one before.
        State::Reloading => format!(
            "RELOADING=1\nMONOTONIC_USEC={}\n",
            clock::monotonic_micros()
        ),
        State::Stopping(within) => {
            format!("STOPPING=1\n{}", line(&State::Patience(*within)))
        }
        State::Status(text) => one_line("STATUS=", text),
        State::Watchdog => "WATCHDOG=1\n".to_owned(),
        State::Patience(within) => {
            let micros = u64::try_from(within.as_micros()).unwrap_or(u64::MAX);
            format!("EXTEND_TIMEOUT_USEC={micros}\n")
        }
    }
}

/// A line end inside would begin another assignment.
fn one_line(name: &str, text: &str) -> String {
    let mut line = name.to_owned();
    for word in text.split(char::is_control) {
        let gap = if line.len() > name.len() { " " } else { "" };
        // Writing into a text cannot fail.
        let _ = write!(line, "{gap}{word}");
    }
    line.push('\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    fn environment(pairs: &[(&str, &str)]) -> Environment {
        pairs.iter().copied().collect()
    }

    #[test]
    fn watchdog_is_ours_unless_it_names_another_process() {
        let own = std::process::id().to_string();
        for (pairs, expected) in [
            (vec![(WATCHDOG_USEC, "2000000")], Some(2)),
            (
                vec![(WATCHDOG_USEC, "2000000"), (WATCHDOG_PID, own.as_str())],
                Some(2),
            ),
            (vec![(WATCHDOG_USEC, "2000000"), (WATCHDOG_PID, "1")], None),
            (vec![(WATCHDOG_USEC, "2000000"), (WATCHDOG_PID, "")], None),
            (vec![(WATCHDOG_USEC, "0")], None),
            (vec![(WATCHDOG_USEC, "soon")], None),
            (vec![], None),
        ] {
            let found = watchdog(&environment(&pairs));
            assert_eq!(found, expected.map(Duration::from_secs), "{pairs:?}");
        }
    }

    #[test]
    fn engine_sleeps_at_most_half_of_the_watchdogs_time() {
        let sleep = |watchdog: Option<u64>| {
            let watchdog = watchdog.map(Duration::from_micros);
            Manager {
                ear: None,
                watchdog,
            }
            .longest_sleep()
        };
        assert_eq!(sleep(None), LONGEST_SLEEP);
        assert_eq!(sleep(Some(180_000_000)), LONGEST_SLEEP);
        assert_eq!(sleep(Some(10_000_000)), Duration::from_secs(5));
        // A watchdog of a microsecond must not become a loop without rest.
        assert_eq!(sleep(Some(1)), SHORTEST_SLEEP);
    }

    #[test]
    fn address_is_an_absolute_path_or_an_abstract_name() {
        assert!(
            address("/run/systemd/notify")
                .unwrap()
                .as_pathname()
                .is_some()
        );
        assert!(address("@offpeak/notify").unwrap().as_pathname().is_none());
        assert!(address("notify").is_err());
        assert!(address("vsock:2:1234").is_err());
        assert!(address(&format!("/{}", "x".repeat(200))).is_err());
    }

    #[test]
    fn status_is_one_line_whatever_is_in_it() {
        let state = State::Status("disk full\nREADY=1\tnow");
        assert_eq!(line(&state), "STATUS=disk full READY=1 now\n");
    }

    // The socket blocked, and a manager that does not read held the engine's thread up for 100 ms with each message.
    #[test]
    fn manager_that_does_not_read_is_not_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let _socket = UnixDatagram::bind(&path).unwrap();
        let manager = Manager::of(&environment(&[(SOCKET, path.to_str().unwrap())]));
        let ear = manager.ear.as_ref().unwrap();
        assert_eq!(ear.socket.write_timeout().unwrap(), None);
        // On a thread of its own: a socket that blocks without a limit would never come back.
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            while manager.tell(&[State::Ready]) == Heard::Yes {}
            tell.send(()).unwrap();
        });
        told.recv_timeout(Duration::from_mins(1)).unwrap();
    }
}
