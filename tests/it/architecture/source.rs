//! Rust files as the rules see them: comments, texts and test code blanked out, every line in its place.

use std::fs;
use std::path::Path;

/// One file of `src`.
#[derive(Debug)]
pub struct Source {
    /// Its path below the crate, such as `src/schedule/cron.rs`.
    pub path: String,
    /// Its module, such as `["schedule", "cron"]`; empty for the roots of the crate.
    pub module: Vec<String>,
    /// The text without comments and test code.
    pub code: String,
    /// The same without what stands in quotes.
    pub bare: String,
    /// How many lines it has without its test code.
    pub lines: usize,
}

impl Source {
    /// Takes a file apart. `path` is relative to the crate.
    pub fn new(path: &str, text: &str) -> Self {
        let bare = blank(text, Blank::CommentsAndTexts);
        let tests = test_items(&bare);
        let without_tests = |text: &str| {
            tests
                .iter()
                .fold(text.to_owned(), |text, range| erase(&text, range.clone()))
        };
        let test_lines: usize = tests
            .iter()
            .map(|range| text[range.clone()].lines().count())
            .sum();
        Self {
            path: path.to_owned(),
            module: module_of(path),
            code: without_tests(&blank(text, Blank::Comments)),
            bare: without_tests(&bare),
            lines: text.lines().count() - test_lines,
        }
    }

    /// The module at the top that the file belongs to; `None` for `lib.rs`.
    pub fn top(&self) -> Option<&str> {
        self.module.first().map(String::as_str)
    }

    /// `path:line` of a byte offset.
    pub fn place(&self, offset: usize) -> String {
        format!(
            "{}:{}",
            self.path,
            self.bare[..offset].matches('\n').count() + 1
        )
    }
}

/// Every file of `src` that is not test code, by path.
pub fn read_all(root: &Path) -> Vec<Source> {
    let mut files = Vec::new();
    collect(root, &root.join("src"), &mut files);
    files.sort();
    let tests: Vec<String> = files
        .iter()
        .flat_map(|(path, text)| test_files(path, text))
        .collect();
    let is_test = |path: &str| {
        tests
            .iter()
            .any(|stem| path == format!("{stem}.rs") || path.starts_with(&format!("{stem}/")))
    };
    files
        .iter()
        .filter(|(path, _)| !is_test(path))
        .map(|(path, text)| Source::new(path, text))
        .collect()
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(root, &path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let name = path
                .strip_prefix(root)
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned();
            files.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// `src/a/b.rs` and `src/a/b/mod.rs` are `["a", "b"]`; the roots are `[]` and `["main"]`.
fn module_of(path: &str) -> Vec<String> {
    let path = path.trim_start_matches("src/").trim_end_matches(".rs");
    let path = path.trim_end_matches("/mod");
    path.split('/')
        .filter(|part| *part != "lib")
        .map(str::to_owned)
        .collect()
}

/// The files that a file declares as `#[cfg(test)] mod name;`, without their extension.
fn test_files(path: &str, text: &str) -> Vec<String> {
    let folder = path
        .trim_end_matches(".rs")
        .trim_end_matches("/mod")
        .trim_end_matches("/lib");
    let bare = blank(text, Blank::CommentsAndTexts);
    let items = test_items(&bare);
    let names = items.into_iter().filter_map(|range| {
        let item = bare[range].trim_end();
        let name = item.strip_suffix(';')?.rsplit_once("mod ")?.1;
        Some(format!("{folder}/{}", name.trim()))
    });
    names.collect()
}

/// The byte ranges of items under `#[cfg(test)]`, attribute included.
fn test_items(bare: &str) -> Vec<std::ops::Range<usize>> {
    const ATTRIBUTE: &str = "#[cfg(test)]";
    let mut ranges: Vec<std::ops::Range<usize>> = Vec::new();
    for (start, _) in bare.match_indices(ATTRIBUTE) {
        if ranges.last().is_none_or(|range| range.end <= start) {
            let length = item_length(&bare[start + ATTRIBUTE.len()..]);
            ranges.push(start..start + ATTRIBUTE.len() + length);
        }
    }
    ranges
}

/// Where an item ends: at its first `;` or closing brace outside all brackets.
fn item_length(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            '}' if depth == 1 => return at + 1,
            ')' | ']' | '}' => depth -= 1,
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    text.len()
}

fn erase(text: &str, range: std::ops::Range<usize>) -> String {
    let blanks: String = text[range.clone()]
        .bytes()
        .map(|byte| if byte == b'\n' { '\n' } else { ' ' })
        .collect();
    [&text[..range.start], &blanks, &text[range.end..]].concat()
}

/// What [`blank`] blanks out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blank {
    /// Comments, doc comments among them.
    Comments,
    /// What stands in quotes, too.
    CommentsAndTexts,
}

/// The same text with every byte of a comment or a text replaced by a blank; quotes and line ends stay.
pub fn blank(text: &str, what: Blank) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (length, is_blanked) = match c {
            '/' if rest.starts_with("//") => (rest.find('\n').unwrap_or(rest.len()), true),
            '/' if rest.starts_with("/*") => (block_comment(rest), true),
            '"' | 'r' | 'b' | 'c' if starts_word(&out) && quote(rest).is_some() => {
                (quote(rest).unwrap_or(1), what == Blank::CommentsAndTexts)
            }
            '\'' => (
                character(rest),
                what == Blank::CommentsAndTexts && character(rest) > 1,
            ),
            _ => (c.len_utf8(), false),
        };
        let (piece, after) = rest.split_at(length);
        if is_blanked {
            out.extend(
                piece
                    .bytes()
                    .map(|byte| if byte == b'\n' { '\n' } else { ' ' }),
            );
        } else {
            out.push_str(piece);
        }
        rest = after;
    }
    out
}

