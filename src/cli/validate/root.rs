//! The folder that paths in annotations and in SARIF start from: where the command runs.
//!
//! Findings name files from the working folder; with `-C` that is another
//! folder, and a reader of annotations knows the repository only.

use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

/// Where the command runs; `None` if that folder is gone.
#[derive(Debug)]
pub struct Root(Option<PathBuf>);

impl Root {
    /// The current folder of the process.
    #[must_use]
    pub fn of_process() -> Self {
        Self(std::env::current_dir().ok())
    }

    /// The path from the root for a person or a program, with what moves a terminal taken out; absolute if it lies
    /// outside.
    #[must_use]
    pub fn shown(&self, path: &Path) -> String {
        let below = self.below(path);
        let shown = below.as_deref().unwrap_or(path);
        shown
            .to_string_lossy()
            .replace(char::is_control, "\u{fffd}")
    }

    /// The path as a percent-encoded reference: from the root, or a whole `file:` URI outside.
    #[must_use]
    pub fn uri(&self, path: &Path) -> Uri {
        match self.below(path) {
            Some(below) => Uri::Below(encoded(&below)),
            None => Uri::Outside(format!("file://{}", encoded(path))),
        }
    }

    /// The path below the root; a path with `..` is resolved first, as it may lead back or cross a link.
    fn below(&self, path: &Path) -> Option<PathBuf> {
        let root = self.0.as_deref()?;
        if !path
            .components()
            .any(|part| matches!(part, Component::ParentDir))
        {
            return path.strip_prefix(root).ok().map(Path::to_owned);
        }
        let folder = path.parent()?.canonicalize().ok()?;
        let root = root.canonicalize().ok()?;
        let below = folder.strip_prefix(root).ok()?;
        Some(below.join(path.file_name()?))
    }
}

/// A reference to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Uri {
    /// Relative to the root.
    Below(String),
    /// Absolute.
    Outside(String),
}

/// Everything but the unreserved characters of RFC 3986 and `/` as `%XX`.
fn encoded(path: &Path) -> String {
    let mut encoded = String::new();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                encoded.push(char::from(*byte));
            }
            other => {
                // A string takes whatever is written to it.
                let _ = write!(encoded, "%{other:02X}");
            }
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> Root {
        Root(Some("/srv/night".into()))
    }

    #[test]
    fn a_path_below_the_root_is_relative_and_one_outside_is_whole() {
        let below = Path::new("/srv/night/jobs/a.yaml");
        assert_eq!(root().shown(below), "jobs/a.yaml");
        assert_eq!(root().uri(below), Uri::Below("jobs/a.yaml".to_owned()));
        let outside = Path::new("/srv/nightly/a.yaml");
        assert_eq!(root().shown(outside), "/srv/nightly/a.yaml");
        assert_eq!(
            root().uri(outside),
            Uri::Outside("file:///srv/nightly/a.yaml".to_owned())
        );
        assert_eq!(Root(None).shown(below), "/srv/night/jobs/a.yaml");
    }

    #[test]
    fn a_path_that_leads_out_and_back_is_below() {
        let folder = tempfile::tempdir().unwrap();
        let jobs = folder.path().join("jobs");
        std::fs::create_dir(&jobs).unwrap();
        let root = Root(Some(folder.path().to_owned()));
        assert_eq!(root.shown(&jobs.join("../jobs/a.yaml")), "jobs/a.yaml");
        let out = folder.path().join("../a.yaml");
        assert_eq!(root.shown(&out), out.to_str().unwrap());
    }

    #[test]
    fn a_uri_encodes_what_is_not_plain() {
        assert_eq!(
            root().uri(Path::new("/srv/night/jobs/a b:é%.yaml")),
            Uri::Below("jobs/a%20b%3A%C3%A9%25.yaml".to_owned())
        );
    }

    #[test]
    fn a_name_does_not_move_the_terminal() {
        assert_eq!(
            root().shown(Path::new("/srv/night/\u{1b}[2J\n.yaml")),
            "\u{fffd}[2J\u{fffd}.yaml"
        );
    }
}
