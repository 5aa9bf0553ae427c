//! A topic as a constant.

use crate::qos::Preset;
use std::fmt;
use std::marker::PhantomData;

/// Name, type and QoS of a topic, said once: writers and readers made of the same specification cannot disagree.
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
/// /// Who joins late sees the last map.
/// const MAP: TopicSpec<Map> = TopicSpec::new("map", Preset::Parameter);
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
    preset: Preset,
    marker: PhantomData<fn() -> T>,
}

impl<T> TopicSpec<T> {
    /// The topic `name` of type `T`, whose endpoints begin with the QoS of `preset`. A builder's `qos` replaces it.
    #[must_use]
    pub const fn new(name: &'static str, preset: Preset) -> Self {
        Self { name, preset, marker: PhantomData }
    }

    /// The topic's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The QoS of its endpoints.
    #[must_use]
    pub const fn preset(&self) -> Preset {
        self.preset
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
        f.debug_struct("TopicSpec").field("name", &self.name).field("preset", &self.preset).finish()
    }
}
