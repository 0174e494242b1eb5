//! Passes on what the engine says to whoever is to be told, apart from the engine.
//!
//! The notices go into a queue, and a task of its own takes them out: it asks
//! the history how a job stood before, and the guards whether a group is held.
//! So nothing is told twice after a restart, and nothing here holds up a slot.
//! What happens between the end of a run and the power going is not told.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc::{self, UnboundedReceiver, UnboundedSender};
use tokio::task::{JoinHandle, JoinSet};

use super::routes::Routes;
use crate::engine::Notice;
use crate::engine::alert::{Alert, Change, Ending, Holds, News, Standing, Standings};
use crate::engine::ports::Clock;
use crate::notify::{Deadman, Outbox};
use crate::store::SqliteStore;

/// How long a daemon that ends waits for what is still to be told.
const FAREWELL: Duration = Duration::from_secs(2);

/// What the task hears of.
#[derive(Debug)]
enum Heard {
    /// A run ended.
    Ended(Ending),
    /// Others are to be told from here on.
    Routes(Routes),
}

/// The way to the task that tells.
pub struct Teller {
    /// Without a limit, as the engine's own: what is put in is small, and one for each run.
    heard: UnboundedSender<Heard>,
    task: JoinHandle<()>,
    clock: Arc<dyn Clock>,
}

impl std::fmt::Debug for Teller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Teller")
    }
}

impl Teller {
    /// Starts the task.
    #[must_use]
    pub fn start(store: Arc<SqliteStore>, clock: Arc<dyn Clock>, routes: Routes) -> Self {
        let (heard, inbox) = mpsc::unbounded_channel();
        let desk = Desk {
            store,
            clock: clock.clone(),
            standings: Standings::default(),
            holds: Holds::default(),
            routes: Routes::default(),
            outboxes: Vec::new(),
            deadman: None,
            tasks: JoinSet::new(),
        };
        let task = tokio::spawn(desk.serve(inbox, routes));
        Self { heard, task, clock }
    }

    /// Takes a notice in; never waits.
    pub fn hear(&self, notice: &Notice) {
        match notice {
            Notice::Ended { slot, finish } => self.send(Heard::Ended(Ending::new(slot, finish))),
            Notice::Redelivered {
                delivery,
                end,
                counts,
                at,
            } => {
                if let Some(ending) = Ending::redelivered(delivery, (end, counts.as_ref()), *at) {
                    self.send(Heard::Ended(ending));
                }
            }
            // A run that a crash cut off goes on, or was a person's.
            Notice::Recovered { .. }
            | Notice::Planned { .. }
            | Notice::Started { .. }
            | Notice::Attempted { .. }
            | Notice::Recorded { .. }
            | Notice::SteppedBack { .. }
            | Notice::ClockUnset { .. }
            | Notice::SpanSkipped { .. }
            | Notice::ZonesChanged { .. }
            | Notice::StoreFailed { .. }
            | Notice::Unrecorded { .. }
            | Notice::StoreWorks { .. }
            | Notice::Draining { .. } => {}
        }
    }

    /// Others are told from here on; what is queued still goes to those that it was for.
    pub fn exchange(&self, routes: Routes) {
        self.send(Heard::Routes(routes));
    }

    /// Lets everything that was heard be told, for two seconds at most.
    pub async fn finish(self) {
        drop(self.heard);
        let mut task = self.task;
        tokio::select! {
            biased;
            // It ends, or has panicked: there is nobody left to be told.
            _ = &mut task => {}
            () = self.clock.sleep(FAREWELL) => task.abort(),
        }
    }

    fn send(&self, heard: Heard) {
        // The task ends before this only if it panicked; slots go on without it.
        let _ = self.heard.send(heard);
    }
}

/// All that the task works with.
struct Desk {
    store: Arc<SqliteStore>,
    clock: Arc<dyn Clock>,
    standings: Standings,
    holds: Holds,
    routes: Routes,
    outboxes: Vec<Outbox>,
    deadman: Option<Deadman>,
    tasks: JoinSet<()>,
}

