//! What to read, and the environment that it may name.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use super::files::absolute;
use super::zoneinfo::SYSTEM_ZONEINFO;

/// What to read.
#[derive(Debug, Clone)]
pub struct Options {
    /// The working folder; made absolute when read.
    pub folder: PathBuf,
    /// The settings file; `None` takes `offpeak.yaml` in the working folder if there is one.
    pub config_file: Option<PathBuf>,
    /// Job files and folders of job files; none takes the folder `jobs` in the working folder.
    pub jobs: Vec<PathBuf>,
    /// The store's folder; stronger than `$STATE_DIRECTORY` and `store.path`.
    pub store: Option<PathBuf>,
    /// The environment; only `STATE_DIRECTORY` is looked at before a key is resolved.
    pub environment: Environment,
    /// Where the system keeps compiled zone data.
    pub zoneinfo: PathBuf,
    /// What to read in place of files, by absolute path: their texts after an edit that is not written.
    pub edited: BTreeMap<PathBuf, String>,
}

impl Options {
    /// A working folder and nothing else: no environment, the system's zone data.
    #[must_use]
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            config_file: None,
            jobs: Vec::new(),
            store: None,
            environment: Environment::default(),
            zoneinfo: PathBuf::from(SYSTEM_ZONEINFO),
            edited: BTreeMap::new(),
        }
    }

    /// The settings file, there or not: the one that is named, or else the usual one of the working folder.
    #[must_use]
    pub(super) fn settings_file(&self, folder: &Path) -> PathBuf {
        match &self.config_file {
            Some(file) => absolute(file),
            None => folder.join("offpeak.yaml"),
        }
    }

    /// The store's folder: the flag, `$STATE_DIRECTORY`, or the setting in the working folder.
    #[must_use]
    pub(super) fn store_folder(&self, folder: &Path, setting: &Path) -> PathBuf {
        if let Some(flag) = &self.store {
            return std::path::absolute(flag).unwrap_or_else(|_| folder.join(flag));
        }
        // systemd gives several folders with colons between; the first is the service's own.
        let state = self
            .environment
            .get("STATE_DIRECTORY")
            .and_then(|value| value.split(':').next());
        state
            .filter(|path| !path.is_empty())
            .map_or_else(|| folder.join(setting), |path| folder.join(path))
    }
}

/// Environment variables; their values never show when printed.
///
/// Any of them may be a secret, so there is one copy of each, which is wiped when the last owner is gone. The system's
/// own copy, with which the process was started, cannot be wiped from here.
#[derive(Clone, Default)]
pub struct Environment(Arc<BTreeMap<String, SecretString>>);

impl Environment {
    /// The variables of this process. Values that are no UTF-8 are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let utf8 = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        std::env::vars_os().filter_map(utf8).collect()
    }

    /// The value of a variable.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(ExposeSecret::expose_secret)
    }
}

impl<K: Into<String>, V: Into<String>> FromIterator<(K, V)> for Environment {
    fn from_iter<I: IntoIterator<Item = (K, V)>>(pairs: I) -> Self {
        let pairs = pairs.into_iter();
        let held = pairs.map(|(name, value)| (name.into(), SecretString::from(value.into())));
        Self(Arc::new(held.collect()))
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Environment({} variables)", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(flag: Option<&str>, state: Option<&str>) -> PathBuf {
        let mut options = Options::new("/w");
        options.store = flag.map(PathBuf::from);
        options.environment = state
            .map(|value| ("STATE_DIRECTORY", value))
            .into_iter()
            .collect();
        options.store_folder(Path::new("/w"), Path::new(".offpeak"))
    }

    #[test]
    fn the_store_is_where_the_strongest_word_says() {
        assert_eq!(
            store(Some("/flag"), Some("/var/lib/offpeak")),
            Path::new("/flag")
        );
        assert_eq!(
            store(None, Some("/var/lib/offpeak:/var/lib/other")),
            Path::new("/var/lib/offpeak")
        );
        assert_eq!(store(None, Some("")), Path::new("/w/.offpeak"));
        assert_eq!(store(None, None), Path::new("/w/.offpeak"));
    }

    #[test]
    fn a_printed_environment_shows_no_value() {
        let options = Options {
            environment: [("KEY", "s3cret")].into_iter().collect(),
            ..Options::new("/w")
        };
        assert!(!format!("{options:?}").contains("s3cret"));
    }
}
