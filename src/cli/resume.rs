//! `resume`: lifts the hold of a group at a person's word.

use std::io::Write;

use super::{CliError, Context, Exit, args, linting};
use crate::job::GroupId;
use crate::store::SqliteStore;

/// Lifts the hold and closes the breaker; waiting work goes at the group's next slot.
pub fn run(context: &Context, args: &args::Resume, out: &mut dyn Write) -> Result<Exit, CliError> {
    let config = context.settings()?;
    let group = GroupId::new(&args.group);
    if !config.plan.groups.contains_key(&group) {
        let known: Vec<&str> = config.plan.groups.keys().map(GroupId::as_str).collect();
        return Err(CliError::Refused {
            what: format!("there is no group `{group}`"),
            help: linting::nearest("group", &args.group, &known),
        });
    }
    let store = SqliteStore::open(&config.store.path)?;
    let lifted = context.block_on(async {
        let guards = store.guards().await?;
        store.resume(group.clone(), context.now()).await?;
        Ok(guards
            .into_iter()
            .find_map(|(name, guard)| guard.hold.filter(|_| name == group)))
    })?;
    let words = match &lifted {
        Some(hold) => format!("group {group}: the hold is lifted ({})", hold.note),
        None => format!("group {group}: there was no hold; the breaker is closed"),
    };
    if context.is_json() {
        writeln!(
            out,
            "{}",
            serde_json::json!({ "group": group.as_str(), "lifted": lifted.is_some() })
        )?;
    } else {
        writeln!(out, "{words}")?;
    }
    Ok(Exit::Done)
}
