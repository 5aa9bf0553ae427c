//! Coherent and ordered access to the readers of a subscriber (DDS 1.4, 2.2.2.5.2.8 to 2.2.2.5.2.10).

use crate::infrastructure::{ReadError, ReadErrorKind};
use crate::subscription::group_access::GroupMembership;
use crate::subscription::{AnyReader, GroupAccess, ReaderHandle, Subscriber, SubscriberGroup};
use dds_rtps::history::{Selection, SelectionOrder, States};
use dds_rtps::reader::{PublisherKey, WriterProxyConfig};
use dds_rtps::types::EntityId;
use std::fmt;
use std::sync::Arc;

impl Subscriber {
    /// Begins an access, which shows a consistent state of all readers of this subscriber.
    ///
    /// Until the returned guard is dropped, the readers show the samples of the time of this call, and no later ones.
    /// If several guards exist, the last one ends the access.
    ///
    /// With `access_scope` `Group` and coherent or ordered access, samples can be read only during an access. Other
    /// reads return [`ReadErrorKind::OutsideAccess`], because they could not relate the samples of one reader to those
    /// of another. DDS 1.4 demands an access for the scope alone. This implementation does not, because without
    /// coherent or ordered access it has no benefit.
    ///
    /// No access is needed to wait with [`readable`](crate::DataReader::readable), a condition or a listener.
    /// [`iter`](crate::DataReader::iter) and the streams take samples without an access, so they yield nothing here. A
    /// reader that joins later than another shows the earlier samples of its writers at once, without the other
    /// readers. Under other scopes an access has no effect.
    ///
    /// ```
    /// use dds_core::qos::{AccessScope, Presentation, Preset, PublisherQos, SubscriberQos};
    /// use dds_core::{DataReader, DdsType, DomainParticipant, Scope, States};
    ///
    /// #[derive(DdsType)]
    /// struct Wheel {
    ///     speed: f32,
    /// }
    ///
    /// # fn main() -> dds_core::Result<()> {
    /// let participant = DomainParticipant::builder(0)
    ///     .scope(Scope::Host)
    /// #   .domain_tag(std::process::id().to_string())
    ///     .build()?;
    /// let mut together = Presentation::default();
    /// (together.access_scope, together.coherent_access, together.ordered_access) = (AccessScope::Group, true, true);
    /// let publisher = participant.publisher(PublisherQos::default().presentation(together))?;
    /// let subscriber = participant.subscriber(SubscriberQos::default().presentation(together))?;
    /// let (left, right) = ("access/left", "access/right");
    /// let readers = [left, right].map(|topic| subscriber.reader_builder::<Wheel>(topic).qos(Preset::Event).build());
    /// let writers = [left, right].map(|topic| publisher.writer_builder::<Wheel>(topic).qos(Preset::Event).build());
    /// let ([Ok(left), Ok(right)], [Ok(_), Ok(seen)]) = (&writers, &readers) else { panic!("all were made") };
    /// let both = publisher.coherent_changes()?;
    /// right.write(&Wheel { speed: 1.0 })?;
    /// left.write(&Wheel { speed: 0.5 })?;
    /// right.write(&Wheel { speed: 1.5 })?;
    /// both.end()?;
    /// seen.readable().block()?;
    /// let access = subscriber.access()?;
    /// let mut speeds = Vec::new();
    /// for reader in access.readers(States::NOT_READ) {
    ///     let reader = reader.downcast_ref::<DataReader<Wheel>>().expect("all are of this type");
    ///     speeds.extend(reader.take_next()?.and_then(|sample| sample.data).map(|wheel| wheel.speed));
    /// }
    /// assert_eq!(speeds, [1.0, 0.5, 1.5]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ReadErrorKind::NotEnabled`] or [`ReadErrorKind::Closed`].
    #[doc(alias = "begin_access")]
    #[doc(alias = "end_access")]
    pub fn access(&self) -> Result<Access<'_>, ReadError> {
        let group = self.group();
        let error = |kind| ReadError::new(group.subject(), kind);
        if group.is_closed() {
            return Err(error(ReadErrorKind::Closed));
        }
        if !group.is_enabled() {
            return Err(error(ReadErrorKind::NotEnabled));
        }
        let access = group.presented();
        if let Some(access) = &access {
            access.begin();
            // After this loop, all changes released so far are in the histories.
            for reader in group.members() {
                reader.pass_group_gate();
            }
        }
        Ok(Access { group, access })
    }
}

