//! The secrets that jobs send elsewhere, and the variables that no program of theirs inherits.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::error::WorkspaceError;

/// What inputs and outputs know of the environment.
#[derive(Clone, Default)]
pub(super) struct Secrets {
    /// Variables that no program inherits.
    pub(super) hidden: Vec<String>,
    /// The values of those that headers and webhooks name.
    pub(super) values: BTreeMap<String, SecretString>,
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secrets")
            .field("hidden", &self.hidden)
            .field("values", &self.values.keys())
            .finish()
    }
}

impl Secrets {
    /// The value of a variable without the blanks around it.
    pub(super) fn value(&self, variable: &str) -> Result<&str, WorkspaceError> {
        let value = self.values.get(variable).map(ExposeSecret::expose_secret);
        match value.map(str::trim) {
            Some(value) if !value.is_empty() => Ok(value),
            Some(_) | None => Err(WorkspaceError::NoVariable {
                variable: variable.to_owned(),
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_trimmed_and_never_printed() {
        let values = [("TOKEN", " planted\n"), ("BLANK", " ")]
            .map(|(name, value)| (name.to_owned(), SecretString::from(value)));
        let secrets = Secrets {
            hidden: Vec::new(),
            values: BTreeMap::from(values),
        };
        assert_eq!(secrets.value("TOKEN").unwrap(), "planted");
        for unset in ["BLANK", "GONE"] {
            let error = secrets.value(unset).unwrap_err().to_string();
            assert_eq!(
                error,
                format!("the environment variable `{unset}` is not set")
            );
        }
        assert!(!format!("{secrets:?}").contains("planted"));
    }
}
