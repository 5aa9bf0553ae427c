//! Publishes the security events of a participant, if its credentials say so (DDS Security 1.1, 9.6).
//!
//! Discovery puts events into a queue, and a timer publishes them outside of all turns. Bound: 64 events a minute.
//! Those beyond it are counted, and the count is an event.

use crate::actor::{Effects, Poke};
use crate::context::ParticipantContext;
use crate::driver::Timer;
use crate::infrastructure::CreateErrorKind;
use crate::participant::ParticipantHandle;
use crate::participant::own_topic::{self, OwnTopic};
use crate::protection::{SecurityEvent, SecurityEventSource, SecuritySeverity};
use crate::publication::{DataWriter, WriterHandle};
use crate::qos::{DataRepresentation, DataWriterQos};
use dds_rtps::discovery::SecurityReportKind;
use dds_rtps::types::{Duration, EntityId, Guid, Instant, Locator};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Events in a minute. An attacker must not fill the network.
const EVENTS_MAX: usize = 64;
const MINUTE: Duration = Duration::from_secs(60);

pub(crate) type SecurityLogTopic = OwnTopic<SecurityLogPublisher>;

/// The publisher of security events.
pub(crate) struct SecurityLogPublisher {
    participant: Weak<ParticipantHandle>,
    severity: SecuritySeverity,
    timer: Timer,
    queue: Mutex<PendingSecurityEvents>,
    writer: Mutex<Arc<WriterHandle>>,
}

/// Events that wait for the timer.
#[derive(Default)]
struct PendingSecurityEvents {
    waiting: Vec<(SecurityReportKind, String)>,
    /// Those of the minute that has begun here.
    since: Option<Instant>,
    accepted: usize,
    left_out: usize,
}

impl PendingSecurityEvents {
    /// Adds an event, unless the minute has had enough of them. Returns when the timer must publish.
    fn add(&mut self, kind: SecurityReportKind, text: &str, now: Instant) -> Instant {
        self.begin_minute(now);
        if self.accepted >= EVENTS_MAX {
            self.left_out += 1;
            // Its count is published, even if no event follows.
            return if self.waiting.is_empty() { self.end().unwrap_or(now) } else { now };
        }
        self.accepted += 1;
        self.waiting.push((kind, text.to_owned()));
        now
    }

    /// Begins another minute if one has passed, with the count of the events that were left out.
    fn begin_minute(&mut self, now: Instant) {
        if self.end().is_some_and(|end| end > now) {
            return;
        }
        if self.left_out > 0 {
            let text = format!("{} security events of the last minute were left out", self.left_out);
            self.waiting.push((SecurityReportKind::LeftOut, text));
        }
        (self.since, self.accepted, self.left_out) = (Some(now), 0, 0);
    }

    /// The end of the minute that has begun.
    fn end(&self) -> Option<Instant> {
        self.since?.after(MINUTE)
    }
}

impl SecurityLogTopic {
    /// Whether events are published.
    pub(super) fn is_open(&self) -> bool {
        self.publisher().is_some()
    }

    /// Publishes an event soon, if it is grave enough.
    pub(super) fn note(&self, kind: SecurityReportKind, text: &str, now: Instant) {
        let Some(publisher) = self.publisher() else { return };
        if SecuritySeverity::of(kind) <= publisher.severity {
            let due = publisher.queue.lock().unwrap_or_else(PoisonError::into_inner).add(kind, text, now);
            publisher.timer.set(Some(due));
        }
    }
}

impl ParticipantHandle {
    /// Begins to publish security events.
    pub(super) fn start_security_log(&self, severity: SecuritySeverity) -> Result<(), CreateErrorKind> {
        let Some(participant) = self.weak().upgrade() else { return Ok(()) };
        let writer = create_writer(&participant)?;
        let timers = self.core.driver().timers();
        let publisher = Arc::new_cyclic(|weak: &Weak<SecurityLogPublisher>| SecurityLogPublisher {
            participant: Arc::downgrade(&participant),
            severity,
            timer: Timer::new(timers, Weak::clone(weak) as Weak<dyn Poke>),
            queue: Mutex::default(),
            writer: Mutex::new(writer),
        });
        self.security_log().open(publisher, self);
        Ok(())
    }

    fn event_source(&self) -> SecurityEventSource {
        let locators = self.core.network().locators();
        let address = locators.default_unicast.first().and_then(Locator::to_socket_addr);
        SecurityEventSource {
            guid: Guid::new(self.core.prefix(), EntityId::PARTICIPANT).to_string(),
            domain_id: self.core.config().domain_id,
            address: address.map(|address| address.ip().to_string()).unwrap_or_default(),
            name: self.core.config().name.clone(),
        }
    }
}

fn create_writer(participant: &Arc<ParticipantHandle>) -> Result<Arc<WriterHandle>, CreateErrorKind> {
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(EVENTS_MAX as u32);
    // DDS Security 1.1: its types have XCDR version 1.
    let qos = qos.representation([DataRepresentation::Xcdr1]);
    own_topic::create_writer::<SecurityEvent>(participant, SecurityEvent::TOPIC, qos)
}

impl Poke for SecurityLogPublisher {
    fn poke(self: Arc<Self>, _effects: &mut Effects) {
        let Some(participant) = self.participant.upgrade() else { return };
        let now = participant.core().driver().now();
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        if queue.left_out > 0 {
            queue.begin_minute(now.instant);
        }
        self.timer.set(if queue.left_out > 0 { queue.end() } else { None });
        let events = std::mem::take(&mut queue.waiting);
        drop(queue);
        if events.is_empty() || participant.core().is_closed() {
            return;
        }
        let mut handle = self.writer.lock().unwrap_or_else(PoisonError::into_inner);
        if handle.is_closed() {
            // The application has closed all entities, and may create others.
            let Ok(writer) = create_writer(&participant) else { return };
            *handle = writer;
        }
        let writer = DataWriter::<SecurityEvent>::lend(Arc::clone(&handle));
        let (source, time) = (participant.event_source(), now.time);
        for (kind, text) in events {
            // A writer that keeps the last events always has room. One that was closed since has no readers.
            let _ = writer.try_write(&SecurityEvent::new(&source, kind, text, time));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flood_of_events_is_cut_and_counted() {
        let mut queue = PendingSecurityEvents::default();
        let at = |seconds: u64| Instant::from_nanos(seconds * 1_000_000_000);
        (0..1_000).for_each(|_| assert_eq!(queue.add(SecurityReportKind::Refused, "refused", at(5)), at(5)));
        assert_eq!((queue.waiting.len(), queue.left_out), (EVENTS_MAX, 1_000 - EVENTS_MAX));
        queue.add(SecurityReportKind::Refused, "refused", at(64));
        assert_eq!(queue.waiting.len(), EVENTS_MAX);
        queue.waiting.clear();
        // The timer publishes the count at the end of the minute.
        assert_eq!(queue.add(SecurityReportKind::Refused, "refused", at(64)), at(65));
        queue.add(SecurityReportKind::Refused, "later", at(65));
        let [(SecurityReportKind::LeftOut, count), (_, later)] = &queue.waiting[..] else { panic!("two events") };
        assert!(count.starts_with("938 security events") && later == "later", "{count}");
    }
}
