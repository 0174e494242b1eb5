//! Calls, items and deliveries in memory.

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::rows::{Rows, RunRow};
use crate::answer::Answer;
use crate::engine::keep;
use crate::engine::pieces::{self, Memory};
use crate::engine::ports::{
    After, Brought, Delivery, DeliveryEnd, Finish, Offer, PieceEnd, Progress, Redelivered, Role,
    StepAnswer,
};
use crate::money::Dollars;
use crate::outcome::{Outcome, Run, RunId, SkipReason};
use crate::piece::{CallName, Item};
use crate::slot::{Origin, Slot};

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
pub(super) struct DeliveryRow {
    state: State,
    tries: u32,
    placed: u32,
    since: DateTime<Utc>,
    not_before: DateTime<Utc>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Pending,
    Done,
    GivenUp,
}

#[derive(Debug)]
pub(super) struct ItemRow {
    pub(super) item: Item,
    pub(super) run: Option<RunId>,
    pub(super) outcome: Option<Outcome>,
}

impl Rows {
    pub(super) fn bring(
        &mut self,
        (run, name): (RunId, &CallName),
        brought: Brought<'_>,
        now: DateTime<Utc>,
    ) {
        let Brought { answer, role } = brought;
        let row = self.run_row(run);
        row.run.count(answer.stop_reason.clone(), answer.usage);
        row.costs.entry(name.clone()).or_default().0 = true;
        row.add_up();
        let delivery = (role == Role::Owed).then_some(DeliveryRow {
            state: State::Pending,
            tries: 0,
            placed: 0,
            since: now,
            not_before: now,
        });
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
        let is_known = self.calls.iter().any(|call| call.run == finish.run);
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
        let calls = self.calls.iter().filter(|call| call.run == run);
        calls
            .filter(|call| call.name.item.is_none())
            .any(is_pending)
    }

    pub(super) fn text(&self, run: RunId) -> Option<String> {
        let calls = self.calls.iter().filter(|call| call.run == run);
        let texts: Vec<&str> = calls
            .filter(|call| call.has_text)
            .map(|call| call.answer.text.as_str())
            .collect();
        (!texts.is_empty()).then(|| texts.join("\n\n"))
    }

    pub(super) fn progress(&self, slot: &Slot) -> Progress {
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
            open: items.map(|_| self.open_items(slot)),
            of: items.map_or(0, Vec::len),
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
        self.close_item(end.run, &end.slot, &end.item, &end.outcome);
    }

    pub(super) fn close_rest(&mut self, run: RunId, slot: &Slot, outcome: &Outcome) {
        let open = self.items.get_mut(slot).into_iter().flatten();
        for row in open.filter(|row| row.outcome.is_none()) {
            row.run = Some(run);
            row.outcome = Some(outcome.clone());
        }
        let runs = self.names_of(slot);
        for call in &mut self.calls {
            if call.role == Role::Step && runs.contains(&call.run) {
                call.has_text = false;
            }
        }
    }

    /// Makes a slot's items that did not succeed be done anew.
    pub(super) fn reopen(&mut self, slot: &Slot) {
        let ended = self.items.get_mut(slot).into_iter().flatten();
        for row in ended.filter(|row| row.outcome != Some(Outcome::Succeeded)) {
            row.run = None;
            row.outcome = None;
        }
        let runs = self.names_of(slot);
        let calls = self.calls.iter_mut();
        for call in calls.filter(|call| runs.contains(&call.run)) {
            if let Some(row) = &mut call.delivery
                && row.state == State::Pending
            {
                row.state = State::GivenUp;
            }
        }
    }

    pub(super) fn owed(&self) -> Vec<Delivery> {
        let mut owed: Vec<Delivery> = self
            .calls
            .iter()
            .enumerate()
            .filter(|(_, call)| is_pending(call))
            .filter_map(|(at, call)| self.delivery(at, call))
            .collect();
        owed.sort_by_key(|delivery| (delivery.not_before, delivery.id));
        owed
    }

