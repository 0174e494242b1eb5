//! Draws a story as plain text.

use chrono::{DateTime, Utc};

use super::Story;
use super::clock::{Clocks, Face};
use crate::report::table::{clean, columns_of};

/// `05:00:00`.
const TIME: usize = 8;

/// The narrowest that a sentence gets, however narrow the terminal is.
const NARROWEST: usize = 24;

/// Draws a story as text, its lines at most `width` columns wide: sentences with their times before them.
#[must_use]
pub fn render_story(
    story: &Story,
    clocks: Clocks<'_>,
    fire_at: DateTime<Utc>,
    width: usize,
) -> String {
    let face = Face { clocks, fire_at };
    let times: Vec<String> = story
        .told
        .iter()
        .map(|told| told.at.map_or_else(String::new, |at| face.at(at)))
        .collect();
    let gist = wrapped(&story.gist, 0, width);
    let mut lines = vec![story.headline.clone(), gist, String::new()];
    for (told, time) in story.told.iter().zip(times) {
        let sentence = wrapped(&told.text, TIME + 2, width);
        // A date would push every sentence to the right: it has a line of its own.
        if time.len() > TIME {
            lines.push(time);
            lines.push(format!("{:TIME$}  {sentence}", ""));
        } else {
            lines.push(format!("{time:TIME$}  {sentence}"));
        }
    }
    lines.push(String::new());
    if story.next.is_empty() {
        lines.push("Nothing has to be done.".to_owned());
    }
    for (at, advice) in story.next.iter().enumerate() {
        let start = if at == 0 { "Next:" } else { "" };
        lines.push(format!("{start:5} {}", wrapped(&advice.text, 6, width)));
        // Never broken, so that it can be copied.
        let command = advice.command.as_deref();
        lines.extend(command.map(|command| format!("{:10}{}", "", clean(command))));
    }
    lines.join("\n") + "\n"
}

/// A text in lines of at most `width` columns, of which each after the first begins behind `indent` blanks, as the first
/// does already. Words longer than a line stay whole.
fn wrapped(text: &str, indent: usize, width: usize) -> String {
    let room = width.saturating_sub(indent).max(NARROWEST);
    let mut lines: Vec<String> = Vec::new();
    for word in clean(text).split_whitespace() {
        match lines.last_mut() {
            Some(line) if columns_of(line) + 1 + columns_of(word) <= room => {
                line.push(' ');
                line.push_str(word);
            }
            Some(_) | None => lines.push(word.to_owned()),
        }
    }
    lines.join(&format!("\n{}", " ".repeat(indent)))
}
