//! Fetches a key's secret at the last moment, and says what is wrong without showing it.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use secrecy::SecretString;
use secrecy::zeroize::Zeroizing;

use super::checked::{KeyConfig, KeySource};
use super::context::{must_be_a_file, reason};
use super::options::Environment;
use crate::secret::{self, SecretError};

/// No key is near as long; a wrong path may name a log or a device.
const MAX_SECRET_BYTES: u64 = 16 * 1_024;

/// Why a key has no usable secret. No variant holds the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set; set it to the API key")]
    Unset(String),
    /// The file cannot be read.
    #[error("the key file {path} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// Others may read the file.
    #[error("the key file {path} can be read by others (mode {mode:03o}); run: chmod 600 {path}")]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permission bits.
        mode: u32,
    },
    /// There is nothing but white space.
    #[error("{0} is empty; put the API key there")]
    Empty(String),
    /// It cannot be sent as a header.
    #[error("{whence}: {flaw}")]
    Unsendable {
        /// The variable or the file, in words.
        whence: String,
        /// What is wrong with what stands there.
        flaw: SecretError,
    },
}

/// The secret of a key, trimmed and fit to be sent as a header.
///
/// # Errors
///
/// The variable is not set, the file cannot be read or can be read by others, or what stands there is no key.
pub fn resolve_key(key: &KeyConfig, environment: &Environment) -> Result<SecretString, KeyError> {
    match &key.source {
        KeySource::Env(name) => {
            let value = environment
                .get(name)
                .ok_or_else(|| KeyError::Unset(name.clone()))?;
            usable(value, || format!("the environment variable `{name}`"))
        }
        KeySource::File(path) => {
            usable(&read(path)?, || format!("the key file {}", path.display()))
        }
    }
}

fn usable(text: &str, whence: impl Fn() -> String) -> Result<SecretString, KeyError> {
    match secret::checked(text) {
        Ok(secret) => Ok(SecretString::from(secret)),
        Err(SecretError::Empty) => Err(KeyError::Empty(whence())),
        Err(
            flaw @ (SecretError::Blank { .. } | SecretError::NotAscii { .. } | SecretError::Quoted),
        ) => Err(KeyError::Unsendable {
            whence: whence(),
            flaw,
        }),
    }
}

fn read(path: &Path) -> Result<Zeroizing<String>, KeyError> {
    let unreadable = |reason| KeyError::Unreadable {
        path: path.to_owned(),
        reason,
    };
    must_be_a_file(path).map_err(unreadable)?;
    let file = File::open(path).map_err(|error| unreadable(reason(&error)))?;
    let metadata = file
        .metadata()
        .map_err(|error| unreadable(reason(&error)))?;
    check_mode(path, &metadata)?;
    let mut text = Zeroizing::new(String::new());
    let read = file
        .take(MAX_SECRET_BYTES + 1)
        .read_to_string(&mut text)
        .map_err(|error| unreadable(reason(&error)))?;
    if u64::try_from(read).is_ok_and(|bytes| bytes > MAX_SECRET_BYTES) {
        return Err(unreadable("it is too large for a key".to_owned()));
    }
    Ok(text)
}

#[cfg(unix)]
fn check_mode(path: &Path, metadata: &std::fs::Metadata) -> Result<(), KeyError> {
    use std::os::unix::fs::PermissionsExt;
    let mode = metadata.permissions().mode() & 0o777;
    // A group may read: systemd's credentials and container secrets come as 0440.
    if mode.trailing_zeros() >= 3 {
        Ok(())
    } else {
        Err(KeyError::Exposed {
            path: path.to_owned(),
            mode,
        })
    }
}

#[cfg(not(unix))]
fn check_mode(_path: &Path, _metadata: &std::fs::Metadata) -> Result<(), KeyError> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::GroupId;
    use secrecy::ExposeSecret;

    fn env_key(value: Option<&str>) -> Result<SecretString, KeyError> {
        let key = KeyConfig {
            source: KeySource::Env("THE_KEY".into()),
            group: GroupId::new("main"),
        };
        resolve_key(
            &key,
            &value.map(|value| ("THE_KEY", value)).into_iter().collect(),
        )
    }

    #[cfg(unix)]
    fn file_key(bytes: &[u8], mode: u32) -> (String, Result<SecretString, KeyError>) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let key = KeyConfig {
            source: KeySource::File(path.clone()),
            group: GroupId::new("main"),
        };
        (
            path.display().to_string(),
            resolve_key(&key, &Environment::default()),
        )
    }

    #[test]
    fn a_secret_is_trimmed() {
        assert_eq!(
            env_key(Some(" sk-ant-1 \n")).unwrap().expose_secret(),
            "sk-ant-1"
        );
    }

    #[test]
    fn a_missing_variable_is_named() {
        assert_eq!(
            env_key(None).unwrap_err().to_string(),
            "the environment variable `THE_KEY` is not set; set it to the API key"
        );
    }

    #[test]
    fn an_unusable_secret_is_never_shown() {
        // A quoted key passed here, and the client was the first to find it.
        let cases = [
            ("sk-ant- zzz", SecretError::Blank { at: 8 }),
            ("sk-ant-é", SecretError::NotAscii { at: 8 }),
            ("sk-ant-\u{7}q", SecretError::Blank { at: 8 }),
            ("\"sk-ant-1\"", SecretError::Quoted),
            ("'sk-ant-1'", SecretError::Quoted),
        ];
        for (value, flaw) in cases {
            let error = env_key(Some(value)).unwrap_err();
            let message = format!("the environment variable `THE_KEY`: {flaw}");
            assert_eq!(error.to_string(), message, "{value}");
            assert!(!format!("{error} {error:?}").contains("sk-ant"));
        }
        assert_eq!(
            env_key(Some(" \n")).unwrap_err(),
            KeyError::Empty("the environment variable `THE_KEY`".into())
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_key_file_is_read_unless_others_can_read_it_too() {
        assert_eq!(
            file_key(b"sk-ant-2\n", 0o600).1.unwrap().expose_secret(),
            "sk-ant-2"
        );
        assert_eq!(
            file_key(b"sk-ant-2\n", 0o440).1.unwrap().expose_secret(),
            "sk-ant-2"
        );
        let (path, read) = file_key(b"sk-ant-2\n", 0o644);
        let message = read.unwrap_err().to_string();
        assert_eq!(
            message,
            format!("the key file {path} can be read by others (mode 644); run: chmod 600 {path}")
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_no_key_is_refused() {
        assert!(
            file_key(b"\xff\xfe", 0o600)
                .1
                .unwrap_err()
                .to_string()
                .ends_with("cannot be read: it is not UTF-8 text")
        );
        assert!(
            file_key(&b"a".repeat(20_000), 0o600)
                .1
                .unwrap_err()
                .to_string()
                .ends_with("it is too large for a key")
        );
        assert!(matches!(
            file_key(b"\n", 0o600).1.unwrap_err(),
            KeyError::Empty(_)
        ));
    }

    #[test]
    fn a_missing_file_and_a_folder_are_named() {
        let key = |path: &str| KeyConfig {
            source: KeySource::File(path.into()),
            group: GroupId::new("main"),
        };
        let error = resolve_key(&key("/nonexistent/key"), &Environment::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the key file /nonexistent/key cannot be read: no such file"
        );
        let error = resolve_key(&key("/"), &Environment::default()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "the key file / cannot be read: it is no regular file"
        );
    }
}
