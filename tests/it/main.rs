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
mod cli_daemon_reload;
mod cli_daemon_stop;
mod cli_demo;
mod cli_fix;
mod cli_formats;
mod cli_history;
mod cli_items;
mod cli_models;
mod cli_money;
mod cli_other;
mod cli_pause;
mod cli_plan;
mod cli_report;
mod cli_report_html;
mod cli_requests;
mod cli_run;
mod cli_simulate;
mod cli_spread;
mod cli_store;
mod cli_upstream;
mod cli_validate;
mod cli_why;
mod config;
mod container;
mod disk;
mod guard;
mod hostile;
mod key_files;
mod kills;
mod lint;
mod log;
mod mend;
mod packaging;
mod readme;
mod redaction;
mod reliability_doc;
mod rules_doc;
mod scenario;
mod schedules;
mod schema;
mod simulation;
mod spread;
mod store;
mod strip;
mod systemd;
mod trial;
mod two_processes;
mod two_weeks_doc;
mod workspace;
