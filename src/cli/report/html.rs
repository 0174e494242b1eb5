//! `report --html`: one page for a browser, beside what is printed or in place of it.

use std::io::Write;
use std::path::Path;

use crate::cli::args::Format;
use crate::cli::target::{Content, Target};
use crate::cli::{CliError, Context};
use crate::config::Reading;
use crate::report::{Breakdown, By, PageView, TailAdvice, View, render_page};

/// Where the page goes.
///
/// # Errors
///
/// The path names something that must not be replaced, or standard output is wanted twice.
pub(super) fn target(context: &Context, shown: &Path) -> Result<Target, CliError> {
    let target = Target::of(context, shown, Content::Html)?;
    let is_printed = match context.global.format {
        Format::Json | Format::Csv => true,
        Format::Human | Format::Github | Format::Sarif => false,
    };
    if target.is_stdout() && is_printed {
        return Err(CliError::Refused {
            what: "standard output can take one of --html - and --format json or csv".to_owned(),
            help: "name a file for the page".to_owned(),
        });
    }
    Ok(target)
}

/// Draws the page and writes it; what was done, in a line, if it is worth one.
pub(super) fn put(
    target: &Target,
    (now, before): (&Breakdown, Option<&Breakdown>),
    by: Option<By>,
    (context, reading): (&Context, &Reading),
    out: &mut dyn Write,
) -> Result<Option<String>, CliError> {
    let peaks = &reading.config.plan.peaks;
    let view = PageView {
        view: View::jst(context.screen.width),
        by,
        is_peak: &|at| peaks.is_peak(at),
        place_of: &|advice: &TailAdvice| super::place_words(&reading.sources, advice),
    };
    target.put(Content::Html, &render_page(now, before, &view), out)
}
