//! Fetches a key's secret at the last moment, and says what is wrong without showing it.

use std::path::{Path, PathBuf};

use secrecy::SecretString;

use super::checked::{Exposure, KeyConfig, KeySource};
use super::key_file::{self, Exposed};
use super::options::Environment;
use crate::secret::{self, SecretError};

/// Where systemd says that the credentials of a service are.
const CREDENTIALS: &str = "CREDENTIALS_DIRECTORY";

/// Why a key has no usable secret. No variant holds the secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The variable is not set.
    #[error("the environment variable `{0}` is not set; set it to the API key")]
    Unset(String),
    /// Nobody has given us credentials.
    #[error(
        "the credential `{0}` is not at hand, because CREDENTIALS_DIRECTORY is not set; \
         offpeak must run under systemd with LoadCredential={0}:/path/to/the/key"
    )]
    NoCredentials(String),
    /// The service has other credentials, but none of this name.
    #[error(
        "the credential `{name}` is not in {folder}; \
         the unit must have LoadCredential={name}:/path/to/the/key"
    )]
    NoCredential {
        /// Its name.
        name: String,
        /// Where the credentials are.
        folder: PathBuf,
    },
    /// The file cannot be read.
    #[error("the key file {path} cannot be read: {reason}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// What the system says.
        reason: String,
    },
    /// The file is not ours alone.
    #[error(
        "the key file {path} {exposed}; run: {} {path} (or set `allow_exposed: true` for the key)",
        exposed.cure()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Who else could read or change it.
        exposed: Exposed,
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
/// The variable is not set, the file cannot be read or is not ours alone, or what stands there is no key.
pub fn resolve_key(key: &KeyConfig, environment: &Environment) -> Result<SecretString, KeyError> {
    match &key.source {
        KeySource::Env(name) => {
            let value = environment
                .get(name)
                .ok_or_else(|| KeyError::Unset(name.clone()))?;
            usable(value, || format!("the environment variable `{name}`"))
        }
        KeySource::File(path) => from_file(path, key.exposure),
        KeySource::Credential(name) => from_file(&credential(name, environment)?, key.exposure),
    }
}

/// Who else could read or change the file of a key that may be exposed; the log warns of it at each start.
#[must_use]
pub fn exposed_key(key: &KeyConfig, environment: &Environment) -> Option<(PathBuf, Exposed)> {
    let path = match (&key.source, key.exposure) {
        (KeySource::Env(_), _) | (_, Exposure::Refused) => return None,
        (KeySource::File(path), Exposure::Allowed) => path.clone(),
        (KeySource::Credential(name), Exposure::Allowed) => credential(name, environment).ok()?,
    };
    let exposed = key_file::read(&path).ok()?.exposed?;
    Some((path, exposed))
}

/// Whether something stands where the secret should; not whether it is of use.
#[must_use]
pub fn has_secret(source: &KeySource, environment: &Environment) -> bool {
    match source {
        KeySource::Env(name) => environment.get(name).is_some(),
        KeySource::File(path) => path.is_file(),
        KeySource::Credential(name) => credential(name, environment).is_ok(),
    }
}

/// The file of a credential, which is there.
fn credential(name: &str, environment: &Environment) -> Result<PathBuf, KeyError> {
    let folder = environment
        .get(CREDENTIALS)
        .filter(|folder| !folder.is_empty())
        .ok_or_else(|| KeyError::NoCredentials(name.to_owned()))?;
    let path = Path::new(folder).join(name);
    if path.is_file() {
        return Ok(path);
    }
    Err(KeyError::NoCredential {
        name: name.to_owned(),
        folder: folder.into(),
    })
}

fn from_file(path: &Path, exposure: Exposure) -> Result<SecretString, KeyError> {
    let path = path.to_owned();
    let found = match key_file::read(&path) {
        Ok(found) => found,
        Err(reason) => return Err(KeyError::Unreadable { path, reason }),
    };
    match (found.exposed, exposure) {
        (Some(exposed), Exposure::Refused) => Err(KeyError::Exposed { path, exposed }),
        (Some(_), Exposure::Allowed) | (None, _) => {
            usable(&found.text, || format!("the key file {}", path.display()))
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::GroupId;
    use secrecy::ExposeSecret;

    fn env_key(value: Option<&str>) -> Result<SecretString, KeyError> {
        let key = KeyConfig {
            source: KeySource::Env("THE_KEY".into()),
            group: GroupId::new("main"),
            exposure: Exposure::Refused,
        };
        resolve_key(
            &key,
            &value.map(|value| ("THE_KEY", value)).into_iter().collect(),
        )
    }

    fn file_key(bytes: &[u8], mode: u32) -> (String, Result<SecretString, KeyError>) {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let key = KeyConfig {
            source: KeySource::File(path.clone()),
            group: GroupId::new("main"),
            exposure: Exposure::Refused,
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
            format!(
                "the key file {path} can be read by others (mode 644); run: chmod 600 {path} (or set `allow_exposed: true` for the key)"
            )
        );
    }

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
            exposure: Exposure::Refused,
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
