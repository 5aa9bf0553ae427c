//! Latencies that participants publish about their endpoints, and the delays of the samples that this program receives.
//!
//! A delay from another host contains the difference of both clocks, which no reader knows. The fastest sample bounds
//! it, so such a delay is the time above the fastest sample of that participant or endpoint. It is marked as estimated,
//! and it leaves out the shortest time of the network.

use crate::domain_view::DomainView;
use crate::error::ToolError;
use crate::socket_drops::is_on_this_host;
use crate::topic_reader::delay_nanos;
use dds_core::qos::DataReaderQos;
use dds_core::stats::{LatencyBucket, LatencyKind, LatencyReport};
use dds_core::{DataReader, DomainParticipant, Guid, InstanceHandle, SampleInfo};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};

/// Most instances of the topic that a command keeps. A peer that invents endpoints must not fill the memory.
const REPORTS_MAX: usize = 10_000;
/// Most buckets of a report, and most bytes of the name of its topic. An honest report has at most 592 and 256.
const PART_MAX: usize = 1024;
/// Most participants of other hosts with a fastest sample.
const HOSTS_MAX: usize = 10_000;

/// Percentiles of times.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct LatencyFigures {
    /// How many times there are.
    pub count: u64,
    /// The median.
    pub p50_ns: u64,
    /// The 99th percentile.
    pub p99_ns: u64,
    /// Whether some times come from another host, and count from its fastest sample.
    pub is_estimated: bool,
}

/// The latencies of one topic, as its participants publish them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct TopicLatencies {
    /// From the write to the reception, at readers whose participants publish it.
    pub write_to_reception: Option<LatencyFigures>,
    /// From the reception to the first read or take.
    pub reception_to_take: Option<LatencyFigures>,
    /// From the write to the last acknowledgment, at writers whose participants publish it.
    pub acknowledgment: Option<LatencyFigures>,
}

/// The last two reports of one endpoint and kind.
#[derive(Debug, Clone)]
struct ReportPair {
    last: LatencyReport,
    /// Buckets of the report before, to tell the new times from the old ones.
    before: Vec<LatencyBucket>,
}

/// Follows the topic `dds/latencies`.
#[derive(Debug)]
pub struct LatencyWatch {
    reader: DataReader<LatencyReport>,
    reports: HashMap<InstanceHandle, ReportPair>,
}

impl LatencyWatch {
    /// Creates the reader.
    ///
    /// # Errors
    /// As [`DomainParticipant::reader_builder`].
    pub fn new(participant: &DomainParticipant) -> Result<Self, ToolError> {
        let qos = DataReaderQos::default().reliable().transient_local();
        let reader = participant.reader_builder(LatencyReport::TOPIC).qos(qos).build()?;
        Ok(Self { reader, reports: HashMap::new() })
    }

    /// Takes the reports that came since the last call.
    ///
    /// # Errors
    /// Fails if the participant is closed.
    pub fn update(&mut self) -> Result<(), ToolError> {
        for sample in self.reader.take()? {
            let instance = sample.info.instance_handle;
            match sample.data {
                Some(report) => self.keep(instance, report),
                None => drop(self.reports.remove(&instance)),
            }
        }
        Ok(())
    }

    fn keep(&mut self, instance: InstanceHandle, report: LatencyReport) {
        if self.reports.len() >= REPORTS_MAX && !self.reports.contains_key(&instance) {
            return;
        }
        if report.buckets.len() > PART_MAX || report.topic_name.len() > PART_MAX {
            return;
        }
        let before = self.reports.remove(&instance).map_or_else(Vec::new, |pair| pair.last.buckets);
        self.reports.insert(instance, ReportPair { last: report, before });
    }

    /// Returns the last report of each endpoint and kind, in the order of topics, kinds and endpoints.
    #[must_use]
    pub fn reports(&self) -> Vec<&LatencyReport> {
        let mut reports: Vec<&LatencyReport> = self.reports.values().map(|pair| &pair.last).collect();
        reports.sort_by(|a, b| report_order(a).cmp(&report_order(b)));
        reports
    }

