//! The command line as clap sees it.

mod models;
mod past;
mod person;
mod report;
mod simulate;

use std::path::PathBuf;

use chrono::{DateTime, NaiveDate, Utc};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

pub use models::Models;
pub use past::{History, Moment, Why};
pub use person::{DropWork, Pause, Resume, Retry};
pub use report::{By, Report};
pub use simulate::Simulate;

/// A cron-style scheduler daemon for Claude API calls.
///
/// Reads jobs/*.yaml, proves that jobs sharing an API key keep their distance
/// and stay out of peak hours, fires each slot on time, and moves yielded work
/// to the next slot.
#[derive(Debug, Parser)]
#[command(
    name = "offpeak",
    version,
    max_term_width = 100,
    disable_help_subcommand = true
)]
#[command(after_help = EXIT_CODES)]
pub struct Args {
    /// What holds for every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

const EXIT_CODES: &str = "\
Exit codes: 0 done · 1 no (findings, failed) · 2 usage or unreadable files
            4 incomplete answer · 75 yielded · 130, 143 stopped
Start here: offpeak demo, or offpeak init mynight && offpeak -C mynight validate";

/// What holds for every command.
#[derive(Debug, Clone, ClapArgs)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// The working folder, with `offpeak.yaml` (optional) and `jobs/`.
    #[arg(
        short = 'C',
        long = "folder",
        value_name = "DIR",
        default_value = ".",
        global = true
    )]
    pub folder: PathBuf,
    /// The settings file, from the working folder; `offpeak.yaml` if not given.
    #[arg(long, value_name = "FILE", global = true)]
    pub config: Option<PathBuf>,
    /// The store's folder, from the working folder; over `$STATE_DIRECTORY` and `store.path`.
    #[arg(long, value_name = "DIR", global = true)]
    pub store: Option<PathBuf>,
    /// How to print.
    #[arg(long, value_enum, default_value_t = Format::Human, global = true)]
    pub format: Format,
}

/// How to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people.
    Human,
    /// For programs; `history` prints one object a line.
    Json,
    /// Annotations of a GitHub workflow; of `validate` only.
    Github,
    /// SARIF 2.1.0 for code scanning; of `validate` only.
    Sarif,
    /// A table for spreadsheets; of `report` only.
    Csv,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Make a working folder with two jobs that pass.
    Init(Init),
    /// Prove that the schedule keeps its rules on any date.
    Validate(Validate),
    /// Draw the next days of every group: slots, peak windows, longest runs.
    Plan(Plan),
    /// Show what a job would send, and when; sends and writes nothing.
    DryRun(DryRun),
    /// Run a job once, now, through the same guard and store.
    Run(Run),
    /// Ask the API which models a key can use, and say which jobs ask others.
    Models(Models),
    /// Fire every slot on time until told to stop.
    Daemon(Daemon),
    /// Watch one night in time-lapse against a built-in stand-in for the API.
    Demo(Demo),
    /// Show what is next, what waits, and how the guards stand.
    Status,
    /// List what happened to every slot.
    History(History),
    /// Tell in sentences what a slot did, and why.
    Why(Why),
    /// Show how fast, how often and at what price work was done, and what made the slowest slow.
    Report(Report),
    /// Live through days of the schedule in virtual time against a modelled upstream; sends and writes nothing.
    Simulate(Simulate),
    /// Keep a job or a group still: its slots are skipped, its deferred work waits.
    Pause(Pause),
    /// Lift a pause; of a group the hold too, and close its breaker.
    Resume(Resume),
    /// Make the work of a slot that failed, was skipped or fell short pending again.
    Retry(Retry),
    /// End deferred work that nobody wants any more.
    Drop(DropWork),
    /// Check that the store keeps its promises, or copy it while it is in use.
    #[command(subcommand)]
    Store(StoreCommand),
    /// Serve the stand-in for the API on loopback.
    Mock(Mock),
    /// Show the settings in force, the documented defaults, or a schema for editors.
    Config(Config),
    /// Print a completion script for a shell.
    Completions(Completions),
    /// Print the manual page.
    Man,
}

