//! A run of many items: each its own portion, one after the other or some side by side.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream::{FuturesUnordered, StreamExt};

use super::pace::Gate;
use super::pieces;
use super::portion::{End, Order, Piece, Portion, STOPPED};
use super::ports::{Offer, PieceEnd, Progress, StepAnswer, StoreError, Unready};
use super::runner::{Ended, Group, Runner};
use super::settle::{self, Past, Settled};
use crate::job::{ForEach, OnEmptyInput};
use crate::outcome::{FailReason, Outcome, SkipReason, YieldReason};
use crate::piece::Item;

/// How many troubles of items a run's note tells.
const TOLD: usize = 3;

/// What is to be done in a run of many items.
pub(super) struct Todo {
    pub open: VecDeque<Portion>,
    /// How many items the slot has.
    pub of: usize,
    /// How the worst of those ended that are done with.
    pub worst: Option<Outcome>,
    /// How many items were there to choose from, if the slot was split just now.
    pub listed: usize,
}

impl Todo {
    /// The one portion of a job without items.
    pub fn only() -> Self {
        let only = Portion {
            item: None,
            answers: Vec::new(),
        };
        Self {
            open: [only].into(),
            of: 1,
            worst: None,
            listed: 0,
        }
    }
}

/// What became of the items of a run.
#[derive(Debug, Default)]
pub(super) struct Tally {
    succeeded: usize,
    left: usize,
    exhausted: usize,
    gate: Option<Gate>,
    /// The first item that ended otherwise, failures before incomplete answers.
    worst: Option<Outcome>,
    troubles: Vec<String>,
    /// The store does not know of every answer.
    has_unrecorded: bool,
}

impl Runner {
    /// Does the items that still have no end.
    pub(super) async fn items(&self, order: Order<'_>, for_each: &ForEach) -> Ended {
        let mut todo = match self.todo(order, for_each).await {
            Ok(Ok(todo)) => todo,
            Ok(Err(piece)) => return self.settle_piece(order, *piece),
            Err(error) => {
                let piece = self.broken(&error);
                return self.settle_piece(order, piece);
            }
        };
        if todo.of == 0 {
            return without_items(order, todo.listed);
        }
        let tally = self.do_all(order, &mut todo).await;
        self.add_up(order, (todo.of, todo.worst), &tally)
    }

    /// The items of the slot, split once and for all, with the answers that their steps have.
    pub(super) async fn todo(
        &self,
        order: Order<'_>,
        for_each: &ForEach,
    ) -> Result<Result<Todo, Box<Piece>>, StoreError> {
        let (slot, which) = (&order.work.slot, for_each.which);
        let known = self.desk.world.store.progress(slot, which).await?;
        let Progress {
            open,
            of,
            worst,
            steps,
        } = known;
        let (open, of, listed) = if let Some(open) = open {
            (open, of, 0)
        } else {
            match self.split(order, for_each).await? {
                Ok((open, listed)) => {
                    let of = open.len();
                    (open, of, listed)
                }
                Err(piece) => return Ok(Err(piece)),
            }
        };
        let open = portions(open, &steps);
        Ok(Ok(Todo {
            open,
            of,
            worst,
            listed,
        }))
    }

    /// Lists the items and has the store keep those that the slot takes.
    async fn split(
        &self,
        order: Order<'_>,
        for_each: &ForEach,
    ) -> Result<Result<(Vec<Item>, usize), Box<Piece>>, StoreError> {
        let job = &order.planned.job.job;
        let listed = match self.graced(self.workspace().list(job)).await {
            Some(Ok(listed)) => listed,
            Some(Err(Unready { reason, message })) => {
                return Ok(Err(Box::new(Piece::failed(reason, Some(message)))));
            }
            // Nothing is split while the daemon stops: the list may be cut short.
            None => return Ok(Err(Box::new(Piece::left(STOPPED, None)))),
        };
        let offer = Offer {
            items: &listed,
            which: for_each.which,
            limit: for_each.limit,
        };
        let store = &self.desk.world.store;
        let open = store
            .split(&order.work.slot, offer, self.desk.now())
            .await?;
        Ok(Ok((open, listed.len())))
    }

    async fn do_all(&self, order: Order<'_>, todo: &mut Todo) -> Tally {
        let most = order.planned.job.job.concurrency.max(1) as usize;
        let mut tally = Tally::default();
        let mut under_way = FuturesUnordered::new();
        loop {
            while under_way.len() < most && order.pace.gate().is_none() {
                let Some(portion) = todo.open.pop_front() else {
                    break;
                };
                under_way.push(self.item(order, portion));
            }
            match under_way.next().await {
                Some((portion, piece)) => tally.add(&portion, piece),
                None => break,
            }
        }
        tally.left += todo.open.len();
        tally.gate = tally.gate.or(order.pace.gate());
        tally
    }

    /// Does one item, and takes down how it ended.
    async fn item(&self, order: Order<'_>, portion: Portion) -> (Portion, Piece) {
        let piece = self.portion(order, &portion).await;
        let piece = self.take_down(order, &portion, piece).await;
        (portion, piece)
    }