    /// Returns the last report of each endpoint and kind, with the times since the report before. In the order of
    /// [`reports`](Self::reports).
    pub(crate) fn recent(&self) -> Vec<RecentTimes<'_>> {
        let mut found = Vec::with_capacity(self.reports.len());
        for pair in self.reports.values() {
            let mut times = TimeCounts::default();
            times.add(pair);
            let is_first = pair.before.is_empty();
            found.extend(times.figures().map(|figures| RecentTimes { report: &pair.last, figures, is_first }));
        }
        found.sort_by(|a, b| report_order(a.report).cmp(&report_order(b.report)));
        found
    }

    /// Returns the latencies of each topic: of the times between the last two reports, or of all times of a first one.
    #[must_use]
    pub fn by_topic(&self) -> BTreeMap<String, TopicLatencies> {
        let mut times = BTreeMap::<(&str, LatencyKind), TimeCounts>::new();
        for pair in self.reports.values() {
            times.entry((&pair.last.topic_name, pair.last.kind)).or_default().add(pair);
        }
        let mut topics = BTreeMap::<String, TopicLatencies>::new();
        for ((topic, kind), times) in times {
            let latencies = topics.entry(topic.to_owned()).or_default();
            match kind {
                LatencyKind::WriteToReception => latencies.write_to_reception = times.figures(),
                LatencyKind::ReceptionToTake => latencies.reception_to_take = times.figures(),
                LatencyKind::Acknowledgment => latencies.acknowledgment = times.figures(),
            }
        }
        topics
    }
}

/// Topics, kinds and endpoints.
fn report_order(report: &LatencyReport) -> (&str, LatencyKind, [u8; 16]) {
    (&report.topic_name, report.kind, report.endpoint)
}

/// The times of an endpoint between its last two reports.
pub(crate) struct RecentTimes<'r> {
    pub(crate) report: &'r LatencyReport,
    pub(crate) figures: LatencyFigures,
    /// Whether there is one report only, so that these are all times of the endpoint.
    pub(crate) is_first: bool,
}

/// How often which time occurred.
#[derive(Debug, Clone, Default)]
pub(crate) struct TimeCounts {
    counts: BTreeMap<u64, u64>,
    is_estimated: bool,
}

impl TimeCounts {
    /// Adds the times between the two reports.
    fn add(&mut self, pair: &ReportPair) {
        let before: HashMap<u64, u64> = pair.before.iter().map(|bucket| (bucket.upper_ns, bucket.count)).collect();
        // The fastest sample of this endpoint stands for the difference of the clocks.
        let base = if pair.last.crosses_hosts { pair.last.min_ns } else { 0 };
        self.is_estimated |= pair.last.crosses_hosts;
        for bucket in &pair.last.buckets {
            let new = bucket.count.saturating_sub(before.get(&bucket.upper_ns).copied().unwrap_or(0));
            if new > 0 {
                let count = self.counts.entry(bucket.upper_ns.saturating_sub(base)).or_default();
                *count = count.saturating_add(new);
            }
        }
    }

    /// Adds a sample of this program. The time has four significant bits, as in the reports.
    pub(crate) fn record(&mut self, delay: SampleDelay) {
        let SampleDelay { nanos, is_estimated } = delay;
        self.is_estimated |= is_estimated;
        let width = nanos.checked_ilog2().map_or(0, |bits| bits.saturating_sub(4));
        *self.counts.entry(nanos | ((1 << width) - 1)).or_default() += 1;
    }

    /// Returns the percentiles. `None` without times.
    pub(crate) fn figures(&self) -> Option<LatencyFigures> {
        // The counts are those of a peer, so their sum may not fit.
        let count = self.counts.values().fold(0, |sum: u64, count| sum.saturating_add(*count));
        let at = |percent: u64| {
            let rank = (u128::from(count) * u128::from(percent)).div_ceil(100);
            let mut seen = 0_u128;
            let found = self.counts.iter().find(|(_, count)| {
                seen += u128::from(**count);
                seen >= rank
            });
            found.map(|(time, _)| *time)
        };
        if count == 0 {
            return None;
        }
        Some(LatencyFigures { count, p50_ns: at(50)?, p99_ns: at(99)?, is_estimated: self.is_estimated })
    }
}

