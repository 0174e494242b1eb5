//! What the user's terminal can do, read once.

use std::borrow::Cow;
use std::io::IsTerminal;
use std::os::fd::AsFd;

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
    /// Whether colours are written.
    pub paint: Paint,
    /// Whether it is a terminal, so that a line may be redrawn.
    pub kind: Kind,
    /// Columns.
    pub width: usize,
}

/// What a stream leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A terminal.
    Terminal,
    /// A file or a pipe.
    Stream,
}

/// Columns where there is no terminal: nothing is cut there.
const WIDTH: usize = 1_000;
/// A terminal may be narrower; no line of ours fits there.
const MIN_WIDTH: usize = 40;

impl Screen {
    /// Looks at standard output, `NO_COLOR` and `TERM`.
    #[must_use]
    pub fn look(environment: &Environment) -> Self {
        Self::at(&std::io::stdout(), environment)
    }

    /// The same of standard error, where complaints go.
    #[must_use]
    pub fn look_at_errors(environment: &Environment) -> Self {
        Self::at(&std::io::stderr(), environment)
    }

    fn at(stream: &(impl IsTerminal + AsFd), environment: &Environment) -> Self {
        let kind = if stream.is_terminal() {
            Kind::Terminal
        } else {
            Kind::Stream
        };
        let size = rustix::termios::tcgetwinsize(stream);
        let columns = size.map_or(0, |size| usize::from(size.ws_col));
        Self::of(kind, columns, environment)
    }

    /// What a stream can do; a terminal that does not know its width has 0 columns.
    fn of(kind: Kind, columns: usize, environment: &Environment) -> Self {
        let refused = environment
            .get("NO_COLOR")
            .is_some_and(|value| !value.is_empty())
            || environment.get("TERM").is_some_and(|value| value == "dumb");
        let paint = if kind == Kind::Terminal && !refused {
            Paint::Color
        } else {
            Paint::Plain
        };
        let width = if kind == Kind::Stream || columns == 0 {
            WIDTH
        } else {
            columns.max(MIN_WIDTH)
        };
        Self { paint, kind, width }
    }

    /// A text of which a terminal obeys nothing but line breaks and tabs; a file or a pipe gets it as it is.
    #[must_use]
    pub fn still<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let moves = |c: char| c.is_control() && c != '\n' && c != '\t';
        if self.kind == Kind::Terminal && text.contains(moves) {
            return Cow::Owned(text.replace(moves, "\u{fffd}"));
        }
        Cow::Borrowed(text)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn screen(kind: Kind, columns: usize, environment: &[(&str, &str)]) -> Screen {
        Screen::of(kind, columns, &environment.iter().copied().collect())
    }

    #[test]
    fn only_a_terminal_that_refuses_nothing_gets_colours() {
        let xterm = ("TERM", "xterm-256color");
        let paint = |kind, environment: &[_]| screen(kind, 80, environment).paint;
        assert_eq!(paint(Kind::Terminal, &[xterm]), Paint::Color);
        assert_eq!(paint(Kind::Terminal, &[]), Paint::Color);
        assert_eq!(paint(Kind::Stream, &[xterm]), Paint::Plain);
        assert_eq!(paint(Kind::Terminal, &[("TERM", "dumb")]), Paint::Plain);
        assert_eq!(
            paint(Kind::Terminal, &[xterm, ("NO_COLOR", "1")]),
            Paint::Plain
        );
        assert_eq!(
            paint(Kind::Terminal, &[xterm, ("NO_COLOR", "")]),
            Paint::Color
        );
    }

    #[test]
    fn a_terminal_obeys_no_text_and_a_stream_gets_it_whole() {
        let text = "a\u{1b}[2J\tb\u{9b}31m\n";
        assert_eq!(
            screen(Kind::Terminal, 80, &[]).still(text),
            "a\u{fffd}[2J\tb\u{fffd}31m\n"
        );
        assert_eq!(screen(Kind::Stream, 80, &[]).still(text), text);
    }

    #[test]
    fn a_terminal_has_its_width_and_a_stream_is_never_cut() {
        let width = |kind, columns| screen(kind, columns, &[]).width;
        assert_eq!(width(Kind::Terminal, 132), 132);
        assert_eq!(width(Kind::Terminal, 40), 40);
        assert_eq!(width(Kind::Terminal, 39), 40);
        assert_eq!(width(Kind::Terminal, 0), 1_000);
        assert_eq!(width(Kind::Stream, 80), 1_000);
    }

    #[test]
    fn a_plain_screen_leaves_a_text_as_it_is() {
        let styled = |kind| screen(kind, 80, &[]).styled("1;31", "no");
        assert_eq!(styled(Kind::Terminal), "\x1b[1;31mno\x1b[0m");
        assert_eq!(styled(Kind::Stream), "no");
    }
}
