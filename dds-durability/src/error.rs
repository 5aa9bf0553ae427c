//! Errors of a durability service, and how to solve them.

use dds_core::error::CreateError;
use std::fmt;
use std::path::{Path, PathBuf};

/// Why a durability service could not start.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum DurabilityError {
    /// The participant was not created by [`DurabilityService::participant`](crate::DurabilityService::participant).
    NotForService,
    /// Its endpoints or its thread could not be created.
    Create(CreateError),
    /// The database cannot be used.
    Database {
        /// The file.
        path: PathBuf,
        /// The problem of the file.
        problem: DatabaseProblem,
    },
}

/// Why a database cannot be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseProblem {
    /// The file is damaged, or it is not a database.
    Corrupted {
        /// Description of the damage.
        message: String,
    },
    /// Another service uses the file.
    InUse,
    /// Another version wrote the file in another format.
    OtherSchema {
        /// The format of the file.
        found: u64,
        /// The format that this version writes.
        known: u64,
    },
    /// The operating system refuses: no such directory, no permission, no space.
    System {
        /// The message of the operating system.
        message: String,
    },
}

impl DurabilityError {
    pub(crate) fn database(path: &Path, problem: DatabaseProblem) -> Self {
        Self::Database { path: path.to_owned(), problem }
    }
}

impl fmt::Display for DurabilityError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotForService => f.write_str(
                "the participant is not one of a durability service; create it with `DurabilityService::participant`",
            ),
            Self::Create(error) => error.fmt(f),
            Self::Database { path, problem } => write!(f, "database {}: {problem}", path.display()),
        }
    }
}

impl fmt::Display for DatabaseProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Corrupted { message } => write!(
                f,
                "the file is damaged or not a database ({message}); move the file away to start with an empty one, or \
                 restore a backup; the service has not changed it"
            ),
            Self::InUse => {
                f.write_str("another durability service uses the file; use a separate file for each service")
            }
            Self::OtherSchema { found, known } => write!(
                f,
                "the file has format {found}, and this version reads format {known}; start the version that wrote it, or \
                 move the file away to start with an empty one"
            ),
            Self::System { message } => {
                write!(f, "the system refuses the file ({message}); check its path, its permissions and the free space")
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