impl Desk {
    async fn serve(mut self, mut inbox: UnboundedReceiver<Heard>, routes: Routes) {
        self.take_routes(routes).await;
        loop {
            let look_in = self.holds.look_in(self.clock.now());
            let look = async {
                match look_in {
                    Some(span) => self.clock.sleep(span).await,
                    None => std::future::pending().await,
                }
            };
            tokio::select! {
                biased;
                heard = inbox.recv() => match heard {
                    Some(Heard::Ended(ending)) => self.ended(ending).await,
                    Some(Heard::Routes(routes)) => self.take_routes(routes).await,
                    None => break,
                },
                () = look => self.look_at_holds().await,
            }
        }
        self.outboxes.clear();
        self.deadman = None;
        while self.tasks.join_next().await.is_some() {}
    }

    /// Old queues are closed: their tasks end once they are empty.
    async fn take_routes(&mut self, routes: Routes) {
        while self.tasks.try_join_next().is_some() {}
        let entries = routes.entries.iter().cloned();
        self.outboxes = entries
            .map(|entry| Outbox::open(entry, self.clock.clone(), &mut self.tasks))
            .collect();
        self.deadman = routes.deadman.clone().map(|(address, timeout)| {
            Deadman::start(address, timeout, self.clock.clone(), &mut self.tasks)
        });
        self.routes = routes;
        if self.outboxes.is_empty() {
            // Nobody listens, so nothing is looked up, and what is known grows old.
            self.standings.clear();
            self.holds.clear();
        } else {
            self.look_at_holds().await;
        }
    }

    async fn ended(&mut self, ending: Ending) {
        if let Some(deadman) = self.deadman.as_ref().filter(|_| ending.is_good()) {
            deadman.ring();
        }
        if self.outboxes.is_empty() {
            return;
        }
        let outcome = ending.outcome.clone();
        self.judge(ending).await;
        if self.holds.concerns(&outcome) {
            self.look_at_holds().await;
        }
    }

    /// Tells of a job that stands differently than before.
    async fn judge(&mut self, ending: Ending) {
        let job = &ending.slot.job;
        let Some(now) = Standing::after(&ending.outcome, ending.later) else {
            return;
        };
        let Some((group, name)) = self.routes.jobs.get(job).cloned() else {
            return;
        };
        let before = match self.standings.of(job) {
            Some(standing) => standing,
            None => self.looked_up(&ending).await,
        };
        self.standings.keep(job, now);
        let Some(change) = before.turn(now) else {
            return;
        };
        let run = self.store.run(ending.run).await.ok().flatten();
        let attempts = run.and_then(|run| u32::try_from(run.attempts.len()).ok());
        let at = ending.at;
        let news = match change {
            Change::Failed => News::Failed(ending, attempts),
            Change::Held | Change::Recovered => News::Works(ending, attempts),
        };
        self.put(&name, &Alert { group, news, at });
    }

    /// How the job stood before this run. A store that cannot tell has been complained of; better told twice than
    /// never.
    async fn looked_up(&self, ending: &Ending) -> Standing {
        let job = ending.slot.job.clone();
        let found = self.store.standing(job, ending.run).await;
        found.ok().flatten().unwrap_or(Standing::Fine)
    }

    async fn look_at_holds(&mut self) {
        let Ok(guards) = self.store.guards().await else {
            return;
        };
        for alert in self.holds.turns(&guards, self.clock.now()) {
            for name in self.routes.of_group(&alert.group) {
                self.put(name, &alert);
            }
        }
    }

    fn put(&self, name: &str, alert: &Alert) {
        if let Some(outbox) = self.outboxes.iter().find(|outbox| outbox.name() == name) {
            outbox.put(alert);
        }
    }
}

#[cfg(test)]
mod tests;
