//! A key that stands nowhere else, and the search for it.

use std::collections::hash_map::RandomState;
use std::fs;
use std::hash::{BuildHasher, Hasher};
use std::path::Path;

/// A key with a random mark.
pub struct Mark {
    /// The key: signs that URLs, HTML, JSON and Base64 spell in another way, and the mark.
    pub key: String,
    needles: Vec<(&'static str, String)>,
}

impl Mark {
    pub fn new() -> Self {
        let mark = format!("{:016x}q{:016x}", random(), random());
        let key = format!("gw+{mark}/&\"~");
        let mut needles = vec![("as it is", mark.clone())];
        for codes in ["%{}", "\\u00{}"] {
            needles.push(("as codes", coded(&mark, codes).to_ascii_lowercase()));
        }
        // With none, one or two bytes before it; what its neighbours can change is cut off.
        for before in 0..3 {
            let inside = base64(&format!("{}{mark}", &"xx"[..before]));
            needles.push(("in Base64", inside[4..40].to_owned()));
        }
        Self { key, needles }
    }

    /// The key as a reply may give it back; the last ones with marks that cannot be seen inside.
    pub fn spellings(&self) -> Vec<String> {
        let key = &self.key;
        let html = key.replace('&', "&amp;").replace('"', "&quot;");
        let url = key
            .replace('+', "%2B")
            .replace('/', "%2F")
            .replace('&', "%26")
            .replace('"', "%22");
        vec![
            key.clone(),
            format!("Bearer {key}"),
            html,
            url,
            coded(key, "%{}"),
            coded(key, "\\u00{}"),
            key.replace('"', "\\\"").replace('/', "\\/"),
            base64(key),
            base64(&format!("u:{key}")),
            base64(&format!("Bearer {key}")),
            key.chars().flat_map(|c| [c, '\u{200b}']).collect(),
        ]
    }

    /// How the mark is spelt where it is found.
    pub fn found_in(&self, bytes: &[u8]) -> Option<&'static str> {
        // A mark that cannot be seen hides nothing from a reader, and a code means the same in both cases.
        let seen: String = String::from_utf8_lossy(bytes).replace('\u{200b}', "");
        let folded = seen.to_ascii_lowercase();
        let mut needles = self.needles.iter();
        let found = needles
            .find(|(_, needle)| seen.contains(needle.as_str()) || folded.contains(needle.as_str()));
        found.map(|(spelling, _)| *spelling)
    }

    #[track_caller]
    pub fn is_not_in(&self, what: &str, bytes: &[u8]) {
        if let Some(spelling) = self.found_in(bytes) {
            panic!(
                "the key stands in {what}, {spelling}:\n{}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    /// Looks into every file, hidden and temporary ones too.
    #[track_caller]
    pub fn is_in_no_file_below(&self, folder: &Path) {
        let (mut open, mut files) = (vec![folder.to_owned()], 0);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    open.push(path);
                } else {
                    files += 1;
                    self.is_not_in(&path.display().to_string(), &fs::read(&path).unwrap());
                }
            }
        }
        assert!(files > 2, "{files} files");
    }
}

/// What seeds the hash tables of the standard library.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Every sign as its code, in the form of `%{}`.
fn coded(text: &str, form: &str) -> String {
    text.bytes()
        .map(|byte| form.replace("{}", &format!("{byte:02X}")))
        .collect()
}

fn base64(text: &str) -> String {
    const SIGNS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |bytes: &[u8]| {
        let at = |n: usize| u32::from(bytes.get(n).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        let sign = move |n: u32| char::from(SIGNS[(bits >> (18 - 6 * n) & 63) as usize]);
        (0..4)
            .map(move |n| {
                if n as usize > bytes.len() {
                    '='
                } else {
                    sign(n)
                }
            })
            .collect::<String>()
    };
    text.as_bytes().chunks(3).map(group).collect()
}
