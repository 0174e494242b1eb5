//! Reading a working folder: what right files mean, and what is said about wrong ones.

use std::path::Path;

use offpeak::config::{Options, Reading, read};

mod items;
mod jobs;
mod mistakes;
mod places;
mod reports;
mod settings;
mod steps;

/// A working folder made of `(path, text)`.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        }
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    fn options(&self) -> Options {
        // The bundled zone data: what a machine has installed decides nothing here.
        Options {
            zoneinfo: "/nonexistent".into(),
            ..Options::new(self.path())
        }
    }

    fn read(&self) -> Reading {
        read(&self.options())
    }
}

/// A job that is right but for what a test adds.
fn job(extra: &str) -> String {
    format!("cron: \"0 5 * * *\"\ntimezone: Asia/Tokyo\nprompt: {{ text: hello }}\n{extra}")
}

/// Everything wrong with one job file `jobs/a.yaml`, a line each.
fn wrong_job(text: &str) -> Vec<String> {
    wrong(&[("jobs/a.yaml", text)])
}

/// Everything wrong with an `offpeak.yaml` beside one right job, a line each.
fn wrong_settings(text: &str) -> Vec<String> {
    wrong(&[("offpeak.yaml", text), ("jobs/a.yaml", &job(""))])
}

/// Everything wrong with some files: `place: rule: message; help`.
pub fn wrong(files: &[(&str, &str)]) -> Vec<String> {
    let folder = Folder::new(files);
    let reading = folder.read();
    let unreadable = reading.unreadable.iter().map(ToString::to_string);
    unreadable
        .chain(reading.mistakes.iter().map(ToString::to_string))
        .collect()
}
