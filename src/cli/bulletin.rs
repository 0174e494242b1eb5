//! How the daemon stands, in one line, and when the service manager hears of it.
//!
//! The watchdog is fed from the engine's own signs of life and from nothing
//! else: that this file, the runtime or the store's chores live says nothing
//! about slots.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, Utc};
use tokio::sync::watch;

use super::systemd::{Heard, Manager, State};
use super::times;
use crate::engine::ports::{Clock, Finish};
use crate::engine::pulse::{Beat, Health};
use crate::engine::{Notice, Plan};
use crate::guard::Guard;
use crate::job::GroupId;
use crate::outcome::Outcome;
use crate::schedule::Zone;
use crate::slot::Slot;
use crate::store::SqliteStore;

/// Beyond the graces of a request and of a delivery, for the last writes to a store that fails.
const LAST_WRITES: Duration = Duration::from_secs(30);

/// How often more time to start is asked for while the clock is not set, and for how long each time. A question that is
/// lost because the manager's queue is full is made good by the next one.
const ASK_EVERY: Duration = Duration::from_secs(15);
const ASK_FOR: Duration = Duration::from_mins(2);

/// Tells the service manager how the daemon stands.
pub struct Bulletin {
    manager: Manager,
    plans: watch::Receiver<Arc<Plan>>,
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    /// How many plans have stood.
    planned: watch::Sender<u64>,
    standing: RefCell<Standing>,
}

/// What the files are to the daemon.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum FilesState {
    /// The plan is theirs.
    #[default]
    Taken,
    /// They are read.
    Reading,
    /// They cannot be used; the plan before them stands.
    Refused,
}

/// All that is worth a word.
#[derive(Debug, Default)]
struct Standing {
    phase: Phase,
    jobs: usize,
    files: FilesState,
    beat: Beat,
    last: Option<String>,
    trouble: Option<String>,
    holds: Vec<(GroupId, Option<DateTime<Utc>>)>,
    /// Whether a group may be held that was not before.
    is_hold_likely: bool,
    /// What was said last and heard.
    said: String,
    /// Whether the first plan does not come because the clock is not set.
    is_clock_awaited: bool,
    /// Whether the manager waits for a word that was lost.
    is_ready_owed: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Starting,
    Serving,
    Stopping,
}

impl std::fmt::Debug for Bulletin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bulletin")
    }
}

impl Bulletin {
    /// Nothing is told yet.
    #[must_use]
    pub fn new(
        manager: Manager,
        plans: watch::Receiver<Arc<Plan>>,
        store: Arc<SqliteStore>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        let standing = Standing {
            // A hold may have outlived the daemon before this one.
            is_hold_likely: true,
            ..Standing::default()
        };
        Self {
            manager,
            plans,
            store,
            clock,
            planned: watch::channel(0).0,
            standing: RefCell::new(standing),
        }
    }

    /// How many plans have stood, as it grows.
    #[must_use]
    pub fn planned(&self) -> watch::Receiver<u64> {
        self.planned.subscribe()
    }

    /// Takes a notice in.
    pub fn hear(&self, notice: &Notice) {
        // Whatever else the engine says, it waits for the clock no longer.
        self.standing.borrow_mut().is_clock_awaited = matches!(notice, Notice::ClockUnset { .. });
        match notice {
            Notice::Planned { jobs, next } => {
                let is_first = {
                    let mut standing = self.standing.borrow_mut();
                    standing.jobs = *jobs;
                    standing.beat.next.clone_from(next);
                    standing.phase == Phase::Starting
                };
                if is_first {
                    self.standing.borrow_mut().phase = Phase::Serving;
                    self.say(&[State::Ready]);
                } else {
                    self.say(&[]);
                }
                self.planned.send_modify(|count| *count += 1);
            }
            Notice::Ended { slot, finish } => {
                let mut standing = self.standing.borrow_mut();
                standing.last = Some(ended(slot, finish));
                standing.is_hold_likely |= may_hold(&finish.outcome);
            }
            Notice::StoreFailed { message } => {
                self.standing.borrow_mut().trouble = Some(message.clone());
                self.say(&[]);
            }
            Notice::ClockUnset { .. } => self.say_unset(),
            // The next sign of life is sound.
            Notice::StoreWorks { .. }
            | Notice::Recovered { .. }
            | Notice::Started { .. }
            | Notice::Attempted { .. }
            | Notice::Unrecorded { .. }
            | Notice::Recorded { .. }
            | Notice::Redelivered { .. }
            | Notice::SteppedBack { .. }
            | Notice::SpanSkipped { .. }
            | Notice::ZonesChanged { .. }
            | Notice::Draining { .. } => {}
        }
    }

