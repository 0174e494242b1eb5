//! Waiting for another process's lock, on the store's thread, and the end of that wait.
//!
//! The library's own wait cannot be cut short: a process that was told to stop would sit in it until its end.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rusqlite::Connection;

use super::fault::Fault;
use super::open::PATIENCE;

/// Between two tries.
const PAUSE: Duration = Duration::from_millis(2);

/// How long a thread that is to end waits: longer than our own transactions hold the lock, and not as long as a person
/// notices. What it cannot write then nobody awaits any more.
const LAST_PATIENCE: Duration = Duration::from_millis(250);

thread_local! {
    /// Whether the thread is to end; the library's hook takes no argument of ours.
    static ENDING: RefCell<Ending> = RefCell::default();
}

/// Says to a thread that it is to end.
#[derive(Debug, Clone, Default)]
pub(super) struct Ending(Arc<AtomicBool>);

impl Ending {
    /// The thread waits for no lock any longer than it must.
    pub(super) fn tell(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Makes this thread, which owns `connection`, wait by this word.
    pub(super) fn rule(self, connection: &mut Connection) -> Result<(), Fault> {
        ENDING.set(self);
        wait_by_rule(connection)
    }
}

/// Lets a connection wait for locks as its thread was told.
pub(super) fn wait_by_rule(connection: &mut Connection) -> Result<(), Fault> {
    Ok(connection.busy_handler(Some(wait_again))?)
}

/// Waits a little, unless that was done often enough: `tries` counts from 0 for each lock.
#[expect(
    clippy::disallowed_methods,
    reason = "the store's thread waits for a lock of the system, not by the engine's clock"
)]
fn wait_again(tries: i32) -> bool {
    let is_ending = ENDING.with_borrow(|ending| ending.0.load(Ordering::Relaxed));
    let patience = if is_ending { LAST_PATIENCE } else { PATIENCE };
    let waited = PAUSE.saturating_mul(tries.unsigned_abs());
    if waited >= patience {
        return false;
    }
    std::thread::sleep(PAUSE);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_is_that_of_the_store_until_the_thread_is_to_end() {
        let ending = Ending::default();
        ENDING.set(ending.clone());
        let tries = |patience: Duration| i32::try_from(patience.as_millis() / 2).unwrap();
        assert!(wait_again(tries(PATIENCE) - 1));
        assert!(!wait_again(tries(PATIENCE)));
        ending.tell();
        assert!(wait_again(0));
        assert!(!wait_again(tries(LAST_PATIENCE)));
    }
}
