//! The daemon's own code in virtual time: single nights, weeks of faults, and crashes at every point.

#![expect(
    clippy::unwrap_used,
    reason = "helpers of tests fail the test, as the tests do"
)]

mod batches;
mod blocking;
mod boot;
mod carrying;
mod changes;
mod crashes;
mod deliveries;
mod failing;
mod gate;
mod harness;
mod kills;
mod manual;
mod money;
mod night;
mod nights;
mod pausing;
mod pieces;
mod pulse;
mod random;
mod reloads;
mod scale;
mod steps;
mod stopping;
mod time;
mod trial;
mod weeks;
mod zones;