    /// Takes down how an item ended, if it did.
    pub(super) async fn take_down(
        &self,
        order: Order<'_>,
        portion: &Portion,
        mut piece: Piece,
    ) -> Piece {
        if piece.end == End::Exhausted
            && !settle::may_exhaust(&order.planned.job.defer, order.work.past())
        {
            piece.end = End::Closed(Outcome::Failed(FailReason::Exhausted));
        }
        if let (End::Closed(outcome), Some(item)) = (&piece.end, &portion.item) {
            let end = || PieceEnd {
                run: order.work.run,
                slot: order.work.slot.clone(),
                item: Arc::from(item.name.as_str()),
                outcome: outcome.clone(),
                note: piece.trouble.clone(),
                delivery: piece.delivery.clone(),
                now: self.desk.now(),
            };
            let store = &self.desk.world.store;
            if let Err(error) = self.desk.persist(|| store.settle(end())).await {
                order.pace.close((YieldReason::Interrupted, None));
                piece.unrecorded.get_or_insert(error);
            }
        }
        piece
    }

    pub(super) fn add_up(
        &self,
        order: Order<'_>,
        (of, before): (usize, Option<Outcome>),
        tally: &Tally,
    ) -> Ended {
        let now = self.desk.now();
        let (policy, past) = (&order.planned.job.defer, order.work.past());
        let settled = if tally.left > 0 {
            let gate = tally.gate.unwrap_or(STOPPED);
            let past = Past {
                has_exhausted: tally.exhausted > 0,
                ..past
            };
            settle::yielded(policy, past, gate, now)
        } else if tally.exhausted > 0 {
            settle::exhausted(policy, past, now)
        } else {
            let ends = tally.worst.iter().chain(&before);
            let outcome = pieces::worst(ends).unwrap_or(Outcome::Succeeded);
            Settled {
                outcome,
                wait: None,
            }
        };
        let group = match tally.gate.filter(|_| tally.left > 0) {
            _ if tally.has_unrecorded => Group::Refused,
            Some(gate) => Group::after(gate),
            None => Group::Open,
        };
        Ended {
            group,
            ..Ended::plain(settled, Some(tally.note(of, before.as_ref())))
        }
    }
}

impl Tally {
    pub fn add(&mut self, portion: &Portion, piece: Piece) {
        let name = portion.item.as_ref().map_or("", |item| item.name.as_str());
        match piece.end {
            End::Closed(Outcome::Succeeded) => self.succeeded += 1,
            End::Closed(outcome) => {
                self.tell(name, Some(outcome.to_string()), piece.trouble);
                self.worst = pieces::worst(self.worst.iter().chain([&outcome]));
            }
            End::Left(gate) => {
                self.left += 1;
                self.gate.get_or_insert(gate);
                if piece.trouble.is_some() {
                    self.tell(name, None, piece.trouble);
                }
            }
            End::Exhausted => {
                self.exhausted += 1;
                self.tell(name, Some("exhausted".to_owned()), piece.trouble);
            }
        }
        self.has_unrecorded |= piece.unrecorded.is_some();
    }

    fn tell(&mut self, name: &str, word: Option<String>, trouble: Option<String>) {
        if self.troubles.len() < TOLD {
            let said: Vec<String> = word.into_iter().chain(trouble).collect();
            self.troubles.push(format!("`{name}`: {}", said.join(", ")));
        }
    }

    /// How many items are done, how many go on, and what went wrong first.
    fn note(&self, of: usize, before: Option<&Outcome>) -> String {
        let rest = self.left + self.exhausted;
        let head = match rest {
            0 => format!("{} of {of} items succeeded in this run", self.succeeded),
            _ => format!(
                "{} of {of} items succeeded in this run, {rest} left",
                self.succeeded
            ),
        };
        let before = before.map(|end| format!("before it one ended as {end}"));
        let parts = [head].into_iter().chain(before);
        let parts: Vec<String> = parts.chain(self.troubles.clone()).collect();
        parts.join("; ")
    }
}

/// The portions that items are, with the answers that their steps have.
pub(super) fn portions(items: Vec<Item>, steps: &[StepAnswer]) -> VecDeque<Portion> {
    let portion = |item: Item| {
        let is_own = |step: &&StepAnswer| step.item.as_deref() == Some(item.name.as_str());
        let own = steps.iter().filter(is_own).map(|step| step.text.clone());
        Portion {
            answers: own.collect(),
            item: Some(item),
        }
    };
    items.into_iter().map(portion).collect()
}

/// There is nothing to make a call for.
pub(super) fn without_items(order: Order<'_>, listed: usize) -> Ended {
    let skipped = Outcome::Skipped(SkipReason::EmptyInput);
    let (outcome, note) = match (listed, order.planned.job.job.on_empty_input) {
        (0, OnEmptyInput::Fail) => {
            let outcome = Outcome::Failed(FailReason::EmptyInput);
            (outcome, "`for_each` found no item".to_owned())
        }
        (0, OnEmptyInput::Skip | OnEmptyInput::Send) => {
            (skipped, "`for_each` found no item".to_owned())
        }
        (_, _) => {
            let note = format!("none of {listed} items has changed since it was done");
            (skipped, note)
        }
    };
    let wait = None;
    Ended::plain(Settled { outcome, wait }, Some(note))
}
