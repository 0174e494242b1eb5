//! The commands: each wires the rings below together, prints, and names an exit code.
//!
//! Nothing is decided here; a question with more than one answer belongs to a
//! lower ring.

pub mod args;
mod asked;
mod bulletin;
mod changes;
pub mod chores;
mod config;
mod context;
mod count;
mod daemon;
mod demo;
mod doors;
mod dropping;
mod dry_run;
mod error;
pub mod exit;
mod fix;
mod generate;
mod history;
mod init;
pub mod json;
mod limits;
mod linting;
mod logging;
mod memory;
mod mock;
mod models;
mod money;
mod names;
mod pause;
mod plan;
mod prompts;
mod reload;
mod report;
mod resume;
mod retry;
mod routes;
mod rulebook;
mod run;
mod screen;
mod seal;
mod shapes;
mod signals;
mod simulate;
mod spread;
mod status;
mod store;
mod systemd;
mod target;
mod telling;
mod times;
mod tolls;
mod validate;
mod why;

pub use args::Args;
pub use context::Context;
pub use error::CliError;
pub use exit::Exit;
pub use seal::seal;

use std::io::Write;

use args::{Command, Format};

/// Runs one command; what goes wrong is printed to `err` and becomes an exit code.
pub fn run(args: Args, out: &mut dyn Write, err: &mut dyn Write) -> Exit {
    let context = Context::new(args.global);
    match dispatch(&context, args.command, out) {
        Ok(exit) => exit,
        Err(error) if error.is_broken_pipe() => Exit::Done,
        Err(error) => {
            // Standard error is gone too if this fails; the exit code still tells.
            let _ = error.print(&context.toward_errors(), err);
            error.exit()
        }
    }
}

fn dispatch(context: &Context, command: Command, out: &mut dyn Write) -> Result<Exit, CliError> {
    if !matches!(command, Command::Validate(_)) {
        context.refuse_formats_of_validate("is for `validate` only")?;
    }
    if context.global.format == Format::Csv && !matches!(command, Command::Report(_)) {
        return Err(CliError::Refused {
            what: "`--format csv` is for `report` only".to_owned(),
            help: "use `--format human` or `--format json`".to_owned(),
        });
    }
    match command {
        Command::Init(args) => init::run(context, &args, out),
        Command::Validate(args) => validate::run(context, &args, out),
        Command::Plan(args) => plan::run(context, &args, out),
        Command::DryRun(args) => dry_run::run(context, &args, out),
        Command::Run(args) => run::run(context, &args, out),
        Command::Models(args) => models::run(context, &args, out),
        Command::Daemon(args) => daemon::run(context, &args, out),
        Command::Demo(args) => demo::run(context, &args, out),
        Command::Status => status::run(context, out),
        Command::History(args) => history::run(context, &args, out),
        Command::Why(args) => why::run(context, &args, out),
        Command::Report(args) => report::run(context, &args, out),
        Command::Simulate(args) => simulate::run(context, &args, out),
        Command::Pause(args) => pause::run(context, &args, out),
        Command::Resume(args) => resume::run(context, &args, out),
        Command::Retry(args) => retry::run(context, &args, out),
        Command::Drop(args) => dropping::run(context, &args, out),
        Command::Store(args) => store::run(context, &args, out),
        Command::Mock(args) => mock::run(context, &args, out),
        Command::Config(args) => config::run(context, &args, out),
        Command::Completions(args) => generate::completions(&args, out),
        Command::Man => generate::man(out),
    }
}

impl Context {
    /// Whether the user asked for JSON.
    #[must_use]
    pub fn is_json(&self) -> bool {
        self.global.format == Format::Json
    }

    /// Refuses a format that only findings can be written in; `why` follows its name.
    fn refuse_formats_of_validate(&self, why: &str) -> Result<(), CliError> {
        let name = match self.global.format {
            Format::Human | Format::Json | Format::Csv => return Ok(()),
            Format::Github => "github",
            Format::Sarif => "sarif",
        };
        Err(CliError::Refused {
            what: format!("`--format {name}` {why}"),
            help: "use `--format human` or `--format json`".to_owned(),
        })
    }
}