    pub(super) fn redelivered(&mut self, told: &Redelivered) {
        let at = usize::try_from(told.id).unwrap_or(usize::MAX);
        let Some(call) = self.calls.get_mut(at).filter(|call| is_pending(call)) else {
            return;
        };
        let Some(row) = &mut call.delivery else {
            return;
        };
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
                self.run_row(run).run.note = Some(note);
            }
        }
    }

    fn amend(&mut self, (run, item): (RunId, Option<Arc<str>>), tries: u32, told: &Redelivered) {
        let slot = slot_of(&self.run_row(run).run);
        if let Some(item) = item {
            self.close_item(run, &slot, &item, &Outcome::Succeeded);
        }
        let rows = self.items.get(&slot).into_iter().flatten();
        let outcomes: Vec<Outcome> = rows
            .filter(|row| row.run == Some(run))
            .filter_map(|row| row.outcome.clone())
            .collect();
        let row = &mut self.run_row(run).run;
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
        let run = &self.runs.iter().find(|row| row.run.id == call.run)?.run;
        run.outcome.as_ref()?;
        let slot = slot_of(run);
        let name = call.name.item.as_deref();
        let items = self.items.get(&slot).into_iter().flatten();
        let mut items = items.filter(|row| Some(row.item.name.as_str()) == name);
        Some(Delivery {
            id: i64::try_from(at).unwrap_or(i64::MAX),
            run: call.run,
            item: items.next().map(|row| row.item.clone()),
            slot,
            answer: call.answer.clone(),
            tries: row.tries,
            placed: row.placed,
            since: row.since,
            not_before: row.not_before,
        })
    }

    fn end_first(&mut self, (run, item): (RunId, Option<&str>), end: &DeliveryEnd) {
        let calls = self.calls.iter_mut();
        let mut calls = calls.filter(|call| call.run == run && call.name.item.as_deref() == item);
        if let Some(row) = calls.find_map(|call| call.delivery.as_mut()) {
            row.end(end);
        }
        if !keep::keeps_text(end.output.as_deref(), Some(&end.then)) {
            self.drop_text((run, item));
        }
    }

    fn drop_text(&mut self, (run, item): (RunId, Option<&str>)) {
        for call in &mut self.calls {
            let is_it = call.run == run && call.name.item.as_deref() == item;
            if is_it && matches!(call.role, Role::Owed | Role::Whole) {
                call.has_text = false;
            }
        }
    }

    fn close_item(&mut self, run: RunId, slot: &Slot, name: &str, outcome: &Outcome) {
        let rows = self.items.get_mut(slot).into_iter().flatten();
        let mut rows = rows.filter(|row| row.item.name == name);
        let Some(row) = rows.next() else {
            return;
        };
        row.run = Some(run);
        row.outcome = Some(outcome.clone());
        let memory = Memory {
            mark: row.item.mark.clone(),
            is_done: *outcome == Outcome::Succeeded,
        };
        let key = (slot.job.clone(), row.item.key.clone());
        self.memory.insert(key, memory);
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
        let is_left = |row: &&ItemRow| {
            matches!(
                row.outcome,
                None | Some(Outcome::Skipped(SkipReason::Merged))
            )
        };
        let left = others.flat_map(|(_, rows)| rows.iter().filter(is_left));
        left.map(|row| row.item.key.clone()).collect()
    }

    fn names_of(&self, slot: &Slot) -> BTreeSet<RunId> {
        let runs = self.runs.iter().map(|row| &row.run);
        runs.filter(|run| slot_of(run) == *slot)
            .map(|run| run.id)
            .collect()
    }

    fn of_slot(&self, slot: &Slot) -> impl Iterator<Item = &CallRow> {
        let runs = self.names_of(slot);
        self.calls
            .iter()
            .filter(move |call| runs.contains(&call.run))
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

impl DeliveryRow {
    fn end(&mut self, end: &DeliveryEnd) {
        self.tries += 1;
        self.placed = end.placed;
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

fn is_pending(call: &CallRow) -> bool {
    call.delivery
        .as_ref()
        .is_some_and(|row| row.state == State::Pending)
}

fn slot_of(run: &Run) -> Slot {
    Slot {
        fire_at: run.fire_at,
        job: run.job.clone(),
    }
}
