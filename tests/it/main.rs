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

mod advice;
mod anthropic;
mod architecture;
mod bad_input;
mod calculus;
mod cli_accept;
mod cli_advice;
mod cli_daemon;
mod cli_demo;
mod cli_fix;
mod cli_formats;
mod cli_other;
mod cli_pause;
mod cli_plan;
mod cli_run;
mod cli_spread;
mod cli_store;
mod cli_validate;
mod config;
mod guard;
mod lint;
mod mend;
mod readme;
mod rules_doc;
mod scenario;
mod schedules;
mod schema;
mod simulation;
mod spread;
mod store;
mod strip;
mod workspace;
