//! Errors of calls that could not enter the cell of their entity.

use crate::actor::EnterError;
use crate::infrastructure::{ReadErrorKind, WaitErrorKind, WriteErrorKind};

macro_rules! from_enter_error {
    ($($kind:ident)*) => {$(
        impl From<EnterError> for $kind {
            #[cold]
            fn from(error: EnterError) -> Self {
                match error {
                    EnterError::Closed => Self::Closed,
                    EnterError::Forked => Self::Forked,
                    EnterError::Failed => Self::Internal { message: "a panic has closed the entity; see the log" },
                    EnterError::Reentrant => Self::Internal { message: "called from inside of an entity" },
                }
            }
        }
    )*};
}

from_enter_error!(ReadErrorKind WaitErrorKind WriteErrorKind);
