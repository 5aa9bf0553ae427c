//! Access to what belongs together (DDS 1.4, 2.2.2.5.2.8 to 2.2.2.5.2.10).

use crate::infrastructure::{ReadError, ReadErrorKind};
use crate::subscription::group_access::Seat;
use crate::subscription::{AnyReader, GroupAccess, ReaderHandle, Subscriber, SubscriberGroup};
use dds_rtps::history::{Selection, SelectionOrder, States};
use dds_rtps::reader::{PublisherKey, WriterProxyConfig};
use dds_rtps::types::EntityId;
use std::fmt;
use std::sync::Arc;

impl Subscriber {
    /// Begins access: until the returned guard is gone, the readers of this subscriber show what belonged together when it was
    /// called, and nothing that comes meanwhile. While there are several guards, the last one ends it.
    ///
    /// Under PRESENTATION with `access_scope` `Group` and coherent or ordered access, samples are handed out only during access:
    /// reading or taking outside of it answers [`ReadErrorKind::OutsideAccess`], for nobody could tell then what of one reader
    /// belongs to what of another. (DDS 1.4 demands it of the scope alone; where neither is asked for nothing is gained by
    /// it, and it is not asked for.) To wait, use [`readable`](crate::DataReader::readable), a condition or a listener: none
    /// of them needs access. ([`iter`](crate::DataReader::iter) and the streams take without it, and so get nothing here.) A
    /// reader that is made later than another one sees what writers had kept when it came, by itself. Under other scopes access may be begun and has no effect.
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
            // What was released until now is in the histories of all of them after this.
            group.members().iter().for_each(|reader| reader.take_turn());
        }
        Ok(Access { group, access })
    }
}

/// Access to the readers of a subscriber; from [`Subscriber::access`]. It ends when this is dropped.
#[must_use = "access ends when this is dropped"]
pub struct Access<'s> {
    group: &'s Arc<SubscriberGroup>,
    access: Option<Arc<GroupAccess>>,
}

impl Access<'_> {
    /// The readers that have samples in these states, in the order in which these are to be presented.
    ///
    /// Under scope `Group` with ordered access a reader stands there once for each such sample: whoever takes one sample of each
    /// entry ([`take_next`](crate::DataReader::take_next)) gets all of them in the order in which they were written, across
    /// topics. Of several publishers each has its own order. Otherwise each reader stands there once, in the order in which
    /// they were made (DDS 1.4, 2.2.2.5.2.10).
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
            self.group.members().iter().for_each(|reader| reader.take_turn());
        }
    }
}

impl fmt::Debug for Access<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Access({})", self.group.guid())
    }
}

impl ReaderHandle {
    /// Takes its place among the readers of its subscriber, if that presents them together.
    pub(super) fn take_seat(&self) {
        let Some(access) = self.group.as_ref().and_then(|group| group.presented()) else { return };
        access.add_reader(self.guid().entity_id, Arc::downgrade(&self.cell));
        // A closed reader needs none.
        let _ = self.visit(|actor, _| actor.seat = Some(Box::new(Seat::new(Arc::clone(&access)))));
        // Nobody else enables it at the same time.
        let _ = self.access.set(access);
    }

    /// Gives its place up: nobody waits any more for what it has.
    pub(super) fn leave_group(&self) {
        if let Some(access) = self.access.get() {
            access.remove_reader(self.guid().entity_id);
            let members = self.group.as_ref().map(|group| group.members()).unwrap_or_default();
            members.iter().for_each(|reader| reader.take_turn());
        }
    }

    /// Takes over what the gate of its subscriber has released.
    fn take_turn(&self) {
        // A closed reader shows nothing.
        let _ = self.visit(|actor, effects| actor.take_turn(effects));
    }

    /// The places of its samples in these states among those of all readers of its subscriber.
    fn ranks(&self, states: States) -> Vec<u64> {
        let selection = Selection { states, order: SelectionOrder::ByArrival, ..Selection::default() };
        self.visit(|actor, effects| actor.ranks(&selection, effects)).unwrap_or_default()
    }
}

impl Seat {
    /// Notes at the gate that the reader matches a writer of another participant.
    pub(super) fn match_remote(&self, reader: EntityId, writer: &WriterProxyConfig, reliable: bool) {
        let key = PublisherKey::Remote(writer.guid.prefix, writer.publisher);
        let reliable = reliable && writer.reliable;
        self.access.match_remote(key, (writer.guid, reader), (reliable, writer.reports_group_progress));
    }
}
