//! Deliveries in memory: answers on their way to their places.

use std::path::PathBuf;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::pieces::{CallRow, is_pending};
use super::rows::Rows;
use crate::engine::keep;
use crate::engine::pieces;
use crate::engine::ports::{After, Delivery, DeliveryEnd, Redelivered, Role};
use crate::outcome::{Outcome, RunId, YieldReason};
use crate::slot::{Origin, Slot};

#[derive(Debug)]
pub(super) struct DeliveryRow {
    pub(super) state: State,
    tries: u32,
    placed: u32,
    output: Option<PathBuf>,
    since: DateTime<Utc>,
    not_before: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum State {
    Pending,
    Done,
    GivenUp,
}

impl DeliveryRow {
    /// An answer that came just now.
    pub(super) const fn new(now: DateTime<Utc>) -> Self {
        Self {
            state: State::Pending,
            tries: 0,
            placed: 0,
            output: None,
            since: now,
            not_before: now,
        }
    }
}

impl Rows {
    pub(super) fn owed(&mut self) -> Vec<Delivery> {
        let rest = self.calls.iter().skip(self.first_owed);
        self.first_owed += rest.take_while(|call| !is_pending(call)).count();
        let rest = self.calls.iter().enumerate().skip(self.first_owed);
        let mut owed: Vec<Delivery> = rest
            .filter(|(_, call)| is_pending(call))
            .filter_map(|(at, call)| self.delivery(at, call))
            .collect();
        owed.sort_by_key(|delivery| (delivery.not_before, delivery.id));
        owed
    }

    pub(super) fn redelivered(&mut self, told: &Redelivered) -> Option<Outcome> {
        let at = usize::try_from(told.id).unwrap_or(usize::MAX);
        let call = self.calls.get_mut(at).filter(|call| is_pending(call))?;
        let row = call.delivery.as_mut()?;
        row.end(&told.end);
        let (run, tries, item) = (call.run, row.tries, call.name.item.clone());
        match &told.end.then {
            After::Done => {
                if !keep::keeps_text(told.end.output.as_deref(), Some(&told.end.then)) {
                    self.drop_text((run, item.as_deref()));
                }
                self.amend((run, item), tries, told);
            }
            After::Again(..) => {}
            After::GiveUp(trouble) => {
                let note = pieces::given_up_note(tries, trouble);
                let slot = self.run_row(run).run.slot();
                match item {
                    Some(item) => self.give_up(&slot, &item),
                    None => self.run_row(run).run.note = Some(note),
                }
            }
        }
        let slot = self.run_row(run).run.slot();
        let last = self.last_run(&slot);
        self.run_row(last).run.outcome.clone()
    }

    /// The last run of a slot that has one.
    fn last_run(&self, slot: &Slot) -> RunId {
        let runs = self.names_of(slot);
        runs.last().copied().unwrap_or(RunId(1))
    }

    fn give_up(&mut self, slot: &Slot, item: &str) {
        let rows = self.items.get(slot).into_iter().flatten();
        let row = rows.map(|row| &row.item).find(|it| it.name == item);
        let Some(item) = row.cloned() else {
            return;
        };
        if let Some(known) = self.memory.get_mut(&(slot.job.clone(), item.key))
            && known.mark == item.mark
        {
            known.is_done = false;
        }
    }

    fn amend(&mut self, (run, item): (RunId, Option<Arc<str>>), tries: u32, told: &Redelivered) {
        let slot = self.run_row(run).run.slot();
        let mut of = run;
        if let Some(item) = item {
            let end = (&Outcome::Succeeded, told.now);
            self.close_item((run, &slot, &item), end, None);
            of = self.last_run(&slot);
        }
        let rows = self.items.get(&slot).into_iter().flatten();
        let open = || Outcome::Yielded(YieldReason::Interrupted);
        let outcomes: Vec<Outcome> = rows
            .map(|row| row.outcome.clone().unwrap_or_else(open))
            .collect();
        let row = &mut self.run_row(of).run;
        let ended = row.outcome.clone();
        let Some(outcome) = ended.and_then(|it| pieces::amended(&it, outcomes.iter())) else {
            return;
        };
        row.outcome = Some(outcome.clone());
        row.note = Some(pieces::delivered_note(tries, told.now));
        row.output = told.end.output.clone().or(row.output.take());
        if row.origin == Origin::Scheduled {
            self.slots.insert(slot, Some(outcome));
        }
    }

    fn delivery(&self, at: usize, call: &CallRow) -> Option<Delivery> {
        let row = call.delivery.as_ref()?;
        let row_of_run = self.runs.iter().find(|row| row.run.id == call.run)?;
        row_of_run.run.outcome.as_ref()?;
        let slot = row_of_run.run.slot();
        let name = call.name.item.as_deref();
        let items = self.items.get(&slot).into_iter().flatten();
        let mut items = items.filter(|row| Some(row.item.name.as_str()) == name);
        Some(Delivery {
            id: i64::try_from(at).unwrap_or(i64::MAX),
            run: call.run,
            item: items.next().map(|row| row.item.clone()),
            newer: self.newer(&slot),
            slot,
            answer: call.answer.clone(),
            tries: row.tries,
            placed: row.placed,
            since: row.since,
            not_before: row.not_before,
        })
    }

    /// The files that hold answers of later slots of the job.
    fn newer(&self, slot: &Slot) -> Vec<PathBuf> {
        let later = self.calls.iter().filter(|call| {
            let mut runs = self.runs.iter().map(|row| &row.run);
            runs.any(|run| run.id == call.run && run.job == slot.job && run.fire_at > slot.fire_at)
        });
        later
            .filter_map(|call| call.delivery.as_ref()?.output.clone())
            .collect()
    }

    pub(super) fn end_first(&mut self, (run, item): (RunId, Option<&str>), end: &DeliveryEnd) {
        let places = self.run_row(run).calls.clone().into_iter();
        let is_it = |call: &CallRow| call.name.item.as_deref() == item && is_pending(call);
        let first = places.filter(|place| is_it(&self.calls[*place])).min();
        if let Some(place) = first
            && let Some(row) = &mut self.calls[place].delivery
        {
            row.end(end);
        }
        if !keep::keeps_text(end.output.as_deref(), Some(&end.then)) {
            self.drop_text((run, item));
        }
    }

    pub(super) fn drop_text(&mut self, (run, item): (RunId, Option<&str>)) {
        for place in self.run_row(run).calls.clone() {
            let call = &mut self.calls[place];
            let is_it = call.name.item.as_deref() == item;
            if is_it && matches!(call.role, Role::Owed | Role::Whole) {
                call.has_text = false;
            }
        }
    }
}

impl DeliveryRow {
    fn end(&mut self, end: &DeliveryEnd) {
        self.tries += 1;
        self.placed = end.placed;
        self.output = end.output.clone().or(self.output.take());
        self.state = match &end.then {
            After::Done => State::Done,
            After::Again(at, _) => {
                self.not_before = *at;
                State::Pending
            }
            After::GiveUp(_) => State::GivenUp,
        };
    }
}
