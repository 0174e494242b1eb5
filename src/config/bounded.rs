//! Reads a text file of bearable size, and says what is wrong with one that is none.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use super::context::{must_be_a_file, reason};

/// Half of what a request may hold; ten thousand jobs in one file take a quarter of this.
const MAX_BYTES: u64 = 16 * 1_024 * 1_024;

/// Why a file gives no text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unread {
    /// The system refuses.
    #[error("{reason}")]
    Refused {
        /// What it says.
        reason: String,
        /// What can be done.
        help: &'static str,
    },
    /// It is a folder, a pipe or a device.
    #[error("{0}")]
    NoFile(String),
    /// It is larger than any file of ours needs to be.
    #[error("it is larger than {} MB", MAX_BYTES >> 20)]
    TooLarge,
    /// It is a text in another encoding, with its mark of byte order.
    #[error("it is UTF-16 text, expected UTF-8")]
    Utf16,
    /// A byte that UTF-8 cannot have.
    #[error("it is not UTF-8 text: the byte 0x{byte:02X} stands in line {line}, column {column}")]
    NotUtf8 {
        /// The byte.
        byte: u8,
        /// Its line, counted from 1.
        line: usize,
        /// Its character in the line, counted from 1.
        column: usize,
    },
}

impl Unread {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Refused { help, .. } => help,
            Self::NoFile(_) => "only regular files are read; take it out of the folder of jobs",
            Self::TooLarge => "divide it into several files",
            Self::Utf16 => "save it as UTF-8, without a mark of byte order if you can choose",
            Self::NotUtf8 { .. } => "save the file as UTF-8",
        }
    }

    fn refused(error: &std::io::Error, path: &Path) -> Self {
        let is_link = path.is_symlink();
        let (reason, help) = match error.kind() {
            ErrorKind::NotFound if is_link => (
                "it is a link to a file that is not there".to_owned(),
                "mend the link, or take it away",
            ),
            ErrorKind::NotFound => (reason(error), "look at the name, or leave it out"),
            ErrorKind::PermissionDenied => (
                reason(error),
                "let the user who runs offpeak read it and enter the folders above it",
            ),
            _ if is_link && std::fs::metadata(path).is_err() => (
                "it is a link that leads back to itself".to_owned(),
                "mend the link, or take it away",
            ),
            _ => (reason(error), "look at the disk and try again"),
        };
        Self::Refused { reason, help }
    }
}

/// The text of a file.
pub fn read_bounded(path: &Path) -> Result<String, Unread> {
    let refused = |error: std::io::Error| Unread::refused(&error, path);
    std::fs::metadata(path).map_err(refused)?;
    must_be_a_file(path).map_err(Unread::NoFile)?;
    let file = File::open(path).map_err(refused)?;
    let mut bytes = Vec::new();
    let read = file
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(refused)?;
    if u64::try_from(read).is_ok_and(|bytes| bytes > MAX_BYTES) {
        return Err(Unread::TooLarge);
    }
    text(bytes)
}

/// Bytes as text; the first that is none, with its place.
fn text(bytes: Vec<u8>) -> Result<String, Unread> {
    String::from_utf8(bytes).map_err(|error| {
        let (valid, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
        if matches!(error.as_bytes(), [0xFE, 0xFF, ..] | [0xFF, 0xFE, ..]) {
            return Unread::Utf16;
        }
        let before = String::from_utf8_lossy(valid);
        let line = before.rsplit('\n').next().unwrap_or_default();
        Unread::NotUtf8 {
            byte: rest.first().copied().unwrap_or_default(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_are_no_text_are_named_with_their_place() {
        assert_eq!(text("é".into()), Ok("é".to_owned()));
        let said = |bytes: &[u8]| text(bytes.to_vec()).unwrap_err().to_string();
        assert_eq!(
            said(b"a: b\ncaf\xC3\xA9: \xE9\n"),
            "it is not UTF-8 text: the byte 0xE9 stands in line 2, column 7"
        );
        assert_eq!(said(b"\xFF\xFEa\0"), "it is UTF-16 text, expected UTF-8");
        assert_eq!(said(b"\xFE\xFF\0a"), "it is UTF-16 text, expected UTF-8");
    }

    #[test]
    fn a_file_over_the_limit_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("large.yaml");
        let file = File::create(&path).unwrap();
        file.set_len(MAX_BYTES).unwrap();
        assert!(read_bounded(&path).is_ok());
        file.set_len(MAX_BYTES + 1).unwrap();
        let error = read_bounded(&path).unwrap_err();
        assert_eq!(error.to_string(), "it is larger than 16 MB");
        assert_eq!(error.help(), "divide it into several files");
    }

    #[test]
    fn what_is_no_file_says_what_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let said = |name: &str| {
            let error = read_bounded(&folder.path().join(name)).unwrap_err();
            format!("{error}; {}", error.help())
        };
        assert_eq!(
            said("none"),
            "no such file; look at the name, or leave it out"
        );
        assert_eq!(
            said("."),
            "it is no regular file; only regular files are read; take it out of the folder of jobs"
        );
    }
}
