//! The tree, its places, and texts that are no YAML.

use proptest::prelude::*;

use super::*;

fn source(text: &str) -> Arc<Source> {
    Source::new("/w/a.yaml".into(), "a.yaml", text.into())
}

fn tree(text: &str) -> Node {
    parse(&source(text)).unwrap()
}

fn error(text: &str) -> (String, Option<String>) {
    let error = parse(&source(text)).unwrap_err();
    let place = error.place.map_or_else(
        || "nowhere".to_owned(),
        |place| format!("{place} `{}`", place.text()),
    );
    (format!("{place}: {}", error.message), error.help)
}

/// Every scalar of a tree as `line:column text`, in order.
fn scalars(node: &Node) -> Vec<String> {
    match &node.value {
        Value::List(items) => items.iter().flat_map(scalars).collect(),
        Value::Map(entries) => entries
            .iter()
            .flat_map(|entry| [scalars(&entry.key), scalars(&entry.value)].concat())
            .collect(),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(_) => {
            vec![format!(
                "{}:{} {}",
                node.place.line(),
                node.place.column(),
                node.place.text()
            )]
        }
    }
}

#[test]
fn every_key_and_value_has_its_place() {
    let tree = tree("# é\na: [1, \"é\\n\", b]\nc:\n  d: |\n    one\n    two\n\n  e: 'x'\n");
    assert_eq!(
        scalars(&tree),
        [
            "2:1 a",
            "2:5 1",
            "2:8 \"é\\n\"",
            "2:15 b",
            "3:1 c",
            "4:3 d",
            "5:5 one\n    two",
            "8:3 e",
            "8:6 'x'"
        ]
    );
}

#[test]
fn scalars_have_the_type_that_a_user_means() {
    let value = |text: &str| match tree(&format!("a: {text}\n")).value {
        Value::Map(entries) => entries[0].value.value.clone(),
        other => panic!("{other:?}"),
    };
    for (written, meant) in [
        ("12", Value::Int(12)),
        ("0x10", Value::Int(16)),
        ("0.5", Value::Float(0.5)),
        ("true", Value::Bool(true)),
        ("~", Value::Null),
        ("", Value::Null),
        ("yes", Value::Text("yes".into())),
        ("off", Value::Text("off".into())),
        ("012", Value::Text("012".into())),
        ("4_000", Value::Text("4_000".into())),
        ("07:00", Value::Text("07:00".into())),
        ("2023-06-01", Value::Text("2023-06-01".into())),
        (".nan", Value::Text(".nan".into())),
        ("0 5 * * *", Value::Text("0 5 * * *".into())),
    ] {
        assert_eq!(value(written), meant, "{written}");
    }
}

#[test]
fn repeated_keys_are_kept_and_merge_keys_expanded() {
    let tree = tree("a: &x {k: 1}\na: 2\nb: {<<: *x, l: 3}\n");
    assert_eq!(
        scalars(&tree),
        [
            "1:1 a", "1:8 k", "1:11 1", "2:1 a", "2:4 2", "3:1 b", "3:13 l", "3:16 3", "1:8 k",
            "1:11 1"
        ]
    );
}

#[test]
fn an_unquoted_cron_expression_is_written_with_its_quotes() {
    for (text, place, sign, help) in [
        (
            "cron: */5 * * * *\n",
            "1:7 `*/5 * * * *`",
            '*',
            "`cron: \"*/5 * * * *\"`",
        ),
        (
            "cron: * 5,6 * * *\n",
            "1:7 `* 5,6 * * *`",
            '*',
            "`cron: \"* 5,6 * * *\"`",
        ),
        (
            "a: 1\ncron: @daily # x\n",
            "2:7 `@daily`",
            '@',
            "`cron: \"@daily\"`",
        ),
        (
            "cron: [*/5 * * * *, x]\n",
            "1:8 `*/5 * * * *`",
            '*',
            "`\"*/5 * * * *\"`",
        ),
        (
            "cron:\n  - * * * * *\n",
            "2:5 `* * * * *`",
            '*',
            "`- \"* * * * *\"`",
        ),
    ] {
        let (message, said) = error(text);
        assert_eq!(
            message,
            format!(
                "a.yaml:{place}: this is no YAML: a value cannot begin with `{sign}` without quotes"
            )
        );
        assert_eq!(said, Some(format!("put it in quotes: {help}")), "{text}");
    }
}