    /// The engine lives: the watchdog is fed, and what changed is told.
    pub async fn feel(&self, beat: Beat) {
        {
            let mut standing = self.standing.borrow_mut();
            if beat.health == Health::Sound {
                standing.trouble = None;
            }
            standing.beat = beat;
        }
        // Before the holds are looked up: the engine has lived, whatever the store does now.
        self.say(&[State::Watchdog]);
        if self.are_holds_due() {
            self.look_at_holds().await;
            self.say(&[]);
        }
    }

    /// The files are read again.
    pub fn reloading(&self) {
        self.standing.borrow_mut().files = FilesState::Reading;
        self.say(&[State::Reloading]);
    }

    /// A reload is over.
    pub fn reloaded(&self, files: FilesState) {
        self.standing.borrow_mut().files = files;
        self.say(&[State::Ready]);
    }

    /// The stop signal came. The time that is asked for is what a drain takes at most.
    pub fn stopping(&self) {
        let is_first = self.standing.borrow().phase != Phase::Stopping;
        if is_first {
            self.standing.borrow_mut().phase = Phase::Stopping;
            let grace = self.plans.borrow().grace;
            let within = grace.saturating_mul(2).saturating_add(LAST_WRITES);
            self.say(&[State::Stopping(within)]);
        }
    }

    /// Asks for more time to start once that is due, for as long as the clock is not set; the engine says so once.
    /// Never ends if nothing is to be asked for.
    pub async fn ask_again(&self) {
        if !self.is_clock_awaited() {
            return std::future::pending().await;
        }
        self.clock.sleep(ASK_EVERY).await;
        self.say_unset();
    }

    fn is_clock_awaited(&self) -> bool {
        let standing = self.standing.borrow();
        standing.is_clock_awaited && standing.phase == Phase::Starting
    }

    /// Whoever waits for the first plan learns why it does not come, and waits on.
    fn say_unset(&self) {
        if self.is_clock_awaited() {
            self.manager.tell(&[
                State::Patience(ASK_FOR),
                State::Status(
                    "the clock shows a time before 2026-01-01; nothing is due until it is set",
                ),
            ]);
        }
    }

    /// The line is added where it changed. What was lost because the manager's queue was full is said again.
    fn say(&self, states: &[State<'_>]) {
        let mut standing = self.standing.borrow_mut();
        if standing.phase == Phase::Starting {
            return;
        }
        let plan = Arc::clone(&self.plans.borrow());
        let text = standing.text(plan.peaks.zone());
        let owed = standing.is_ready_owed && standing.files != FilesState::Reading;
        let mut all: Vec<State<'_>> = owed.then_some(State::Ready).into_iter().collect();
        all.extend(states);
        // Nothing is ready that is going.
        all.retain(|state| {
            standing.phase != Phase::Stopping || !matches!(state, State::Ready | State::Reloading)
        });
        if text != standing.said {
            all.push(State::Status(&text));
        }
        let is_ready_said = all.iter().any(|state| matches!(state, State::Ready));
        match self.manager.tell(&all) {
            Heard::Yes => {
                standing.is_ready_owed &= !is_ready_said;
                standing.said = text;
            }
            Heard::No => standing.is_ready_owed |= is_ready_said,
        }
    }

    fn are_holds_due(&self) -> bool {
        let standing = self.standing.borrow();
        standing.is_hold_likely || !standing.holds.is_empty()
    }

    async fn look_at_holds(&self) {
        // A store that cannot tell has been complained of.
        if let Ok(guards) = self.store.guards().await {
            let now = self.clock.now();
            let mut standing = self.standing.borrow_mut();
            standing.holds = held(&guards, now);
            standing.is_hold_likely = false;
        }
    }
}

impl Standing {
    fn text(&self, zone: &Zone) -> String {
        if self.phase == Phase::Stopping {
            return "stopping: no new slots, what is under way ends or is deferred".to_owned();
        }
        let trouble = self.trouble.as_ref().map(|message| {
            format!("the store does not work and nothing is sent until it does ({message})")
        });
        let files = match self.files {
            FilesState::Taken => None,
            FilesState::Reading => Some("reading the files again".to_owned()),
            FilesState::Refused => Some(
                "the changed files cannot be used, `offpeak status` says why; the plan before them stands"
                    .to_owned(),
            ),
        };
        let holds = self.holds.iter().map(|(group, until)| match until {
            Some(until) => format!("group {group} is held until {}", times::local(zone, *until)),
            None => format!("group {group} is held until `offpeak resume {group}`"),
        });
        let jobs = match self.jobs {
            1 => "1 job".to_owned(),
            jobs => format!("{jobs} jobs"),
        };
        let last = self.last.as_ref().map(|last| format!("last: {last}"));
        let parts = trouble.into_iter().chain(files).chain(holds);
        let parts = parts.chain([jobs, self.next(zone)]).chain(last);
        parts.collect::<Vec<_>>().join("; ")
    }

