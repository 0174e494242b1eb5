//! Calls, items and deliveries in memory.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::deliveries::{DeliveryRow, State};
use super::rows::{Rows, RunRow, index};
use crate::answer::Answer;
use crate::engine::keep::{self, Parts};
use crate::engine::pieces::{self, Memory};
use crate::engine::ports::{After, Brought, Finish, Offer, PieceEnd, Progress, Role, StepAnswer};
use crate::job::Which;
use crate::money::Dollars;
use crate::outcome::{FailReason, Outcome, Run, RunId};
use crate::piece::{CallName, Item};
use crate::slot::Slot;

/// What a call of a run brought.
#[derive(Debug)]
pub(super) struct CallRow {
    pub(super) run: RunId,
    pub(super) name: CallName,
    pub(super) answer: Answer,
    pub(super) role: Role,
    /// Whether its text is kept here.
    pub(super) has_text: bool,
    pub(super) delivery: Option<DeliveryRow>,
}

#[derive(Debug)]
pub(super) struct ItemRow {
    pub(super) item: Item,
    pub(super) run: Option<RunId>,
    pub(super) outcome: Option<Outcome>,
    pub(super) ended_at: Option<DateTime<Utc>>,
}

impl Rows {
    pub(super) fn bring(
        &mut self,
        (run, name): (RunId, &CallName),
        brought: Brought<'_>,
        now: DateTime<Utc>,
    ) {
        let Brought { answer, role } = brought;
        let place = self.calls.len();
        let row = self.run_row(run);
        row.calls.push(place);
        row.run.count(answer.stop_reason.clone(), answer.usage);
        row.costs.entry(name.clone()).or_default().0 = true;
        row.add_up();
        let delivery = (role == Role::Owed).then(|| DeliveryRow::new(now));
        self.calls.push(CallRow {
            run,
            name: name.clone(),
            answer: answer.clone(),
            role,
            has_text: role != Role::Part,
            delivery,
        });
    }

    /// Writes what a finished run says of its answer, unless that was recorded with the attempt.
    pub(super) fn bring_late(&mut self, finish: &Finish) {
        let is_it = |call: &CallRow| matches!(call.role, Role::Owed | Role::Whole);
        let is_known = self.calls_of(finish.run).any(is_it);
        if let Some(answer) = finish.answer.as_ref().filter(|_| !is_known) {
            let (name, role) = (CallName::only(), keep::role(finish));
            self.run_row(finish.run).pay(&name, finish.cost_usd);
            let brought = Brought { answer, role };
            self.bring((finish.run, &name), brought, finish.now);
        }
        match &finish.delivery {
            Some(end) => self.end_first((finish.run, None), end),
            None if keep::keeps_text(finish.output.as_deref(), None) => {}
            None => self.drop_text((finish.run, None)),
        }
    }

    pub(super) fn is_owed(&self, run: RunId) -> bool {
        let calls = self.calls_of(run);
        calls
            .filter(|call| call.name.item.is_none())
            .any(is_pending)
    }

    /// Whether an answer of a slot is still owed.
    pub(super) fn is_owed_for(&self, slot: &Slot) -> bool {
        self.of_slot(slot).any(is_pending)
    }

