//! Answers that are owed to their places: each is tried again by itself, and no call is made for it.

use chrono::{DateTime, Utc};

use super::notice::Notice;
use super::pieces;
use super::ports::{After, Delivery, DeliveryEnd, Parcel, Reached, Redelivered, Undelivered};
use super::runner::Runner;

impl Runner {
    /// Tries each answer whose instant has come once more. Ends early at the stop signal: the rest stays owed.
    pub(super) async fn redeliver(self, owed: Vec<Delivery>) {
        for delivery in owed {
            if self.desk.stop.is_raised() {
                return;
            }
            let Some(end) = self.try_again(&delivery).await else {
                return;
            };
            let now = self.desk.now();
            let told = || Redelivered {
                id: delivery.id,
                end: end.clone(),
                now,
            };
            let store = &self.desk.world.store;
            let told = self.desk.persist(|| store.redelivered(told())).await;
            let Ok(counts) = told else {
                return;
            };
            self.desk.note_owed();
            self.desk.say(Notice::Redelivered {
                delivery: Box::new(delivery),
                end,
                counts,
                at: now,
            });
        }
    }

    /// `None` if the daemon stopped meanwhile.
    async fn try_again(&self, delivery: &Delivery) -> Option<DeliveryEnd> {
        let Some(planned) = self.timeline.planned(&delivery.slot.job) else {
            let trouble = "its job is gone".to_owned();
            return Some(DeliveryEnd {
                placed: delivery.placed,
                output: None,
                then: After::GiveUp(trouble),
            });
        };
        let reached = Reached::new(delivery.placed);
        let parcel = Parcel {
            job: &planned.job.job,
            slot: &delivery.slot,
            item: delivery.item.as_ref(),
            answer: &delivery.answer,
            reached: &reached,
            newer: &delivery.newer,
        };
        let tried = self.graced(self.workspace().deliver(parcel)).await?;
        Some(match tried {
            Ok(output) => DeliveryEnd {
                placed: reached.bits(),
                output,
                then: After::Done,
            },
            Err(lost) => again(delivery, (lost, &reached), self.desk.now()),
        })
    }
}

fn again(
    delivery: &Delivery,
    (lost, reached): (Undelivered, &Reached),
    now: DateTime<Utc>,
) -> DeliveryEnd {
    let tries = delivery.tries.saturating_add(1);
    let then = pieces::after(&lost, tries, delivery.since, now);
    DeliveryEnd {
        placed: reached.bits(),
        output: lost.output,
        then,
    }
}
