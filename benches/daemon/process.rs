//! The daemon as a process: started, watched, ended.

use std::fs::{self, File};
use std::io;
use std::os::unix::net::UnixDatagram;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use offpeak::clock::SystemClock;
use offpeak::engine::ports::Clock;

use crate::Outcome;
use crate::house::House;

/// `tokio-cron-scheduler` looks twice a second whether a chore is due.
pub const POLLS_A_MINUTE: f64 = 120.0;

/// No start takes longer.
const PATIENCE: Duration = Duration::from_mins(1);

/// A daemon whose plan stands.
#[derive(Debug)]
pub struct Daemon {
    child: Child,
    /// From the start of the process to READY.
    pub ready: Duration,
}

/// What the system tells of the process.
#[derive(Debug, Clone, Copy)]
pub struct Look {
    pub resident_mb: f64,
    pub peak_mb: f64,
    pub cpu_ms: u64,
    /// How often one of its threads went to sleep by itself.
    pub switches: u64,
}

impl Daemon {
    /// Starts it in a house and waits for READY.
    pub fn start(house: &House) -> Outcome<Self> {
        let clock = SystemClock::new();
        let door = house.path().join("notify");
        let _ = fs::remove_file(&door);
        let heard = UnixDatagram::bind(&door)?;
        heard.set_read_timeout(Some(PATIENCE))?;
        let log = File::options()
            .create(true)
            .append(true)
            .open(house.log())?;
        let began = clock.elapsed();
        let child = Command::new(program())
            .args(["daemon", "-C"])
            .arg(house.path())
            .envs(house.keys.iter().map(|(name, secret)| (name, secret)))
            .env("NOTIFY_SOCKET", &door)
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()?;
        let mut daemon = Self {
            child,
            ready: Duration::ZERO,
        };
        let mut words = [0; 1024];
        loop {
            let length = heard
                .recv(&mut words)
                .map_err(|error| daemon.explain(&error, house))?;
            if String::from_utf8_lossy(&words[..length])
                .lines()
                .any(|line| line == "READY=1")
            {
                break;
            }
        }
        daemon.ready = clock.elapsed().saturating_sub(began);
        Ok(daemon)
    }

    fn explain(&mut self, error: &io::Error, house: &House) -> String {
        let _ = self.child.kill();
        let log = fs::read_to_string(house.log()).unwrap_or_default();
        format!("the daemon did not get ready ({error}): {log}")
    }

    /// Ends it as an operator does.
    pub fn stop(mut self) -> Outcome<Self> {
        let pid = self.child.id().to_string();
        Command::new("kill").args(["-TERM", &pid]).status()?;
        self.child.wait()?;
        Ok(self)
    }

    /// Ends it as a power cut does.
    pub fn kill(mut self) -> Outcome<Self> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(self)
    }

    /// Reads what the system tells.
    pub fn look(&self) -> Outcome<Look> {
        let own = format!("/proc/{}", self.child.id());
        let status = fs::read_to_string(format!("{own}/status"))?;
        let mut switches = 0;
        for task in fs::read_dir(format!("{own}/task"))? {
            let status = fs::read_to_string(task?.path().join("status"))?;
            switches += number(&status, "voluntary_ctxt_switches:")?;
        }
        let stat = fs::read_to_string(format!("{own}/stat"))?;
        // After the name in brackets, which may hold blanks: user and system time are the 12th and 13th words.
        let times = stat
            .rsplit(')')
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .skip(11)
            .take(2);
        let ticks: u64 = times.map(|it| it.parse().unwrap_or(0)).sum();
        Ok(Look {
            resident_mb: number(&status, "VmRSS:")? as f64 / 1024.0,
            peak_mb: number(&status, "VmHWM:")? as f64 / 1024.0,
            cpu_ms: ticks * 10,
            switches,
        })
    }
}

fn number(status: &str, name: &str) -> Outcome<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let word = line.and_then(|rest| rest.split_whitespace().next());
    Ok(word.ok_or_else(|| format!("no line {name}"))?.parse()?)
}

/// The program that was built with this bench, or another one to compare with.
#[expect(
    clippy::disallowed_methods,
    reason = "a bench is a shell of its own and reads the environment"
)]
pub fn program() -> std::ffi::OsString {
    std::env::var_os("OFFPEAK_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_offpeak").into())
}

#[expect(clippy::disallowed_methods, reason = "a bench waits in real time")]
pub fn pass(millis: u64) {
    std::thread::sleep(Duration::from_millis(millis));
}