    /// What is next: a slot, or work that was promised an instant of its own.
    fn next(&self, zone: &Zone) -> String {
        let slot = self.beat.next.as_ref().map(|entry| {
            let name = match &entry.job {
                Some(job) => job.to_string(),
                None => format!("deferred work of {}", entry.group),
            };
            (entry.fire_at, name)
        });
        let promised = self.beat.promised_at;
        let promised = promised.map(|at| (at, "deferred work".to_owned()));
        match slot.into_iter().chain(promised).min() {
            Some((at, name)) => format!("next: {name} at {}", times::local(zone, at)),
            None => "no slot ahead".to_owned(),
        }
    }
}

fn ended(slot: &Slot, finish: &Finish) -> String {
    let deferred = match &finish.deferral {
        Some(_) => ", deferred",
        None => "",
    };
    format!("{} {}{deferred}", slot.job, finish.outcome)
}

fn may_hold(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Yielded(_) | Outcome::Failed(_) | Outcome::Exhausted => true,
        Outcome::Succeeded | Outcome::Incomplete(_) | Outcome::Skipped(_) => false,
    }
}

fn held(guards: &[(GroupId, Guard)], now: DateTime<Utc>) -> Vec<(GroupId, Option<DateTime<Utc>>)> {
    let held = guards.iter().filter_map(|(group, guard)| {
        let hold = guard.hold.as_ref().filter(|hold| hold.is_active(now))?;
        Some((group.clone(), hold.until))
    });
    held.collect()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixDatagram;
    use std::pin::pin;
    use std::task::{Context, Waker};

    use super::*;
    use crate::clock::SystemClock;
    use crate::job::JobId;
    use crate::schedule::{Entry, Zones};
    use crate::sim::{SimPlan, VirtualClock};

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    fn standing() -> Standing {
        let next = Entry {
            fire_at: at("2026-11-30T20:00:00Z"),
            group: GroupId::new("main"),
            job: Some(JobId::new("digest")),
        };
        Standing {
            phase: Phase::Serving,
            jobs: 4,
            beat: Beat {
                next: Some(next),
                ..Beat::default()
            },
            ..Standing::default()
        }
    }

    fn text(standing: &Standing) -> String {
        standing.text(&Zones::bundled().get("Asia/Tokyo").unwrap())
    }

    #[test]
    fn next_slot_is_said_in_words() {
        assert_eq!(
            text(&standing()),
            "4 jobs; next: digest at Tue 2026-12-01 05:00 JST"
        );
        let mut alone = standing();
        (alone.jobs, alone.beat.next) = (1, None);
        assert_eq!(text(&alone), "1 job; no slot ahead");
    }

    #[test]
    fn promised_work_is_next_if_it_comes_before_the_slot() {
        let mut standing = standing();
        standing.beat.promised_at = Some(at("2026-11-30T19:30:00Z"));
        assert_eq!(
            text(&standing),
            "4 jobs; next: deferred work at Tue 2026-12-01 04:30 JST"
        );
        standing.beat.promised_at = Some(at("2026-11-30T20:30:00Z"));
        assert!(text(&standing).contains("next: digest"));
    }

    #[test]
    fn what_keeps_work_from_being_sent_comes_first() {
        let mut standing = standing();
        standing.last = Some("review yielded: hold, deferred".to_owned());
        standing.holds = vec![(GroupId::new("main"), None)];
        standing.files = FilesState::Refused;
        standing.trouble = Some("the disk is full".to_owned());
        assert_eq!(
            text(&standing),
            "the store does not work and nothing is sent until it does (the disk is full); \
             the changed files cannot be used, `offpeak status` says why; the plan before them stands; \
             group main is held until `offpeak resume main`; \
             4 jobs; next: digest at Tue 2026-12-01 05:00 JST; last: review yielded: hold, deferred"
        );
        standing.phase = Phase::Stopping;
        assert!(text(&standing).starts_with("stopping: "));
    }

    /// A manager in a folder, and a bulletin that it hears.
    fn heard() -> (tempfile::TempDir, UnixDatagram, Bulletin) {
        heard_by(Arc::new(SystemClock::new()))
    }

    fn heard_by(clock: Arc<dyn Clock>) -> (tempfile::TempDir, UnixDatagram, Bulletin) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notify");
        let socket = UnixDatagram::bind(&path).unwrap();
        socket.set_nonblocking(true).unwrap();
        let environment = [
            ("NOTIFY_SOCKET", path.to_str().unwrap()),
            ("WATCHDOG_USEC", "1000000"),
        ];
        let manager = Manager::of(&environment.into_iter().collect());
        let plan = SimPlan::new("Asia/Tokyo").unwrap().build();
        let store = Arc::new(SqliteStore::open(folder.path()).unwrap());
        let plans = watch::channel(plan).1;
        let bulletin = Bulletin::new(manager, plans, store, clock);
        (folder, socket, bulletin)
    }

    fn messages(socket: &UnixDatagram) -> Vec<String> {
        let mut buffer = [0; 4096];
        let mut all = Vec::new();
        while let Ok(read) = socket.recv(&mut buffer) {
            all.push(String::from_utf8(buffer[..read].to_vec()).unwrap());
        }
        all
    }

    fn feel(bulletin: &Bulletin) {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        let beat = bulletin.feel(Beat::default());
        runtime.unwrap().block_on(beat);
    }

    const PLANNED: Notice = Notice::Planned {
        jobs: 1,
        next: None,
    };

    #[test]
    fn only_a_sign_of_life_of_the_engine_feeds_the_watchdog() {
        let (_folder, socket, bulletin) = heard();
        bulletin.hear(&PLANNED);
        bulletin.reloading();
        bulletin.reloaded(FilesState::Refused);
        bulletin.hear(&Notice::StoreFailed {
            message: "the disk is full".to_owned(),
        });
        bulletin.hear(&Notice::Draining { running: 0 });
        let said = messages(&socket);
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(!said.concat().contains("WATCHDOG"), "{said:?}");
        feel(&bulletin);
        assert!(messages(&socket)[0].starts_with("WATCHDOG=1\n"));
        bulletin.stopping();
        let said = messages(&socket);
        assert!(said[0].starts_with("STOPPING=1\n") && said.len() == 1);
        assert!(!said.concat().contains("WATCHDOG"), "{said:?}");
    }

    #[test]
    fn nothing_is_ready_once_the_stop_signal_came() {
        let (_folder, socket, bulletin) = heard();
        bulletin.hear(&PLANNED);
        bulletin.reloading();
        bulletin.stopping();
        messages(&socket);
        bulletin.reloaded(FilesState::Taken);
        bulletin.hear(&PLANNED);
        assert!(!messages(&socket).concat().contains("READY"));
    }

    // A status that met a full queue counted as said, and was never said again.
    #[test]
    fn what_met_a_full_queue_is_said_again() {
        let (_folder, socket, bulletin) = heard();
        let full = UnixDatagram::unbound().unwrap();
        full.set_nonblocking(true).unwrap();
        let address = socket.local_addr().unwrap();
        while full.send_to_addr(b"X=1\n", &address).is_ok() {}
        bulletin.hear(&PLANNED);
        messages(&socket);
        feel(&bulletin);
        assert_eq!(
            messages(&socket)[0],
            "READY=1\nWATCHDOG=1\nSTATUS=1 job; no slot ahead\n"
        );
        feel(&bulletin);
        assert_eq!(messages(&socket), ["WATCHDOG=1\n"]);
    }

    // The reason was told once, and a start that waits for the clock was ended at `TimeoutStartSec`, again and again.
    #[test]
    fn start_is_given_more_time_for_as_long_as_the_clock_is_not_set() {
        let start = at("1970-01-01T00:00:00Z");
        let clock = Arc::new(VirtualClock::new(start));
        let (_folder, socket, bulletin) = heard_by(Arc::clone(&clock) as Arc<dyn Clock>);
        let asks = |bulletin: &Bulletin| {
            let mut asking = pin!(bulletin.ask_again());
            let mut context = Context::from_waker(Waker::noop());
            let _ = asking.as_mut().poll(&mut context);
            clock.advance() && asking.as_mut().poll(&mut context).is_ready()
        };
        assert!(!asks(&bulletin));
        let unset = Notice::ClockUnset { now: start };
        bulletin.hear(&unset);
        assert!(asks(&bulletin) && asks(&bulletin));
        let said = messages(&socket);
        assert_eq!(said.len(), 3, "{said:?}");
        for said in said {
            assert!(said.starts_with("EXTEND_TIMEOUT_USEC=120000000\nSTATUS=the clock"));
        }
        // A store that fails is no reason to wait longer.
        bulletin.hear(&Notice::StoreFailed {
            message: "the disk is full".to_owned(),
        });
        assert!(!asks(&bulletin));
        bulletin.hear(&unset);
        bulletin.hear(&PLANNED);
        assert!(!asks(&bulletin));
        // A clock that is set back to 1970 later is no start.
        messages(&socket);
        bulletin.hear(&unset);
        assert!(!asks(&bulletin));
        assert_eq!(messages(&socket), [""; 0]);
    }
}