/// A broken text; where it breaks, what is found, and what to write.
const BROKEN: &[(&str, &str, &str, &str)] = &[
    (
        "a: \"x\n",
        "1:4 `\"`",
        "the quote that opens here is never closed",
        "write the same quote again where the text ends",
    ),
    (
        "a: { b: c\n",
        "1:4 `{`",
        "the bracket that opens here is never closed",
        "close it, or write one field a line without brackets",
    ),
    (
        "a: [b}\n",
        "1:4 `[`",
        "the bracket that opens here is closed by one of another kind",
        "close `{` with `}` and `[` with `]`",
    ),
    (
        "a: ]\n",
        "1:4 `]`",
        "a bracket closes here that was never opened",
        "take it away, or put the text in quotes",
    ),
    (
        "a: b: c\n",
        "1:5 `:`",
        "a `:` stands within a value",
        "put the value in quotes: `a: \"b: c\"`; a map in one line stands in braces: `{ text: hello }`",
    ),
    (
        "a: b\ncron\n",
        "2:1 `c`",
        "a field's name lacks its `:`",
        "write `name: value`, with a blank after the colon",
    ),
    (
        "a: \"b\"\n  c: d\n",
        "2:3 `c`",
        "this line does not begin where the fields around it begin",
        "begin all fields of a map in one column; put a text that goes on over several lines in quotes",
    ),
    (
        "a:\n\tc: d\n",
        "2:1 `\t`",
        "a tab stands where blanks belong",
        "indent with blanks: two for each level",
    ),
    (
        "a: \"b\" c\n",
        "1:8 `c`",
        "something follows the closing quote",
        "put the whole text in one pair of quotes",
    ),
    (
        "a: \"b\\q\"\n",
        "1:4 `\"`",
        "the `\\` in this text begins no escape",
        "write `\\\\` for a backslash, or put the text in single quotes",
    ),
    (
        "a: b\0\n",
        "1:5 `\0`",
        "the character U+0000 cannot stand here",
        "take it away, or put the text in quotes",
    ),
    (
        "a: *nope\n",
        "1:4 `*`",
        "no anchor of this name stands before it",
        "define the anchor first, as in `&name`, or put the text in quotes",
    ),
    (
        "a: &x [*x]\n",
        "1:8 `*x`",
        "this alias stands within its own anchor",
        "write the value out",
    ),
    (
        "<<: 3\n",
        "1:5 `3`",
        "`<<` takes a map or a list of maps",
        "name an anchor of a map: `<<: *name`",
    ),
    (
        "%x\na: b\n",
        "2:1 `a`",
        "a line that begins with `%` is no part of a job",
        "take it away, or put the text in quotes",
    ),
    (
        "a: - b\n",
        "1:4 `-`",
        "a `-` cannot stand here",
        "begin each item of a list on a line of its own, or put the text in quotes",
    ),
];

#[test]
fn broken_texts_say_where_they_break_and_what_to_write() {
    for (text, place, found, help) in BROKEN {
        let (message, said) = error(text);
        assert_eq!(
            message,
            format!("a.yaml:{place}: this is no YAML: {found}"),
            "{text}"
        );
        assert_eq!(said.as_deref(), Some(*help), "{text}");
    }
}

#[test]
fn a_second_document_is_marked_at_its_dashes() {
    let (message, help) = error("a: 1\n--- # next\n\nb: 2\n");
    assert_eq!(
        message,
        "a.yaml:2:1 `---`: this is no single YAML document: a second one begins here"
    );
    assert_eq!(
        help.as_deref(),
        Some("put each job in a file of its own, or all of them under `jobs:`")
    );
}

#[test]
fn one_anchor_may_serve_a_hundred_jobs() {
    // The parser took more than ten aliases of an anchor for an attack.
    let text = format!("a: &a x\nb: [{}]\n", "*a, ".repeat(500));
    assert_eq!(scalars(&tree(&text)).len(), 503);
}

#[test]
fn an_alias_of_a_large_text_is_not_unfolded_without_end() {
    // Each alias is a copy: fifteen thousand of them would have been a hundred gigabytes.
    let text = format!(
        "a: &a {}\nb: [{}]\n",
        "x".repeat(1 << 20),
        "*a, ".repeat(100)
    );
    let found = error(&text).0;
    assert!(
        found.contains("unfold to more than 20000 values"),
        "{found}"
    );
}

#[test]
fn nothing_a_file_holds_costs_much() {
    let nested = "[".repeat(200_000);
    let maps = "{a: ".repeat(100_000);
    let block = (0..2_000).fold(String::new(), |text, depth| {
        text + &" ".repeat(depth) + "a:\n"
    });
    let mut bomb = String::from("a0: &a0 [x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let previous = format!("*a{}, ", level - 1).repeat(9);
        bomb.extend([&format!("a{level}: &a{level} ["), &previous, "]\n"]);
    }
    for text in [nested, maps, block, bomb] {
        assert!(parse(&source(&text)).is_err(), "{}", &text[..40]);
    }
}

#[test]
fn a_file_of_too_many_nodes_is_refused() {
    assert!(parse_within(&source(&"- x\n".repeat(99)), 100).is_ok());
    let error = parse_within(&source(&"- x\n".repeat(100)), 100).unwrap_err();
    assert!(
        error.message.contains("keys and values"),
        "{}",
        error.message
    );
}

proptest! {
    #[test]
    fn any_bytes_give_a_tree_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let text = String::from_utf8_lossy(&bytes);
        let _parsed = parse(&source(&text)).map(|tree| scalars(&tree));
    }

    #[test]
    fn any_text_of_yaml_signs_gives_a_tree_or_an_error(text in r#"[\[\]{}:,?&*!|>'"%@`#\-~ \n\ta-c0-9.<é]{0,80}"#) {
        let _parsed = parse(&source(&text)).map(|tree| scalars(&tree));
    }
}
