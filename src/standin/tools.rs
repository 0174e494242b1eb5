//! Answers with server tools: those that pause, and those whose tool failed.
//!
//! What an answer pauses with depends on the prompt alone, so that the
//! stand-in knows without a memory whether it was sent back unchanged.

use serde_json::{Value, json};

use super::fault::ToolError;
use super::ledger::hash;

/// What an answer to a prompt pauses with, after so many pauses before.
pub(super) fn paused(prompt: &str, before: usize) -> Vec<Value> {
    let mark = hash(format!("{before} {prompt}").as_bytes());
    let id = format!("srvtoolu_standin_{mark:016x}");
    let found = json!({
        "type": "web_search_result", "url": "https://example.com/", "title": "An example",
        "encrypted_content": format!("{mark:032x}"), "page_age": null,
    });
    vec![
        json!({ "type": "thinking", "thinking": "The prompt asks for more than I know.", "signature": format!("{mark:x}") }),
        json!({ "type": "text", "text": "Let me look that up.\n" }),
        json!({ "type": "server_tool_use", "id": id, "name": "web_search", "input": { "query": prompt } }),
        json!({ "type": "web_search_tool_result", "tool_use_id": id, "content": [found] }),
    ]
}

/// How many searches are among these blocks; an answer pauses after each.
pub(super) fn searches(content: &[Value]) -> usize {
    let is_search = |block: &&Value| block["type"] == "server_tool_use";
    content.iter().filter(is_search).count()
}

/// Whether these are the blocks of one or more pauses of the answer to this prompt, unchanged.
pub(super) fn goes_on(prompt: &str, said: &[Value]) -> bool {
    let pauses = searches(said);
    let expected: Vec<Value> = (0..pauses).flat_map(|n| paused(prompt, n)).collect();
    pauses > 0 && expected == said
}

/// A tool that was asked and failed.
pub(super) fn failed(error: &ToolError) -> Vec<Value> {
    let ToolError { tool, code } = error;
    let id = "srvtoolu_standin_failed";
    let content = json!({ "type": format!("{tool}_tool_result_error"), "error_code": code });
    vec![
        json!({ "type": "server_tool_use", "id": id, "name": tool, "input": {} }),
        json!({ "type": format!("{tool}_tool_result"), "tool_use_id": id, "content": content }),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_said_goes_on() {
        let first = paused("digest", 0);
        let both = [first.clone(), paused("digest", 1)].concat();
        assert!(goes_on("digest", &first) && goes_on("digest", &both));
        assert!(!goes_on("another", &first));
        assert!(!goes_on("digest", &[]));
        assert!(!goes_on("digest", &both[1..]));
        assert!(!goes_on("digest", &[first.clone(), first.clone()].concat()));
        let mut changed = first;
        changed[0]["signature"] = json!("other");
        assert!(!goes_on("digest", &changed));
    }
}
