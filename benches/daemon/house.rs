//! A working folder with settings, job files and a store.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use chrono::{DateTime, Datelike, TimeDelta, Utc};
use tempfile::TempDir;

use crate::Outcome;

/// Slots a day that are off-peak and a quarter of an hour apart.
const SLOTS_A_DAY: usize = 68;

/// Jobs of one file, as a person with many would have them.
const JOBS_A_FILE: usize = 100;

/// Whether the linter's rules for the whole set hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// All of them.
    Kept,
    /// Twenty jobs of a group fire at once, at any hour.
    Off,
}

impl Rules {
    /// How many jobs share a key.
    pub const fn jobs_a_key(self) -> usize {
        match self {
            Self::Kept => SLOTS_A_DAY,
            Self::Off => 20,
        }
    }
}

/// The folder; it goes when this is dropped.
#[derive(Debug)]
pub struct House {
    folder: TempDir,
    pub keys: Vec<(String, String)>,
}

impl House {
    /// Writes settings and so many jobs; `cron` gives each its expression, in UTC.
    pub fn build(jobs: usize, rules: Rules, cron: impl Fn(usize) -> String) -> Outcome<Self> {
        let folder = tempfile::tempdir()?;
        let keys = jobs.div_ceil(rules.jobs_a_key());
        let names: Vec<String> = (0..keys).map(|key| format!("key-{key:03}")).collect();
        fs::create_dir(folder.path().join("jobs"))?;
        for file in 0..jobs.div_ceil(JOBS_A_FILE) {
            let mut text = "jobs:\n".to_owned();
            for n in (file * JOBS_A_FILE)..((file + 1) * JOBS_A_FILE).min(jobs) {
                let key = &names[n / rules.jobs_a_key()];
                writeln!(
                    text,
                    "  - id: job-{n:05}\n    key: {key}\n    cron: \"{}\"\n    timezone: UTC",
                    cron(n)
                )?;
                writeln!(
                    text,
                    "    prompt: {{ text: \"What of topic {n} is new on {{{{ date }}}}?\" }}"
                )?;
                writeln!(text, "    output: {{ file: \"out/job-{n:05}.md\" }}")?;
            }
            fs::write(
                folder.path().join(format!("jobs/part-{file:03}.yaml")),
                text,
            )?;
        }
        let mut settings = "keys:\n".to_owned();
        for name in &names {
            writeln!(settings, "  {name}: {{ env: {} }}", variable(name))?;
        }
        if rules == Rules::Off {
            settings.push_str(
                "rules:\n  peaks: { timezone: UTC, windows: [] }\n  severity: { key-gap: off }\n",
            );
        }
        fs::write(folder.path().join("offpeak.yaml"), settings)?;
        let secret = |name: &String| (variable(name), format!("sk-ant-of-{name}"));
        let keys = names.iter().map(secret).collect();
        Ok(Self { folder, keys })
    }

    /// Sends to this address from now on.
    pub fn send_to(&self, base_url: &str) -> Outcome<()> {
        let path = self.path().join("offpeak.yaml");
        let settings = fs::read_to_string(&path)?;
        Ok(fs::write(
            path,
            format!("{settings}upstream: {{ base_url: \"{base_url}\" }}\n"),
        )?)
    }

    /// The working folder.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// The store's folder.
    pub fn store(&self) -> PathBuf {
        self.path().join(".offpeak")
    }

    /// Where the daemon's log goes.
    pub fn log(&self) -> PathBuf {
        self.path().join("daemon.log")
    }

    /// The next start finds no store.
    pub fn forget_store(&self) -> Outcome<()> {
        if self.store().exists() {
            fs::remove_dir_all(self.store())?;
        }
        Ok(())
    }
}

fn variable(key: &str) -> String {
    key.to_uppercase().replace('-', "_")
}

/// A weekly slot three days from now: off-peak, a quarter of an hour from its group's others.
pub fn quiet_slot(n: usize, now: DateTime<Utc>) -> String {
    let day = (now + TimeDelta::days(3)).weekday().num_days_from_sunday();
    let quarter = n % SLOTS_A_DAY;
    // Tokyo's peaks are 22:00 to 24:00 and 09:00 to 14:00 in UTC.
    let minute = match quarter {
        0..36 => quarter * 15,
        _ => 14 * 60 + (quarter - 36) * 15,
    };
    format!("{} {} * * {day}", minute % 60, minute / 60)
}
