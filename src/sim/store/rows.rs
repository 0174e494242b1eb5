//! The rows, and each step on them.

use std::collections::BTreeMap;
use std::convert::Infallible;

use chrono::{DateTime, Utc};

use crate::engine::audit::ScheduleRow;
use crate::engine::keep::{self, CutOff, DeferralState, Ending};
use crate::engine::pause::{Pause, Pauses};
use crate::engine::pieces::Memory;
use crate::engine::ports::{
    Ask, Deferral, Finish, ManualStart, NewDeferral, PickupAt, StoreError, Taken, Told,
};
use crate::guard::{BreakerState, Guard, Permit, Refusal};
use crate::job::{GroupId, JobId};
use crate::money::Dollars;
use crate::outcome::{Attempt, DeferredTo, FailReason, Outcome, Run, RunId};
use crate::piece::CallName;
use crate::slot::{Origin, Slot};

use super::batches::BatchRow;
use super::pieces::{CallRow, ItemRow};

#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) watermark: Option<DateTime<Utc>>,
    pub(super) schedules: BTreeMap<String, (String, DateTime<Utc>)>,
    pub(super) slots: BTreeMap<Slot, Option<Outcome>>,
    pub(super) runs: Vec<RunRow>,
    /// The runs of each slot: a store of a year has many runs, and a slot few.
    pub(super) runs_of: BTreeMap<Slot, Vec<RunId>>,
    pub(super) deferrals: Vec<DeferralRow>,
    pub(super) guards: BTreeMap<GroupId, Guard>,
    /// When a breaker opened, in order.
    pub(super) openings: Vec<(GroupId, DateTime<Utc>)>,
    pub(super) pauses: Vec<Pause>,
    pub(super) calls: Vec<CallRow>,
    /// Of the calls before this one none is owed: what was delivered or ended stays so.
    pub(super) first_owed: usize,
    pub(super) batches: Vec<BatchRow>,
    pub(super) items: BTreeMap<Slot, Vec<ItemRow>>,
    /// What is remembered of each job's items, by their keys.
    pub(super) memory: BTreeMap<(JobId, String), Memory>,
}

#[derive(Debug)]
pub(super) struct RunRow {
    pub(super) run: Run,
    /// Of each call whether it was answered, and what it cost.
    pub(super) costs: BTreeMap<CallName, (bool, Option<Dollars>)>,
    /// Where its calls stand among all.
    pub(super) calls: Vec<usize>,
    pub(super) lease_until: Option<DateTime<Utc>>,
    /// Whether the row counts as removed: names of runs are places in the list.
    pub(super) is_taken_back: bool,
}

#[derive(Debug)]
pub(super) struct DeferralRow {
    pub(super) deferral: Deferral,
    pub(super) model: String,
    pub(super) state: DeferralState,
    /// The run that carries it, or that ended it.
    pub(super) run: Option<RunId>,
    pub(super) ended_at: Option<DateTime<Utc>>,
    /// Whether the row counts as removed.
    pub(super) is_taken_back: bool,
}

/// What a new run starts from.
pub(super) struct Start {
    pub(super) slot: Slot,
    pub(super) group: GroupId,
    pub(super) model: String,
    pub(super) origin: Origin,
    pub(super) now: DateTime<Utc>,
}

impl Rows {
    pub(super) fn take_deferral(
        &mut self,
        pickup: PickupAt<'_>,
        now: DateTime<Utc>,
    ) -> Option<Taken> {
        let pauses = self.pauses();
        let at = (0..self.deferrals.len())
            .filter(|&at| self.deferrals[at].state == DeferralState::Pending)
            .filter(|&at| pickup.takes(&self.deferrals[at].deferral, &pauses, now))
            .min_by_key(|&at| {
                (
                    self.deferrals[at].deferral.slot.fire_at,
                    self.deferrals[at].deferral.id,
                )
            })?;
        let run = self.start(self.deferrals[at].start(now));
        let row = &mut self.deferrals[at];
        row.state = DeferralState::Running;
        row.run = Some(run);
        Some(Taken {
            deferral: row.deferral.clone(),
            run,
        })
    }

    pub(super) fn pending(&self) -> Vec<Deferral> {
        let waits = self
            .deferrals
            .iter()
            .filter(|row| row.state == DeferralState::Pending);
        let mut pending: Vec<Deferral> = waits.map(|row| row.deferral.clone()).collect();
        pending.sort_by_key(|deferral| (deferral.wait.not_before, deferral.id));
        pending
    }

    pub(super) fn schedule_rows(&self) -> Vec<ScheduleRow> {
        let schedules = self.schedules.iter();
        schedules
            .map(|(name, (fingerprint, starts_at))| ScheduleRow {
                name: name.clone(),
                fingerprint: fingerprint.clone(),
                starts_at: *starts_at,
            })
            .collect()
    }

