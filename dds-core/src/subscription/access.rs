//! Coherent and ordered access to the readers of a subscriber (DDS 1.4, 2.2.2.5.2.8 to 2.2.2.5.2.10).

use crate::endpoint::AnyEndpoint;
use crate::subscription::{GroupAccess, SubscriberGroup};
use dds_rtps::history::States;
use std::fmt;
use std::sync::Arc;

/// Access to the readers of a subscriber. See [`Subscriber::access`](crate::Subscriber::access).
///
/// Dropping it ends the access.
#[must_use = "access ends when this is dropped"]
pub struct Access<'s> {
    group: &'s Arc<SubscriberGroup>,
    access: Option<Arc<GroupAccess>>,
}

impl<'s> Access<'s> {
    /// Begins an access to the readers of `group`.
    pub(super) fn begin(group: &'s Arc<SubscriberGroup>) -> Self {
        let access = group.presented();
        if let Some(access) = &access {
            access.begin();
            // After this loop, all changes released so far are in the histories.
            for reader in group.members() {
                reader.pass_group_gate();
            }
        }
        Self { group, access }
    }

    /// Returns the readers with samples in `states`, in the order of presentation.
    ///
    /// Under scope `Group` with ordered access, a reader is listed once for each such sample. Take one sample for each
    /// entry ([`take_next`](crate::DataReader::take_next)) to get all samples in the order of writing, across topics.
    /// Each publisher has its own order.
    ///
    /// Otherwise each reader is listed once, in the order of creation (DDS 1.4, 2.2.2.5.2.10).
    #[must_use]
    #[doc(alias = "get_datareaders")]
    pub fn readers(&self, states: States) -> Vec<Box<dyn AnyEndpoint>> {
        let members = self.group.members();
        let mut readers = Vec::new();
        let is_ordered = match &self.access {
            Some(access) => access.is_ordered(),
            None => false,
        };
        if !is_ordered {
            // Without a common order each reader is listed once, in the order of creation.
            for reader in members {
                if reader.has_matching(states) {
                    readers.push(reader.erase_type());
                }
            }
            return readers;
        }
        let mut places: Vec<(u64, usize)> = Vec::new();
        for (at, reader) in members.iter().enumerate() {
            for rank in reader.ranks(states) {
                places.push((rank, at));
            }
        }
        // The rank comes first in each pair, so this is the order across all readers.
        places.sort_unstable();
        for (_, at) in places {
            if let Some(reader) = members.get(at) {
                readers.push(reader.erase_type());
            }
        }
        readers
    }
}

impl Drop for Access<'_> {
    fn drop(&mut self) {
        if self.access.as_ref().is_some_and(|access| access.end()) {
            for reader in self.group.members() {
                reader.pass_group_gate();
            }
        }
    }
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({})", self.group.guid())
    }
}
