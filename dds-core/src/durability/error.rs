//! What can go wrong with a durability service, and what to do about it.

use crate::infrastructure::CreateError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a durability service could not be started.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DurabilityError {
    /// The participant was not made by [`DurabilityService::participant`](super::DurabilityService::participant).
    NotForService,
    /// Its endpoints or its thread could not be made.
    Create(CreateError),
    /// The database.
    Database {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        problem: DatabaseProblem,
    },
}

/// What is wrong with a database.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseProblem {
    /// The file is no database, or a damaged one.
    Corrupted {
        /// What was found.
        message: String,
    },
    /// Another service uses it.
    InUse,
    /// It was written by another version, in another form.
    OtherSchema {
        /// The form that it has.
        found: u64,
        /// The form that this version writes.
        known: u64,
    },
    /// The operating system refuses: no such folder, no permission, no space.
    System {
        /// What it said.
        message: String,
    },
}

impl DurabilityError {
    pub(super) fn database(path: &Path, problem: DatabaseProblem) -> Self {
        Self::Database { path: path.to_owned(), problem }
    }
}

impl fmt::Display for DurabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotForService => {
                f.write_str("a durability service needs a participant made by `DurabilityService::participant`")
            }
            Self::Create(error) => error.fmt(f),
            Self::Database { path, problem } => write!(f, "the database {}: {problem}", path.display()),
        }
    }
}

impl fmt::Display for DatabaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupted { message } => write!(
                f,
                "it is damaged, or no database ({message}); move the file away to begin with an empty one, or put a backup in \
                 its place: nothing has been changed in it"
            ),
            Self::InUse => f.write_str("another durability service uses it; give each a file of its own"),
            Self::OtherSchema { found, known } => write!(
                f,
                "it has form {found}, and this version reads form {known}; start the version that wrote it, or move the file \
                 away to begin with an empty one"
            ),
            Self::System { message } => {
                write!(f, "the system refuses ({message}); see to the path, the permissions and the room")
            }
        }
    }
}

impl std::error::Error for DurabilityError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Create(error) => Some(error),
            Self::Database { problem, .. } => Some(problem),
            Self::NotForService => None,
        }
    }
}

impl std::error::Error for DatabaseProblem {}

impl From<CreateError> for DurabilityError {
    fn from(error: CreateError) -> Self {
        Self::Create(error)
    }
}
