//! Hands the calls of a run in as one batch.

use super::batch::{
    Bundle, Errand, Fetched, LOOK_TIMEOUT, Runabout, TURN_MISSED, blank_request, errand_name,
};
use super::call::CallEnd;
use super::cost::{self, Room};
use super::drive::{Aim, Driven};
use super::items::{Tally, Todo, without_items};
use super::portion::{End, Order, Piece, Portion, STOPPED};
use super::ports::{Brief, StoreError, Unready};
use super::runner::{Ended, Runner};
use crate::job::{Check, Delivery, Request};
use crate::money::Dollars;
use crate::outcome::{FailReason, Outcome, YieldReason};

impl Runner {
    /// Hands in the calls of a run as one batch; `None` if it was taken in, and the run stays open.
    pub(super) async fn hand_in(&self, order: Order<'_>) -> Option<Ended> {
        let job = &order.planned.job.job;
        let Some(batches) = self.upstream().batches() else {
            let why = "this upstream has no message batches".to_owned();
            return Some(self.settle_piece(order, Piece::failed(FailReason::Fatal, Some(why))));
        };
        let todo = match self.portions(order).await {
            Ok(Ok(todo)) => todo,
            Ok(Err(piece)) => return Some(self.settle_piece(order, *piece)),
            Err(error) => return Some(self.settle_piece(order, self.broken(&error))),
        };
        if todo.of == 0 {
            return Some(without_items(order, todo.listed));
        }
        let mut bundle = Bundle::new();
        let mut pieces = Vec::new();
        for portion in todo.open {
            match self.pack(order, &portion, &mut bundle).await {
                Ok(()) => pieces.push((portion, None)),
                Err(piece) => {
                    let piece = self.take_down(order, &portion, *piece).await;
                    pieces.push((portion, Some(piece)));
                }
            }
        }
        let refused = if bundle.parts.is_empty() {
            Piece::left(TURN_MISSED, None)
        } else {
            let timeout = bundle.parts.iter().map(|part| part.request.timeout).max();
            let request = blank_request(&order, timeout.unwrap_or(LOOK_TIMEOUT));
            let errand = Runabout::new(batches, &job.key, Errand::HandIn(&bundle));
            match self
                .run_errand(order, &errand, (1, &request, bundle.reserve))
                .await
            {
                Ok(Driven {
                    end: CallEnd::Answered,
                    unrecorded: None,
                    ..
                }) => return None,
                Ok(Driven {
                    unrecorded: Some(error),
                    ..
                }) => self.lost_sight(&errand, &error),
                Ok(driven) => Piece::new(End::of(&driven.end), driven.trouble),
                Err(error) => self.broken(&error),
            }
        };
        let mut ended = Vec::new();
        for (portion, piece) in pieces {
            let piece = match piece {
                Some(piece) => piece,
                None => self.take_down(order, &portion, refused.again()).await,
            };
            ended.push((portion, piece));
        }
        Some(self.conclude(order, (todo.of, todo.worst), ended))
    }

    /// The batch is out, and the store does not know its name: a person is told it.
    fn lost_sight(&self, errand: &Runabout<'_>, error: &StoreError) -> Piece {
        let mut piece = self.broken(error);
        if let Some(Fetched::HandedIn(batch)) = errand.take() {
            let what = format!("the batch `{}` is out and not on record", batch.id);
            let said: Vec<String> = [what].into_iter().chain(piece.trouble).collect();
            piece.trouble = Some(said.join("; "));
        }
        piece
    }

    /// What the run is to do: its open items, or its one portion.
    async fn portions(&self, order: Order<'_>) -> Result<Result<Todo, Box<Piece>>, StoreError> {
        if let Some(for_each) = &order.planned.job.job.for_each {
            return self.todo(order, for_each).await;
        }
        Ok(Ok(Todo::only()))
    }

    /// Puts the call of a portion into the bundle; what speaks against it is how the portion ends.
    async fn pack(
        &self,
        order: Order<'_>,
        portion: &Portion,
        bundle: &mut Bundle,
    ) -> Result<(), Box<Piece>> {
        let job = &order.planned.job.job;
        let brief = Brief {
            job,
            slot: &order.work.slot,
            inputs: order.inputs,
            item: portion.item.as_ref(),
            answers: &[],
        };
        let filled = self.graced(self.workspace().fill(brief)).await;
        let mut request = match filled {
            Some(Ok(request)) => request,
            Some(Err(Unready { reason, message })) => {
                return Err(Box::new(Piece::failed(reason, Some(message))));
            }
            None => return Err(Box::new(Piece::left(STOPPED, None))),
        };
        request.delivery = Delivery::Whole;
        let reserve = self.upstream().estimate(&request).cost_high;
        let policy = &order.planned.group.guard;
        if let Some((reason, why)) = cost::unaffordable(job.max_cost, policy, &request, reserve) {
            return Err(Box::new(Piece::failed(reason, Some(why))));
        }
        // What no day has room for as a whole goes on in a batch of its own.
        let cap = policy.budget.dollars().least();
        let sum = bundle
            .reserve
            .zip(reserve)
            .map(|(sum, more)| sum.plus(more));
        if cap.zip(sum).is_some_and(|(cap, sum)| sum > cap) {
            return Err(Box::new(Piece::left((YieldReason::Dollars, None), None)));
        }
        match order.purse.take(reserve) {
            Room::Go => {
                bundle.add(portion.item.as_ref(), request, reserve);
                Ok(())
            }
            Room::NotInThisRun | Room::InNone(_) => {
                let gate = (YieldReason::MaxCost, None);
                Err(Box::new(Piece::left(gate, None)))
            }
        }
    }

    pub(super) async fn run_errand(
        &self,
        order: Order<'_>,
        errand: &Runabout<'_>,
        (part, request, reserve): (u32, &Request, Option<Dollars>),
    ) -> Result<Driven, StoreError> {
        let name = errand_name(part);
        let aim = Aim {
            name: &name,
            before: "",
            check: &Check::default(),
            is_last: false,
            goes_on: false,
            errand: Some(errand),
        };
        self.send(order, aim, (request, errand, reserve)).await
    }

    /// What becomes of a run whose portions ended like this.
    pub(super) fn conclude(
        &self,
        order: Order<'_>,
        (of, before): (usize, Option<Outcome>),
        mut ended: Vec<(Portion, Piece)>,
    ) -> Ended {
        let is_plain = ended.iter().all(|(portion, _)| portion.item.is_none());
        if is_plain && let Some((_, piece)) = ended.pop() {
            return self.settle_piece(order, piece);
        }
        let mut tally = Tally::default();
        for (portion, piece) in ended {
            tally.add(&portion, piece);
        }
        self.add_up(order, (of, before), &tally)
    }
}
