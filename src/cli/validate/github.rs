//! Workflow commands: what a GitHub workflow prints to annotate lines of a change.

use super::remark::Remark;
use super::root::Root;
use crate::config::{Level, Place};

/// The command for one thing that was found.
///
/// Columns go only with a range inside one line: the runner drops them otherwise.
#[must_use]
pub fn command(remark: &Remark<'_>, root: &Root) -> String {
    let report = &remark.report;
    let word = match report.level {
        Level::Error => "error",
        Level::Warning => "warning",
        Level::Accepted => "notice",
    };
    let mut properties = Vec::new();
    if let Some(mark) = report.marks.first() {
        properties.extend(position(&mark.place, root));
    } else if let Some(path) = &remark.path {
        properties.push(("file", root.shown(path)));
    }
    properties.push(("title", remark.rule.to_owned()));
    let properties: Vec<String> = properties
        .into_iter()
        .map(|(name, value)| format!("{name}={}", property(&value)))
        .collect();
    let others = report.marks.iter().skip(1).map(|mark| {
        let place = &mark.place;
        let file = root.shown(place.source().path());
        format!("\n{file}:{}: {}", place.line(), mark.label)
    });
    let text = remark.text() + &others.collect::<String>();
    format!("::{word} {}::{}", properties.join(","), data(&text))
}

fn position(place: &Place, root: &Root) -> Vec<(&'static str, String)> {
    let (line, end_line) = (place.line(), place.end_line());
    let mut found = vec![
        ("file", root.shown(place.source().path())),
        ("line", line.to_string()),
    ];
    if line == end_line {
        found.push(("col", place.column().to_string()));
    }
    found.push(("endLine", end_line.to_string()));
    if line == end_line {
        found.push(("endColumn", place.end_column().to_string()));
    }
    found
}

/// The text of a command: the runner decodes these three and nothing else. What else moves a cursor reaches the log of
/// the workflow, and is replaced.
fn data(text: &str) -> String {
    let moves = |c: char| c.is_control() && c != '\r' && c != '\n';
    text.replace(moves, "\u{fffd}")
        .replace('%', "%25")
        .replace('\r', "%0D")
        .replace('\n', "%0A")
}

/// The value of a property, which ends at a comma or a colon.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_control_character_reaches_the_log() {
        assert_eq!(
            data("a\u{1b}]0;t\u{7}\u{9b}b\0 %\n"),
            "a\u{fffd}]0;t\u{fffd}\u{fffd}b\u{fffd} %25%0A"
        );
    }
    use crate::config::{Mark, Report, Source};

    fn remark(text: &str, span: std::ops::Range<usize>, level: Level) -> Remark<'static> {
        let source = Source::new("/w/jobs/a,b.yaml".into(), "jobs/a,b.yaml", text.into());
        Remark {
            rule: "key-gap",
            report: Report {
                level,
                title: "100 % wrong: yes".to_owned(),
                rule: None,
                marks: vec![Mark {
                    place: source.place(span),
                    label: String::new(),
                }],
                notes: vec!["first, now".to_owned()],
                help: Some("mend it".to_owned()),
            },
            path: None,
            accepted: None,
            fix: None,
            identity: String::new(),
        }
    }

    #[test]
    fn what_ends_a_property_or_a_line_is_escaped() {
        assert_eq!(data("5 %\r\nof a: b, c"), "5 %25%0D%0Aof a: b, c");
        assert_eq!(property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
    }

    #[test]
    fn a_range_inside_a_line_has_columns_and_a_longer_one_has_none() {
        let root = Root::of_process();
        let one = command(&remark("a: é\n", 3..5, Level::Error), &root);
        assert_eq!(
            one,
            "::error file=/w/jobs/a%2Cb.yaml,line=1,col=4,endLine=1,endColumn=5,title=key-gap\
             ::100 %25 wrong: yes%0Afirst, now%0Ahelp: mend it"
        );
        let two = command(&remark("a: b\nc: d\n", 3..6, Level::Warning), &root);
        assert!(
            two.starts_with("::warning file=/w/jobs/a%2Cb.yaml,line=1,endLine=2,title=key-gap::"),
            "{two}"
        );
    }

    #[test]
    fn what_is_accepted_is_a_notice() {
        let remark = remark("a: b\n", 0..1, Level::Accepted);
        assert!(command(&remark, &Root::of_process()).starts_with("::notice file="));
    }
}
