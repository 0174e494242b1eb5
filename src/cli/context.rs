//! What every command starts from: the flags, the environment, the terminal.

use std::future::Future;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chrono::{DateTime, Utc};
use secrecy::SecretString;
use tracing::Level;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::args::Global;
use super::screen::{Paint, Screen};
use super::{CliError, linting, money};
use crate::anthropic::{self, Client, ClientSettings};
use crate::clock::SystemClock;
use crate::config::{self, Auth, Config, Environment, FileEdit, KeySource, Options, Reading};
use crate::dice::SeededDice;
use crate::engine::ports::{Clock, Workspace, World};
use crate::job::{JobId, KeyId};
use crate::store::SqliteStore;
use crate::workspace::{Files, Reserved};

/// So many files are read and written at once: a thousand slots of one minute must not become hundreds of threads.
const FILE_THREADS: usize = 32;

/// What every command starts from.
#[derive(Debug, Clone)]
pub struct Context {
    /// The flags that hold for every command.
    pub global: Global,
    /// The environment, read once.
    pub environment: Environment,
    /// The terminal.
    pub screen: Screen,
}

impl Context {
    /// Reads the environment and looks at the terminal.
    #[must_use]
    pub fn new(global: Global) -> Self {
        let environment = Environment::of_process();
        let screen = Screen::look(&environment);
        Self {
            global,
            environment,
            screen,
        }
    }

    /// The same flags and terminal in another folder, with another environment.
    #[must_use]
    pub fn within(&self, folder: &Path, environment: Environment) -> Self {
        let global = Global {
            folder: folder.to_owned(),
            config: None,
            store: None,
            format: self.global.format,
        };
        Self {
            global,
            environment,
            screen: self.screen,
        }
    }

    /// The same with the terminal that complaints go to: standard output may lead elsewhere.
    #[must_use]
    pub fn toward_errors(&self) -> Self {
        Self {
            global: self.global.clone(),
            environment: self.environment.clone(),
            screen: Screen::look_at_errors(&self.environment),
        }
    }

    /// The wall clock, now.
    #[must_use]
    pub fn now(&self) -> DateTime<Utc> {
        SystemClock::new().now()
    }

    /// A path of the command line: `-C` means as if started there, so that relative ones begin in the working folder.
    #[must_use]
    pub fn path(&self, path: &Path) -> PathBuf {
        self.global.folder.join(path)
    }

    /// What `config` is asked to read.
    #[must_use]
    pub fn options(&self, jobs: &[PathBuf]) -> Options {
        Options {
            config_file: self.global.config.as_ref().map(|file| self.path(file)),
            jobs: jobs.iter().map(|path| self.path(path)).collect(),
            store: self.global.store.as_ref().map(|folder| self.path(folder)),
            environment: self.environment.clone(),
            ..Options::new(&self.global.folder)
        }
    }

    /// Everything that could be read, and every mistake.
    #[must_use]
    pub fn read(&self, jobs: &[PathBuf]) -> Reading {
        config::read(&self.options(jobs))
    }

    /// The same with edits that are not written.
    #[must_use]
    pub fn read_edited(&self, jobs: &[PathBuf], edits: &[FileEdit]) -> Reading {
        let texts = edits
            .iter()
            .map(|edit| (edit.path().to_owned(), edit.text()));
        config::read(&Options {
            edited: texts.collect(),
            ..self.options(jobs)
        })
    }

    /// A configuration without a mistake.
    pub fn load(&self, jobs: &[PathBuf]) -> Result<Config, CliError> {
        config::load(&self.options(jobs)).map_err(CliError::config)
    }

    /// The settings for a command that looks back or talks to the store. Job files do not matter to it, readable or not:
    /// a person needs it most when one of them is broken. The settings file says where the store is.
    pub fn settings(&self) -> Result<Config, CliError> {
        self.settings_reading().map(|reading| reading.config)
    }

    /// The same with the places of what could be read.
    pub fn settings_reading(&self) -> Result<Reading, CliError> {
        let reading = self.read(&[]);
        if reading.are_settings_read() || self.global.store.is_some() {
            Ok(reading)
        } else {
            Err(CliError::unreadable(reading))
        }
    }

    /// The store for reading, if there is one yet.
    pub fn reader(&self, config: &Config) -> Result<Option<SqliteStore>, CliError> {
        Ok(SqliteStore::open_read(&config.store.path)?)
    }

