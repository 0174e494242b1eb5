//! The built-in files: every default, and the rotation of the repository.

/// `defaults.yaml`: every default with its reason.
pub const DEFAULTS: &str = include_str!("defaults.yaml");

macro_rules! jobs {
    ($($path:literal),* $(,)?) => {
        &[$((concat!("jobs/", $path), include_str!(concat!("../../jobs/", $path)))),*]
    };
}

const JOBS: &[(&str, &str)] = jobs![
    "daily-digest.yaml",
    "changelog-watch.yaml",
    "note-gardener.yaml",
    "week-ahead.yaml",
    "inputs/notes.md",
    "prompts/house-style.md",
    "prompts/daily-digest.md",
    "prompts/changelog-watch.md",
    "prompts/note-gardener.md",
    "prompts/week-ahead.md",
];

/// The files of `jobs/`: the path within the working folder, and the text.
#[must_use]
pub const fn embedded_jobs() -> &'static [(&'static str, &'static str)] {
    JOBS
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn walk(folder: &Path, within: &Path, found: &mut BTreeSet<String>) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, within, found);
            } else {
                found.insert(path.strip_prefix(within).unwrap().display().to_string());
            }
        }
    }

    #[test]
    fn every_file_of_the_folder_is_embedded() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        let mut found = BTreeSet::new();
        walk(&folder.join("jobs"), folder, &mut found);
        let embedded: BTreeSet<String> = embedded_jobs()
            .iter()
            .map(|(path, _)| (*path).to_owned())
            .collect();
        assert_eq!(embedded, found);
    }
}
