//! A topic as a constant.

use crate::qos::{
    DataReaderQos, DataWriterQos, DestinationOrder, Durability, History, Ownership, Preset, Reliability, ResourceLimits,
};
use dds_rtps::types::Duration;
use std::fmt;
use std::marker::PhantomData;

/// Name, type and QoS of a topic as a constant, for writers and readers with equal settings.
///
/// ```
/// use dds_core::qos::Preset;
/// use dds_core::{DdsType, DomainParticipant, Scope, TopicSpec};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// struct Map {
///     cells: Vec<u8>,
/// }
///
/// /// Late-joining readers receive the last three maps.
/// const MAP: TopicSpec<Map> = TopicSpec::new("map", Preset::Parameter).keep_last(3);
///
/// # fn main() -> dds_core::Result<()> {
/// let participant = DomainParticipant::builder(0)
///     .scope(Scope::Host)
/// #   .domain_tag(std::process::id().to_string())
///     .build()?;
/// let writer = participant.writer(&MAP)?;
/// writer.write(&Map { cells: vec![1, 2] })?;
/// let reader = participant.reader(&MAP)?;
/// assert_eq!(reader.next_sample().block()?.data, Some(Map { cells: vec![1, 2] }));
/// # Ok(())
/// # }
/// ```
pub struct TopicSpec<T> {
    name: &'static str,
    policies: SpecPolicies,
    marker: PhantomData<fn() -> T>,
}

impl<T> TopicSpec<T> {
    /// Creates the topic `name` of type `T`, whose endpoints begin with the QoS of `preset`.
    ///
    /// The setters below change single policies of writers and readers. A builder's `qos` replaces all of it.
    #[must_use]
    pub const fn new(name: &'static str, preset: Preset) -> Self {
        Self { name, policies: SpecPolicies::new(preset), marker: PhantomData }
    }

    /// Returns the topic's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the preset.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.policies.preset
    }

    /// Makes both sides reliable: lost samples are repaired.
    #[must_use]
    pub const fn reliable(mut self) -> Self {
        self.policies.reliability = Some(Reliability::RELIABLE);
        self
    }

    /// Makes both sides best effort: lost samples are not repaired.
    #[must_use]
    pub const fn best_effort(mut self) -> Self {
        self.policies.reliability = Some(Reliability::BestEffort);
        self
    }

    /// Keeps the newest `depth` samples of each instance.
    #[must_use]
    pub const fn keep_last(mut self, depth: u32) -> Self {
        self.policies.history = Some(History::KeepLast { depth });
        self
    }

    /// Keeps every sample, up to the resource limits.
    #[must_use]
    pub const fn keep_all(mut self) -> Self {
        self.policies.history = Some(History::KeepAll);
        self
    }

    /// Limits both sides.
    #[must_use]
    pub const fn resource_limits(mut self, limits: ResourceLimits) -> Self {
        self.policies.resource_limits = Some(limits);
        self
    }

    /// Serves readers that join late from the writer's history.
    #[must_use]
    pub const fn transient_local(self) -> Self {
        self.durability(Durability::TransientLocal)
    }

    /// Sets the samples that a late joiner receives.
    #[must_use]
    pub const fn durability(mut self, durability: Durability) -> Self {
        self.policies.durability = Some(durability);
        self
    }

    /// Sets the longest time between two samples of an instance.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.policies.deadline = Some(deadline);
        self
    }

    /// Sets the acceptable delay of a sample, within which writers send small samples together.
    #[must_use]
    pub const fn latency_budget(mut self, latency_budget: Duration) -> Self {
        self.policies.latency_budget = Some(latency_budget);
        self
    }

    /// Sets the age after which a sample is not delivered.
    #[must_use]
    pub const fn lifespan(mut self, lifespan: Duration) -> Self {
        self.policies.lifespan = Some(lifespan);
        self
    }

    /// Sets whether one writer at a time owns an instance.
    #[must_use]
    pub const fn ownership(mut self, ownership: Ownership) -> Self {
        self.policies.ownership = Some(ownership);
        self
    }

    /// Sets the clock that orders samples.
    #[must_use]
    pub const fn destination_order(mut self, order: DestinationOrder) -> Self {
        self.policies.destination_order = Some(order);
        self
    }

    pub(super) const fn policies(&self) -> SpecPolicies {
        self.policies
    }
}

