//! Closes the process to others, parses arguments, runs the command, exits with its code.

use std::process::ExitCode;

use clap::Parser;
use offpeak::cli::{self, Args};

fn main() -> ExitCode {
    cli::seal();
    let args = Args::parse();
    cli::run(args, &mut std::io::stdout().lock(), &mut std::io::stderr()).into()
}
