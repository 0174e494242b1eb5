//! What a person does to pauses and to work that waits or has ended.

use chrono::{DateTime, Utc};

use super::MemoryStore;
use super::rows::{Rows, Start};
use crate::engine::again::{self, Again, Dropping, NotAgain, NotDropped};
use crate::engine::keep::DeferralState;
use crate::engine::pause::{Pause, PauseTarget};
use crate::job::{GroupId, JobId};
use crate::outcome::{FailReason, Outcome, Run, YieldReason};
use crate::slot::{Origin, Slot};

impl MemoryStore {
    /// Lifts a group's hold, as a person does.
    pub fn resume(&self, group: &GroupId) {
        if let Some(guard) = self.lock().guards.get_mut(group) {
            guard.resume();
        }
    }

    /// Keeps a job or a group still. A pause of it that is on ends at the instant at which this one begins.
    pub fn pause(&self, pause: Pause) {
        let mut rows = self.lock();
        rows.lift_pause(&pause.target, pause.since);
        rows.pauses.push(pause);
    }

    /// Lifts the pause of a job or a group; `None` if none is on.
    pub fn lift_pause(&self, target: &PauseTarget, now: DateTime<Utc>) -> Option<Pause> {
        self.lock().lift_pause(target, now)
    }

    /// Makes the work of a slot pending again; answers which slot's.
    ///
    /// # Errors
    ///
    /// [`NotAgain`] if the rows speak against it.
    pub fn retry(&self, asked: Again) -> Result<Slot, NotAgain> {
        self.lock().retry(asked)
    }

    /// Ends pending work of a job as failed; answers the slots whose work it was, oldest row first.
    ///
    /// # Errors
    ///
    /// [`NotDropped`] if none of those asked for is pending.
    pub fn drop_deferrals(&self, dropping: &Dropping) -> Result<Vec<Slot>, NotDropped> {
        self.lock().drop_deferrals(dropping)
    }
}

impl Rows {
    fn lift_pause(&mut self, target: &PauseTarget, now: DateTime<Utc>) -> Option<Pause> {
        let on = |pause: &&mut Pause| pause.target == *target && pause.is_on(now);
        let mut lifted = None;
        for pause in self.pauses.iter_mut().filter(on) {
            lifted = Some(pause.clone());
            pause.ended_at = Some(now);
        }
        lifted
    }

    fn retry(&mut self, asked: Again) -> Result<Slot, NotAgain> {
        let of_job = self.runs.iter().filter(|row| !row.is_taken_back);
        let of_job = of_job.map(|row| &row.run);
        let runs: Vec<Run> = of_job.filter(|run| run.job == asked.job).cloned().collect();
        let open: Vec<_> = self.open_of(&asked.job);
        let open: Vec<_> = open
            .into_iter()
            .map(|at| {
                let row = &self.deferrals[at];
                (row.deferral.slot.clone(), row.state)
            })
            .collect();
        let slot = again::slot_again(&runs, &open, asked.fire_at)?;
        if self.is_owed_for(&slot) {
            return Err(NotAgain::Owed(slot));
        }
        let run = self.start(Start {
            slot: slot.clone(),
            group: asked.group,
            model: asked.model,
            origin: Origin::Manual,
            now: asked.now,
        });
        self.close(run, Outcome::Yielded(YieldReason::Asked), asked.now);
        self.run_row(run).run.note = Some(again::AGAIN_NOTE.to_owned());
        self.reopen(&slot);
        self.defer(run, asked.wait);
        Ok(slot)
    }

    fn drop_deferrals(&mut self, dropping: &Dropping) -> Result<Vec<Slot>, NotDropped> {
        let open = self.open_of(&dropping.job);
        let states: Vec<_> = open
            .iter()
            .map(|&at| {
                let row = &self.deferrals[at];
                (row.deferral.clone(), row.state)
            })
            .collect();
        let ids = again::chosen(&states, dropping.which)?;
        let mut dropped = Vec::new();
        for at in open {
            if !ids.contains(&self.deferrals[at].deferral.id) {
                continue;
            }
            let run = self.start(self.deferrals[at].start(dropping.now));
            self.close(run, Outcome::Failed(FailReason::Dropped), dropping.now);
            let note = again::dropped_note(dropping.reason.as_deref());
            self.run_row(run).run.note = Some(note);
            let of = self.deferrals[at].deferral.slot.clone();
            self.close_rest(run, &of, &Outcome::Failed(FailReason::Dropped));
            let row = &mut self.deferrals[at];
            row.state = DeferralState::Failed;
            row.run = Some(run);
            row.ended_at = Some(dropping.now);
            dropped.push(row.deferral.slot.clone());
        }
        Ok(dropped)
    }

    /// The open deferrals of a job, oldest row first.
    fn open_of(&self, job: &JobId) -> Vec<usize> {
        let is_open = |at: &usize| {
            let row = &self.deferrals[*at];
            let open = match row.state {
                DeferralState::Pending | DeferralState::Running => true,
                DeferralState::Done | DeferralState::Failed | DeferralState::Merged => false,
            };
            open && row.deferral.slot.job == *job
        };
        (0..self.deferrals.len()).filter(is_open).collect()
    }
}
