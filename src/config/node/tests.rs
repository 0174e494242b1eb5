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
fn an_unquoted_cron_expression_is_explained() {
    for (text, place) in [
        ("cron: */5 * * * *\n", "a.yaml:1:7 `*/5 * * * *`"),
        ("cron: * 5 * * *\n", "a.yaml:1:7 `* 5 * * *`"),
        ("a: 1\ncron: @daily # x\n", "a.yaml:2:7 `@daily`"),
        ("cron: [*/5 * * * *, x]\n", "a.yaml:1:8 `*/5 * * * *`"),
        ("cron:\n  - * * * * *\n", "a.yaml:2:5 `* * * * *`"),
    ] {
        let (message, help) = error(text);
        assert_eq!(
            message,
            format!(
                "{place}: this is no YAML: a value cannot begin with `*` or `@` without quotes"
            )
        );
        assert_eq!(
            help.as_deref(),
            Some("put the cron expression in quotes"),
            "{text}"
        );
    }
}

#[test]
fn other_broken_texts_say_where_they_break() {
    assert_eq!(
        error("a: \"x\n").0,
        "a.yaml:1:4 `\"`: this is no YAML: unclosed quote"
    );
    assert_eq!(
        error("a: b: c\n").0,
        "a.yaml:1:5 `:`: this is no YAML: mapping values are not allowed in this context"
    );
    assert_eq!(
        error("a: *nope\n").0,
        "a.yaml:1:4 `*`: this is no YAML: alias references unknown anchor"
    );
    let (message, help) = error("a: 1\n---\nb: 2\n");
    assert!(message.starts_with("a.yaml:3:1 `"), "{message}");
    assert_eq!(
        help.as_deref(),
        Some("put each job in a file of its own, or all of them under `jobs:`")
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
    assert!(error.message.contains("nodes"), "{}", error.message);
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
