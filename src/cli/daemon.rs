//! `daemon`: fires every slot on time until told to stop.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use chrono::{DateTime, Utc};
use sd_notify::NotifyState;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use super::args::UnsafeSchedule;
use super::changes::Changes;
use super::chores::{self, Chores};
use super::live::Live;
use super::reload::Reloader;
use super::routes::Routes;
use super::telling::Teller;
use super::{CliError, Context, Exit, args, linting, logging, signals, times};
use crate::clock::SystemClock;
use crate::config::{self, Config, Watched};
use crate::dice::SeededDice;
use crate::engine::ports::{Clock, World};
use crate::engine::{Notice, Stop, serve};
use crate::job::JobState;
use crate::lint::{Rule, Severity};
use crate::schedule::Entry;
use crate::store::{DaemonLock, SqliteStore};

/// Serves until a signal; 0 after a drain, 130 or 143 if it was told twice or a run stayed open.
pub fn run(context: &Context, args: &args::Daemon, _out: &mut dyn Write) -> Result<Exit, CliError> {
    // Before the files are read: what is written meanwhile is seen at the first look.
    let looked = config::watched(&context.options(&args.jobs));
    let config = context.load(&args.jobs)?;
    context.start_logging();
    prove(&config, args.unsafe_schedule(), context.now())?;
    require_keys(context, &config)?;
    compare_secrets(context, &config, args)?;
    let store = Arc::new(SqliteStore::open(&config.store.path)?);
    let _lock = DaemonLock::acquire(&config.store.path)?;
    context.block_on(live(context, args, &config, store, looked))
}

/// Refuses to go on if an enabled job has no usable secret.
pub fn require_keys(context: &Context, config: &Config) -> Result<(), CliError> {
    let enabled = config
        .plan
        .jobs
        .values()
        .filter(|planned| planned.job.state == JobState::Enabled);
    for planned in enabled {
        context.require_key(config, &planned.job.key)?;
    }
    Ok(())
}

/// Refuses errors of the linter, or names them in the log.
pub fn prove(
    config: &Config,
    unsafe_schedule: UnsafeSchedule,
    now: DateTime<Utc>,
) -> Result<(), CliError> {
    let verdict = crate::lint::check(&linting::subjects(config), &linting::rules(config), now);
    if verdict.is_safe() {
        info!(until = %verdict.until.date_naive(), "{}", linting::proved(config, &verdict));
        return Ok(());
    }
    let findings = linting::error_titles(&verdict);
    if unsafe_schedule == UnsafeSchedule::Refused {
        return Err(CliError::Unsafe { findings });
    }
    for finding in findings {
        warn!(finding, "unsafe schedule allowed");
    }
    Ok(())
}

/// Warns of groups that hold one secret, or refuses them if the settings call that an error.
pub fn compare_secrets(
    context: &Context,
    config: &Config,
    args: &args::Daemon,
) -> Result<(), CliError> {
    let Some(severity) = config.levels.severity(Rule::SameSecret) else {
        return Ok(());
    };
    let findings: Vec<String> = config::shared_secrets(&config.keys, &context.environment)
        .iter()
        .map(|shared| format!("{}: {shared}", Rule::SameSecret))
        .collect();
    if severity == Severity::Error && !args.allow_unsafe && !findings.is_empty() {
        return Err(CliError::SharedSecrets { findings });
    }
    for finding in findings {
        warn!(
            finding,
            "the provider counts both groups as one; give both keys one `group` in offpeak.yaml"
        );
    }
    Ok(())
}

