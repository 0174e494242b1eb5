//! The strip on a terminal: how wide, in which characters and colours.

use std::io::Write;

use crate::cli::Context;
use crate::cli::screen::Kind;
use crate::config::Environment;
use crate::strip::Strip;
use crate::strip::text::{Glyphs, Line, Look, Painter, Tone};

/// Columns where there is no terminal: a day in quarters of an hour beside its date.
const PAGE: usize = 106;

/// Prints every group, one after the other.
pub fn strip(context: &Context, strip: &Strip<'_>, out: &mut dyn Write) -> std::io::Result<()> {
    let width = match context.screen.kind {
        Kind::Terminal => context.screen.width,
        Kind::Stream => PAGE,
    };
    let look = Look::new(width, glyphs(&context.environment));
    let mut painter = Painter::new(strip, look);
    lines(context, &painter.head(), out)?;
    for lane in &strip.lanes {
        writeln!(out)?;
        lines(context, &painter.lane(lane), out)?;
    }
    writeln!(out)?;
    let legend = painter.legend();
    if !legend.is_empty() {
        lines(context, &legend, out)?;
        writeln!(out)?;
    }
    Ok(())
}

fn lines(context: &Context, lines: &[Line], out: &mut dyn Write) -> std::io::Result<()> {
    for line in lines {
        for span in line {
            let text = match style(span.tone) {
                Some(style) => context.screen.styled(style, &span.text),
                None => span.text.clone(),
            };
            out.write_all(text.as_bytes())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The ANSI style of a tone.
const fn style(tone: Tone) -> Option<&'static str> {
    match tone {
        Tone::Plain => None,
        Tone::Title => Some("1"),
        Tone::Quiet => Some("2"),
        Tone::Peak => Some("33"),
        Tone::Slot => Some("1;36"),
        Tone::Pickup => Some("1;35"),
        Tone::Run => Some("36"),
        Tone::Trouble => Some("1;31"),
    }
}

/// Blocks where the locale says UTF-8: the strongest variable that is set decides.
fn glyphs(environment: &Environment) -> Glyphs {
    let set = |name: &&str| environment.get(name).filter(|value| !value.is_empty());
    let names = ["LC_ALL", "LC_CTYPE", "LANG"];
    let locale = names.iter().find_map(set).unwrap_or_default();
    let locale = locale.to_ascii_lowercase();
    if locale.ends_with("utf-8") || locale.ends_with("utf8") {
        Glyphs::Unicode
    } else {
        Glyphs::Ascii
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strongest_variable_of_the_locale_chooses_the_characters() {
        let chosen = |pairs: &[(&str, &str)]| glyphs(&pairs.iter().copied().collect());
        assert_eq!(chosen(&[]), Glyphs::Ascii);
        assert_eq!(chosen(&[("LANG", "en_GB.UTF-8")]), Glyphs::Unicode);
        assert_eq!(chosen(&[("LC_CTYPE", "C.utf8")]), Glyphs::Unicode);
        assert_eq!(
            chosen(&[("LANG", "en_GB.UTF-8"), ("LC_ALL", "C")]),
            Glyphs::Ascii
        );
        assert_eq!(
            chosen(&[("LANG", "de_DE.UTF-8"), ("LC_ALL", "")]),
            Glyphs::Unicode
        );
    }
}
