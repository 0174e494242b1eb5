//! Takes changed files over while the daemon runs: all or nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use tokio::sync::watch;
use tracing::{error, info, warn};

use super::live::Live;
use super::routes::Routes;
use super::telling::Teller;
use super::{CliError, Context, args, daemon};
use crate::anthropic::Client;
use crate::config::{self, Config, Options, Watched};
use crate::engine::Plan;
use crate::engine::ports::Clock;
use crate::store::{RefusedFiles, SqliteStore};
use crate::workspace::Files;

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
    /// The client in use.
    pub client: Arc<Live<Client>>,
    /// The files in use.
    pub files: Arc<Live<Files>>,
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
    /// The files as they look now.
    #[must_use]
    pub fn watched(&self) -> Watched {
        config::watched(&self.options())
    }

    /// Reads the files again if they are others than at the last look.
    pub async fn look(&self) {
        let signature = self.watched().signature;
        if self.seen.load(Ordering::Relaxed) != signature {
            self.reload().await;
        }
    }

    /// Reads the files again, and says what came of it in the log and in `status`.
    pub async fn reload(&self) {
        // Before the files are read: what is written meanwhile is seen at the next look.
        let signature = self.watched().signature;
        self.seen.store(signature, Ordering::Relaxed);
        let refused = match self.take_over().await {
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
    }

    fn options(&self) -> Options {
        self.context.options(&self.args.jobs)
    }

    /// Takes the files as they are now: plan, keys, upstream and zone data.
    async fn take_over(&self) -> Result<(), CliError> {
        let (options, unsafe_schedule) = (self.options(), self.args.unsafe_schedule());
        let now = self.context.now();
        // Ten thousand jobs take a good part of a second, in which slots may be due.
        let reading = tokio::task::spawn_blocking(move || {
            let config = config::load(&options).map_err(CliError::config)?;
            daemon::prove(&config, unsafe_schedule, now).map(|()| config)
        });
        let config = reading
            .await
            .map_err(|error| CliError::Chores(error.to_string()))??;
        daemon::require_keys(self.context, &config)?;
        daemon::compare_secrets(self.context, &config, self.args)?;
        if config.store != self.first.store {
            return Err(CliError::Refused {
                what: "`store` has changed, and the daemon holds the old one".to_owned(),
                help: "restart the daemon to use the new store".to_owned(),
            });
        }
        let client = self.context.client(&config, None, self.clock.clone())?;
        self.client.exchange(client);
        self.files
            .exchange(self.context.files(&config, self.clock.clone()));
        self.teller
            .exchange(Routes::of(&config, &self.context.environment));
        self.plans.send_replace(Arc::new(config.plan));
        info!("the new files are taken over");
        Ok(())
    }
}
