//! One client on one schedule, over many seeds.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;

use super::course::Course;
use super::{guarded, layered, literal};
use crate::sim::SimDice;
use crate::sim::trial::Layers;
use crate::sim::world::{Server, WorldError, WorldModel};
use crate::trial::Log;

/// Clients draw their jitter from a stream of their own: the world's draws are keyed by the seed itself.
const CLIENT_STREAM: u64 = 0x636c_6965_6e74;

/// Who lives through a course.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Client {
    /// The daemon: guards and deferral.
    Guarded,
    /// An old client: layered retries, no guards.
    Layered(Layers),
    /// The three layers as the source of the idea prints them.
    Literal,
}

/// The dice that a client of a seed draws its jitter from.
#[must_use]
pub fn client_dice(seed: u64) -> SimDice {
    SimDice::seeded(seed ^ CLIENT_STREAM)
}

impl Course {
    /// The server that a client of a seed meets.
    ///
    /// # Errors
    ///
    /// A [`WorldError`] if the world's windows or zone cannot be read.
    pub fn server(&self, world: &Arc<WorldModel>, seed: u64) -> Result<Server, WorldError> {
        let days = (self.days.from, self.days.lived());
        Server::new(Arc::clone(world), seed, days, self.group_count())
    }
}

/// Lives through a course once.
///
/// # Errors
///
/// A [`WorldError`] if the world's windows or zone cannot be read; those of a world that was read from a file can.
pub fn live(
    course: &Course,
    world: &Arc<WorldModel>,
    client: Client,
    seed: u64,
) -> Result<Log, WorldError> {
    let server = course.server(world, seed)?;
    let dice = client_dice(seed);
    Ok(match client {
        Client::Guarded => guarded::live(course, server, dice),
        Client::Layered(layers) => layered::live(course, server, layers),
        Client::Literal => literal::live(course, server, &dice),
    })
}

/// Lives through a course with every seed, on all cores, and keeps of each what `of` makes of its log; in the order of
/// the seeds.
///
/// # Errors
///
/// As [`live`].
pub fn live_all<T: Send>(
    course: &Course,
    world: &Arc<WorldModel>,
    client: Client,
    (seeds, of): (Range<u64>, impl Fn(&Log) -> T + Sync),
) -> Result<Vec<T>, WorldError> {
    let next = AtomicU64::new(seeds.start);
    let work = || {
        let mut mine = Vec::new();
        loop {
            let seed = next.fetch_add(1, Ordering::Relaxed);
            if seed >= seeds.end {
                return Ok(mine);
            }
            mine.push((seed, of(&live(course, world, client, seed)?)));
        }
    };
    let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let shares: Result<Vec<Vec<(u64, T)>>, WorldError> = thread::scope(|scope| {
        let workers: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let shares = workers.into_iter().map(|worker| match worker.join() {
            Ok(share) => share,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        shares.collect()
    });
    let mut all: Vec<(u64, T)> = shares?.into_iter().flatten().collect();
    all.sort_by_key(|(seed, _)| *seed);
    Ok(all.into_iter().map(|(_, kept)| kept).collect())
}
