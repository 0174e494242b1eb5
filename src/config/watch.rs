//! Whether the files of a configuration have changed, without reading them.

use std::collections::BTreeSet;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use super::files::{self, absolute};
use super::options::Options;

/// What a daemon looks at to learn that its files have changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Watched {
    /// The folders in which a change may matter: of the settings, of the job files, and those that hold such a folder.
    pub folders: BTreeSet<PathBuf>,
    /// Equal as long as no file came, went or was written: names, sizes, times and identities, not contents.
    pub signature: u64,
}

/// Looks at the folders and files that [`super::read()`] would read, the system's zone data among them. Prompts and
/// inputs are read anew for each run and do not count.
#[must_use]
pub fn watched(options: &Options) -> Watched {
    let folder = absolute(&options.folder);
    let settings = options.settings_file(&folder);
    let (jobs, _unreadable) = files::find_jobs(&options.jobs, &folder);
    let roots = if options.jobs.is_empty() {
        vec![folder.join("jobs")]
    } else {
        options.jobs.iter().map(|path| absolute(path)).collect()
    };
    let mut folders: BTreeSet<PathBuf> =
        roots.iter().filter(|root| root.is_dir()).cloned().collect();
    // A folder that is replaced is a change in the one that holds it.
    folders.extend(
        roots
            .iter()
            .chain([&settings])
            .filter_map(|path| parent(path)),
    );
    let mut hasher = DefaultHasher::new();
    let zones = zone_places(&options.zoneinfo);
    for file in jobs.iter().chain([&settings]).chain(&zones) {
        file.hash(&mut hasher);
        identity(file).hash(&mut hasher);
    }
    Watched {
        folders,
        signature: hasher.finish(),
    }
}

/// What changes when zone data is upgraded: the files that name the release, and the folders, as each zone's file is
/// replaced in them. A look between the two finds half of it, and the next look the rest.
fn zone_places(zoneinfo: &Path) -> BTreeSet<PathBuf> {
    let releases = ["tzdata.zi", "+VERSION"].map(|name| zoneinfo.join(name));
    let entries = std::fs::read_dir(zoneinfo).into_iter().flatten().flatten();
    let folders = entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    releases.into_iter().chain(folders).collect()
}

fn parent(path: &Path) -> Option<PathBuf> {
    path.parent().map(Path::to_owned)
}

/// What changes when a file is written or replaced; `None` if it is not there.
fn identity(path: &Path) -> Option<(u64, i64, i64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.len(), found.mtime(), found.mtime_nsec(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn signature(folder: &Path) -> u64 {
        watched(&Options::new(folder)).signature
    }

    #[test]
    fn signature_changes_with_every_file_that_counts_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let write =
            |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        std::fs::create_dir(folder.path().join("jobs")).unwrap();
        let mut seen = vec![signature(folder.path())];
        write("jobs/a.yaml", "cron: 1");
        seen.push(signature(folder.path()));
        write("jobs/a.yaml", "cron: 12");
        seen.push(signature(folder.path()));
        write("offpeak.yaml", "{}");
        seen.push(signature(folder.path()));
        std::fs::rename(
            folder.path().join("jobs/a.yaml"),
            folder.path().join("jobs/b.yaml"),
        )
        .unwrap();
        seen.push(signature(folder.path()));
        std::fs::remove_file(folder.path().join("jobs/b.yaml")).unwrap();
        seen.push(signature(folder.path()));
        let distinct: BTreeSet<u64> = seen.iter().copied().collect();
        assert_eq!(distinct.len(), seen.len());
        write("jobs/notes.md", "x");
        write("other.txt", "x");
        assert_eq!(signature(folder.path()), seen[5]);
    }

    #[test]
    fn zone_data_that_is_upgraded_file_by_file_changes_the_signature_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let zoneinfo = folder.path().join("zoneinfo");
        std::fs::create_dir_all(zoneinfo.join("Asia")).unwrap();
        let options = Options {
            zoneinfo: zoneinfo.clone(),
            ..Options::new(folder.path())
        };
        let put = |name: &str, text: &str| {
            std::fs::write(zoneinfo.join("new"), text).unwrap();
            std::fs::rename(zoneinfo.join("new"), zoneinfo.join(name)).unwrap();
            watched(&options).signature
        };
        let seen = [
            watched(&options).signature,
            put("tzdata.zi", "# version 2099a"),
            put("Asia/Tokyo", "TZif"),
            put("tzdata.zi", "# version 2099b"),
        ];
        let distinct: BTreeSet<u64> = seen.into_iter().collect();
        assert_eq!(distinct.len(), seen.len());
        assert_eq!(watched(&options).signature, seen[3]);
    }

    #[test]
    fn file_that_an_editor_replaced_by_one_of_the_same_size_is_another() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("jobs")).unwrap();
        let (job, new) = (folder.path().join("jobs/a.yaml"), folder.path().join("new"));
        std::fs::write(&job, "cron: 1").unwrap();
        let before = signature(folder.path());
        std::fs::write(&new, "cron: 2").unwrap();
        std::fs::rename(&new, &job).unwrap();
        assert_ne!(signature(folder.path()), before);
    }

    #[test]
    fn folders_of_settings_and_jobs_are_watched_and_what_holds_them() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("jobs")).unwrap();
        let found = watched(&Options::new(folder.path())).folders;
        let expected = [folder.path().to_owned(), folder.path().join("jobs")];
        assert_eq!(found, expected.into_iter().collect());
        let elsewhere = Options {
            jobs: vec![folder.path().join("jobs/a.yaml")],
            config_file: Some(folder.path().join("etc/offpeak.yaml")),
            ..Options::new(folder.path())
        };
        let expected = [folder.path().join("etc"), folder.path().join("jobs")];
        assert_eq!(watched(&elsewhere).folders, expected.into_iter().collect());
    }
}
