//! One test binary: properties, simulation, command line, edge and shape.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]
#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "reference walks count minutes of a few decades"
)]

mod anthropic;
mod architecture;
mod calculus;
mod cli_daemon;
mod cli_demo;
mod cli_other;
mod cli_run;
mod cli_validate;
mod config;
mod guard;
mod lint;
mod readme;
mod scenario;
mod schedules;
mod simulation;
mod store;
mod workspace;
