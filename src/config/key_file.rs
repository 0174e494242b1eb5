//! Reads a key file, and looks who else could: what counts is the file that was opened, not its path.
//!
//! Whoever can exchange the file behind a path or a link can only put one of
//! his own there, and that is refused by its owner; so folders are not judged.

use std::fmt;
use std::fs::{File, Metadata};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use secrecy::zeroize::Zeroizing;

use super::context::{must_be_a_file, reason};

/// No key is near as long; a wrong path may name a log or a device.
const MAX_SECRET_BYTES: usize = 16 * 1_024;

/// Who else than we and root could read or change a key file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exposed {
    /// The owner, who is neither.
    Owner {
        /// The owner.
        uid: u32,
        /// Who we are.
        own: u32,
    },
    /// Everybody.
    Others {
        /// The permission bits.
        mode: u32,
    },
    /// The members of its group could change it.
    Group {
        /// The permission bits.
        mode: u32,
    },
}

/// What a key file holds, and how well it is kept.
pub struct KeyFile {
    /// All of it; gone from memory when dropped.
    pub text: Zeroizing<String>,
    /// The first thing that is wrong with its owner and mode.
    pub exposed: Option<Exposed>,
}

/// Reads a key file; the error is why it cannot be read, in words.
pub fn read(path: &Path) -> Result<KeyFile, String> {
    must_be_a_file(path)?;
    let (file, metadata) = open(path).map_err(|error| reason(&error))?;
    if !metadata.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let bytes = read_whole(file).map_err(|error| reason(&error))?;
    if bytes.len() > MAX_SECRET_BYTES {
        return Err("it is too large for a key".to_owned());
    }
    let text = str::from_utf8(&bytes).map_err(|_| "it is not UTF-8 text".to_owned())?;
    Ok(KeyFile {
        text: Zeroizing::new(text.to_owned()),
        exposed: exposed(&metadata),
    })
}

fn open(path: &Path) -> std::io::Result<(File, Metadata)> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    Ok((file, metadata))
}

/// One buffer that never grows: growing would leave copies behind that nobody wipes.
fn read_whole(mut file: File) -> std::io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(vec![0; MAX_SECRET_BYTES + 1]);
    let mut length = 0;
    while length < bytes.len() {
        match file.read(&mut bytes[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    bytes.truncate(length);
    Ok(bytes)
}

fn exposed(metadata: &Metadata) -> Option<Exposed> {
    let own = rustix::process::geteuid().as_raw();
    judge(metadata.uid(), own, metadata.mode() & 0o777)
}

/// A group may read: systemd's credentials and container secrets come as 0440.
fn judge(uid: u32, own: u32, mode: u32) -> Option<Exposed> {
    if uid != own && uid != 0 {
        Some(Exposed::Owner { uid, own })
    } else if mode & 0o007 != 0 {
        Some(Exposed::Others { mode })
    } else if mode & 0o020 != 0 {
        Some(Exposed::Group { mode })
    } else {
        None
    }
}

impl Exposed {
    /// The command that mends it, without the file.
    #[must_use]
    pub fn cure(self) -> String {
        match self {
            Self::Owner { own, .. } => format!("chown {own}"),
            Self::Others { .. } | Self::Group { .. } => "chmod 600".to_owned(),
        }
    }
}

impl fmt::Display for Exposed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Owner { uid, .. } => write!(f, "belongs to another user (uid {uid})"),
            Self::Others { mode } if mode & 0o004 != 0 => {
                write!(f, "can be read by others (mode {mode:03o})")
            }
            Self::Others { mode } => write!(f, "is open to others (mode {mode:03o})"),
            Self::Group { mode } => write!(f, "can be changed by its group (mode {mode:03o})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owner_and_mode_decide_who_else_could_read_or_change_a_key() {
        let (own, root, other) = (1000, 0, 1001);
        let owned = |uid| Some(Exposed::Owner { uid, own });
        let others = |mode| Some(Exposed::Others { mode });
        let group = |mode| Some(Exposed::Group { mode });
        let table = [
            (own, 0o400, None),
            (own, 0o600, None),
            (own, 0o640, None),
            (root, 0o440, None),
            (own, 0o604, others(0o604)),
            (root, 0o444, others(0o444)),
            (own, 0o602, others(0o602)),
            (own, 0o601, others(0o601)),
            (own, 0o660, group(0o660)),
            (root, 0o420, group(0o420)),
            // Their owner is told first: only he can change the mode.
            (other, 0o644, owned(other)),
            (other, 0o400, owned(other)),
        ];
        for (uid, mode, expected) in table {
            assert_eq!(judge(uid, own, mode), expected, "uid {uid}, mode {mode:o}");
        }
        // Root itself trusts nobody else's file.
        let foreign = Some(Exposed::Owner {
            uid: own,
            own: root,
        });
        assert_eq!(judge(own, root, 0o600), foreign);
    }

    #[test]
    fn each_exposure_is_told_with_its_cure() {
        let (uid, own) = (7, 1000);
        let table = [
            (
                Exposed::Owner { uid, own },
                "belongs to another user (uid 7)",
                "chown 1000",
            ),
            (
                Exposed::Others { mode: 0o644 },
                "can be read by others (mode 644)",
                "chmod 600",
            ),
            (
                Exposed::Others { mode: 0o602 },
                "is open to others (mode 602)",
                "chmod 600",
            ),
            (
                Exposed::Group { mode: 0o660 },
                "can be changed by its group (mode 660)",
                "chmod 600",
            ),
        ];
        for (exposed, text, cure) in table {
            assert_eq!(
                (exposed.to_string(), exposed.cure().as_str()),
                (text.to_owned(), cure)
            );
        }
    }
}
