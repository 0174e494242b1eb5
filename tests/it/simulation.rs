//! The daemon's own code in virtual time: single nights, weeks of faults, and crashes at every point.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, as the tests do"
)]

mod carrying;
mod crashes;
mod harness;
mod manual;
mod nights;
mod pausing;
mod stopping;
mod time;
mod weeks;