async fn live(
    context: &Context,
    args: &args::Daemon,
    config: &Config,
    store: Arc<SqliteStore>,
    looked: Watched,
) -> Result<Exit, CliError> {
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let client = Arc::new(Live::new(context.client(config, None, clock.clone())?));
    let files = Arc::new(Live::new(context.files(config, clock.clone())));
    let world = World {
        upstream: client.clone(),
        workspace: files.clone(),
        dice: Arc::new(SeededDice::new(SeededDice::any_seed())),
        store: store.clone(),
        clock: clock.clone(),
    };
    store.touch(chores::beat(clock.now())).await?;
    // The plan of the start is that of the files.
    store.refuse_files(None).await?;
    let (keep, kept) = (config.store.keep, store.clone());
    let mut scheduler = chores::start(Chores {
        store,
        clock: clock.clone(),
        keep,
    })
    .await
    .map_err(|error| CliError::Chores(error.to_string()))?;
    let (plans, plan) = watch::channel(Arc::new(config.plan.clone()));
    let (stop, stopped) = watch::channel(Stop::Running);
    let (notices, heard) = mpsc::unbounded_channel();
    let stops = signals::Stops::listen()?;
    let hangups = signal(SignalKind::hangup()).map_err(CliError::Signals)?;
    let routes = Routes::of(config, &context.environment);
    let teller = Teller::start(kept.clone(), clock.clone(), routes);
    let reloader = Reloader {
        context,
        args,
        first: config,
        clock,
        client,
        files,
        plans,
        teller: &teller,
        store: kept,
        seen: AtomicU64::new(looked.signature),
    };
    let mut changes = Changes::listen();
    changes.listen_in(looked.folders);
    // What was written since the files were read is seen now.
    reloader.look().await;
    let doors = Doors {
        stop,
        stops,
        hangups,
        changes,
        heard,
    };
    let engine = serve(world, plan, stopped, notices);
    let (drained, told) = tokio::join!(engine, doors.attend(&reloader));
    drop(reloader);
    // A second signal asks to exit at once.
    if !matches!(told, Told::Again(_)) {
        teller.finish().await;
    }
    if let Err(error) = scheduler.shutdown().await {
        warn!(%error, "the chores did not stop cleanly");
    }
    let drained = drained?;
    info!(
        running = drained.running,
        unclosed = drained.unclosed,
        "stopped"
    );
    Ok(told.exit(drained.unclosed))
}

/// How often the stop signal came.
#[derive(Debug, Clone, Copy)]
enum Told {
    Never,
    Once(Exit),
    Again(Exit),
}

impl Told {
    /// How the process ends if so many runs stayed open.
    const fn exit(self, unclosed: usize) -> Exit {
        match self {
            Self::Once(exit) if unclosed > 0 => exit,
            Self::Never | Self::Once(_) => Exit::Done,
            Self::Again(exit) => exit,
        }
    }
}

/// What comes in from outside while the engine serves.
struct Doors {
    stop: watch::Sender<Stop>,
    stops: signals::Stops,
    hangups: Signal,
    changes: Changes,
    heard: mpsc::UnboundedReceiver<Notice>,
}

impl Doors {
    /// Logs notices, takes changed files over, passes stop signals on; ends when the engine has.
    async fn attend(mut self, reloader: &Reloader<'_>) -> Told {
        let mut told = Told::Never;
        loop {
            tokio::select! {
                notice = self.heard.recv() => match notice {
                    Some(notice) => {
                        logging::write(&notice);
                        reloader.teller.hear(&notice);
                        tell_systemd(&notice, reloader.first);
                    }
                    None => return told,
                },
                exit = self.stops.next(&self.stop) => {
                    told = match told {
                        Told::Never => Told::Once(exit),
                        Told::Once(_) | Told::Again(_) => Told::Again(exit),
                    };
                    notify(&[NotifyState::Stopping]);
                }
                _ = self.hangups.recv() => {
                    notify(&[NotifyState::Reloading]);
                    reloader.reload().await;
                    self.changes.listen_in(reloader.watched().folders);
                    notify(&[NotifyState::Ready]);
                }
                () = self.changes.next(&*reloader.clock) => {
                    reloader.look().await;
                    self.changes.listen_in(reloader.watched().folders);
                }
            }
        }
    }
}

fn tell_systemd(notice: &Notice, config: &Config) {
    let Notice::Planned { jobs, next } = notice else {
        return;
    };
    let status = match next {
        None => format!("{jobs} jobs, no slot ahead"),
        Some(Entry { fire_at, job, .. }) => {
            let name = job.as_ref().map_or("pickup", |job| job.as_str());
            format!(
                "{jobs} jobs; next: {name} at {}",
                times::local(config.plan.peaks.zone(), *fire_at)
            )
        }
    };
    notify(&[NotifyState::Ready, NotifyState::Status(&status)]);
}

/// Without systemd there is nobody to tell, and that is no fault.
fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        warn!(%error, "systemd does not hear us");
    }
}
