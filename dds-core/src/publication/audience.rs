//! The participants whose readers a writer sends to.

use dds_rtps::types::GuidPrefix;
use std::collections::BTreeSet;

/// The participants whose readers a writer sends to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WriterPeers {
    /// All but these.
    AllBut(BTreeSet<GuidPrefix>),
    /// These alone.
    Only(BTreeSet<GuidPrefix>),
}

impl WriterPeers {
    pub(super) fn admits(&self, participant: GuidPrefix) -> bool {
        match self {
            Self::AllBut(excluded) => !excluded.contains(&participant),
            Self::Only(admitted) => admitted.contains(&participant),
        }
    }
}

impl Default for WriterPeers {
    fn default() -> Self {
        Self::AllBut(BTreeSet::new())
    }
}
