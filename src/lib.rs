//! `offpeak`: a cron-style scheduler daemon for Claude API calls.
//!
//! It reads YAML job files, proves that the schedule they make together is
//! safe, fires each slot on time, sends every request through retry, budget
//! and breaker, moves yielded work to the next slot, and keeps a history that
//! it can report on.
//!
//! # Rings
//!
//! Modules stand below in reading order. A module imports from lower rings
//! only; `tests/it/architecture.rs` holds the table.
//!
//! | Ring | Modules |
//! |---|---|
//! | 0 words | [`job`], [`piece`], [`slot`], [`answer`], [`outcome`], [`money`], [`price`], [`secret`], [`span`], [`tag`], [`markup`] |
//! | 1 core | [`schedule`], [`lint`], [`strip`], [`guard`], [`report`], [`trial`] |
//! | 2 engine | [`engine`] |
//! | 3 edge | [`config`], [`workspace`], [`anthropic`], [`store`], [`clock`], [`dice`], [`notify`], [`sim`], [`standin`] |
//! | 4 shell | [`cli`] |
//!
//! # The path of a slot
//!
//! [`config`] reads the folder, [`lint`] proves it, [`schedule`] names the
//! next slot, [`engine`] waits for it, claims it, asks [`guard`] before each
//! attempt and tells it after, [`schedule::defer`] finds the slot that takes
//! yielded work, and [`store`] keeps what happened.

pub mod answer;
pub mod job;
pub mod markup;
pub mod money;
pub mod outcome;
pub mod piece;
pub mod price;
pub mod secret;
pub mod slot;
pub mod span;
pub mod tag;

pub mod guard;
pub mod lint;
pub mod report;
pub mod schedule;
pub mod strip;
pub mod trial;

pub mod engine;

pub mod anthropic;
pub mod clock;
pub mod config;
pub mod dice;
pub mod notify;
pub mod sim;
pub mod standin;
pub mod store;
pub mod workspace;

pub mod cli;
