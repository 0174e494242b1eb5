//! Places that no answer may take: what offpeak itself reads and keeps.
//!
//! An answer that became a job would be run, with whatever commands it names;
//! one in the place of the store or of a key would cost the history or the key.

use std::fs;
use std::path::{Path, PathBuf};

/// Places that no output may take, by whatever name it gets there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reserved {
    /// Folders with all that is in them: the store.
    pub folders: Vec<PathBuf>,
    /// Single files: the settings, keys.
    pub files: Vec<PathBuf>,
    /// Folders whose YAML files are jobs.
    pub job_folders: Vec<PathBuf>,
}

impl Reserved {
    /// Why a file may not be written; `None` if it may.
    pub(super) fn refuses(&self, path: &Path) -> Option<&'static str> {
        let path = real(path);
        if self.folders.iter().any(|it| path.starts_with(real(it))) {
            Some("lies in the store's folder")
        } else if self.files.iter().any(|it| path == real(it)) {
            Some("is a file that offpeak reads")
        } else if self.job_folders.iter().any(|it| is_job(&path, &real(it))) {
            Some("would become a job")
        } else {
            None
        }
    }
}

/// Whether a file is read as a job of this folder: YAML directly in it.
fn is_job(path: &Path, folder: &Path) -> bool {
    let extension = path.extension().map(std::ffi::OsStr::to_ascii_lowercase);
    let is_yaml = extension.is_some_and(|it| it == "yaml" || it == "yml");
    is_yaml && path.parent() == Some(folder)
}

/// The path without links, as far as it is there.
pub(super) fn real(path: &Path) -> PathBuf {
    for known in path.ancestors() {
        if let (Ok(found), Ok(rest)) = (fs::canonicalize(known), path.strip_prefix(known)) {
            // Joined with nothing, a path would get a slash at its end.
            return if rest.as_os_str().is_empty() {
                found
            } else {
                found.join(rest)
            };
        }
    }
    path.to_owned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    // An answer could be written over the store or a key through a link, and become a job whose commands were run.
    #[test]
    fn no_name_leads_to_what_offpeak_reads_and_keeps() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [".offpeak", "jobs", "jobs/deep", "out"] {
            fs::create_dir(at(name)).unwrap();
        }
        fs::write(at("key"), "sk-ant-1").unwrap();
        for (link, end) in [("st", ".offpeak"), ("jl", "jobs"), ("kl", "key")] {
            symlink(at(end), at(link)).unwrap();
        }
        let reserved = Reserved {
            folders: vec![at(".offpeak")],
            files: vec![at("offpeak.yaml"), at("key")],
            job_folders: vec![at("jobs")],
        };
        let store = Some("lies in the store's folder");
        let read = Some("is a file that offpeak reads");
        let job = Some("would become a job");
        for (name, expected) in [
            (".offpeak/offpeak.db", store),
            ("st/offpeak.db", store),
            ("st/new/a.md", store),
            ("key", read),
            ("kl", read),
            ("offpeak.yaml", read),
            ("jobs/new.yaml", job),
            ("jl/new.YML", job),
            ("jobs/notes.md", None),
            ("jobs/deep/a.yaml", None),
            ("out/a.yaml", None),
        ] {
            assert_eq!(reserved.refuses(&at(name)), expected, "{name}");
        }
    }
}
