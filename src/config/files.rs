//! Finds and reads the YAML files of a configuration.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::bounded::read_bounded;
use super::context::{reason, shown_path};
use super::mistakes::Unreadable;
use super::node::{self, Node};
use super::source::{Place, Source};
use super::value::nearest;

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
        let says = |line: &usize| {
            let line = self.source.text()[self.source.line_span(*line)].trim();
            !line.is_empty() && !line.starts_with('#') && line != "---"
        };
        let line = (1..=self.source.lines()).find(says).unwrap_or(1);
        self.source.place(self.source.line_span(line))
    }

    /// The folder where the file's relative paths start.
    pub fn folder(&self) -> &Path {
        self.source.path().parent().unwrap_or(Path::new("/"))
    }
}

/// Reads one YAML file, or what it is to be after an edit.
pub fn read(
    path: &Path,
    folder: &Path,
    edited: &BTreeMap<PathBuf, String>,
) -> Result<Document, Unreadable> {
    let text = match edited.get(path) {
        Some(text) => text.clone(),
        None => read_bounded(path).map_err(|unread| {
            let help = Some(unread.help().to_owned());
            unreadable(path, folder, &unread.to_string(), help)
        })?,
    };
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

/// Whether a file of this name is read as YAML.
#[must_use]
pub fn is_yaml(path: &Path) -> bool {
    let ending = path.extension().unwrap_or_default();
    ["yaml", "yml"]
        .iter()
        .any(|yaml| ending.eq_ignore_ascii_case(yaml))
}

/// The folders whose YAML files are jobs: those named, those of files that are named, or the folder `jobs`.
pub fn job_folders(named: &[PathBuf], folder: &Path) -> Vec<PathBuf> {
    if named.is_empty() {
        return vec![folder.join("jobs")];
    }
    let roots = named.iter().map(|path| absolute(path));
    let folders = roots.map(|root| match root.parent() {
        Some(parent) if !root.is_dir() => parent.to_owned(),
        Some(_) | None => root,
    });
    folders.collect()
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
                Ok((found, odd)) => {
                    if found.is_empty() && odd.is_empty() {
                        failures.push(empty(&root, folder));
                    }
                    files.extend(found);
                    let told = odd.into_iter().map(|odd| odd.told(folder));
                    failures.extend(told);
                }
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

/// Something in a folder of jobs that looks like a job file and is not read.
enum Odd {
    Folder(PathBuf),
    Misnamed(PathBuf),
}

impl Odd {
    fn path(&self) -> &Path {
        match self {
            Self::Folder(path) | Self::Misnamed(path) => path,
        }
    }

    /// Nobody's job is left out without a word.
    fn told(self, folder: &Path) -> Unreadable {
        let (path, message, help) = match self {
            Self::Folder(path) => (
                path,
                "this folder has a job file's name, and folders within a folder of jobs are not read",
                "move its files up, or give it another name",
            ),
            Self::Misnamed(path) => (
                path,
                "this looks like a job file, and only *.yaml and *.yml are read",
                "rename it, or give it a name that ends otherwise, such as `.off`",
            ),
        };
        Unreadable {
            path: shown_path(&path, folder),
            place: None,
            message: message.to_owned(),
            help: Some(help.to_owned()),
        }
    }
}

/// The job files directly in a folder, by name, and what looks like one.
///
/// Hidden files and copies that editors leave (`a.yaml~`, `a.yaml.bak`, `#a.yaml#`) are left out on purpose.
fn list(root: &Path) -> io::Result<(Vec<PathBuf>, Vec<Odd>)> {
    let (mut files, mut odd) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir(root)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().as_encoded_bytes();
        let ending = path.extension().and_then(|ending| ending.to_str());
        let Some(ending) = ending.filter(|_| !name.starts_with(b".")) else {
            continue;
        };
        match (is_yaml(&path), path.is_dir()) {
            (true, false) => files.push(path),
            (true, true) => odd.push(Odd::Folder(path)),
            (false, false) if is_misspelt(ending) => odd.push(Odd::Misnamed(path)),
            (false, _) => {}
        }
    }
    files.sort_unstable();
    odd.sort_unstable_by(|a, b| a.path().cmp(b.path()));
    Ok((files, odd))
}

/// `yalm`, `ymal`, `yam`: letters only, so that copies such as `yaml~` do not count.
fn is_misspelt(ending: &str) -> bool {
    let letters = ending.bytes().all(|byte| byte.is_ascii_alphabetic());
    letters && ending.starts_with(['y', 'Y']) && nearest(ending, ["yaml", "yml"]).is_some()
}
