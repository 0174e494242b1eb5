//! Plausible answers without a model: the same prompt always gets the same text.

use super::ledger::hash;

/// The least number of points in an answer.
const MIN_POINTS: usize = 6;

const SUBJECTS: [&str; 8] = [
    "The backup of the small hours",
    "The second disk",
    "Yesterday's certificate renewal",
    "The mail queue",
    "One of the six sensors",
    "The nightly build",
    "The new firewall rule",
    "The shared calendar",
];

const FINDINGS: [&str; 8] = [
    "finished without a warning",
    "took twelve minutes longer than its usual hour",
    "was retried once and then went through",
    "shows the same pattern as last week",
    "needs a look before Friday, though nothing is broken yet",
    "used less than a third of the room it was given",
    "has been quiet since the change on Monday",
    "answered slowly between two and three, and well after that",
];

const CLOSINGS: [&str; 4] = [
    "Nothing else stands out. The next look is due tomorrow at the same time.",
    "No action is needed today; the point about the queue can wait for the weekend.",
    "Everything above is taken from the material in the request and from nothing else.",
    "Two of these points come up for the third time and may deserve a note of their own.",
];

/// A text of some lines about a prompt.
pub(super) fn answer_to(prompt: &str) -> String {
    let mut draw = hash(prompt.as_bytes());
    let mut next = |bound: usize| {
        draw = draw
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        // The upper half: the low bits of such a sequence repeat too soon.
        usize::try_from(draw >> 33).unwrap_or_default() % bound
    };
    let mut text = format!("# {}\n\n", heading(prompt));
    for _ in 0..MIN_POINTS + next(4) {
        let subject = SUBJECTS[next(SUBJECTS.len())];
        let finding = FINDINGS[next(FINDINGS.len())];
        text.extend(["- ", subject, " ", finding, ".\n"]);
    }
    text.extend(["\n", CLOSINGS[next(CLOSINGS.len())], "\n"]);
    text
}

/// The first words of a prompt.
fn heading(prompt: &str) -> String {
    let words: Vec<&str> = prompt.split_whitespace().take(8).collect();
    let line = words.join(" ");
    let line = line.trim_start_matches('#').trim();
    if line.is_empty() {
        "Notes".to_owned()
    } else {
        line.chars().take(80).collect()
    }
}

/// The text in pieces of whole lines, at most `max` of them; joined they are the text.
pub(super) fn pieces(text: &str, max: usize) -> Vec<&str> {
    let lines = text.split_inclusive('\n').count();
    let each = lines.div_ceil(max).max(1);
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut end = 0;
    for (index, line) in text.split_inclusive('\n').enumerate() {
        end += line.len();
        if (index + 1) % each == 0 {
            pieces.push(&text[start..end]);
            start = end;
        }
    }
    if start < end {
        pieces.push(&text[start..end]);
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_prompt_gets_the_same_text_and_another_gets_another() {
        let text = answer_to("Summarise the log of the night.");
        assert_eq!(text, answer_to("Summarise the log of the night."));
        assert_ne!(text, answer_to("Summarise the log of the day."));
        assert!(
            text.starts_with("# Summarise the log of the night.\n\n- "),
            "{text}"
        );
        assert!(text.lines().count() >= 9 && text.len() > 400, "{text}");
    }

    #[test]
    fn heading_is_one_short_line_of_any_prompt() {
        for (prompt, expected) in [
            ("", "Notes"),
            ("## \n", "Notes"),
            ("# Digest\n\nof today", "Digest of today"),
        ] {
            assert_eq!(heading(prompt), expected);
        }
        assert_eq!(heading(&"語".repeat(500)).chars().count(), 80);
    }

    #[test]
    fn pieces_join_to_the_text_and_are_not_too_many() {
        for text in ["", "a", "a\n", "a\nb", &"line\n".repeat(100)] {
            for max in [1, 3, 16] {
                let pieces = pieces(text, max);
                assert_eq!(pieces.concat(), text);
                assert!(pieces.len() <= max && pieces.iter().all(|piece| !piece.is_empty()));
            }
        }
    }
}
