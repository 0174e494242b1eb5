//! What is said of an answer beside its text: above it in a file, around it in a webhook's body.

use serde::Serialize;

use crate::answer::Usage;
use crate::engine::ports::Parcel;

/// The twin of an answer in JSON; members without a value are left out.
#[derive(Debug, Serialize)]
struct Body<'a> {
    job: &'a str,
    slot: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    item: Option<&'a str>,
    model: &'a str,
    text: &'a str,
    stop_reason: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    usage: Option<serde_json::Value>,
}

/// The counters by name, in the order of the documentation.
const fn counters(usage: &Usage) -> [(&'static str, u64); 5] {
    [
        ("input_tokens", usage.input_tokens),
        ("cache_write_5m_tokens", usage.cache_write_5m_tokens),
        ("cache_write_1h_tokens", usage.cache_write_1h_tokens),
        ("cache_read_tokens", usage.cache_read_tokens),
        ("output_tokens", usage.output_tokens),
    ]
}

/// An answer as one JSON object: `job`, `slot`, `item`, `model`, `text`, `stop_reason`, `usage`.
pub(super) fn json(parcel: &Parcel<'_>, slot: &str) -> String {
    let answer = parcel.answer;
    let usage = answer.usage.as_ref().map(counters);
    let body = Body {
        job: parcel.job.id.as_str(),
        slot,
        item: parcel.item.map(|item| item.name.as_str()),
        model: &answer.model,
        text: &answer.text,
        stop_reason: answer.stop_reason.as_str(),
        usage: usage.map(serde_json::Value::from_iter),
    };
    serde_json::json!(body).to_string()
}

/// The answer below a block of YAML that says where it comes from.
pub(super) fn above(parcel: &Parcel<'_>, slot: &str) -> String {
    let answer = parcel.answer;
    let texts = [
        ("job", Some(parcel.job.id.as_str())),
        ("slot", Some(slot)),
        ("item", parcel.item.map(|item| item.name.as_str())),
        ("model", Some(answer.model.as_str())),
        ("message", Some(answer.id.as_str())),
    ];
    let mut block = String::from("---\n");
    for (name, text) in texts {
        let line = text.map(|text| format!("{name}: {}\n", quoted(text)));
        block.push_str(&line.unwrap_or_default());
    }
    if let Some(usage) = &answer.usage {
        let lines = counters(usage).map(|(name, count)| format!("  {name}: {count}\n"));
        block.extend(["usage:\n".to_owned()].into_iter().chain(lines));
    }
    block + "---\n\n" + &answer.text
}

/// A text in double quotes, which YAML and JSON read alike, whatever is in it.
fn quoted(text: &str) -> String {
    let code = |c: char| format!("\\u{:04x}", u32::from(c));
    let sign = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        '\n' => "\\n".to_owned(),
        // What YAML does not take for printable, or for the end of a line.
        '\u{2028}' | '\u{2029}' | '\u{feff}' | '\u{fffe}' | '\u{ffff}' => code(c),
        c if c.is_control() => code(c),
        c => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(sign).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_text_is_read_back_as_it_was() {
        let hostile = "a: \"b\" # \\ {x}\n---\n\u{7}\u{85}\u{2028}\u{feff}é😀'";
        for text in ["", "no", "1", "~", "2026-12-05", "- x", hostile] {
            let line = quoted(text);
            assert!(!line.contains('\n'), "{line}");
            assert_eq!(serde_yaml::from_str::<String>(&line).unwrap(), text);
            assert_eq!(serde_json::from_str::<String>(&line).unwrap(), text);
        }
    }
}
