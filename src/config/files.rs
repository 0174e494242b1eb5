//! Finds and reads the YAML files of a configuration.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::context::{read_bounded, reason, shown_path};
use super::mistakes::Unreadable;
use super::node::{self, Node};
use super::source::{Place, Source};

/// One YAML file, parsed.
#[derive(Debug)]
pub struct Document {
    /// Its text.
    pub source: Arc<Source>,
    /// Its tree.
    pub tree: Node,
}

impl Document {
    /// The first line that says something: a mistake of the whole file is marked there.
    pub fn start(&self) -> Place {
        let says = |line: &str| {
            let line = line.trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        let first = self.source.text().lines().position(says);
        let line = first.map_or(1, |index| index + 1);
        self.source.place(self.source.line_span(line))
    }

    /// The folder where the file's relative paths start.
    pub fn folder(&self) -> &Path {
        self.source.path().parent().unwrap_or(Path::new("/"))
    }
}

/// Reads one YAML file.
pub fn read(path: &Path, folder: &Path) -> Result<Document, Unreadable> {
    let text = read_bounded(path).map_err(|message| unreadable(path, folder, &message, None))?;
    let source = Source::new(path.to_owned(), &shown_path(path, folder), text);
    parse(source)
}

/// Parses a source; again, if its text was masked since.
pub fn parse(source: Arc<Source>) -> Result<Document, Unreadable> {
    match node::parse(&source) {
        Ok(tree) => Ok(Document { source, tree }),
        Err(error) => Err(Unreadable {
            path: source.name().to_owned(),
            place: error.place,
            message: error.message,
            help: error.help,
        }),
    }
}

fn unreadable(path: &Path, folder: &Path, message: &str, help: Option<String>) -> Unreadable {
    Unreadable {
        path: shown_path(path, folder),
        place: None,
        message: format!("cannot be read: {message}"),
        help,
    }
}

/// The job files: those named, and those directly in the folders named, by name; or those in the folder `jobs`.
pub fn find_jobs(named: &[PathBuf], folder: &Path) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let default = [folder.join("jobs")];
    let roots: Vec<PathBuf> = if named.is_empty() {
        default.to_vec()
    } else {
        named.iter().map(|path| absolute(path)).collect()
    };
    let mut files = Vec::new();
    let mut failures = Vec::new();
    for root in roots {
        if root.is_dir() {
            match list(&root) {
                Ok(found) if found.is_empty() => failures.push(empty(&root, folder)),
                Ok(found) => files.extend(found),
                Err(error) => failures.push(unreadable(&root, folder, &reason(&error), None)),
            }
        } else if !named.is_empty() {
            files.push(root);
        } else {
            failures.push(no_jobs(&root, folder));
        }
    }
    // A file that is named twice, or named and found in a folder, is read once.
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|file| seen.insert(file.clone()));
    (files, failures)
}

/// Whether something has this name, though it may be a broken link or may not be read.
pub fn is_there(path: &Path) -> bool {
    match path.symlink_metadata() {
        Ok(_) => true,
        Err(error) => !is_missing(&error),
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// Why the folder of jobs that nobody named is no folder.
fn no_jobs(root: &Path, folder: &Path) -> Unreadable {
    match root.metadata() {
        Ok(_) => {
            let help =
                "make it a folder of job files, or name it as a job file on the command line";
            unreadable(root, folder, "it is no folder", Some(help.to_owned()))
        }
        Err(error) if !is_missing(&error) => unreadable(root, folder, &reason(&error), None),
        Err(_) => Unreadable {
            message: if folder.is_dir() {
                "there is no such folder".to_owned()
            } else if folder.exists() {
                format!("the working folder {} is no folder", folder.display())
            } else {
                format!("there is no working folder {}", folder.display())
            },
            ..empty(root, folder)
        },
    }
}

/// A path from the command line, relative to where the command runs.
pub fn absolute(path: &Path) -> PathBuf {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    // `jobs/.` and `./jobs` name what `jobs` names; `..` may cross a link and stays.
    absolute.components().collect()
}

fn empty(root: &Path, folder: &Path) -> Unreadable {
    let shown = shown_path(root, folder);
    let help = format!("create a job such as {shown}/daily-digest.yaml, or run `offpeak init`");
    Unreadable {
        path: shown,
        place: None,
        message: "there are no job files (*.yaml) in this folder".to_owned(),
        help: Some(help),
    }
}

fn list(root: &Path) -> io::Result<Vec<PathBuf>> {
    let is_job = |path: &Path| {
        let yaml = path
            .extension()
            .is_some_and(|extension| extension == "yaml" || extension == "yml");
        let hidden = path
            .file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        yaml && !hidden
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        if is_job(&path) && !path.is_dir() {
            files.push(path);
        }
    }
    files.sort_unstable();
    Ok(files)
}
