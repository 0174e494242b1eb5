//! `daemon`: fires every slot on time until told to stop.

use std::io::Write;
use std::sync::Arc;

use sd_notify::NotifyState;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::{mpsc, watch};
use tracing::{error, info, warn};

use super::chores::{self, Chores};
use super::live::Live;
use super::{CliError, Context, Exit, args, linting, logging, signals, times};
use crate::anthropic::Client;
use crate::clock::SystemClock;
use crate::config::{self, Config};
use crate::dice::SeededDice;
use crate::engine::ports::{Clock, World};
use crate::engine::{Notice, Plan, Stop, serve};
use crate::job::JobState;
use crate::lint::{Rule, Severity};
use crate::schedule::Entry;
use crate::store::{DaemonLock, SqliteStore};
use crate::workspace::Files;

/// Serves until a signal; 0 after a drain, 130 or 143 if it was told twice or a run stayed open.
pub fn run(context: &Context, args: &args::Daemon, _out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.load(&args.jobs)?;
    context.start_logging();
    prove(context, &config, args)?;
    require_keys(context, &config)?;
    compare_secrets(context, &config, args)?;
    let store = Arc::new(SqliteStore::open(&config.store.path)?);
    let _lock = DaemonLock::acquire(&config.store.path)?;
    context.block_on(live(context, args, &config, store))
}

/// Refuses to go on if an enabled job has no usable secret.
fn require_keys(context: &Context, config: &Config) -> Result<(), CliError> {
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
fn prove(context: &Context, config: &Config, args: &args::Daemon) -> Result<(), CliError> {
    let verdict = crate::lint::check(
        &linting::subjects(config),
        &linting::rules(config),
        context.now(),
    );
    if verdict.is_safe() {
        info!(until = %verdict.until.date_naive(), "{}", linting::proved(config, &verdict));
        return Ok(());
    }
    let findings = linting::error_titles(&verdict);
    if !args.allow_unsafe {
        return Err(CliError::Unsafe { findings });
    }
    for finding in findings {
        warn!(finding, "unsafe schedule allowed");
    }
    Ok(())
}

/// Warns of groups that hold one secret, or refuses them if the settings call that an error.
fn compare_secrets(
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
    let keep = config.store.keep;
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
    let shell = Shell {
        context,
        args,
        config,
        clock,
        client,
        files,
        plans,
    };
    let engine = serve(world, plan, stopped, notices);
    let (drained, told) = tokio::join!(engine, shell.attend(stop, stops, hangups, heard));
    if let Err(error) = scheduler.shutdown().await {
        warn!(%error, "the chores did not stop cleanly");
    }
    let drained = drained?;
    info!(
        running = drained.running,
        unclosed = drained.unclosed,
        "stopped"
    );
    Ok(match told {
        Told::Once(exit) if drained.unclosed > 0 => exit,
        Told::Never | Told::Once(_) => Exit::Done,
        Told::Again(exit) => exit,
    })
}

/// How often the stop signal came.
#[derive(Debug, Clone, Copy)]
enum Told {
    Never,
    Once(Exit),
    Again(Exit),
}

/// What the daemon's shell holds beside the engine.
struct Shell<'a> {
    context: &'a Context,
    args: &'a args::Daemon,
    config: &'a Config,
    clock: Arc<dyn Clock>,
    client: Arc<Live<Client>>,
    files: Arc<Live<Files>>,
    plans: watch::Sender<Arc<Plan>>,
}

impl Shell<'_> {
    /// Logs notices, reloads on SIGHUP, passes stop signals on; ends when the engine has.
    async fn attend(
        &self,
        stop: watch::Sender<Stop>,
        mut stops: signals::Stops,
        mut hangups: Signal,
        mut heard: mpsc::UnboundedReceiver<Notice>,
    ) -> Told {
        let mut told = Told::Never;
        loop {
            tokio::select! {
                notice = heard.recv() => match notice {
                    Some(notice) => {
                        logging::write(&notice);
                        tell_systemd(&notice, self.config);
                    }
                    None => return told,
                },
                exit = stops.next(&stop) => {
                    told = match told {
                        Told::Never => Told::Once(exit),
                        Told::Once(_) | Told::Again(_) => Told::Again(exit),
                    };
                    notify(&[NotifyState::Stopping]);
                }
                _ = hangups.recv() => {
                    notify(&[NotifyState::Reloading]);
                    if let Err(error) = self.reload() {
                        let findings = error.line();
                        error!(findings, "the old plan stands: the new files cannot be used");
                    }
                    notify(&[NotifyState::Ready]);
                }
            }
        }
    }

    /// Takes the files as they are now, all or nothing: plan, keys, upstream and zone data.
    fn reload(&self) -> Result<(), CliError> {
        let config = self.context.load(&self.args.jobs)?;
        prove(self.context, &config, self.args)?;
        require_keys(self.context, &config)?;
        compare_secrets(self.context, &config, self.args)?;
        if config.store != self.config.store {
            return Err(CliError::Refused {
                what: "`store` has changed, and the daemon holds the old one".to_owned(),
                help: "restart the daemon to use the new store".to_owned(),
            });
        }
        self.client
            .exchange(self.context.client(&config, None, self.clock.clone())?);
        self.files
            .exchange(self.context.files(&config, self.clock.clone()));
        self.plans.send_replace(Arc::new(config.plan));
        Ok(())
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
