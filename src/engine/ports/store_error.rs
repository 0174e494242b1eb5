//! How the store fails, and whether another try may end better.

use std::path::PathBuf;

/// Why the store could not do its job.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// The folder or file cannot be opened or written.
    #[error("store {path}: {message}")]
    Unusable {
        /// The file.
        path: PathBuf,
        /// What the system says, and the way out.
        message: String,
    },
    /// The file was written by a newer version.
    #[error(
        "store {path}: schema version {found} is newer than this program knows ({known}); use a newer offpeak or another --store"
    )]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// Ours.
        known: i64,
    },
    /// What is on record forbids the step, or cannot be read: another try ends the same way.
    #[error("store: {0}")]
    Lasting(String),
    /// A statement failed.
    #[error("store: {0}")]
    Failed(String),
}

impl StoreError {
    /// Whether the same step would fail again, however long one waits. A disk may have room again, and a file may be
    /// put back; a run that ended stays ended.
    #[must_use]
    pub const fn is_lasting(&self) -> bool {
        match self {
            Self::Lasting(_) | Self::Newer { .. } => true,
            Self::Unusable { .. } | Self::Failed(_) => false,
        }
    }
}
