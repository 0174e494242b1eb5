//! The old client: retries laid over each other, and nothing else.
//!
//! A chain of settings, "five for safety" inside "ten more", retries whatever
//! is no answer, errors of the request itself too, and knows no guard: the
//! source of the idea tells of such a client. How long it waited in between is
//! not told; what stands here is an assumption.

use std::num::NonZeroU32;
use std::time::Duration;

use super::course::Course;
use super::stage::{SlotWork, Stage};
use crate::engine::ports::Clock;
use crate::sim::world::{ServedEnd, Server};
use crate::trial::{Carried, Log, Send};

/// The layers of an old client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layers {
    /// The layer next to the API, "five for safety": attempts each time it is asked.
    pub inner_attempts: NonZeroU32,
    /// Its first wait; each further one is twice as long. No jitter.
    pub inner_wait: Duration,
    /// The layer above it, "ten more": how often it asks the inner one.
    pub outer_attempts: NonZeroU32,
    /// Its wait, always the same.
    pub outer_wait: Duration,
}

impl Default for Layers {
    fn default() -> Self {
        Self::FIVE_INSIDE_TEN
    }
}

impl Layers {
    /// What the source tells of, with waits that are assumed.
    pub const FIVE_INSIDE_TEN: Self = Self {
        inner_attempts: NonZeroU32::new(5).expect("five is not zero"),
        inner_wait: Duration::from_secs(1),
        outer_attempts: NonZeroU32::new(10).expect("ten is not zero"),
        outer_wait: Duration::from_secs(10),
    };

    /// The most requests for one call.
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.inner_attempts
            .get()
            .saturating_mul(self.outer_attempts.get())
    }

    /// The wait after an attempt, counted from 1; `None` after the last.
    fn wait(&self, n: u32) -> Option<Duration> {
        let within = (n - 1) % self.inner_attempts + 1;
        match (n < self.most(), within < self.inner_attempts.get()) {
            (false, _) => None,
            (true, true) => Some(self.inner_wait * 2_u32.pow((within - 1).min(20))),
            (true, false) => Some(self.outer_wait),
        }
    }
}

/// Lives through a course with an old client.
pub(super) fn live(course: &Course, server: Server, layers: Layers) -> Log {
    Stage::new(course, server).live(&async |stage: &Stage<'_>, work: SlotWork<'_>| {
        for at in work.calls.iter().copied() {
            if !call(stage, &work, at, layers).await {
                stage.end_work(&work, Carried::Lost);
                return;
            }
        }
        stage.end_work(&work, Carried::InSlot);
    })
}

/// Makes one call; says whether it was answered.
async fn call(stage: &Stage<'_>, work: &SlotWork<'_>, at: (u32, usize), layers: Layers) -> bool {
    let mark = stage.mark(work, at);
    let mut sends: Vec<Send> = Vec::new();
    let mut n = 0;
    loop {
        n += 1;
        let (send, end) = stage.send(work, mark).await;
        sends.push(send);
        let is_answered = matches!(end, ServedEnd::Answered(_));
        match layers.wait(n) {
            Some(wait) if !is_answered => stage.clock.sleep(wait).await,
            Some(_) | None => {
                stage.end_call((work, at, mark), sends, Some(end));
                return is_answered;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn layers_multiply() {
        let layers = Layers::default();
        let waits: Vec<u64> = (1..=6)
            .filter_map(|n| Some(layers.wait(n)?.as_secs()))
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 10, 1]);
        assert!(layers.wait(49).is_some());
        assert_eq!(layers.wait(50), None);
    }
}