    pub(super) fn pauses(&self) -> Pauses {
        Pauses::new(self.pauses.clone())
    }

    pub(super) fn begin_manual(&mut self, start: ManualStart) -> RunId {
        let now = start.slot.fire_at;
        let job = start.slot.job;
        let is_taken = |at| {
            let mut runs = self.runs.iter().map(|row| &row.run);
            Ok::<_, Infallible>(runs.any(|run| run.job == job && run.fire_at == at))
        };
        let Ok(fire_at) = keep::manual_instant(now, is_taken);
        let run = self.start(Start {
            slot: Slot { fire_at, job },
            group: start.group,
            model: start.model,
            origin: Origin::Manual,
            now,
        });
        self.run_row(run).lease_until = Some(start.lease_until);
        run
    }

    pub(super) fn admit(&mut self, ask: Ask<'_>) -> Result<Result<Permit, Refusal>, StoreError> {
        let run = self.known_run(ask.run);
        let run = run.ok().filter(|run| run.outcome.is_none());
        let run = run.ok_or_else(|| keep::no_run_under_way(ask.run))?;
        let is_known = |attempt: &Attempt| attempt.n == ask.n && attempt.call == *ask.call;
        if run.attempts.iter().any(is_known) {
            return Err(StoreError::Failed(format!(
                "run {} has made attempt {} already",
                ask.run.0, ask.n
            )));
        }
        let guard = self.guards.entry(ask.group.clone()).or_default();
        let now = keep::instant_in_row(guard, ask.now);
        let permit = match guard.admit_costing(ask.policy, now, ask.lease, ask.reserve) {
            Ok(permit) => permit,
            Err(refusal) => return Ok(Err(refusal)),
        };
        let row = self.run_row(ask.run);
        let lease = keep::lease_after(now, ask.lease);
        row.lease_until = row.lease_until.map(|until| until.max(lease));
        let attempt = Attempt {
            call: ask.call.clone(),
            n: ask.n,
            started_at: now,
            wait: ask.wait,
            end: None,
        };
        self.run_row(ask.run).run.attempts.push(attempt);
        Ok(Ok(permit))
    }

    pub(super) fn record(&mut self, told: Told<'_>) -> Result<(), StoreError> {
        self.known_run(told.run)?;
        let attempts = &mut self.run_row(told.run).run.attempts;
        let is_it = |attempt: &&mut Attempt| attempt.n == told.n && attempt.call == *told.call;
        let Some(attempt) = attempts.iter_mut().find(is_it) else {
            return Err(keep::no_attempt(told.run, told.n));
        };
        if attempt.end.is_some() {
            return Ok(());
        }
        attempt.end = Some(told.end);
        self.run_row(told.run).pay(told.call, told.cost_usd);
        if let Some(batch) = told.batch {
            self.hand_in(told.run, batch);
        }
        if let Some(brought) = told.answer {
            self.bring((told.run, told.call), brought, told.now);
        }
        let guard = self.guards.entry(told.group.clone()).or_default();
        let now = keep::instant_in_row(guard, told.now);
        let before = guard.breaker.state;
        match told.sample {
            Some(sample) => guard.record(told.policy, told.permit, sample, now),
            None => guard.release(told.permit),
        }
        if matches!(guard.breaker.state, BreakerState::Open { .. }) && guard.breaker.state != before
        {
            self.openings.push((told.group.clone(), now));
        }
        guard.pay(&told.bill, now);
        if let Some(hold) = told.hold {
            guard.place_hold(hold);
        }
        Ok(())
    }

    pub(super) fn finish(&mut self, finish: Finish) -> Result<(), StoreError> {
        let run = self.known_run(finish.run)?;
        if keep::ending(run.id, run.origin, run.outcome.as_ref(), &finish.outcome)? == Ending::Keep
        {
            return Ok(());
        }
        let carried = self.carried_by(finish.run);
        if let Some(id) = finish.carried
            && carried.is_none_or(|at| self.deferrals[at].deferral.id != id)
        {
            return Err(keep::not_carried(finish.run, id));
        }
        self.close(finish.run, finish.outcome.clone(), finish.now);
        self.bring_late(&finish);
        let row = self.run_row(finish.run);
        row.run.note = finish.note;
        row.run.output = finish.output;
        let slot = row.run.slot();
        if let Some(wait) = finish.deferral {
            self.defer(finish.run, wait);
            return Ok(());
        }
        self.close_rest(finish.run, &slot, &finish.outcome);
        if let Some(at) = carried {
            self.deferrals[at].state = DeferralState::after(&finish.outcome);
            self.deferrals[at].ended_at = Some(finish.now);
        }
        Ok(())
    }