/// The delays of the samples that this program receives.
#[derive(Debug, Default)]
pub struct DelayMeter {
    /// The smallest difference of reception and source timestamp. `None` for a participant of this host.
    fastest: HashMap<Guid, Option<i64>>,
}

/// The time that a sample took.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SampleDelay {
    /// The time, above the fastest sample if it is estimated.
    pub nanos: u64,
    /// Whether the sample comes from another host.
    pub is_estimated: bool,
}

impl DelayMeter {
    /// Returns how long a sample took. `None` without a source timestamp, or if the clock of this host was set back.
    pub fn measure(&mut self, info: &SampleInfo, view: &DomainView) -> Option<SampleDelay> {
        let nanos = delay_nanos(info)?;
        let participant = view.participant_of_writer(info.publication_handle)?;
        self.measure_nanos(participant, nanos, || is_on_this_host(view, participant))
    }

    fn measure_nanos(
        &mut self,
        participant: Guid,
        nanos: i64,
        is_on_this_host: impl FnOnce() -> bool,
    ) -> Option<SampleDelay> {
        if self.fastest.len() >= HOSTS_MAX {
            self.fastest.clear();
        }
        let first = || if is_on_this_host() { None } else { Some(nanos) };
        match self.fastest.entry(participant).or_insert_with(first) {
            Some(fastest) => {
                *fastest = nanos.min(*fastest);
                Some(SampleDelay { nanos: nanos.abs_diff(*fastest), is_estimated: true })
            }
            None => Some(SampleDelay { nanos: u64::try_from(nanos).ok()?, is_estimated: false }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{DelayMeter, SampleDelay, TimeCounts};
    use dds_core::Guid;

    #[test]
    fn delays_from_another_host_count_from_the_fastest_sample() {
        let mut meter = DelayMeter::default();
        let mut measure = |nanos| meter.measure_nanos(Guid::UNKNOWN, nanos, || false).unwrap();
        // The clock of the other host is 5 ms ahead.
        assert_eq!(measure(-4_000_000), SampleDelay { nanos: 0, is_estimated: true });
        assert_eq!(measure(-3_900_000), SampleDelay { nanos: 100_000, is_estimated: true });
        assert_eq!(measure(-4_100_000), SampleDelay { nanos: 0, is_estimated: true });
        assert_eq!(measure(-3_900_000), SampleDelay { nanos: 200_000, is_estimated: true });
    }

    #[test]
    fn delays_of_this_host_are_exact() {
        let mut meter = DelayMeter::default();
        let mut measure = |nanos| meter.measure_nanos(Guid::UNKNOWN, nanos, || true);
        assert_eq!(measure(70), Some(SampleDelay { nanos: 70, is_estimated: false }));
        assert_eq!(measure(50), Some(SampleDelay { nanos: 50, is_estimated: false }));
        assert_eq!(measure(-1), None);
    }

    #[test]
    fn percentiles_are_at_most_a_sixteenth_too_long() {
        let mut times = TimeCounts::default();
        assert_eq!(times.figures(), None);
        for nanos in 1..=1000 {
            times.record(SampleDelay { nanos: nanos * 1000, is_estimated: false });
        }
        let figures = times.figures().unwrap();
        assert_eq!((figures.count, figures.is_estimated), (1000, false));
        for (found, exact) in [(figures.p50_ns, 500_000), (figures.p99_ns, 990_000)] {
            assert!(found >= exact && found - exact <= exact / 16, "{found} for {exact}");
        }
        times.record(SampleDelay { nanos: 0, is_estimated: true });
        assert!(times.figures().unwrap().is_estimated);
    }
}