/// Whether what comes next is not the rest of an identifier: the `r` of `for"` starts no text.
fn starts_word(before: &str) -> bool {
    !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest.starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// The length of the string literal at the beginning, prefix and quotes included; `None` if there is none.
fn quote(text: &str) -> Option<usize> {
    let prefix = text.find(|c| !matches!(c, 'b' | 'c' | 'r'))?;
    let is_raw = text[..prefix].ends_with('r');
    let hashes = text[prefix..]
        .bytes()
        .take_while(|byte| *byte == b'#')
        .count();
    if prefix > 2 || (hashes > 0 && !is_raw) || !text[prefix + hashes..].starts_with('"') {
        return None;
    }
    let body = prefix + hashes + 1;
    if is_raw {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(
            text[body..]
                .find(&end)
                .map_or(text.len(), |at| body + at + end.len()),
        );
    }
    let mut is_escaped = false;
    for (at, c) in text[body..].char_indices() {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '"' => return Some(body + at + 1),
            _ => {}
        }
    }
    Some(text.len())
}

/// The length of the character literal at the beginning; 1 for the quote of a lifetime.
fn character(text: &str) -> usize {
    let body = &text[1..];
    if let Some(escape) = body.strip_prefix('\\') {
        return escape
            .char_indices()
            .skip(1)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(at, _)| at + 3);
    }
    let Some(c) = body.chars().next() else {
        return 1;
    };
    if body[c.len_utf8()..].starts_with('\'') {
        c.len_utf8() + 2
    } else {
        1
    }
}

#[test]
fn comments_and_texts_are_blanked_and_lines_stay() {
    let text = "a // crate::x\n/* b /* c */\n d */ e \"crate::y // \\\" z\" f";
    assert_eq!(
        blank(text, Blank::CommentsAndTexts).replace(' ', ""),
        "a\n\nef"
    );
    assert!(blank(text, Blank::Comments).ends_with("e \"crate::y // \\\" z\" f"));
    assert_eq!(blank(text, Blank::CommentsAndTexts).len(), text.len());
}

#[test]
fn raw_texts_and_characters_are_texts_and_lifetimes_are_not() {
    let text =
        "let a = br#\"x \" // y\"#; 'l: for b in c<'a>('\"', '\\'', '\\u{7f}', b'/') {} // z";
    let bare = blank(text, Blank::CommentsAndTexts);
    assert_eq!(bare.replace(' ', ""), "leta=;'l:forbinc<'a>(,,,b){}");
}

#[test]
fn test_code_is_left_out_and_its_lines_do_not_count() {
    let text = "fn a() {}\n#[cfg(test)]\nmod tests {\n    fn b() { c(); }\n}\nfn d() {}\n";
    let source = Source::new("src/x/y.rs", text);
    assert!(
        source.bare.contains("fn a()")
            && source.bare.contains("fn d()")
            && !source.bare.contains("fn b()")
    );
    assert_eq!(
        (
            source.lines,
            source.place(source.bare.find("fn d").unwrap())
        ),
        (2, "src/x/y.rs:6".to_owned())
    );
}

#[test]
fn test_files_are_found_where_they_are_declared() {
    assert_eq!(
        test_files("src/x/y.rs", "#[cfg(test)]\nmod tests;\nmod z;"),
        ["src/x/y/tests"]
    );
    assert_eq!(
        test_files("src/x/mod.rs", "#[cfg(test)]\npub(crate) mod samples;"),
        ["src/x/samples"]
    );
}

#[test]
fn files_know_their_module() {
    assert_eq!(module_of("src/schedule/mod.rs"), ["schedule"]);
    assert_eq!(
        module_of("src/schedule/cron/fields.rs"),
        ["schedule", "cron", "fields"]
    );
    assert_eq!(module_of("src/main.rs"), ["main"]);
    assert_eq!(module_of("src/lib.rs"), [""; 0]);
}
