//! SARIF 2.1.0: what code scanning services and editors read.
//!
//! Texts keep their braces single, although the standard would have them
//! doubled where a message has placeholders: ours have none, and readers show
//! `{{ job }}` and YAML as they find them.

use std::path::Path;

use serde_json::{Value, json};

use super::remark::{Fix, Remark};
use super::root::{Root, Uri};
use crate::cli::rulebook::{self, Section};
use crate::config::{Level, Mark, Place};
use crate::lint::Severity;

const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// What relative paths start from: the checked out repository.
const BASE: &str = "%SRCROOT%";

/// The whole log with one run.
#[must_use]
pub fn log(remarks: &[Remark<'_>], root: &Root) -> Value {
    let readable = |remark: &Remark<'_>| remark.rule != rulebook::UNREADABLE;
    let rules: Vec<Section> = rulebook::sections().collect();
    let results = remarks.iter().map(|remark| result(remark, &rules, root));
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": env!("CARGO_PKG_NAME"),
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(rule).collect::<Vec<_>>(),
            }},
            "columnKind": "utf16CodeUnits",
            "invocations": [{ "executionSuccessful": remarks.iter().all(readable) }],
            "results": results.collect::<Vec<_>>(),
        }],
    })
}

fn rule(section: &Section) -> Value {
    json!({
        "id": section.name,
        "shortDescription": { "text": section.summary },
        "fullDescription": { "text": section.meaning() },
        "help": { "text": rulebook::plain(section.body), "markdown": section.body },
        "defaultConfiguration": { "level": match section.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }},
    })
}

fn result(remark: &Remark<'_>, rules: &[Section], root: &Root) -> Value {
    let report = &remark.report;
    let mut locations: Vec<Value> = report
        .marks
        .iter()
        .map(|mark| location(mark, root))
        .collect();
    let others = locations.split_off(locations.len().min(1));
    if let (true, Some(path)) = (locations.is_empty(), &remark.path) {
        locations.push(json!({ "physicalLocation": { "artifactLocation": artifact(path, root) } }));
    }
    let mut result = json!({
        "ruleId": remark.rule,
        "ruleIndex": rules.iter().position(|section| section.name == remark.rule),
        "level": match report.level {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Accepted => "note",
        },
        "message": { "text": remark.text() },
        "locations": locations,
        "partialFingerprints": { "offpeak/v1": remark.identity },
    });
    if !others.is_empty() {
        result["relatedLocations"] = others.into();
    }
    if let Some(fixed) = &remark.fix {
        result["fixes"] = json!([fix(fixed, root)]);
    }
    if let Some(reason) = remark.accepted {
        result["suppressions"] = json!([{ "kind": "inSource", "justification": reason }]);
    }
    result
}

fn location(mark: &Mark, root: &Root) -> Value {
    let mut location = json!({ "physicalLocation": {
        "artifactLocation": artifact(mark.place.source().path(), root),
        "region": region(&mark.place),
    }});
    if !mark.label.is_empty() {
        location["message"] = json!({ "text": mark.label });
    }
    location
}

fn artifact(path: &Path, root: &Root) -> Value {
    match root.uri(path) {
        Uri::Below(uri) => json!({ "uri": uri, "uriBaseId": BASE }),
        Uri::Outside(uri) => json!({ "uri": uri }),
    }
}

/// The end is the first column behind the range.
fn region(place: &Place) -> Value {
    let column = |at| place.source().line_before(at).encode_utf16().count() + 1;
    json!({
        "startLine": place.line(),
        "startColumn": column(place.span().start),
        "endLine": place.end_line(),
        "endColumn": column(place.span().end),
    })
}

fn fix(fix: &Fix, root: &Root) -> Value {
    json!({
        "description": { "text": format!("fire at {} instead", fix.text) },
        "artifactChanges": [{
            "artifactLocation": artifact(fix.place.source().path(), root),
            "replacements": [{
                "deletedRegion": region(&fix.place),
                "insertedContent": { "text": fix.text },
            }],
        }],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Source;

    #[test]
    fn columns_count_utf16_code_units() {
        let source = Source::new("/w/a.yaml".into(), "a.yaml", "a: 𝄞é x\nb\n".into());
        assert_eq!(
            region(&source.place(10..13)),
            json!({ "startLine": 1, "startColumn": 8, "endLine": 2, "endColumn": 2 })
        );
    }
}
