//! Closes runs: the slot that takes the work, the note for a person, the row in the store.

use chrono::{DateTime, Utc};

use super::notice::Notice;
use super::ports::{Deferral, Finish, NewDeferral};
use super::runner::{Ended, Runner, Work, failed};
use super::settle::{self, Settled};
use super::targets::Targets;
use super::timeline::Planned;
use crate::job::{Job, JobState};
use crate::outcome::{FailReason, Outcome, YieldReason};
use crate::schedule::DeferRule;

impl Runner {
    /// Closes a run whose job the plan does not have, or has disabled.
    pub(super) async fn close_gone(&self, work: &Work) {
        let settled = failed(FailReason::JobGone);
        let note = settle::note(None, &settled);
        // What could not be closed is counted by the desk.
        let _ = self
            .close(work, self.blank_finish(work, settled.outcome, note))
            .await;
    }

    /// Closes a run that sends nothing, and whose work goes on to wait like this.
    pub(super) async fn close_unsent(&self, work: &Work, wait: NewDeferral) {
        let outcome = Outcome::Yielded(YieldReason::Interrupted);
        let settled = Settled {
            outcome: outcome.clone(),
            wait: Some(wait),
        };
        let note = settle::note(None, &settled);
        let finish = Finish {
            deferral: settled.wait,
            ..self.blank_finish(work, outcome, note)
        };
        // As above.
        let _ = self.close(work, finish).await;
    }

    pub(super) async fn finish(&self, planned: Planned<'_>, work: &Work, ended: Ended) -> Finish {
        let Ended {
            settled,
            answer,
            delivery,
            output,
            trouble,
            cost,
            group: _,
        } = ended;
        let (mut settled, trouble) = match planned.job.job.state {
            JobState::Enabled => (settled, trouble),
            JobState::Disabled => settle::of_disabled(settled, trouble),
        };
        if let Some(wait) = &mut settled.wait {
            wait.to = self.target(&planned.job.job, work, wait).await;
        }
        let note = settle::note(trouble, &settled);
        Finish {
            answer,
            cost_usd: cost,
            delivery,
            output,
            deferral: settled.wait,
            ..self.blank_finish(work, settled.outcome, note)
        }
    }

    /// The slot that takes the work. Only an open slot depends on what else is promised.
    ///
    /// Of two runs that end at once, neither sees what the other was promised. The instant is for people then: which
    /// promises hold, and that none is given twice, is decided by `Promises`.
    async fn target(&self, job: &Job, work: &Work, wait: &NewDeferral) -> Option<DateTime<Utc>> {
        let mut pending = match wait.rule {
            DeferRule::OpenSlot => self.pending().await,
            DeferRule::NextSlot | DeferRule::OwnSlot => Vec::new(),
        };
        pending.retain(|it| work.carried.as_ref().is_none_or(|own| own.id != it.id));
        let targets = Targets::new(&self.timeline, self.desk.now());
        targets.beside(&pending).find(job, wait)
    }

    /// The pending deferrals; none if the store fails, and it is said.
    pub(super) async fn pending(&self) -> Vec<Deferral> {
        match self.desk.world.store.deferrals().await {
            Ok(pending) => pending,
            Err(error) => {
                self.desk.say_failed(&error);
                Vec::new()
            }
        }
    }

    fn blank_finish(&self, work: &Work, outcome: Outcome, note: Option<String>) -> Finish {
        Finish {
            run: work.run,
            outcome,
            note,
            answer: None,
            cost_usd: None,
            delivery: None,
            output: None,
            deferral: None,
            carried: work.carried.as_ref().map(|deferral| deferral.id),
            now: self.desk.now(),
        }
    }

    /// Ends the run in the store, and only then says so.
    ///
    /// # Errors
    ///
    /// What the store did not take. An answer in it was paid for, and may be nowhere else.
    pub(super) async fn close(&self, work: &Work, finish: Finish) -> Result<Finish, Box<Finish>> {
        let store = &self.desk.world.store;
        match self.desk.persist(|| store.finish(finish.clone())).await {
            Ok(()) => {
                if finish.outcome != Outcome::Succeeded {
                    self.desk.note_owed();
                }
                let (slot, finish_told) = (work.slot.clone(), Box::new(finish.clone()));
                self.desk.say(Notice::Ended {
                    slot,
                    finish: finish_told,
                });
                Ok(finish)
            }
            Err(_said) => {
                self.desk.leave_unclosed();
                let finish = Box::new(finish);
                if finish.answer.is_some() {
                    self.desk.say(Notice::Unrecorded {
                        slot: work.slot.clone(),
                        finish: finish.clone(),
                    });
                }
                Err(finish)
            }
        }
    }
}
