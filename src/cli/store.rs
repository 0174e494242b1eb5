//! `store`: whether the rows keep the promises, and a copy of them.

use std::io::Write;
use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use serde_json::json;

use super::{CliError, Context, Exit, args, json as twins, linting, times};
use crate::config::Config;
use crate::engine::audit::{self, Ledger, Scope, UnderWay, Violation};
use crate::job::GroupId;
use crate::store::SqliteStore;

/// Looks at the store, or copies it; changes nothing in it.
pub fn run(
    context: &Context,
    args: &args::StoreCommand,
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    let config = context.settings()?;
    match args {
        args::StoreCommand::Check => check(context, &config, out),
        args::StoreCommand::Backup(args) => backup(context, &config, &context.path(&args.to), out),
    }
}

/// The ledger, what is wrong with the file, and the guards that cannot be read.
type Rows = (Option<Ledger>, Vec<String>, Vec<(GroupId, String)>);

/// What the audit of a store came to.
struct Audited {
    /// `None` if the damage does not let it be read.
    ledger: Option<Ledger>,
    /// What is wrong with the file.
    damage: Vec<String>,
    /// Groups whose guard row cannot be read, each with the way out.
    guards: Vec<String>,
    violations: Vec<Violation>,
}

impl Audited {
    fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.guards.is_empty() && self.violations.is_empty()
    }

    fn under_way(&self) -> usize {
        let runs = self.ledger.iter().flat_map(|ledger| &ledger.runs);
        runs.filter(|run| run.outcome.is_none()).count()
    }

    fn wrong(&self) -> impl Iterator<Item = String> {
        let violations = self.violations.iter().map(ToString::to_string);
        let rows = self.damage.iter().chain(&self.guards).cloned();
        rows.chain(violations)
    }
}

fn check(context: &Context, config: &Config, out: &mut dyn Write) -> Result<Exit, CliError> {
    let store = open(context, config)?;
    let audited = audited(context, config, &store)?;
    if context.is_json() {
        writeln!(out, "{}", as_json(&store, &audited))?;
    } else {
        as_text(config, &store, &audited, out)?;
    }
    Ok(if audited.is_sound() {
        Exit::Done
    } else {
        Exit::No
    })
}

fn audited(context: &Context, config: &Config, store: &SqliteStore) -> Result<Audited, CliError> {
    let keep = TimeDelta::from_std(config.store.keep).unwrap_or(TimeDelta::MAX);
    let kept_from = context.now().checked_sub_signed(keep);
    let (ledger, damage, guards) = context.block_on(rows(store))?;
    let scope = Scope {
        zones: &config.zones,
        kept_from: kept_from.unwrap_or(DateTime::<Utc>::MIN_UTC),
        under_way: UnderWay::Allowed,
    };
    Ok(Audited {
        violations: ledger
            .as_ref()
            .map(|ledger| audit::audit(ledger, scope))
            .unwrap_or_default(),
        ledger,
        damage,
        guards: guards.into_iter().map(|(_, why)| why).collect(),
    })
}

/// All rows, and what is wrong with the file and the guards. The file first: damage may keep the rows from being read,
/// and then it is what there is to tell.
async fn rows(store: &SqliteStore) -> Result<Rows, CliError> {
    let damage = store.damage().await?;
    let read = async { Ok((store.ledger().await?, store.damaged_guards().await?)) };
    match read.await {
        Ok((ledger, guards)) => Ok((Some(ledger), damage, guards)),
        Err(CliError::Store(_)) if !damage.is_empty() => Ok((None, damage, Vec::new())),
        Err(error) => Err(error),
    }
}

fn as_text(
    config: &Config,
    store: &SqliteStore,
    audited: &Audited,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    writeln!(out, "store     {}", store.path().display())?;
    match &audited.ledger {
        Some(ledger) => writeln!(
            out,
            "rows      {}, {}, {}",
            linting::counted(ledger.slots.len(), "slot"),
            linting::counted(ledger.runs.len(), "run"),
            linting::counted(ledger.deferrals.len(), "deferral"),
        )?,
        None => writeln!(out, "rows      cannot be read")?,
    }
    if audited.under_way() > 0 {
        let runs = linting::counted(audited.under_way(), "run");
        writeln!(
            out,
            "under way {runs}; the daemon's next start closes what nobody drives"
        )?;
    }
    for line in audited.wrong() {
        writeln!(out, "wrong     {line}")?;
    }
    if !audited.damage.is_empty() {
        return writeln!(
            out,
            "the file is damaged: stop the daemon, move its folder away, and put a copy made by `offpeak store backup` \
             in its place"
        );
    }
    let watermark = audited.ledger.as_ref().and_then(|it| it.watermark);
    match (audited.is_sound(), watermark) {
        (false, _) => {
            let wrong = linting::counted(audited.wrong().count(), "violation");
            writeln!(out, "{wrong}; `offpeak history` shows what the rows say")
        }
        (true, Some(at)) => writeln!(
            out,
            "sound: every slot up to {} has one outcome",
            times::local(config.plan.peaks.zone(), at)
        ),
        (true, None) => writeln!(out, "sound: no daemon has used this store"),
    }
}

fn as_json(store: &SqliteStore, audited: &Audited) -> serde_json::Value {
    let ledger = audited.ledger.as_ref();
    json!({
        "store": store.path().display().to_string(),
        "ok": audited.is_sound(),
        "watermark": ledger.and_then(|it| it.watermark).map(twins::instant),
        "slots": ledger.map(|it| it.slots.len()),
        "runs": ledger.map(|it| it.runs.len()),
        "deferrals": ledger.map(|it| it.deferrals.len()),
        "under_way": audited.under_way(),
        "violations": audited.wrong().collect::<Vec<_>>(),
    })
}

fn backup(
    context: &Context,
    config: &Config,
    to: &Path,
    out: &mut dyn Write,
) -> Result<Exit, CliError> {
    let store = open(context, config)?;
    context.block_on(async { Ok(store.backup(to).await?) })?;
    if context.is_json() {
        writeln!(out, "{}", json!({ "backup": to.display().to_string() }))?;
    } else {
        writeln!(out, "wrote {}", to.display())?;
    }
    Ok(Exit::Done)
}

fn open(context: &Context, config: &Config) -> Result<SqliteStore, CliError> {
    context.reader(config)?.ok_or_else(|| CliError::Refused {
        what: format!("there is no store in {}", config.store.path.display()),
        help: "the first `daemon` or `run` makes one; name another with --store".to_owned(),
    })
}