    pub(super) fn text(&self, run: RunId) -> Option<String> {
        let calls = self.calls_of(run);
        let texts: Vec<&str> = calls
            .filter(|call| call.has_text && call.role != Role::Step)
            .map(|call| call.answer.text.as_str())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    pub(super) fn progress(&self, slot: &Slot, which: Which) -> Progress {
        let items = self.items.get(slot);
        let steps = self.of_slot(slot);
        let mut steps: Vec<StepAnswer> = steps
            .filter(|call| call.role == Role::Step && call.has_text)
            .map(|call| StepAnswer {
                item: call.name.item.clone(),
                step: call.name.step,
                text: call.answer.text.clone(),
            })
            .collect();
        steps.sort_by_key(|step| step.step);
        Progress {
            open: items.map(|_| self.undone(slot, which)),
            of: items.map_or(0, Vec::len),
            worst: self.worst(slot),
            steps,
        }
    }

    pub(super) fn split(&mut self, slot: &Slot, offer: Offer<'_>) -> Vec<Item> {
        if !self.items.contains_key(slot) {
            let left = self.left(slot);
            let memory = |item: &Item| {
                self.memory
                    .get(&(slot.job.clone(), item.key.clone()))
                    .cloned()
            };
            let chosen = pieces::choose(offer, memory, &left);
            let rows = chosen.into_iter().map(|item| ItemRow {
                item,
                run: None,
                outcome: None,
                ended_at: None,
            });
            let rows: Vec<ItemRow> = rows.collect();
            if !rows.is_empty() {
                self.items.insert(slot.clone(), rows);
            }
        }
        self.open_items(slot)
    }

    pub(super) fn settle(&mut self, end: &PieceEnd) {
        if let Some(of) = &end.delivery {
            self.end_first((end.run, Some(&end.item)), of);
        }
        let then = end.delivery.as_ref().map(|end| &end.then);
        self.close_item(
            (end.run, &end.slot, &end.item),
            (&end.outcome, end.now),
            then,
        );
    }

    pub(super) fn close_rest(&mut self, run: RunId, slot: &Slot, outcome: &Outcome) {
        let owed = self.owed_items(slot);
        let open = self.items.get_mut(slot).into_iter().flatten();
        for row in open.filter(|row| row.outcome.is_none()) {
            row.run = Some(run);
            row.outcome = Some(if owed.contains(&row.item.name) {
                Outcome::Failed(FailReason::Output)
            } else {
                outcome.clone()
            });
        }
        for place in self.places_of(slot) {
            let call = &mut self.calls[place];
            call.has_text &= call.role != Role::Step;
        }
    }

    /// Makes a slot's items that did not succeed be done anew.
    pub(super) fn reopen(&mut self, slot: &Slot) {
        let ended = self.items.get_mut(slot).into_iter().flatten();
        for row in ended.filter(|row| row.outcome != Some(Outcome::Succeeded)) {
            row.run = None;
            row.outcome = None;
        }
        for place in self.places_of(slot) {
            if let Some(row) = &mut self.calls[place].delivery
                && row.state == State::Pending
            {
                row.state = State::GivenUp;
            }
        }
    }

    pub(super) fn close_item(
        &mut self,
        (run, slot, name): (RunId, &Slot, &str),
        (outcome, now): (&Outcome, DateTime<Utc>),
        then: Option<&After>,
    ) {
        let rows = self.items.get_mut(slot).into_iter().flatten();
        let mut rows = rows.filter(|row| row.item.name == name);
        let Some(row) = rows.next() else {
            return;
        };
        row.run = Some(run);
        row.outcome = Some(outcome.clone());
        row.ended_at = Some(now);
        let memory = Memory {
            mark: row.item.mark.clone(),
            is_done: pieces::is_done(outcome, then),
        };
        let key = (slot.job.clone(), row.item.key.clone());
        self.memory.insert(key, memory);
    }

    /// Whether a slot's work has items that are still to be done.
    pub(super) fn parts(&self, slot: &Slot) -> Parts {
        let mut rows = self.items.get(slot).into_iter().flatten();
        if rows.any(|row| row.outcome.is_none()) {
            Parts::Items
        } else {
            Parts::One
        }
    }

    /// Whether another slot of the job has done an item as it is since its slot.
    fn is_done_elsewhere(&self, slot: &Slot, item: &Item) -> bool {
        let others = self
            .items
            .iter()
            .filter(|(of, _)| of.job == slot.job && *of != slot);
        others.flat_map(|(_, rows)| rows).any(|row| {
            row.item.key == item.key
                && row.item.mark == item.mark
                && row.outcome == Some(Outcome::Succeeded)
                && row.ended_at.is_some_and(|at| at >= slot.fire_at)
        })
    }

    /// The open items that no other slot has done as they are; of changed ones also none that is remembered as done.
    fn undone(&self, slot: &Slot, which: Which) -> Vec<Item> {
        let mut open = self.open_items(slot);
        open.retain(|item| !self.is_done_elsewhere(slot, item));
        if which == Which::ChangedSinceSuccess {
            open.retain(|item| {
                let known = self.memory.get(&(slot.job.clone(), item.key.clone()));
                let is_same = |known: &Memory| known.mark == item.mark && !item.mark.is_empty();
                !known.is_some_and(|known| known.is_done && is_same(known))
            });
        }
        open
    }

    /// How the worst item of a slot ended so far; one whose answer is on its way counts as not delivered.
    fn worst(&self, slot: &Slot) -> Option<Outcome> {
        let owed = self.owed_items(slot);
        let rows = self.items.get(slot).into_iter().flatten();
        let mut ends: Vec<Outcome> = rows.clone().filter_map(|row| row.outcome.clone()).collect();
        let is_open = |row: &&ItemRow| row.outcome.is_none() && owed.contains(&row.item.name);
        if rows.clone().any(|row| is_open(&row)) {
            ends.push(Outcome::Failed(FailReason::Output));
        }
        pieces::worst(ends.iter())
    }

    /// The names of a slot's items whose answers are on their way.
    fn owed_items(&self, slot: &Slot) -> BTreeSet<String> {
        let owed = self.of_slot(slot).filter(|call| is_pending(call));
        owed.filter_map(|call| call.name.item.as_deref().map(str::to_owned))
            .collect()
    }

    fn open_items(&self, slot: &Slot) -> Vec<Item> {
        let is_owed = |item: &Item| {
            let mut calls = self.of_slot(slot);
            calls.any(|call| {
                let state = call.delivery.as_ref().map(|row| row.state);
                call.name.item.as_deref() == Some(item.name.as_str())
                    && matches!(state, Some(State::Pending | State::Done))
            })
        };
        let rows = self.items.get(slot).into_iter().flatten();
        rows.filter(|row| row.outcome.is_none() && !is_owed(&row.item))
            .map(|row| row.item.clone())
            .collect()
    }

    fn left(&self, slot: &Slot) -> BTreeSet<String> {
        let others = self
            .items
            .iter()
            .filter(|(of, _)| of.job == slot.job && *of != slot);
        let is_left = |row: &&ItemRow| row.outcome.is_none();
        let left = others.flat_map(|(_, rows)| rows.iter().filter(is_left));
        left.map(|row| row.item.key.clone()).collect()
    }

    /// In the order in which they began.
    pub(super) fn names_of(&self, slot: &Slot) -> Vec<RunId> {
        self.runs_of.get(slot).cloned().unwrap_or_default()
    }

    /// The calls of a run, oldest first.
    fn calls_of(&self, run: RunId) -> impl Iterator<Item = &CallRow> {
        let row = self.runs.get(index(run));
        let places = row.into_iter().flat_map(|row| &row.calls);
        places.map(|place| &self.calls[*place])
    }

    /// Where the calls of a slot's runs stand, oldest run first.
    fn places_of(&self, slot: &Slot) -> Vec<usize> {
        let rows = self.names_of(slot).into_iter();
        let rows = rows.filter_map(|run| self.runs.get(index(run)));
        rows.flat_map(|row| row.calls.iter().copied()).collect()
    }

    fn of_slot(&self, slot: &Slot) -> impl Iterator<Item = &CallRow> {
        let places = self.places_of(slot).into_iter();
        places.map(|place| &self.calls[place])
    }
}

impl RunRow {
    /// Takes down what a call has cost so far.
    pub(super) fn pay(&mut self, call: &CallName, cost: Option<Dollars>) {
        if cost.is_some() {
            self.costs.entry(call.clone()).or_default().1 = cost;
            self.add_up();
        }
    }

    pub(super) fn add_up(&mut self) {
        self.run.cost_usd = Run::cost_of(self.costs.values().copied());
    }
}

pub(super) fn is_pending(call: &CallRow) -> bool {
    call.delivery
        .as_ref()
        .is_some_and(|row| row.state == State::Pending)
}
