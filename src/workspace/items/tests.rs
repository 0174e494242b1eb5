//! Each kind of list, both sides of its bounds, and what is no item.

use std::os::unix::fs::symlink;

use super::*;

fn folder(names: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "x").unwrap();
    }
    folder
}

fn names(items: Result<Vec<Item>, WorkspaceError>) -> Vec<String> {
    items.unwrap().into_iter().map(|item| item.name).collect()
}

fn said(items: Result<Vec<Item>, WorkspaceError>) -> String {
    items.unwrap_err().to_string()
}

#[test]
fn files_come_by_name_byte_for_byte_and_hidden_ones_do_not() {
    let folder = folder(&[
        "b.md",
        "a/x.md",
        "a.md",
        "B.md",
        "a-b.md",
        "ä.md",
        ".h.md",
        ".git/c.md",
        "a/.h/d.md",
        "notes.txt",
    ]);
    let found = |pattern| names(files(folder.path(), pattern));
    let expected = ["B.md", "a-b.md", "a.md", "a/x.md", "b.md", "ä.md"];
    assert_eq!(found("**/*.md"), expected);
    assert_eq!(found("*.md"), ["B.md", "a-b.md", "a.md", "b.md", "ä.md"]);
    assert_eq!(found("*/*.md"), ["a/x.md"]);
    assert_eq!(found("[ab].md"), ["a.md", "b.md"]);
    assert_eq!(found(".git/*"), [".git/c.md"]);
    assert_eq!(found("notes.txt"), ["notes.txt"]);
    assert_eq!(found("none*"), [""; 0]);
}

#[test]
fn links_to_files_count_and_links_to_folders_do_not() {
    let folder = folder(&["docs/a.md", "real/b.md"]);
    let at = |name: &str| folder.path().join(name);
    symlink(at("real/b.md"), at("docs/link.md")).unwrap();
    symlink(at("docs"), at("docs/loop")).unwrap();
    symlink(at("real"), at("docs/real.md")).unwrap();
    symlink(at("gone"), at("docs/broken.md")).unwrap();
    fs::create_dir(at("docs/folder.md")).unwrap();
    let found = names(files(&at("docs"), "**/*.md"));
    assert_eq!(found, ["a.md", "link.md"]);
}

#[test]
fn folder_behind_a_link_is_looked_into_if_the_pattern_begins_with_it() {
    let folder = folder(&["real/b.md"]);
    let link = folder.path().join("link");
    symlink(folder.path().join("real"), &link).unwrap();
    assert_eq!(names(files(&link, "*.md")), ["b.md"]);
}

#[test]
fn missing_folder_is_told_of() {
    let folder = folder(&[]);
    let gone = folder.path().join("gone");
    let expected = format!(
        "cannot read {}: No such file or directory (os error 2)",
        gone.display()
    );
    assert_eq!(said(files(&gone, "*.md")), expected);
}

#[test]
fn name_that_is_no_plain_text_is_told_of() {
    use std::os::unix::ffi::OsStrExt;
    for name in [&b"a\xff.md"[..], b"a\nb.md"] {
        let folder = folder(&["a.md"]);
        let odd = folder.path().join(std::ffi::OsStr::from_bytes(name));
        fs::write(odd, "x").unwrap();
        let said = said(files(folder.path(), "*.md"));
        assert!(said.ends_with("is no plain text; rename it"), "{said}");
    }
}

#[test]
fn ten_thousand_items_are_taken_and_one_more_is_not() {
    let text = "x\n".repeat(MAX_ITEMS);
    assert_eq!(lines("list", &text).unwrap().len(), MAX_ITEMS);
    let too_many =
        "list: there are more than 10000 items; make several jobs of it, each with a part of them";
    assert_eq!(said(lines("list", &(text.clone() + "x"))), too_many);
    assert_eq!(
        said(records("list", &"1\n".repeat(MAX_ITEMS + 1))),
        too_many
    );
    let list = format!("[{}1]", "1,".repeat(MAX_ITEMS));
    assert_eq!(said(records("list", &list)), too_many);
}

#[test]
fn files_beyond_ten_thousand_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..=MAX_ITEMS {
        fs::File::create(folder.path().join(number.to_string())).unwrap();
    }
    let said = said(files(folder.path(), "*"));
    assert!(
        said.contains("/*: there are more than 10000 items"),
        "{said}"
    );
    fs::remove_file(folder.path().join("0")).unwrap();
    assert_eq!(files(folder.path(), "*").unwrap().len(), MAX_ITEMS);
}

#[test]
fn lines_are_named_by_their_place_and_known_by_their_content() {
    let items = lines("list", "\u{feff}one\r\n\n  \ntwo \none\n").unwrap();
    let seen: Vec<_> = items
        .iter()
        .map(|item| (item.name.as_str(), item.text.as_deref().unwrap()))
        .collect();
    assert_eq!(
        seen,
        [("line 1", "one"), ("line 4", "two "), ("line 5", "one")]
    );
    assert_eq!(items[2].key, format!("{}-2", items[0].key));
    assert_eq!(items[2].mark, items[0].mark);
    assert_ne!(items[1].key, items[0].key);
    // A line that moved is the same item.
    let moved = lines("list", "new\none\n").unwrap();
    assert_eq!(moved[1].key, items[0].key);
    assert!(lines("list", " \n\n").unwrap().is_empty());
}

#[test]
fn records_are_a_list_or_stand_one_a_line() {
    let texts = |text: &str| -> Vec<String> {
        let items = records("list", text).unwrap();
        items.into_iter().map(|item| item.text.unwrap()).collect()
    };
    let expected = [r#"{"b":1,"a":2}"#, "[3]", "null"];
    assert_eq!(
        texts("\n[\n {\"b\": 1, \"a\": 2},\n [3], null ]\n"),
        expected
    );
    assert_eq!(texts("{\"b\":1,\"a\":2}\n\n  [3]\r\nnull"), expected);
    assert_eq!(texts("[3]\n[4]\n"), ["[3]", "[4]"]);
    assert_eq!(texts("[]"), [""; 0]);
    assert_eq!(texts(" \n"), [""; 0]);
    assert_eq!(names(records("list", "1\n\n2")), ["record 1", "record 2"]);
}

#[test]
fn broken_record_is_told_of_with_its_line() {
    let way = "write one JSON value a line, or one list of them";
    for (text, expected) in [
        (
            "{\"a\": 1}\n\n{\"a\": }\n",
            format!("list:3:7: expected value; {way}"),
        ),
        (
            "{\"a\": 1\n",
            format!("list:1:7: EOF while parsing an object; {way}"),
        ),
        (
            "[\n 1,\n 2 3]",
            format!("list:3:4: expected `,` or `]`; {way}"),
        ),
        (
            "[3]\n[4\n",
            format!("list:2:2: EOF while parsing a list; {way}"),
        ),
        ("1 2\n", format!("list:1:3: trailing characters; {way}")),
    ] {
        assert_eq!(said(records("list", text)), expected, "{text}");
    }
}

#[test]
fn mark_is_that_of_the_content() {
    let folder = folder(&["a", "b"]);
    let mark = |name: &str| mark_of_file(&folder.path().join(name), 5).unwrap();
    // Of SHA-256 of `x`, the first 16 bytes.
    assert_eq!(mark("a"), "2d711642b726b04401627ca9fbac32f5");
    assert_eq!(mark("b"), mark("a"));
    fs::write(folder.path().join("b"), "y").unwrap();
    assert_ne!(mark("b"), mark("a"));
    assert!(mark_of_file(folder.path(), 5).is_err());
}
