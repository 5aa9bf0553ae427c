//! The writer without reader proxies (RTPS 2.5, 8.4.8): best effort, to fixed locators. SPDP uses it.

use super::config::NewChange;
use super::send::layout::{Layout, Sender};
use crate::history::CacheChange;
use crate::output::Datagram;
use crate::types::{EntityId, Guid, Locator, Now, SequenceNumber};

/// Most receivers with an answer of their own. Beyond that, the change goes to all locators again, which reach them
/// too.
const ANSWERS_MAX: usize = 64;

/// Sends its one change to a fixed set of locators, and again on request.
///
/// Life cycle of a change: [`write`](Self::write) replaces the previous change and sends the new one.
/// [`resend`](Self::resend) and [`resend_to`](Self::resend_to) repeat it with the same sequence number. Bound: one
/// change, 64 answers.
#[derive(Debug)]
pub struct StatelessWriter {
    guid: Guid,
    reader_id: EntityId,
    keyed: bool,
    locators: Vec<Locator>,
    change: Option<CacheChange>,
    last: SequenceNumber,
    resend_to_all: bool,
    answers: Vec<Locator>,
}

impl StatelessWriter {
    /// Creates a writer that sends to `locators`, for readers with `reader_id` ([`EntityId::UNKNOWN`] for all).
    #[must_use]
    pub fn new(guid: Guid, reader_id: EntityId, keyed: bool, locators: Vec<Locator>) -> Self {
        Self {
            guid,
            reader_id,
            keyed,
            locators,
            change: None,
            last: SequenceNumber::ZERO,
            resend_to_all: false,
            answers: Vec::new(),
        }
    }

    /// Returns the locators.
    #[must_use]
    pub fn locators(&self) -> &[Locator] {
        &self.locators
    }

    /// Replaces the locators. The next transmission uses the new ones.
    pub fn set_locators(&mut self, locators: Vec<Locator>) {
        self.locators = locators;
    }

    /// Adds a locator unless it is present. The next transmission uses it.
    pub fn add_locator(&mut self, locator: Locator) {
        if !self.locators.contains(&locator) {
            self.locators.push(locator);
        }
    }

    /// Replaces the change and schedules it for all locators.
    pub fn write(&mut self, now: Now, change: NewChange) -> SequenceNumber {
        self.last = self.last.next();
        self.change = Some(CacheChange {
            kind: change.kind,
            writer: self.guid,
            sequence_number: self.last,
            instance: change.instance,
            source_timestamp: change.source_timestamp.unwrap_or(now.time),
            related_sample: change.related_sample,
            origin: change.origin,
            presented: None,
            payload: change.payload,
        });
        self.resend();
        self.last
    }

    /// Schedules the change for all locators again.
    pub fn resend(&mut self) {
        self.resend_to_all = self.change.is_some();
    }

    /// Schedules the change for these locators only, to answer a new participant.
    pub fn resend_to(&mut self, locators: &[Locator]) {
        if self.change.is_none() {
            return;
        }
        // A transmission to all locators reaches these receivers too.
        if self.answers.len() + locators.len() > ANSWERS_MAX {
            return self.resend();
        }
        self.answers.extend_from_slice(locators);
    }

    /// Lays out the next datagram with its destinations, and replaces the content of `datagram`.
    ///
    /// Returns `false` and an empty datagram if there is no data to send now.
    pub fn poll_transmit(&mut self, datagram: &mut Datagram) -> bool {
        datagram.clear();
        let to_all = std::mem::take(&mut self.resend_to_all);
        if !to_all && self.answers.is_empty() {
            return false;
        }
        let Some(change) = &self.change else {
            debug_assert!(false, "only an existing change is scheduled");
            return false;
        };
        let sender =
            Sender { guid: self.guid, keyed: self.keyed, hashed_type: None, hides_keys: false, inline_qos: &[] };
        // The only change is laid out in any case, so the length limit does not matter.
        let mut layout = Layout::new(datagram, sender, self.reader_id, 0);
        layout.change(change);
        if to_all {
            for locator in &self.locators {
                layout.datagram().add_destination(*locator);
            }
        }
        for locator in &self.answers {
            layout.datagram().add_destination(*locator);
        }
        self.answers.clear();
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concurrent::Payload;
    use crate::types::{GuidPrefix, InstanceHandle, Instant, Time};

    #[test]
    fn excess_answers_go_to_all_locators() {
        let now = Now { instant: Instant::ZERO, time: Time::from_unix_nanos(1) };
        let guid = Guid::new(GuidPrefix([1; 12]), EntityId::SPDP_WRITER);
        let group = Locator::udp_v4([239, 255, 0, 1].into(), 7400);
        let mut writer = StatelessWriter::new(guid, EntityId::SPDP_READER, false, vec![group]);
        let mut datagram = Datagram::new();
        writer.write(now, NewChange::alive(InstanceHandle::NIL, Payload::copy_of(&[0, 1, 0, 0])));
        assert!(writer.poll_transmit(&mut datagram));
        let peers: Vec<Locator> =
            (1..=ANSWERS_MAX as u16).map(|port| Locator::udp_v4([10, 0, 0, 1].into(), port)).collect();
        writer.resend_to(&peers);
        writer.resend_to(&peers[..1]);
        assert_eq!(writer.answers.len(), ANSWERS_MAX);
        assert!(writer.poll_transmit(&mut datagram));
        assert_eq!((datagram.destinations()[0], datagram.destinations().len()), (group, 1 + ANSWERS_MAX));
        assert!(!writer.poll_transmit(&mut datagram));
    }
}