    /// Runs a future to its end on this thread.
    pub fn block_on<T>(
        &self,
        work: impl Future<Output = Result<T, CliError>>,
    ) -> Result<T, CliError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(FILE_THREADS)
            .build()
            .map_err(CliError::Runtime)?;
        let done = runtime.block_on(work);
        // A blocking file operation must not hold the exit up.
        runtime.shutdown_timeout(std::time::Duration::from_millis(200));
        done
    }

    /// The client for every key whose secret is at hand.
    pub fn client(
        &self,
        config: &Config,
        base_url: Option<String>,
        clock: Arc<dyn Clock>,
    ) -> Result<Client, CliError> {
        let keys = config
            .keys
            .iter()
            .filter_map(|(id, key)| {
                Some((
                    id.clone(),
                    config::resolve_key(key, &self.environment).ok()?,
                ))
            })
            .collect();
        let upstream = &config.upstream;
        Ok(Client::new(ClientSettings {
            base_url: base_url.unwrap_or_else(|| upstream.base_url.clone()),
            version: upstream.version.clone(),
            auth: match upstream.auth {
                Auth::ApiKey => anthropic::Auth::ApiKey,
                Auth::Bearer => anthropic::Auth::Bearer,
            },
            keys,
            connect: upstream.connect,
            first_byte: upstream.first_byte,
            idle: upstream.idle,
            max_answer_bytes: upstream.max_answer_bytes,
            models: money::models(config),
            ..ClientSettings::new(clock)
        })?)
    }

    /// The folder's files.
    #[must_use]
    pub fn files(&self, config: &Config, clock: Arc<dyn Clock>) -> Files {
        let values = config.job_variables().filter_map(|name| {
            let value = self.environment.get(name)?;
            Some((name.to_owned(), SecretString::from(value)))
        });
        Files::new(config.folder.clone(), config.zones.clone(), clock)
            .without(config.secret_variables())
            .knowing(values.collect())
            .sparing(reserved(config))
    }

    /// The folder's files as the engine's workspace.
    #[must_use]
    pub fn workspace(&self, config: &Config, clock: Arc<dyn Clock>) -> Arc<dyn Workspace> {
        Arc::new(self.files(config, clock))
    }

    /// The real world: system clock, API client, this store, these files, real chance.
    pub fn world(&self, config: &Config, store: Arc<SqliteStore>) -> Result<World, CliError> {
        let clock: Arc<dyn Clock> = Arc::new(SystemClock::new());
        Ok(World {
            upstream: Arc::new(self.client(config, None, clock.clone())?),
            workspace: self.workspace(config, clock.clone()),
            dice: Arc::new(SeededDice::new(SeededDice::any_seed())),
            store,
            clock,
        })
    }

    /// Refuses to go on without a usable secret, and warns of one that others can reach too.
    pub fn require_key(&self, config: &Config, id: &KeyId) -> Result<(), CliError> {
        let Some(key) = config.keys.get(id) else {
            return Err(CliError::Missing(format!("key `{id}`")));
        };
        config::resolve_key(key, &self.environment)
            .map_err(|error| CliError::Key(id.clone(), error))?;
        if let Some((path, exposed)) = config::exposed_key(key, &self.environment) {
            let path = path.display();
            tracing::warn!(key = %id, "the key file {path} {exposed}, and `allow_exposed` takes it all the same");
        }
        Ok(())
    }

    /// The error for a job that is not there, with the nearest name.
    #[must_use]
    pub fn unknown_job(&self, config: &Config, name: &str) -> CliError {
        let known: Vec<&str> = config.plan.jobs.keys().map(JobId::as_str).collect();
        CliError::Refused {
            what: format!("there is no job `{name}`"),
            help: linting::nearest("job", name, &known),
        }
    }

    /// Logs to standard error: for people on a terminal, JSON otherwise; `RUST_LOG` filters.
    pub fn start_logging(&self) {
        // The chores' scheduler tells of every poll.
        let filter = Targets::new()
            .with_default(Level::INFO)
            .with_target("tokio_cron_scheduler", Level::WARN);
        let asked = self.environment.get("RUST_LOG").map(str::parse::<Targets>);
        let filter = match &asked {
            Some(Ok(asked)) => filter
                .with_targets(asked.iter())
                .with_default(asked.default_level().unwrap_or(LevelFilter::OFF)),
            Some(Err(_)) | None => filter,
        };
        let lines = tracing_subscriber::fmt::layer()
            .with_writer(std::io::stderr)
            .with_target(false);
        let lines = if std::io::stderr().is_terminal() {
            lines.with_ansi(self.screen.paint == Paint::Color).boxed()
        } else {
            lines.json().flatten_event(true).boxed()
        };
        // A second start, as in tests of the library, keeps the first.
        let _ = tracing_subscriber::registry()
            .with(lines.with_filter(filter))
            .try_init();
        if let Some(Err(error)) = asked {
            tracing::warn!(%error, "RUST_LOG cannot be read and is ignored; write it as in `offpeak=debug`");
        }
    }
}

/// What no answer may be written over.
fn reserved(config: &Config) -> Reserved {
    let keys = config.keys.values().filter_map(|key| match &key.source {
        KeySource::File(path) => Some(path.clone()),
        KeySource::Env(_) | KeySource::Credential(_) => None,
    });
    Reserved {
        folders: vec![config.store.path.clone()],
        files: keys.chain([config.settings_file.clone()]).collect(),
        job_folders: config.job_folders.clone(),
    }
}
