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
use crate::report::PAGE_START;

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

    /// What a file must be to be replaced.
    const fn like(self) -> &'static str {
        match self {
            Self::Svg => "picture",
            Self::Ics => "calendar",
            Self::Html => "page of offpeak",
        }
    }

    /// How every file of its kind begins; of pages those that were made here alone, as any page of a person begins like
    /// any other.
    const fn beginnings(self) -> &'static [&'static str] {
        match self {
            Self::Svg => &["<svg", "<?xml"],
            Self::Ics => &["BEGIN:VCALENDAR"],
            Self::Html => &[PAGE_START],
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
    let folder = folder_of(path);
    if !folder.is_dir() {
        return Ok(Some("there is no such folder".to_owned()));
    }
    let found = match fs::metadata(path) {
        Ok(found) => found,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_link = fs::symlink_metadata(path).is_ok();
            let nowhere = "it is a link that leads nowhere";
            let of_folder = || of_folder(&fs::canonicalize(folder).ok()?);
            return Ok(is_link.then(|| nowhere.to_owned()).or_else(of_folder));
        }
        Err(error) => return Err(error),
    };
    if found.is_dir() {
        return Ok(Some("it is a folder".to_owned()));
    }
    if !found.is_file() {
        return Ok(Some("it is no regular file".to_owned()));
    }
    let shown = of_folder(&fs::canonicalize(folder)?);
    let real = fs::canonicalize(path)?;
    if let Some(obstacle) = shown.or_else(|| of_folder(folder_of(&real))) {
        return Ok(Some(obstacle));
    }
    let mut begin = Vec::new();
    File::open(path)?.take(256).read_to_end(&mut begin)?;
    let is_like = content
        .beginnings()
        .iter()
        .any(|like| begin.starts_with(like.as_bytes()));
    let like = content.like();
    Ok((!is_like && !begin.is_empty()).then(|| format!("it is there and holds no {like}")))
}

/// What stands in the way of any file in a folder. What the system shows as files there is none, and may lead to what
/// is printed; in the folder of a store every name may be one that the store makes, also where there is no file of it now.
fn of_folder(folder: &Path) -> Option<String> {
    let mut systems = ["/dev", "/proc", "/sys"].iter();
    if systems.any(|of| folder.starts_with(of)) {
        return Some("the system keeps that folder".to_owned());
    }
    let is_store = folder.join("offpeak.db").exists();
    is_store.then(|| "the store keeps its files there".to_owned())
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
