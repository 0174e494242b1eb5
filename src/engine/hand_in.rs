//! Hands the calls of a run in as one batch.

use super::batch::{
    Bundle, Errand, LOOK_TIMEOUT, Runabout, TURN_MISSED, blank_request, errand_name,
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
use crate::outcome::{FailReason, YieldReason};

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
            Ok(Err(Unready { reason, message })) => {
                return Some(self.settle_piece(order, Piece::failed(reason, Some(message))));
            }
            Err(error) => return Some(self.settle_piece(order, self.broken(&error))),
        };
        if todo.of == 0 {
            return Some(without_items(order));
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
                    ..
                }) => return None,
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
        Some(self.conclude(order, todo.of, ended))
    }

    /// What the run is to do: its open items, or its one portion.
    pub(super) async fn portions(
        &self,
        order: Order<'_>,
    ) -> Result<Result<Todo, Unready>, StoreError> {
        if let Some(for_each) = &order.planned.job.job.for_each {
            return self.todo(order, for_each).await;
        }
        let only = Portion {
            item: None,
            answers: Vec::new(),
        };
        let (open, of) = ([only].into(), 1);
        Ok(Ok(Todo { open, of }))
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
        of: usize,
        ended: Vec<(Portion, Piece)>,
    ) -> Ended {
        if order.planned.job.job.for_each.is_none() {
            let only = ended.into_iter().next().map(|(_, piece)| piece);
            let piece = only.unwrap_or_else(|| Piece::left(TURN_MISSED, None));
            return self.settle_piece(order, piece);
        }
        let mut tally = Tally::default();
        for (portion, piece) in ended {
            tally.add(&portion, piece);
        }
        self.add_up(order, of, &tally)
    }
}