    pub(super) fn recover(&mut self, under_way: &[RunId], now: DateTime<Utc>) -> Vec<Run> {
        let lost = |row: &&RunRow| {
            row.run.outcome.is_none()
                && row.lease_until.is_none_or(|until| until <= now)
                && !under_way.contains(&row.run.id)
                && !self.waits_for_batch(row.run.id)
        };
        let lost: Vec<RunId> = self
            .runs
            .iter()
            .filter(lost)
            .map(|row| row.run.id)
            .collect();
        for &id in &lost {
            let carried = self.carried_by(id);
            let carried_wait = carried.map(|at| self.deferrals[at].deferral.wait.clone());
            let is_owed = self.is_owed(id);
            let CutOff {
                outcome,
                note,
                wait,
            } = keep::cut_off(&self.run_row(id).run, (carried_wait.as_ref(), is_owed), now);
            self.close(id, outcome, now);
            self.run_row(id).run.note = Some(note);
            let is_closed = wait.is_none();
            match (wait, carried) {
                (Some(wait), _) => self.defer(id, wait),
                (None, Some(at)) => {
                    self.deferrals[at].state = DeferralState::Done;
                    self.deferrals[at].ended_at = Some(now);
                }
                (None, None) => {}
            }
            if is_closed {
                let slot = self.run_row(id).run.slot();
                self.close_rest(id, &slot, &Outcome::Failed(FailReason::Interrupted));
            }
        }
        self.runs
            .iter()
            .filter(|row| lost.contains(&row.run.id))
            .map(|row| row.run.clone())
            .collect()
    }

    pub(super) fn start(&mut self, start: Start) -> RunId {
        let id = RunId(next_id(self.runs.len()));
        self.runs_of.entry(start.slot.clone()).or_default().push(id);
        let run = Run {
            id,
            job: start.slot.job,
            fire_at: start.slot.fire_at,
            origin: start.origin,
            group: start.group,
            model: start.model,
            started_at: start.now,
            finished_at: None,
            outcome: None,
            note: None,
            attempts: Vec::new(),
            stop_reason: None,
            usage: None,
            cost_usd: None,
            output: None,
            deferred: None,
        };
        self.runs.push(RunRow {
            run,
            costs: BTreeMap::new(),
            calls: Vec::new(),
            lease_until: None,
            is_taken_back: false,
        });
        id
    }

    /// Ends a run, and its slot if the run is the slot's own.
    pub(super) fn close(&mut self, id: RunId, outcome: Outcome, now: DateTime<Utc>) {
        let run = &mut self.run_row(id).run;
        run.finished_at = Some(now);
        run.outcome = Some(outcome.clone());
        if run.origin == Origin::Scheduled {
            let slot = run.slot();
            self.slots.insert(slot, Some(outcome));
        }
    }

    /// Writes the work that a run leaves: into the row that it carried, or into a new one.
    pub(super) fn defer(&mut self, id: RunId, wait: NewDeferral) {
        let to = DeferredTo {
            not_before: wait.not_before,
            to: wait.to,
            carries: wait.carries,
        };
        let run = &mut self.run_row(id).run;
        run.deferred = Some(to);
        let slot = run.slot();
        let (group, model) = (run.group.clone(), run.model.clone());
        if let Some(at) = self.carried_by(id) {
            let row = &mut self.deferrals[at];
            row.deferral.wait = wait;
            row.state = DeferralState::Pending;
            row.run = None;
            return;
        }
        let deferral = Deferral {
            id: next_id(self.deferrals.len()),
            slot,
            group,
            wait,
        };
        self.deferrals.push(DeferralRow {
            deferral,
            model,
            state: DeferralState::Pending,
            run: None,
            ended_at: None,
            is_taken_back: false,
        });
    }

    pub(super) fn carried_by(&self, run: RunId) -> Option<usize> {
        self.deferrals
            .iter()
            .position(|row| row.state == DeferralState::Running && row.run == Some(run))
    }

    fn known_run(&self, id: RunId) -> Result<&Run, StoreError> {
        let row = self.runs.get(index(id));
        row.map(|row| &row.run).ok_or_else(|| keep::no_run(id))
    }

    /// The row of a run that is known to exist: names count up from 1 and none is ever removed.
    pub(super) fn run_row(&mut self, id: RunId) -> &mut RunRow {
        &mut self.runs[index(id)]
    }
}

pub(super) fn index(id: RunId) -> usize {
    usize::try_from(id.0.saturating_sub(1)).unwrap_or(usize::MAX)
}

/// Names count up from 1, as in the store on disk.
fn next_id(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX).saturating_add(1)
}
