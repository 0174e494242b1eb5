//! Where a picture, a calendar or a page goes, and what it may take the place of.
//!
//! A file is replaced in one step, and only by its like: a path that names a
//! job file, `offpeak.yaml`, a prompt or a key by mistake is refused, whatever
//! it is called, because it does not begin as its like does.

use std::fs::{self, File, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{CliError, Context};
use crate::config::is_yaml;

/// What is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// An SVG picture.
    Svg,
    /// An iCalendar.
    Ics,
    /// A page for a browser.
    Html,
}

impl Content {
    const fn flag(self) -> &'static str {
        match self {
            Self::Svg => "--svg",
            Self::Ics => "--ics",
            Self::Html => "--html",
        }
    }

    const fn noun(self) -> &'static str {
        match self {
            Self::Svg => "picture",
            Self::Ics => "calendar",
            Self::Html => "page",
        }
    }

    /// How every file of its kind begins.
    const fn beginnings(self) -> &'static [&'static [u8]] {
        match self {
            Self::Svg => &[b"<svg", b"<?xml"],
            Self::Ics => &[b"BEGIN:VCALENDAR"],
            Self::Html => &[b"<!doctype html>", b"<!DOCTYPE html>"],
        }
    }
}

/// Where it goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// To standard output, in place of what is printed else.
    Stdout,
    /// To this file.
    File(PathBuf),
}

impl Target {
    /// The target of a path of the command line, `-` for standard output.
    ///
    /// # Errors
    ///
    /// The path names something that must not be replaced.
    pub fn of(shell: &Context, shown: &Path, content: Content) -> Result<Self, CliError> {
        if shown == Path::new("-") {
            return Ok(Self::Stdout);
        }
        let path = shell.path(shown);
        match obstacle(&path, content) {
            Ok(None) => Ok(Self::File(path)),
            Ok(Some(obstacle)) => Err(CliError::Refused {
                what: format!("{} {}: {obstacle}", content.flag(), shown.display()),
                help: format!("name another file, or `{} -` to print it", content.flag()),
            }),
            Err(source) => Err(CliError::File { path, source }),
        }
    }

    /// Whether it is standard output.
    pub const fn is_stdout(&self) -> bool {
        match self {
            Self::Stdout => true,
            Self::File(_) => false,
        }
    }

    /// Writes the text; what was done, in a line, if it is worth one.
    pub fn put(
        &self,
        content: Content,
        text: &str,
        out: &mut dyn Write,
    ) -> Result<Option<String>, CliError> {
        match self {
            Self::Stdout => {
                out.write_all(text.as_bytes())?;
                Ok(None)
            }
            Self::File(path) => {
                let written = replace(path, text.as_bytes()).map_err(|source| CliError::File {
                    path: path.clone(),
                    source,
                })?;
                Ok(Some(format!(
                    "wrote the {} {}",
                    content.noun(),
                    written.display()
                )))
            }
        }
    }
}

/// What stands in the way of a file at a path; `None` if nothing does.
fn obstacle(path: &Path, content: Content) -> io::Result<Option<String>> {
    if is_yaml(path) {
        return Ok(Some("jobs and settings have such names".to_owned()));
    }
    if !folder_of(path).is_dir() {
        return Ok(Some("there is no such folder".to_owned()));
    }
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    if found.is_dir() {
        return Ok(Some("it is a folder".to_owned()));
    }
    if !found.is_file() {
        return Ok(Some("it is no regular file".to_owned()));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(64).read_to_end(&mut begin)?;
    let is_like = content
        .beginnings()
        .iter()
        .any(|like| begin.starts_with(like));
    let noun = content.noun();
    Ok((!is_like && !begin.is_empty()).then(|| format!("it is there and holds no {noun}")))
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if folder != Path::new("") => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Puts a file in its place in one step, and says where in full; its folder must be there. Behind a link, what it
/// points to is replaced.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut new = tempfile::Builder::new()
        .prefix(".offpeak-")
        .suffix(".tmp")
        .permissions(Permissions::from_mode(0o666))
        .tempfile_in(folder_of(&path))
        .map_err(|error| without_path(&error))?;
    new.write_all(bytes).map_err(|error| without_path(&error))?;
    if let Ok(old) = fs::metadata(&path) {
        new.as_file().set_permissions(old.permissions())?;
    }
    new.as_file().sync_all()?;
    new.persist(&path).map_err(|error| error.error)?;
    fs::canonicalize(path)
}

/// What the system says, without the name of the temporary file: nobody knows that one.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let said = text.split(" at path ").next().unwrap_or_default();
    io::Error::new(error.kind(), said)
}
