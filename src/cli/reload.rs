//! Takes changed files over while the daemon runs: all or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::task::{JoinError, spawn_blocking};
use tracing::{error, info, warn};

use super::bulletin::FilesState;
use super::routes::Routes;
use super::telling::Teller;
use super::{CliError, Context, args, daemon};
use crate::anthropic::Client;
use crate::config::{self, Config, Options, StoreConfig, Watched};
use crate::engine::ports::Clock;
use crate::engine::{Edge, Plan};
use crate::store::{RefusedFiles, SqliteStore};

/// How long the files may take. A file that never answers would keep every later change away.
const READ_WITHIN: Duration = Duration::from_mins(1);

/// How often files that change while they are read are read again at once.
const MOST_READS: u32 = 5;

/// What a reload reads, and where it puts what it read.
pub struct Reloader<'a> {
    /// Flags and environment.
    pub context: &'a Context,
    /// The daemon's arguments.
    pub args: &'a args::Daemon,
    /// The configuration of the start; its store cannot be exchanged.
    pub first: &'a Config,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// The engine's plan.
    pub plans: watch::Sender<Arc<Plan>>,
    /// Who tells of changes.
    pub teller: &'a Teller,
    /// Where it is written down what could not be taken over.
    pub store: Arc<SqliteStore>,
    /// The signature of the files that were looked at last.
    pub seen: AtomicU64,
}

impl std::fmt::Debug for Reloader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Reloader")
    }
}

impl Reloader<'_> {
    /// The files as they look now; `None` if the look was cut off by a fault of ours, and the next one counts.
    pub async fn watched(&self) -> Option<Watched> {
        look(self.context.options(&self.args.jobs))
            .await
            .inspect_err(|error| error!(%error, "the files could not be looked at"))
            .ok()
    }

    /// Whether the files are others than at the last look.
    pub async fn has_changed(&self) -> bool {
        let watched = self.watched().await;
        watched.is_some_and(|now| self.seen.load(Ordering::Relaxed) != now.signature)
    }

    /// Reads the files again, and says what came of it in the log and in `status`.
    pub async fn reload(&self) -> FilesState {
        let outcome = self.take_over().await;
        let taken = match &outcome {
            Ok(()) => FilesState::Taken,
            Err(_) => FilesState::Refused,
        };
        let refused = match outcome {
            Ok(()) => None,
            Err(error) => {
                let findings = error.line();
                error!(
                    findings,
                    "the old plan stands: the new files cannot be used"
                );
                Some(RefusedFiles {
                    since: self.clock.now(),
                    why: error.lines().join("\n"),
                })
            }
        };
        if let Err(error) = self.store.refuse_files(refused).await {
            warn!(%error, "`status` cannot tell of the reload");
        }
        taken
    }

    /// Reads files that stand still: of a set that is written while it is read one part would be old and another new, and
    /// nobody ever wrote that. Where they never stand still the last reading counts, and the next look sees the rest.
    async fn read_still(&self) -> Result<(Config, Client), CliError> {
        let mut reads = 0;
        loop {
            // Before the files are read: what is written meanwhile is seen.
            if let Some(watched) = self.watched().await {
                self.seen.store(watched.signature, Ordering::Relaxed);
            }
            let found = self.read_once().await;
            reads += 1;
            if reads == MOST_READS || !self.has_changed().await {
                return found;
            }
        }
    }

    async fn read_once(&self) -> Result<(Config, Client), CliError> {
        let (context, args) = (self.context.clone(), self.args.clone());
        let (clock, store) = (self.clock.clone(), self.first.store.clone());
        // Ten thousand jobs take a good part of a second, and a key's file may lie on a disk that does not answer:
        // slots may be due meanwhile.
        let reading = spawn_blocking(move || read(&context, &args, &store, clock));
        tokio::select! {
            read = reading => read.map_err(|_| CliError::CutOff)?,
            () = self.clock.sleep(READ_WITHIN) => Err(CliError::Refused {
                what: "the files could not be read within a minute".to_owned(),
                help: "see whether the disk of a job file or of a key answers; then change a file, or send SIGHUP".to_owned(),
            }),
        }
    }

    /// Takes the files as they are now: plan, keys, upstream and zone data.
    async fn take_over(&self) -> Result<(), CliError> {
        let (mut config, client) = self.read_still().await?;
        // With the plan, and not before it stands: what is under way goes on with what it began with.
        let edge = Edge {
            upstream: Arc::new(client),
            workspace: self.context.workspace(&config, self.clock.clone()),
        };
        Arc::make_mut(&mut config.plan).edge = Some(edge);
        self.teller.exchange(Routes::of(self.context, &config));
        self.plans.send_replace(config.plan);
        info!("the new files are taken over");
        Ok(())
    }
}

/// Looks at every file on a thread of its own: there may be ten thousand, on a disk that does not answer.
async fn look(options: Options) -> Result<Watched, JoinError> {
    spawn_blocking(move || config::watched(&options)).await
}

/// Everything that may wait for a disk, on a thread of its own.
fn read(
    context: &Context,
    args: &args::Daemon,
    held: &StoreConfig,
    clock: Arc<dyn Clock>,
) -> Result<(Config, Client), CliError> {
    let config = context.load(&args.jobs)?;
    daemon::prove(&config, args.unsafe_schedule(), context.now())?;
    daemon::require_keys(context, &config)?;
    daemon::compare_secrets(context, &config, args)?;
    if config.store != *held {
        return Err(CliError::Refused {
            what: "`store` has changed, and the daemon holds the old one".to_owned(),
            help: "restart the daemon to use the new store".to_owned(),
        });
    }
    let client = context.client(&config, None, clock)?;
    Ok((config, client))
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use super::*;

    // Every job file was looked at on the thread that fires the slots.
    #[test]
    fn files_are_looked_at_on_another_thread() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options::new(folder.path());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .max_blocking_threads(1)
            .build()
            .unwrap();
        // As long as the one other thread is busy, the look cannot end; we can go on.
        let (free, busy) = std::sync::mpsc::channel::<()>();
        let other = runtime.spawn_blocking(move || busy.recv());
        runtime.block_on(async {
            let mut looking = pin!(look(options.clone()));
            tokio::select! {
                biased;
                _ = &mut looking => unreachable!("it looked on our thread"),
                () = std::future::ready(()) => {}
            }
            free.send(()).unwrap();
            other.await.unwrap().unwrap();
            assert_eq!(looking.await.unwrap(), config::watched(&options));
        });
    }
}
