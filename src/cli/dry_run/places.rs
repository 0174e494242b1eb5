//! The places where a dry run's answer would go.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::job::Job;
use crate::workspace::Preview;

/// One of the places where the answer would go.
pub enum Place<'a> {
    /// A file that is written anew.
    File(&'a Result<PathBuf, String>),
    /// A file with something new at its end.
    Append(&'a Result<PathBuf, String>),
    /// A program that takes it.
    Command(&'a [String]),
    /// The variable that holds the address.
    Webhook(&'a str),
    /// The store alone.
    Store,
}

/// Every place of the answer, in the order in which it gets there.
pub fn of<'a>(job: &'a Job, preview: &'a Preview) -> Vec<Place<'a>> {
    let output = job.output.as_ref();
    let command = output.and_then(|output| output.command.as_deref());
    let webhook = output.and_then(|output| output.webhook_env.as_deref());
    let all = [
        preview.output.as_ref().map(Place::File),
        preview.append.as_ref().map(Place::Append),
        command.map(Place::Command),
        webhook.map(Place::Webhook),
    ];
    let places: Vec<_> = all.into_iter().flatten().collect();
    if places.is_empty() {
        vec![Place::Store]
    } else {
        places
    }
}

impl Place<'_> {
    /// For a person; a path below the folder is shown from there.
    pub fn words(&self, folder: &Path) -> String {
        let near = |path: &PathBuf| {
            path.strip_prefix(folder)
                .unwrap_or(path)
                .display()
                .to_string()
        };
        match self {
            Self::File(Ok(path)) => near(path),
            Self::Append(Ok(path)) => format!("{}, at its end", near(path)),
            Self::File(Err(message)) | Self::Append(Err(message)) => format!("none: {message}"),
            Self::Command(argv) => format!("standard input of {}", argv.join(" ")),
            Self::Webhook(variable) => format!("the webhook of {variable}"),
            Self::Store => {
                "none: the store keeps the answer; see `offpeak history --text`".to_owned()
            }
        }
    }

    /// As JSON; `None` of the store.
    pub fn as_json(&self) -> Option<serde_json::Value> {
        let file = |kind: &str, path: &Result<PathBuf, String>| match path {
            Ok(path) => json!({ "kind": kind, "path": path.display().to_string() }),
            Err(message) => json!({ "kind": kind, "problem": message }),
        };
        Some(match self {
            Self::File(path) => file("file", path),
            Self::Append(path) => file("append", path),
            Self::Command(argv) => json!({ "kind": "command", "command": argv }),
            Self::Webhook(variable) => json!({ "kind": "webhook", "webhook_env": variable }),
            Self::Store => return None,
        })
    }
}