/// Access to the readers of a subscriber. See [`Subscriber::access`]. Dropping it ends the access.
#[must_use = "access ends when this is dropped"]
pub struct Access<'s> {
    group: &'s Arc<SubscriberGroup>,
    access: Option<Arc<GroupAccess>>,
}

impl Access<'_> {
    /// Returns the readers with samples in `states`, in the order of presentation.
    ///
    /// Under scope `Group` with ordered access, a reader is listed once for each such sample. Take one sample for each
    /// entry ([`take_next`](crate::DataReader::take_next)) to get all samples in the order of writing, across topics.
    /// Each publisher has its own order.
    ///
    /// Otherwise each reader is listed once, in the order of creation (DDS 1.4, 2.2.2.5.2.10).
    #[must_use]
    #[doc(alias = "get_datareaders")]
    pub fn readers(&self, states: States) -> Vec<Box<dyn AnyReader>> {
        let members = self.group.members();
        let erase = |reader: &Arc<ReaderHandle>| (reader.erase)(Arc::clone(reader));
        if !self.access.as_ref().is_some_and(|access| access.is_ordered()) {
            return members.iter().filter(|reader| reader.has_matching(states)).map(erase).collect();
        }
        let mut places: Vec<(u64, usize)> = Vec::new();
        for (at, reader) in members.iter().enumerate() {
            places.extend(reader.ranks(states).into_iter().map(|rank| (rank, at)));
        }
        places.sort_unstable();
        places.iter().filter_map(|&(_, at)| members.get(at)).map(erase).collect()
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

impl ReaderHandle {
    /// Joins the gate of the subscriber, if it presents its readers together.
    pub(super) fn join_group(&self) {
        let Some(access) = self.group.as_ref().and_then(|group| group.presented()) else { return };
        access.add_reader(self.guid().entity_id, Arc::downgrade(&self.cell));
        // Ignore the error, because a closed reader needs no membership.
        let _ = self.visit(|actor, _| actor.membership = Some(Box::new(GroupMembership::new(Arc::clone(&access)))));
        let is_first = self.access.set(access).is_ok();
        debug_assert!(is_first, "a reader is enabled once");
    }

    /// Leaves the gate of the subscriber, which no longer waits for the changes of this reader.
    pub(super) fn leave_group(&self) {
        if let Some(access) = self.access.get() {
            access.remove_reader(self.guid().entity_id);
            let members = self.group.as_ref().map(|group| group.members()).unwrap_or_default();
            for reader in members {
                reader.pass_group_gate();
            }
        }
    }

    /// Moves the changes that the gate of the subscriber has released.
    fn pass_group_gate(&self) {
        // Ignore the error, because a closed reader shows no samples.
        let _ = self.visit(|actor, effects| actor.pass_group_gate(effects));
    }

    /// Returns the ranks of its samples in these states among those of all readers of its subscriber.
    fn ranks(&self, states: States) -> Vec<u64> {
        let selection = Selection { states, order: SelectionOrder::ByArrival, ..Selection::default() };
        self.visit(|actor, effects| actor.ranks(&selection, effects)).unwrap_or_default()
    }
}

impl GroupMembership {
    /// Adds a remote writer of the reader to the gate.
    pub(super) fn match_remote(&self, reader: EntityId, writer: &WriterProxyConfig, reliable: bool) {
        let key = PublisherKey::Remote(writer.guid.prefix, writer.publisher);
        let reliable = reliable && writer.reliable;
        self.access.match_remote(key, (writer.guid, reader), (reliable, writer.reports_group_progress));
    }
}
