//! The plan's schedules, and the claims of a wake-up.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};

use super::rows::{DeferralRow, Rows, Start};
use crate::engine::keep::{self, DeferralState};
use crate::engine::ports::{Claim, Claimed, Fate, Tick};
use crate::outcome::{Outcome, RunId, SkipReason, YieldReason};
use crate::slot::{Origin, Slot};

impl Rows {
    pub(super) fn adopt(
        &mut self,
        schedules: &[(String, String)],
        now: DateTime<Utc>,
    ) -> Vec<(String, DateTime<Utc>)> {
        let names: BTreeSet<&String> = schedules.iter().map(|(name, _)| name).collect();
        self.schedules.retain(|name, _| names.contains(name));
        for (name, fingerprint) in schedules {
            let known = self
                .schedules
                .get(name)
                .is_some_and(|(known, _)| known == fingerprint);
            if !known {
                self.schedules
                    .insert(name.clone(), (fingerprint.clone(), now));
            }
        }
        schedules
            .iter()
            .map(|(name, _)| (name.clone(), self.schedules[name].1))
            .collect()
    }

    pub(super) fn claim(&mut self, tick: Tick) -> Vec<Claimed> {
        let mut claimed = Vec::new();
        let pauses = self.pauses();
        for claim in tick.slots {
            let is_known = self.slots.contains_key(&claim.slot);
            if is_known && !self.take_back(&claim.slot, tick.now) {
                continue;
            }
            let fate = pauses.fate(&claim, tick.now);
            let claim = Claim { fate, ..claim };
            let run = self.claim_one(&claim, tick.now);
            claimed.push(Claimed {
                slot: claim.slot,
                run,
                fate: claim.fate,
            });
        }
        self.watermark = self.watermark.max(Some(tick.watermark));
        claimed
    }

    fn claim_one(&mut self, claim: &Claim, now: DateTime<Utc>) -> RunId {
        self.slots.insert(claim.slot.clone(), None);
        let run = self.start(Start {
            slot: claim.slot.clone(),
            group: claim.group.clone(),
            model: claim.model.clone(),
            origin: Origin::Scheduled,
            now,
        });
        match &claim.fate {
            Fate::Fire => self.merge_into(run, &claim.slot, now),
            Fate::Skip(reason) => self.close(run, Outcome::Skipped(*reason), now),
            Fate::CatchUp(wait) => {
                self.merge_into(run, &claim.slot, now);
                self.close(run, Outcome::Yielded(YieldReason::Missed), now);
                self.defer(run, wait.clone());
            }
        }
        run
    }

    /// Ends the pending deferrals that make the same call as a slot that fires or is caught up.
    fn merge_into(&mut self, by: RunId, slot: &Slot, now: DateTime<Utc>) {
        let merged: Vec<usize> = (0..self.deferrals.len())
            .filter(|&at| {
                let row = &self.deferrals[at];
                let parts = self.parts(&row.deferral.slot);
                row.state == DeferralState::Pending
                    && keep::makes_same_call(slot, &row.deferral, parts)
            })
            .collect();
        for at in merged {
            let row = &mut self.deferrals[at];
            row.state = DeferralState::Merged;
            row.ended_at = Some(now);
            row.run = Some(by);
            let start = row.start(now);
            let run = self.start(start);
            self.close(run, Outcome::Skipped(SkipReason::Merged), now);
            self.run_row(run).run.note = Some(keep::merged_note(slot));
            let of = self.deferrals[at].deferral.slot.clone();
            self.close_rest(run, &of, &Outcome::Skipped(SkipReason::Merged));
        }
    }
}

impl DeferralRow {
    pub(super) fn start(&self, now: DateTime<Utc>) -> Start {
        Start {
            slot: self.deferral.slot.clone(),
            group: self.deferral.group.clone(),
            model: self.model.clone(),
            origin: self.deferral.wait.origin,
            now,
        }
    }
}