/// Arguments of `init`.
#[derive(Debug, ClapArgs)]
pub struct Init {
    /// The folder to make; the working folder if not given.
    #[arg(value_name = "DIR")]
    pub target: Option<PathBuf>,
}

/// Arguments of `validate`.
#[derive(Debug, ClapArgs)]
pub struct Validate {
    /// Job files or folders, from the working folder; `jobs` if not given.
    #[arg(value_name = "JOBS")]
    pub jobs: Vec<PathBuf>,
    /// The first instant of the proof, such as `2026-12-01` (midnight UTC) or `2026-12-01T00:00:00+09:00`; now if not
    /// given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub from: Option<DateTime<Utc>>,
    /// Exit with 1 for warnings too.
    #[arg(long)]
    pub strict: bool,
    /// Say what a rule means and how to mend what it finds; without RULE, list the rules.
    #[arg(long, value_name = "RULE", conflicts_with_all = ["jobs", "from", "strict", "fix"])]
    pub explain: Option<Option<String>>,
    /// Move cron expressions until nothing collides or fires in a peak window, and write the files.
    #[arg(long)]
    pub fix: bool,
    /// With --fix: show what would change and write nothing; the exit code is that of the files as they are.
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
}

/// Arguments of `plan`.
#[derive(Debug, ClapArgs)]
pub struct Plan {
    /// Job files or folders, from the working folder; `jobs` if not given.
    #[arg(value_name = "JOBS")]
    pub jobs: Vec<PathBuf>,
    /// An instant of the first day, such as `2026-12-01` (midnight UTC) or `2026-12-01T00:00:00+09:00`; now if not
    /// given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub from: Option<DateTime<Utc>>,
    /// How many days, 1 to 366; strip and picture show the first 31.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..=366))]
    pub days: u16,
    /// Draw an SVG picture too; `-` prints it in place of the strip.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write a calendar too, an event a slot; `-` prints it in place of the strip.
    #[arg(long, value_name = "FILE")]
    pub ics: Option<PathBuf>,
    /// Propose a schedule with the widest gaps that the rules allow.
    #[arg(long, conflicts_with_all = ["svg", "ics"])]
    pub spread: bool,
    /// Write the proposal into the files.
    #[arg(long, requires = "spread")]
    pub fix: bool,
    /// With --fix: show what would change and write nothing.
    #[arg(long, requires = "fix")]
    pub dry_run: bool,
}

/// Arguments of `dry-run`.
#[derive(Debug, ClapArgs)]
pub struct DryRun {
    /// The job's name.
    #[arg(value_name = "JOB")]
    pub job: String,
    /// The slot's instant; the job's next slot if not given.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub at: Option<DateTime<Utc>>,
    /// Run the job's input commands and fetch its URLs; without it a placeholder stands for what they bring.
    #[arg(long)]
    pub run_commands: bool,
    /// The item of a job with `for_each`; the first one if not given.
    #[arg(long, value_name = "NAME")]
    pub item: Option<String>,
    /// Let the API count the input tokens in place of an estimate; needs the key, and sends the request's texts there.
    #[arg(long)]
    pub count: bool,
}

/// Arguments of `run`.
#[derive(Debug, ClapArgs)]
pub struct Run {
    /// The job's name.
    #[arg(value_name = "JOB")]
    pub job: String,
}

/// Arguments of `daemon`.
#[derive(Debug, Clone, ClapArgs)]
pub struct Daemon {
    /// Job files or folders; `jobs` in the working folder if not given.
    #[arg(value_name = "JOBS")]
    pub jobs: Vec<PathBuf>,
    /// Start in spite of lint errors; each is named in the log.
    #[arg(long)]
    pub allow_unsafe: bool,
}

/// What becomes of a schedule with lint errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsafeSchedule {
    /// It is refused.
    Refused,
    /// It is served, and each error is named in the log.
    Allowed,
}

