//! The disk under a store and under the outputs: full, read-only, damaged, replaced, and long in use.

mod damage;
mod night;
mod outputs;
mod restore;
mod room;
mod running;
mod year;

use std::future::Future;

/// The store's work done on this thread, in real time.
fn wait<F: Future>(future: F) -> F::Output {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(future)
}
