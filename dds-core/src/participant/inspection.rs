//! A look into the cells of entities, for tests of this library.

use crate::actor::{Effects, EnterError, Holds};
use crate::participant::DomainParticipant;
use crate::publication::DataWriter;
use crate::subscription::DataReader;

impl<T> DataWriter<T> {
    /// What was done in the holds of the writer's cell so far; nothing in builds without debug assertions.
    #[doc(hidden)]
    #[must_use]
    pub fn holds(&self) -> Holds {
        self.handle().cell().holds()
    }

    /// Runs `f` inside of the writer's cell, as if something there took that long.
    #[doc(hidden)]
    pub fn inside<R>(&self, f: impl FnOnce() -> R) -> Result<R, EnterError> {
        Effects::scope(|effects| self.handle().cell().with(effects, |_, _| f()))
    }
}

impl<T> DataReader<T> {
    /// As [`DataWriter::holds`].
    #[doc(hidden)]
    #[must_use]
    pub fn holds(&self) -> Holds {
        self.handle().cell().holds()
    }

    /// As [`DataWriter::inside`].
    #[doc(hidden)]
    pub fn inside<R>(&self, f: impl FnOnce() -> R) -> Result<R, EnterError> {
        Effects::scope(|effects| self.handle().cell().with(effects, |_, _| f()))
    }
}

impl DomainParticipant {
    /// As [`DataWriter::holds`], of discovery.
    #[doc(hidden)]
    #[must_use]
    pub fn holds(&self) -> Holds {
        self.handle().discovery().cell().holds()
    }

    /// As [`DataWriter::inside`], of discovery.
    #[doc(hidden)]
    pub fn inside<R>(&self, f: impl FnOnce() -> R) -> Result<R, EnterError> {
        Effects::scope(|effects| self.handle().discovery().cell().with(effects, |_, _| f()))
    }
}
