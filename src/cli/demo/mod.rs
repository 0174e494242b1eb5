//! `demo`: the daemon's real engine over one night, in time-lapse.
//!
//! Everything is real but the upstream and the pace of time: the jobs are
//! files, the store is SQLite, the requests cross loopback HTTP, the answers
//! are written. The faults follow a script, so that a seed gives the same
//! outcomes each time.

mod narrator;
mod pace;

use std::io::Write;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use tokio::sync::{mpsc, watch};

use super::args;
use super::{CliError, Context, Exit, json, linting};
use crate::clock::LapseClock;
use crate::config::{self, Config};
use crate::dice::SeededDice;
use crate::engine::Notice;
use crate::engine::ports::{Clock, World};
use crate::engine::{Plan, Stop, serve};
use crate::outcome::Run;
use crate::report;
use crate::standin::{Script, Standin};
use crate::store::{HistoryFilter, SqliteStore};
use narrator::Narrator;
use pace::Paced;

/// The night begins a little before the first slot, 01:55 JST.
const FROM: &str = "2026-11-30T16:55:00Z";
/// And ends after the pickup slot, 05:45 JST.
const UNTIL: &str = "2026-11-30T20:45:00Z";

/// Settings that let one night show every layer; the defaults are wider.
const SETTINGS: &str = include_str!("offpeak.yaml");
/// What the stand-in does to the night's requests, in order.
const FAULTS: &str = include_str!("faults.yaml");

/// The variable that `offpeak.yaml` names; the stand-in takes any key.
const KEY: &str = "OFFPEAK_DEMO_KEY";

/// Real time between two looks at the clock.
const TICK: std::time::Duration = std::time::Duration::from_millis(5);

/// Runs the night and prints what happened.
pub fn run(context: &Context, args: &args::Demo, out: &mut dyn Write) -> Result<Exit, CliError> {
    let seed = args.seed.unwrap_or_else(SeededDice::any_seed);
    let folder = lay_out()?;
    let context = &context.within(
        &folder,
        [(KEY, "demo-key-of-the-stand-in")].into_iter().collect(),
    );
    let config = context.load(&[])?;
    prove(&config, context, out)?;
    if !context.is_json() {
        writeln!(
            out,
            "One night in time-lapse, seed {seed}, in {}\n",
            folder.display()
        )?;
    }
    let runs = context.block_on(night(context, &config, seed, out))?;
    if context.is_json() {
        for run in &runs {
            writeln!(out, "{}", json::run(run))?;
        }
        return Ok(Exit::Done);
    }
    let view = report::View::jst(context.screen.width);
    writeln!(out, "\n{}", report::render_runs(&runs, &view))?;
    writeln!(
        out,
        "{}",
        report::render_summary(&report::summarize(&runs), &view)
    )?;
    writeln!(out, "Answers: {}", folder.join("out").display())?;
    writeln!(out, "History: offpeak -C {} history", folder.display())?;
    Ok(Exit::Done)
}

/// Writes the embedded rotation into a temporary folder that stays for the user to look at.
fn lay_out() -> Result<std::path::PathBuf, CliError> {
    let failed = |path: &Path, source| CliError::File {
        path: path.to_owned(),
        source,
    };
    let folder = tempfile::Builder::new()
        .prefix("offpeak-demo-")
        .tempdir()
        .map_err(|source| failed(Path::new("a temporary folder"), source))?
        .keep();
    let settings = [("offpeak.yaml", SETTINGS)];
    for (name, text) in config::embedded_jobs().iter().copied().chain(settings) {
        let path = folder.join(name);
        let parent = path.parent().unwrap_or(&folder);
        std::fs::create_dir_all(parent).map_err(|source| failed(parent, source))?;
        std::fs::write(&path, text).map_err(|source| failed(&path, source))?;
    }
    Ok(folder)
}

/// Proves the rotation before the first slot, as the daemon does.
fn prove(config: &Config, context: &Context, out: &mut dyn Write) -> Result<(), CliError> {
    let verdict = crate::lint::check(
        &linting::subjects(config),
        &linting::rules(config),
        instant(FROM),
    );
    if !verdict.is_safe() {
        return Err(CliError::Unsafe {
            findings: linting::error_titles(&verdict),
        });
    }
    if !context.is_json() {
        let jobs = config.plan.jobs.len();
        let until = verdict.until.date_naive();
        writeln!(
            out,
            "{jobs} jobs share one key: no collision and no peak firing before {until}."
        )?;
    }
    Ok(())
}

fn instant(text: &str) -> DateTime<Utc> {
    text.parse()
        .unwrap_or_else(|_| unreachable!("the constants of this file are instants"))
}

async fn night(
    context: &Context,
    config: &Config,
    seed: u64,
    out: &mut dyn Write,
) -> Result<Vec<Run>, CliError> {
    let clock = Arc::new(LapseClock::new(instant(FROM), pace::SLOW));
    let standin = Standin::start(Script::from_yaml(FAULTS)?, clock.clone(), seed)
        .map_err(CliError::Listen)?;
    let store = Arc::new(SqliteStore::open(&config.store.path)?);
    let client = context.client(config, Some(standin.base_url()), clock.clone())?;
    let paced = Arc::new(Paced::new(clock.clone(), Arc::new(client)));
    let world = World {
        clock: clock.clone(),
        upstream: paced.clone(),
        store: store.clone(),
        workspace: context.workspace(config, clock.clone()),
        dice: Arc::new(SeededDice::new(seed)),
    };
    let plan = Arc::clone(&config.plan);
    let (_plans, newest) = watch::channel(plan.clone());
    let (stop, stopped) = watch::channel(Stop::Running);
    let (notices, heard) = mpsc::unbounded_channel();
    let audience = Audience {
        clock,
        paced,
        plan,
        stop,
    };
    let narrator = (!context.is_json()).then(|| Narrator::new(context.screen));
    let (served, watched) = tokio::join!(
        serve(world, newest, stopped, notices),
        audience.watch(heard, narrator, out)
    );
    served?;
    watched?;
    Ok(store.history(HistoryFilter::default()).await?)
}

/// Whoever watches the night: tells the notices, sets the pace, and ends the night at its end.
struct Audience {
    clock: Arc<LapseClock>,
    paced: Arc<Paced>,
    plan: Arc<Plan>,
    stop: watch::Sender<Stop>,
}

impl Audience {
    async fn watch(
        &self,
        mut heard: mpsc::UnboundedReceiver<Notice>,
        narrator: Option<Narrator>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let mut last = self.clock.now();
        let mut ticks = tokio::time::interval(TICK);
        loop {
            tokio::select! {
                notice = heard.recv() => {
                    last = self.clock.now();
                    match (notice, &narrator) {
                        (Some(notice), Some(narrator)) => narrator.tell(out, last, &notice)?,
                        (Some(_), None) => {}
                        (None, Some(narrator)) => return narrator.clear(out),
                        (None, None) => return Ok(()),
                    }
                }
                _ = ticks.tick() => self.tick(last, narrator.as_ref(), out)?,
            }
        }
    }

    fn tick(
        &self,
        last: DateTime<Utc>,
        narrator: Option<&Narrator>,
        out: &mut dyn Write,
    ) -> std::io::Result<()> {
        let now = self.clock.now();
        if now >= instant(UNTIL) {
            self.stop.send_replace(Stop::Drain);
        }
        let next = linting::next_slots(&self.plan, now, 1)
            .first()
            .map(|(at, _)| *at);
        self.paced.adjust(now, last, next);
        narrator.map_or(Ok(()), |narrator| narrator.tick(out, now))
    }
}
