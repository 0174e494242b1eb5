//! Groups whose keys hold one secret: the provider counts them as one, and we count them apart.

use std::collections::BTreeMap;
use std::fmt;

use secrecy::{ExposeSecret, SecretString};

use super::checked::KeyConfig;
use super::options::Environment;
use super::secrets::resolve_key;
use crate::job::{GroupId, KeyId};

/// Two keys of two groups that hold one secret; it tells their names only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SharedSecret {
    /// The first by name, and its group.
    pub one: (KeyId, GroupId),
    /// The second by name, and its group.
    pub two: (KeyId, GroupId),
}

/// The first two such keys of every two groups, by name; a key whose secret is not at hand holds none.
#[must_use]
pub fn shared_secrets(
    keys: &BTreeMap<KeyId, KeyConfig>,
    environment: &Environment,
) -> Vec<SharedSecret> {
    let held: Vec<(&KeyId, &GroupId, SecretString)> = keys
        .iter()
        .filter_map(|(id, key)| Some((id, &key.group, resolve_key(key, environment).ok()?)))
        .collect();
    let mut shared: BTreeMap<[&GroupId; 2], SharedSecret> = BTreeMap::new();
    for (index, (one, group, secret)) in held.iter().enumerate() {
        for (two, other, another) in &held[index + 1..] {
            if group != other && is_same(secret, another) {
                let mut groups = [*group, *other];
                groups.sort();
                shared.entry(groups).or_insert_with(|| SharedSecret {
                    one: ((*one).clone(), (*group).clone()),
                    two: ((*two).clone(), (*other).clone()),
                });
            }
        }
    }
    shared.into_values().collect()
}

/// Both are our own: there is nobody who could learn from the time that it takes.
fn is_same(one: &SecretString, two: &SecretString) -> bool {
    one.expose_secret() == two.expose_secret()
}

impl fmt::Display for SharedSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [(one, group), (two, other)] = [&self.one, &self.two];
        write!(
            f,
            "key `{one}` of group `{group}` and key `{two}` of group `{other}` hold the same secret"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Exposure, KeySource};

    /// Keys with their groups and secrets; `None` is not set.
    fn shared(keys: &[(&str, &str, Option<&str>)]) -> Vec<String> {
        let environment = keys
            .iter()
            .filter_map(|(name, _, secret)| Some((*name, (*secret)?)))
            .collect();
        let keys = keys
            .iter()
            .map(|(name, group, _)| {
                let source = KeySource::Env((*name).to_owned());
                let group = GroupId::new(*group);
                let exposure = Exposure::Refused;
                let key = KeyConfig {
                    source,
                    group,
                    exposure,
                };
                (KeyId::new(*name), key)
            })
            .collect();
        let shared = shared_secrets(&keys, &environment);
        let told = format!("{shared:?}");
        assert!(!told.contains("hunter"), "{told}");
        shared.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn two_groups_with_one_secret_are_told_by_their_keys() {
        assert_eq!(
            shared(&[("a", "a", Some("hunter2")), ("b", "night", Some("hunter2"))]),
            ["key `a` of group `a` and key `b` of group `night` hold the same secret"]
        );
    }

    #[test]
    fn blanks_around_a_secret_do_not_hide_it() {
        let found = shared(&[("a", "a", Some("hunter2")), ("b", "b", Some(" hunter2\n"))]);
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn one_group_may_share_and_other_secrets_and_missing_ones_are_not_the_same() {
        let none: [&str; 0] = [];
        assert_eq!(
            shared(&[
                ("a", "main", Some("hunter2")),
                ("b", "main", Some("hunter2"))
            ]),
            none
        );
        assert_eq!(
            shared(&[("a", "a", Some("hunter2")), ("b", "b", Some("hunter3"))]),
            none
        );
        assert_eq!(shared(&[("a", "a", None), ("b", "b", None)]), none);
    }

    #[test]
    fn two_groups_are_told_once_and_three_are_three_pairs() {
        let secret = Some("hunter2");
        let twice = [("a", "x", secret), ("b", "x", secret), ("c", "y", secret)];
        assert_eq!(
            shared(&twice),
            ["key `a` of group `x` and key `c` of group `y` hold the same secret"]
        );
        let three = [("a", "a", secret), ("b", "b", secret), ("c", "c", secret)];
        assert_eq!(shared(&three).len(), 3);
    }
}
