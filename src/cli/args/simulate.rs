//! Arguments of `simulate`.

use std::path::PathBuf;

use chrono::{DateTime, Utc};
use clap::Args as ClapArgs;

use super::instant;
use crate::trial::Condition;

/// The largest seed: every JSON reader keeps so large a number exact.
const LAST_SEED: u64 = (1 << 53) - 1;

/// Arguments of `simulate`.
#[derive(Debug, ClapArgs)]
pub struct Simulate {
    /// Job files or folders, from the working folder; `jobs` if not given.
    #[arg(value_name = "JOBS")]
    pub jobs: Vec<PathBuf>,
    /// How many days of the schedule, 1 to 400.
    #[arg(long, value_name = "N", default_value_t = 14, value_parser = clap::value_parser!(u32).range(1..=400))]
    pub days: u32,
    /// How many seeds, 1 to 10000: each draws the upstream's weather and faults anew.
    #[arg(long, value_name = "M", default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..=10_000))]
    pub seeds: u64,
    /// The first seed; the same seeds bring the same figures.
    #[arg(long, value_name = "FIRST", default_value_t = 1, value_parser = clap::value_parser!(u64).range(0..=LAST_SEED))]
    pub seed: u64,
    /// The first instant, such as `2026-12-01` (midnight UTC) or `2026-12-01T00:00:00+09:00`; now if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub from: Option<DateTime<Utc>>,
    /// A YAML file of what the upstream is like, from the working folder; a built-in one if not given.
    #[arg(long, value_name = "FILE")]
    pub world: Option<PathBuf>,
    /// Print the built-in world, to be changed and given with --world.
    #[arg(long, conflicts_with_all = ["jobs", "days", "seeds", "seed", "from", "world", "compare", "fail_if"])]
    pub print_world: bool,
    /// Put another schedule beside it, job files or a folder from the working folder, and an old client without guards on
    /// both.
    #[arg(long, value_name = "OLD")]
    pub compare: Option<PathBuf>,
    /// Exit with 1 if this holds, such as `p99 > 90s` of the median over the seeds or `worst lost > 0` of the worst seed;
    /// may be repeated. Figures are p50, p95, p99 and max of work from due to done, `lost`, `in_slot`, `wasted`, `dollars`
    /// and others, see docs/simulate.md.
    #[arg(long, value_name = "CONDITION", value_parser = Condition::parse)]
    pub fail_if: Vec<Condition>,
}
