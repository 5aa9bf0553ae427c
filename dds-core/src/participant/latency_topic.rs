//! Publishes the latencies of a participant's endpoints, if its settings say so.
//!
//! A timer visits each endpoint once a second. The path of a sample has no part in it.

use crate::actor::{Effects, Poke};
use crate::context::ParticipantContext;
use crate::driver::Timer;
use crate::infrastructure::{CreateErrorKind, Subject};
use crate::participant::ParticipantHandle;
use crate::participant::own_topic::{self, OwnTopic};
use crate::publication::{DataWriter, WriterHandle};
use crate::qos::DataWriterQos;
use crate::topic::{LatencyKind, LatencyReport};
use dds_rtps::cdr::Keyed;
use dds_rtps::discovery::is_same_host;
use dds_rtps::types::{Duration, Guid, Instant};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, Weak};

const PERIOD: Duration = Duration::from_secs(1);

pub(crate) type LatencyTopic = OwnTopic<LatencyPublisher>;

/// The publisher of latencies.
pub(crate) struct LatencyPublisher {
    participant: Weak<ParticipantHandle>,
    timer: Timer,
    state: Mutex<PublisherState>,
}

struct PublisherState {
    writer: Arc<WriterHandle>,
    due: Instant,
    /// The count of the last sample of each instance.
    published: BTreeMap<(Guid, LatencyKind), u64>,
    /// Readers that have matched a writer on another host.
    crossed: BTreeSet<Guid>,
}

impl ParticipantHandle {
    /// Begins to publish latencies.
    pub(super) fn start_latency_topic(&self) -> Result<(), CreateErrorKind> {
        let Some(participant) = self.weak().upgrade() else { return Ok(()) };
        let writer = create_writer(&participant)?;
        let driver = self.core.driver();
        let due = next_after(driver.now().instant);
        let publisher = Arc::new_cyclic(|weak: &Weak<LatencyPublisher>| LatencyPublisher {
            participant: Arc::downgrade(&participant),
            timer: Timer::new(driver.timers(), Weak::clone(weak) as Weak<dyn Poke>),
            state: Mutex::new(PublisherState { writer, due, published: BTreeMap::new(), crossed: BTreeSet::new() }),
        });
        publisher.timer.set(Some(due));
        self.latency_topic().open(publisher, self);
        Ok(())
    }

    /// Returns the reports of an endpoint that measured a time.
    fn latency_reports(&self, endpoint: &Subject) -> Vec<LatencyReport> {
        let (id, topic) = (endpoint.guid.entity_id, endpoint.topic.as_str());
        let report = |kind, times| LatencyReport::new(endpoint.guid, kind, topic, times);
        let mut reports = Vec::new();
        // A closed endpoint has measured nothing.
        if let Some(cell) = self.reception().routes().reader(id) {
            let Ok((latencies, writers)) = cell.visit(|actor, _| {
                (actor.rtps().history().latencies().clone(), actor.rtps().matched_writers().collect::<Vec<_>>())
            }) else {
                return reports;
            };
            let received = report(LatencyKind::WriteToReception, &latencies.write_to_reception);
            let crosses_hosts = self.are_on_other_hosts(&writers);
            reports.push(LatencyReport { from_future: latencies.from_future, crosses_hosts, ..received });
            reports.push(report(LatencyKind::ReceptionToTake, &latencies.reception_to_take));
        } else if let Some(cell) = self.reception().routes().writer(id) {
            let Ok(times) = cell.visit(|actor, _| actor.rtps().acknowledgment_latency().clone()) else {
                return reports;
            };
            reports.push(report(LatencyKind::Acknowledgment, &times));
        }
        reports.retain(|report| report.count + report.from_future > 0);
        reports
    }

    /// Returns whether one of the endpoints belongs to a participant on another host.
    fn are_on_other_hosts(&self, endpoints: &[Guid]) -> bool {
        let own = self.core.network().locators();
        self.discovery().know(|rtps| {
            let mut participants = endpoints.iter().filter_map(|endpoint| rtps.participant(endpoint.prefix));
            participants.any(|participant| {
                let announced = participant.metatraffic_unicast.iter().chain(&participant.default_unicast);
                !is_same_host(&own.host_addresses, announced)
            })
        })
    }
}

fn next_after(now: Instant) -> Instant {
    // Only an infinite period has no instant.
    now.after(PERIOD).unwrap_or(now)
}

fn create_writer(participant: &Arc<ParticipantHandle>) -> Result<Arc<WriterHandle>, CreateErrorKind> {
    let qos = DataWriterQos::default().reliable().transient_local().keep_last(1);
    own_topic::create_writer::<LatencyReport>(participant, LatencyReport::TOPIC, qos)
}

impl Poke for LatencyPublisher {
    fn poke(self: Arc<Self>, _effects: &mut Effects) {
        if let Some(participant) = self.participant.upgrade() {
            self.publish_if_due(&participant);
        }
    }
}

impl LatencyPublisher {
    fn publish_if_due(&self, participant: &Arc<ParticipantHandle>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let now = participant.core().driver().now().instant;
        // A timer may fire without a cause.
        if now >= state.due {
            state.publish(participant);
            state.due = next_after(now);
        }
        self.timer.set(Some(state.due));
    }
}

impl PublisherState {
    fn publish(&mut self, participant: &Arc<ParticipantHandle>) {
        if participant.core().is_closed() {
            return;
        }
        if self.writer.is_closed() {
            // The application has closed all entities, and may create others.
            let Ok(writer) = create_writer(participant) else { return };
            self.writer = writer;
            self.published.clear();
        }
        let writer = DataWriter::<LatencyReport>::lend(Arc::clone(&self.writer));
        let mut before = std::mem::take(&mut self.published);
        for endpoint in participant.contained().endpoints() {
            if endpoint.guid == self.writer.guid() {
                continue;
            }
            for mut report in participant.latency_reports(&endpoint) {
                // The histogram keeps the times of a writer that has left.
                if report.kind == LatencyKind::WriteToReception {
                    if report.crosses_hosts {
                        self.crossed.insert(endpoint.guid);
                    }
                    report.crosses_hosts = self.crossed.contains(&endpoint.guid);
                }
                let instance = (endpoint.guid, report.kind);
                let total = report.count + report.from_future;
                // A full writer publishes the endpoint a second later.
                let is_known = before.remove(&instance) == Some(total) || writer.try_write(&report).is_ok();
                self.published.insert(instance, if is_known { total } else { 0 });
            }
        }
        for (endpoint, kind) in before.into_keys() {
            self.crossed.remove(&endpoint);
            let ended = LatencyReport::new(endpoint, kind, "", &Default::default());
            // A writer that was closed since has ended all instances.
            // Readers see a disposal. A disposal alone would stay in the history for late joiners, without end.
            let _ = writer.unregister_instance(&ended.key());
        }
    }
}