impl Daemon {
    /// What the flag says.
    #[must_use]
    pub fn unsafe_schedule(&self) -> UnsafeSchedule {
        if self.allow_unsafe {
            UnsafeSchedule::Allowed
        } else {
            UnsafeSchedule::Refused
        }
    }
}

/// Arguments of `demo`.
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// Makes latencies and jitter of the stand-in repeatable; drawn and printed if not given. Times still move by what a
    /// busy machine adds.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
}

/// What to do with the store.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Walk the rows: every slot has one outcome, no work is lost, nothing was sent unaccounted.
    Check,
    /// Write a copy of the store, while the daemon runs too.
    Backup(Backup),
}

/// Arguments of `store backup`.
#[derive(Debug, ClapArgs)]
pub struct Backup {
    /// The copy's file, from the working folder; an older copy there is replaced once the new one is whole.
    #[arg(value_name = "FILE")]
    pub to: PathBuf,
}

/// A script of faults as `mock --help` shows it; a test reads it.
pub const SCRIPT: &str = "\
A script, rules tried in order:
  latency: { median: 2s, spread: 0.4, max: 30s }
  rules:
    - { times: 2, then: { error: { status: 529 } } }
    - { times: 1, then: { error: { status: 429, retry_after: 20 } } }
    - { when: { contains: digest }, times: 1, then: { cut: { after: 5 } } }
    - { when: { share: 0.1 }, then: { slow: { first_byte: 40s } } }
  models: { gone: [claude-sonnet-4-5], page: 5 }
Also: hang_up, silence, stream_error, body, redirect, answer, pause, tool_error;
of a batch: batch, never_ends, part. `endpoint` in `when`: messages, batches,
parts, count_tokens, models; `models: { retires: { MODEL: INSTANT } }`.";

/// Arguments of `mock`.
#[derive(Debug, ClapArgs)]
#[command(after_help = SCRIPT)]
pub struct Mock {
    /// The port on 127.0.0.1; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 8787)]
    pub port: u16,
    /// A YAML script of faults; healthy answers only if not given.
    #[arg(long, value_name = "FILE")]
    pub script: Option<PathBuf>,
    /// Makes latencies repeatable.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Arguments of `config`.
#[derive(Debug, ClapArgs)]
pub struct Config {
    /// Print every default with its reason, as YAML.
    #[arg(long, conflicts_with = "schema")]
    pub defaults: bool,
    /// Print a JSON Schema, with which editors complete and check.
    #[arg(long, value_enum, value_name = "OF")]
    pub schema: Option<Schema>,
}

/// What a JSON Schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Schema {
    /// A job file.
    Job,
    /// The settings file, `offpeak.yaml`.
    Settings,
    /// What `validate --format json` prints.
    Validate,
}

/// Arguments of `completions`.
#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// The shell.
    pub shell: clap_complete::Shell,
}

/// Reads an instant: RFC 3339, or a date that means midnight UTC.
fn instant(text: &str) -> Result<DateTime<Utc>, String> {
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Ok(at.to_utc());
    }
    if let Ok(date) = text.parse::<NaiveDate>() {
        return Ok(date.and_time(chrono::NaiveTime::MIN).and_utc());
    }
    Err(
        "expected an instant such as 2026-12-01T05:00:00+09:00, or a date such as 2026-12-01"
            .to_owned(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_script_of_the_help_can_be_read() {
        let lines: Vec<&str> = SCRIPT
            .lines()
            .filter_map(|line| line.strip_prefix("  "))
            .collect();
        let script = crate::standin::Script::from_yaml(&lines.join("\n")).unwrap();
        assert_eq!(script.rules.len(), 4);
    }

    #[test]
    fn instants_are_read_with_an_offset_or_as_a_date() {
        let utc = "2026-11-30T20:00:00Z".parse::<DateTime<Utc>>().unwrap();
        assert_eq!(instant("2026-12-01T05:00:00+09:00"), Ok(utc));
        assert_eq!(
            instant("2026-12-01").unwrap().to_rfc3339(),
            "2026-12-01T00:00:00+00:00"
        );
        assert!(instant("tomorrow").unwrap_err().contains("2026-12-01"));
    }
}