/// The policies of a [`TopicSpec`]: a preset, and those that differ from it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SpecPolicies {
    preset: Preset,
    reliability: Option<Reliability>,
    history: Option<History>,
    resource_limits: Option<ResourceLimits>,
    durability: Option<Durability>,
    deadline: Option<Duration>,
    latency_budget: Option<Duration>,
    lifespan: Option<Duration>,
    ownership: Option<Ownership>,
    destination_order: Option<DestinationOrder>,
}

/// Sets the policies of a [`SpecPolicies`] that both kinds of endpoints have.
macro_rules! common_policies {
    ($policies:ident, $qos:ident) => {
        $qos.reliability = $policies.reliability.unwrap_or($qos.reliability);
        $qos.history = $policies.history.unwrap_or($qos.history);
        $qos.resource_limits = $policies.resource_limits.unwrap_or($qos.resource_limits);
        $qos.durability = $policies.durability.unwrap_or($qos.durability);
        $qos.deadline = $policies.deadline.unwrap_or($qos.deadline);
        $qos.latency_budget = $policies.latency_budget.unwrap_or($qos.latency_budget);
        $qos.ownership = $policies.ownership.unwrap_or($qos.ownership);
        $qos.destination_order = $policies.destination_order.unwrap_or($qos.destination_order);
    };
}

impl SpecPolicies {
    pub(super) const DEFAULT: Self = Self::new(Preset::Default);

    pub(super) const fn new(preset: Preset) -> Self {
        Self {
            preset,
            reliability: None,
            history: None,
            resource_limits: None,
            durability: None,
            deadline: None,
            latency_budget: None,
            lifespan: None,
            ownership: None,
            destination_order: None,
        }
    }

    /// Returns the QoS of a writer. Without a preset it begins with `default`.
    pub(crate) fn writer(self, default: DataWriterQos) -> DataWriterQos {
        let mut qos = if self.preset == Preset::Default { default } else { self.preset.writer() };
        common_policies!(self, qos);
        // Only a writer has it, because a sample expires by its source timestamp (DDS 1.4, 2.2.3.16).
        qos.lifespan = self.lifespan.unwrap_or(qos.lifespan);
        qos
    }

    /// Returns the QoS of a reader. Without a preset it begins with `default`.
    pub(crate) fn reader(self, default: DataReaderQos) -> DataReaderQos {
        let mut qos = if self.preset == Preset::Default { default } else { self.preset.reader() };
        common_policies!(self, qos);
        qos
    }
}

impl<T> Clone for TopicSpec<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for TopicSpec<T> {}

impl<T> fmt::Debug for TopicSpec<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicSpec").field("name", &self.name).field("policies", &self.policies).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POSES: TopicSpec<u8> = TopicSpec::new("poses", Preset::SensorData)
        .reliable()
        .keep_all()
        .resource_limits(ResourceLimits::NONE.max_samples(8))
        .transient_local()
        .deadline(Duration::from_millis(20))
        .latency_budget(Duration::from_millis(1))
        .lifespan(Duration::from_secs(1))
        .ownership(Ownership::Exclusive)
        .destination_order(DestinationOrder::BySourceTimestamp);

    #[test]
    fn spec_sets_policies_of_both_sides() {
        let limits = ResourceLimits::NONE.max_samples(8);
        let (deadline, budget) = (Duration::from_millis(20), Duration::from_millis(1));
        let writer = Preset::Event.writer().resource_limits(limits).transient_local().deadline(deadline);
        let writer = writer.latency_budget(budget).lifespan(Duration::from_secs(1)).ownership(Ownership::Exclusive);
        let writer = writer.destination_order(DestinationOrder::BySourceTimestamp);
        assert_eq!(POSES.policies().writer(DataWriterQos::default()), writer);
        let reader = Preset::Event.reader().resource_limits(limits).transient_local().deadline(deadline);
        let reader = reader.latency_budget(budget).ownership(Ownership::Exclusive);
        let reader = reader.destination_order(DestinationOrder::BySourceTimestamp);
        assert_eq!(POSES.policies().reader(DataReaderQos::default()), reader);
    }

    #[test]
    fn spec_without_preset_keeps_default_of_factory() {
        let spec = TopicSpec::<u8>::new("poses", Preset::Default).keep_last(3);
        let (writer, reader) = (DataWriterQos::default().best_effort(), DataReaderQos::default().reliable());
        assert_eq!(spec.policies().writer(writer.clone()), writer.keep_last(3));
        assert_eq!(spec.policies().reader(reader.clone()), reader.keep_last(3));
    }
}
