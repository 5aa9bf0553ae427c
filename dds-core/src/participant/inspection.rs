//! A look into the cells of entities, for tests of this library.

use crate::actor::{EnterError, Holds};
use crate::participant::DomainParticipant;

impl DomainParticipant {
    /// As [`DataWriter::holds`](crate::DataWriter::holds), of discovery.
    #[doc(hidden)]
    #[must_use]
    pub fn holds(&self) -> Holds {
        self.handle().discovery().cell().holds()
    }

    /// As [`DataWriter::inside`](crate::DataWriter::inside), of discovery.
    #[doc(hidden)]
    pub fn inside<R>(&self, f: impl FnOnce() -> R) -> Result<R, EnterError> {
        self.handle().discovery().cell().visit(|_, _| f())
    }
}
