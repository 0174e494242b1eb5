//! What became of every piece of work that was due.

use super::{RunRow, Tally};
use crate::outcome::{Outcome, SkipReason};

/// The last run of every piece of work: by job, then by slot.
pub(super) struct Works {
    /// Places of runs.
    order: Vec<u32>,
    /// Where the work of each job begins in the order, and after the last its end.
    starts: Vec<usize>,
}

/// What a piece of work came to.
pub(super) enum End {
    /// A complete answer, then.
    Done(i64),
    /// Not yet, or never.
    Open,
    /// None was due.
    NotDue,
}

impl Works {
    pub(super) fn of(tally: &Tally) -> Self {
        let job = |run: &RunRow| tally.kinds.get(run.kind).job as usize;
        let jobs = tally.names[1].len();
        let mut starts = vec![0; jobs + 1];
        for run in &tally.runs {
            starts[job(run) + 1] += 1;
        }
        for at in 0..jobs {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut all = vec![0_u32; tally.runs.len()];
        for (at, run) in (0..).zip(&tally.runs) {
            let place = &mut next[job(run)];
            all[*place] = at;
            *place += 1;
        }
        let fire_at = |at: &u32| tally.runs[*at as usize].fire_at;
        let mut order = Vec::with_capacity(all.len());
        for job in 0..jobs {
            let runs = &mut all[starts[job]..starts[job + 1]];
            // They stand in the order in which they began, which is nearly always that of their slots.
            runs.sort_by_key(fire_at);
            starts[job] = order.len();
            let slots = runs.chunk_by(|one, other| fire_at(one) == fire_at(other));
            order.extend(slots.filter_map(<[u32]>::last));
        }
        starts[jobs] = order.len();
        Self { order, starts }
    }

    /// The last run of each piece, by its place.
    pub(super) fn last_runs(&self) -> impl Iterator<Item = usize> {
        self.order.iter().map(|at| *at as usize)
    }

    /// The last run of the work of a slot.
    fn find<'a>(&self, tally: &'a Tally, job: u32, fire_at: i64) -> Option<&'a RunRow> {
        let job = job as usize;
        let works = &self.order[self.starts[job]..self.starts[job + 1]];
        let of = |at: &u32| tally.runs[*at as usize].fire_at;
        let found = works.binary_search_by_key(&fire_at, of).ok()?;
        Some(&tally.runs[works[found] as usize])
    }

    /// When the work of this last run came to its complete answer, its own or that of the slot that took it over.
    pub(super) fn end(&self, tally: &Tally, last: usize) -> End {
        let mut run = &tally.runs[last];
        let job = tally.kinds.get(run.kind).job;
        loop {
            if run.is_deferred {
                return End::Open;
            }
            match &run.outcome {
                Some(Outcome::Succeeded) => return End::Done(run.ended_at),
                Some(Outcome::Skipped(SkipReason::Merged)) => {
                    let into = tally.merges.get(&(job, run.fire_at)).copied();
                    // Work goes into later slots only, so this ends.
                    let into = into.filter(|into| *into > run.fire_at);
                    let Some(next) = into.and_then(|into| self.find(tally, job, into)) else {
                        return End::NotDue;
                    };
                    run = next;
                }
                Some(Outcome::Skipped(_)) => return End::NotDue,
                Some(
                    Outcome::Incomplete(_)
                    | Outcome::Yielded(_)
                    | Outcome::Exhausted
                    | Outcome::Failed(_),
                )
                | None => return End::Open,
            }
        }
    }
}
