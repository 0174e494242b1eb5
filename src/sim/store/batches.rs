//! Batches in memory.

use chrono::{DateTime, Utc};

use super::rows::Rows;
use crate::engine::ports::{Collected, HandedIn, OpenBatch};
use crate::outcome::RunId;

/// A batch that was taken in.
#[derive(Debug)]
pub(super) struct BatchRow {
    run: RunId,
    looks: u32,
    batch: HandedIn,
}

impl Rows {
    pub(super) fn hand_in(&mut self, run: RunId, batch: HandedIn) {
        self.batches.push(BatchRow {
            run,
            looks: 0,
            batch,
        });
    }

    pub(super) fn open_batches(&self) -> Vec<OpenBatch> {
        let mut open: Vec<OpenBatch> = self
            .batches
            .iter()
            .filter_map(|row| self.open_batch(row))
            .collect();
        open.sort_by_key(|open| (open.batch.look_at, open.run));
        open
    }

    pub(super) fn looked(&mut self, run: RunId, next: DateTime<Utc>) {
        for row in self.batches.iter_mut().filter(|row| row.run == run) {
            row.looks += 1;
            row.batch.look_at = next;
        }
    }

    pub(super) fn collect(&mut self, collected: Collected<'_>) {
        let Collected { run, call, .. } = collected;
        let is_known = |row: &super::pieces::CallRow| row.run == run && row.name == *call;
        if self.calls.iter().any(is_known) {
            return;
        }
        self.run_row(run).pay(call, collected.cost_usd);
        self.bring((run, call), collected.answer, collected.now);
    }

    /// Whether a run waits for a batch.
    pub(super) fn waits_for_batch(&self, run: RunId) -> bool {
        self.batches.iter().any(|row| row.run == run)
    }

    fn open_batch(&self, row: &BatchRow) -> Option<OpenBatch> {
        let run = &self.runs.iter().find(|it| it.run.id == row.run)?.run;
        if run.outcome.is_some() {
            return None;
        }
        let carried = self.carried_by(row.run);
        Some(OpenBatch {
            run: row.run,
            slot: run.slot(),
            origin: run.origin,
            carried: carried.map(|at| self.deferrals[at].deferral.clone()),
            looks: row.looks,
            batch: row.batch.clone(),
        })
    }
}
