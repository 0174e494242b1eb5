//! `daemon`: fires every slot on time until told to stop.

use std::collections::BTreeSet;
use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use chrono::{DateTime, Utc};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tracing::{info, warn};

use super::args::UnsafeSchedule;
use super::bulletin::Bulletin;
use super::changes::Changes;
use super::chores::{self, Chores};
use super::doors::{Doors, Told};
use super::reload::Reloader;
use super::routes::Routes;
use super::signals::Stops;
use super::systemd::Manager;
use super::telling::Teller;
use super::{CliError, Context, Exit, args, limits, linting};
use crate::anthropic::Client;
use crate::clock::SystemClock;
use crate::config::{self, Config, Watched};
use crate::dice::SeededDice;
use crate::engine::ports::{Clock, World};
use crate::engine::{Pulse, Stop, serve_with_pulse};
use crate::job::{JobState, KeyId};
use crate::lint::{Rule, Severity};
use crate::store::{DaemonLock, SqliteStore};
use crate::workspace::Files;

/// Serves until a signal; 0 after a drain, 130 or 143 if it was told twice or a run stayed open.
pub fn run(context: &Context, args: &args::Daemon, _out: &mut dyn Write) -> Result<Exit, CliError> {
    limits::raise();
    context.block_on(async {
        // First of all: as process 1 of a container, a signal without a handler is lost.
        let hangups = signal(SignalKind::hangup()).map_err(CliError::Signals)?;
        let mut stops = Stops::listen()?;
        let stop = watch::channel(Stop::Running).0;
        let house = tokio::select! {
            house = begin(context, args) => house?,
            _exit = stops.next(&stop) => {
                info!("stopped before the first plan stood");
                return Ok(Exit::Done);
            }
        };
        let outside = Outside {
            stop,
            stops,
            hangups,
        };
        live(context, args, house, outside).await
    })
}

/// Refuses to go on if an enabled job has no usable secret.
pub fn require_keys(context: &Context, config: &Config) -> Result<(), CliError> {
    let enabled = config
        .plan
        .jobs
        .values()
        .filter(|planned| planned.job.state == JobState::Enabled);
    let keys: BTreeSet<&KeyId> = enabled.map(|planned| &planned.job.key).collect();
    keys.into_iter()
        .try_for_each(|key| context.require_key(config, key))
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

/// Everything that is there before the engine serves.
struct House {
    config: Config,
    looked: Watched,
    clock: Arc<dyn Clock>,
    client: Arc<Client>,
    files: Arc<Files>,
    store: Arc<SqliteStore>,
    chores: chores::Running,
    _lock: DaemonLock,
}

/// Signals, as they are heard from the beginning.
struct Outside {
    stop: watch::Sender<Stop>,
    stops: Stops,
    hangups: Signal,
}

/// What is read and opened. On the main thread: the memory of a proof that was made on another one is not given back.
fn open(
    context: &Context,
    args: &args::Daemon,
) -> Result<(Config, Watched, SqliteStore, DaemonLock), CliError> {
    // Before the files are read: what is written meanwhile is seen at the first look.
    let looked = config::watched(&context.options(&args.jobs));
    let config = context.load(&args.jobs)?;
    context.start_logging();
    prove(&config, args.unsafe_schedule(), context.now())?;
    require_keys(context, &config)?;
    compare_secrets(context, &config, args)?;
    SqliteStore::make_folder(&config.store.path)?;
    // Before the file is opened: what a newer version brings up to date may be in use by the daemon that holds the lock.
    let lock = DaemonLock::acquire(&config.store.path)?;
    let store = SqliteStore::open(&config.store.path)?;
    Ok((config, looked, store, lock))
}

/// Builds the house; may be dropped at any point.
async fn begin(context: &Context, args: &args::Daemon) -> Result<House, CliError> {
    let (config, looked, store, lock) = open(context, args)?;
    let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
    let store = Arc::new(store);
    store.touch(chores::beat(clock.now())).await?;
    // The plan of the start is that of the files.
    store.refuse_files(None).await?;
    let chores = chores::start(Chores {
        store: store.clone(),
        clock: clock.clone(),
        keep: config.store.keep,
    });
    let chores = chores
        .await
        .map_err(|error| CliError::Chores(error.to_string()))?;
    Ok(House {
        client: Arc::new(context.client(&config, None, clock.clone())?),
        files: Arc::new(context.files(&config, clock.clone())),
        config,
        looked,
        clock,
        store,
        chores,
        _lock: lock,
    })
}

async fn live(
    context: &Context,
    args: &args::Daemon,
    house: House,
    outside: Outside,
) -> Result<Exit, CliError> {
    let manager = Manager::of(&context.environment);
    let (plans, plan) = watch::channel(Arc::clone(&house.config.plan));
    let (notices, heard) = mpsc::unbounded_channel();
    let (pulse, beats) = Pulse::new(manager.longest_sleep());
    let routes = Routes::of(context, &house.config);
    let teller = Teller::start(house.store.clone(), house.clock.clone(), routes);
    let (store, clock) = (house.store.clone(), house.clock.clone());
    let bulletin = Bulletin::new(manager, plan.clone(), store, clock);
    let reloader = Reloader {
        context,
        args,
        first: &house.config,
        clock: house.clock.clone(),
        plans,
        teller: &teller,
        store: house.store.clone(),
        seen: AtomicU64::new(house.looked.signature),
    };
    let mut changes = Changes::listen();
    changes.listen_in(house.looked.folders.clone());
    let stopped = outside.stop.subscribe();
    let doors = Doors {
        stop: outside.stop,
        stops: outside.stops,
        hangups: outside.hangups,
        changes,
        heard,
        beats,
    };
    let engine = serve_with_pulse(house.world(), plan, stopped, notices, pulse);
    let (drained, told) = tokio::join!(engine, doors.attend(&reloader, &bulletin, &house.chores));
    drop(reloader);
    // A second signal asks to exit at once.
    if !matches!(told, Told::Again(_)) {
        teller.finish().await;
    }
    house.chores.end().await;
    let drained = drained?;
    info!(
        running = drained.running,
        unclosed = drained.unclosed,
        "stopped"
    );
    Ok(told.exit(drained.unclosed))
}

impl House {
    fn world(&self) -> World {
        World {
            upstream: self.client.clone(),
            workspace: self.files.clone(),
            dice: Arc::new(SeededDice::new(SeededDice::any_seed())),
            store: self.store.clone(),
            clock: self.clock.clone(),
        }
    }
}
