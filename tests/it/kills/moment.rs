//! The moments at which a daemon is killed.

use std::fs;
use std::time::Duration;

use rand::RngExt;
use rand::rngs::StdRng;

use super::house::{House, rest, soon};

/// So many milliseconds are waited for what should come.
const MOMENT: u32 = 1_000;

/// Between which steps a kill falls. What it hits within them is left to chance.
#[derive(Debug, Clone, Copy)]
pub enum Moment {
    /// Files, lint, store, lock.
    Start,
    /// The claim of what is due, and the first attempts' admission.
    Claim,
    /// A request has arrived, and its answer has not.
    Answer,
    /// An answer is there, and its output perhaps not.
    Output,
    /// An output stands in its place, and its run may be open.
    Record,
    /// A slot carries deferred work.
    Carry,
    /// Files are taken over while slots run.
    Reload,
    /// Whenever.
    Any,
}

impl Moment {
    pub const ALL: [Self; 8] = [
        Self::Start,
        Self::Carry,
        Self::Claim,
        Self::Answer,
        Self::Output,
        Self::Record,
        Self::Reload,
        Self::Any,
    ];

    /// Starts a daemon, waits for the moment and kills. What should come may not: then the kill comes all the same.
    pub fn kill(self, house: &House, draws: &mut StdRng) {
        let mut within = |millis: u64| Duration::from_micros(draws.random_range(0..millis * 1_000));
        let (requests, written) = (house.requests().len(), outputs(house));
        let mut daemon = house.daemon();
        match self {
            Self::Start => rest(within(60)),
            Self::Claim => {
                daemon.until("plan stands");
                rest(within(8));
            }
            Self::Answer => {
                soon(MOMENT, || house.requests().len() > requests);
                rest(within(60));
            }
            Self::Output => {
                soon(MOMENT, || daemon.hear("attempt answered").is_some());
                rest(within(4));
            }
            Self::Record => {
                soon(MOMENT, || outputs(house) != written);
                rest(within(2));
            }
            Self::Carry => {
                let mut carries = || {
                    daemon.hear("run started")?["origin"]
                        .as_str()
                        .map(str::to_owned)
                };
                soon(MOMENT, || {
                    carries().is_some_and(|origin| origin != "scheduled")
                });
                rest(within(120));
            }
            Self::Reload => {
                daemon.until("plan stands");
                let settings = house.scenario.read("offpeak.yaml");
                house
                    .scenario
                    .write("offpeak.yaml", format!("{settings}# again\n"));
                daemon.running.signal("HUP");
                rest(within(60));
            }
            Self::Any => rest(within(600)),
        }
        daemon.kill();
    }
}

/// Every output and when it was written.
fn outputs(house: &House) -> Vec<(String, std::time::SystemTime)> {
    let root = house.scenario.path();
    let written = |name: String| {
        let found = fs::metadata(root.join(&name)).ok()?;
        Some((name, found.modified().ok()?))
    };
    let names = house.scenario.files("out").into_iter();
    names.filter_map(written).collect()
}
