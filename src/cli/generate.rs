//! `completions` and `man`: made from the command line's own definition.

use std::io::Write;

use clap::CommandFactory;

use super::args::{Args, Completions};
use super::{CliError, Exit};

/// Prints a completion script.
pub fn completions(args: &Completions, out: &mut dyn Write) -> Result<Exit, CliError> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "offpeak", &mut script);
    out.write_all(&script)?;
    Ok(Exit::Done)
}

/// Prints the manual page.
pub fn man(out: &mut dyn Write) -> Result<Exit, CliError> {
    clap_mangen::Man::new(Args::command()).render(out)?;
    Ok(Exit::Done)
}
