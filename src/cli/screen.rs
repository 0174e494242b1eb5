//! What the user's terminal can do, read once.

use std::io::IsTerminal;

use crate::config::Environment;

/// Whether colours are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Paint {
    /// Plain text.
    Plain,
    /// Text with ANSI colours.
    Color,
}

/// What the user's terminal can do.
#[derive(Debug, Clone, Copy)]
pub struct Screen {
    /// Whether colours are written to standard output.
    pub paint: Paint,
    /// Whether standard output is a terminal, so that a line may be redrawn.
    pub kind: Kind,
    /// Columns.
    pub width: usize,
}

/// What standard output is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A terminal.
    Terminal,
    /// A file or a pipe.
    Stream,
}

/// Columns where there is no terminal: nothing is cut there.
const WIDTH: usize = 1_000;

impl Screen {
    /// Looks at standard output, `NO_COLOR` and `TERM`.
    #[must_use]
    pub fn look(environment: &Environment) -> Self {
        let kind = if std::io::stdout().is_terminal() {
            Kind::Terminal
        } else {
            Kind::Stream
        };
        let refused = environment
            .get("NO_COLOR")
            .is_some_and(|value| !value.is_empty())
            || environment.get("TERM").is_some_and(|value| value == "dumb");
        let paint = if kind == Kind::Terminal && !refused {
            Paint::Color
        } else {
            Paint::Plain
        };
        let width = rustix::termios::tcgetwinsize(std::io::stdout())
            .map_or(0, |size| usize::from(size.ws_col));
        let width = if kind == Kind::Stream || width == 0 {
            WIDTH
        } else {
            width.max(40)
        };
        Self { paint, kind, width }
    }

    /// Wraps a text in an ANSI style, such as `1` for bold or `31` for red.
    #[must_use]
    pub fn styled(&self, style: &str, text: &str) -> String {
        match self.paint {
            Paint::Plain => text.to_owned(),
            Paint::Color => format!("\x1b[{style}m{text}\x1b[0m"),
        }
    }
}
