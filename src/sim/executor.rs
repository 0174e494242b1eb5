//! Runs one future in virtual time, without a runtime.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use super::VirtualClock;

/// Whether the future asked to be polled again.
#[derive(Debug, Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs a future to its end; whenever it waits, time moves to the next sleeper.
///
/// `None` if the future waits and nobody sleeps: nothing could ever wake it.
pub fn run<F: Future>(clock: &VirtualClock, future: F) -> Option<F::Output> {
    run_until(clock, Duration::MAX, future)
}

/// As [`run`], but never past this much of the clock's elapsed time.
///
/// `None` too if the future is not done by then. Pass `&mut` of a pinned future to go on later.
pub fn run_until<F: Future>(clock: &VirtualClock, limit: Duration, future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    let woken = Arc::new(Woken::default());
    let waker = Waker::from(Arc::clone(&woken));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut context) {
            return Some(done);
        }
        while !woken.0.swap(false, Ordering::AcqRel) {
            if !clock.advance_within(limit) {
                return None;
            }
        }
    }
}
