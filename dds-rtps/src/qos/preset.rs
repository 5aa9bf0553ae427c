//! Named starting points for common kinds of data.

use super::{DataReaderQos, DataWriterQos, DestinationOrder, Durability, History, Reliability};

/// A starting point for a common kind of data; setters then change single policies.
///
/// | preset | reliability | history | durability | for |
/// |---|---|---|---|---|
/// | `Default` | writer reliable, reader best effort | last 1 | volatile | compatibility with any peer |
/// | `SensorData` | best effort | last 5 | volatile | newest wins |
/// | `State` | reliable | last 1 per key | transient local | late joiners see the present |
/// | `Command` | reliable | last 10 | volatile | small, few, in order |
/// | `Parameter` | reliable, ordered by source time | last 1 per key | transient local | last setting wins |
/// | `Event` | reliable | keep all | volatile | every sample; back-pressure |
///
/// ```
/// # mod dds_core { pub use dds_rtps::qos; }
/// use dds_core::qos::{History, Preset};
/// let qos = Preset::Command.writer().keep_last(3);
/// assert_eq!(qos.history, History::KeepLast { depth: 3 });
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Preset {
    /// The defaults of DDS.
    #[default]
    Default,
    /// A stream whose newest sample matters most: scans, images, odometry.
    SensorData,
    /// The present value of an instance; late joiners receive it.
    State,
    /// Few small samples that all must arrive in order.
    Command,
    /// A setting with several writers: the last value by the writers' clocks wins everywhere.
    Parameter,
    /// Every sample matters: a full history blocks the writer.
    Event,
}

struct PresetPolicies {
    reliability: Reliability,
    history: History,
    durability: Durability,
    order: DestinationOrder,
}

impl Preset {
    /// Returns the preset for a writer.
    #[must_use]
    pub fn writer(self) -> DataWriterQos {
        let qos = DataWriterQos::default();
        let Some(choice) = self.policies() else { return qos };
        qos.reliability(choice.reliability)
            .history(choice.history)
            .durability(choice.durability)
            .destination_order(choice.order)
    }

    /// Returns the preset for a reader.
    #[must_use]
    pub fn reader(self) -> DataReaderQos {
        let qos = DataReaderQos::default();
        let Some(choice) = self.policies() else { return qos };
        qos.reliability(choice.reliability)
            .history(choice.history)
            .durability(choice.durability)
            .destination_order(choice.order)
    }

    /// Returns the policies of both sides; `None` for the defaults, in which the sides differ.
    fn policies(self) -> Option<PresetPolicies> {
        let last = |depth| History::KeepLast { depth };
        let (reliability, history, durability) = match self {
            Self::Default => return None,
            Self::SensorData => (Reliability::BestEffort, last(5), Durability::Volatile),
            Self::State | Self::Parameter => (Reliability::RELIABLE, last(1), Durability::TransientLocal),
            Self::Command => (Reliability::RELIABLE, last(10), Durability::Volatile),
            Self::Event => (Reliability::RELIABLE, History::KeepAll, Durability::Volatile),
        };
        let order = match self {
            Self::Parameter => DestinationOrder::BySourceTimestamp,
            _ => DestinationOrder::ByReceptionTimestamp,
        };
        Some(PresetPolicies { reliability, history, durability, order })
    }
}

impl From<Preset> for DataWriterQos {
    fn from(preset: Preset) -> Self {
        preset.writer()
    }
}

impl From<Preset> for DataReaderQos {
    fn from(preset: Preset) -> Self {
        preset.reader()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::qos::{OfferedQos, Presentation, RequestedQos, incompatible_policies};

    const ALL: [Preset; 6] =
        [Preset::Default, Preset::SensorData, Preset::State, Preset::Command, Preset::Parameter, Preset::Event];

    #[test]
    fn the_default_preset_is_the_default_qos() {
        assert_eq!(Preset::Default.writer(), DataWriterQos::default());
        assert_eq!(DataReaderQos::from(Preset::Default), DataReaderQos::default());
    }

    /// Compares both sides with the table of [`Preset`].
    #[test]
    fn presets_have_the_policies_of_their_table() {
        let (received, written) = (DestinationOrder::ByReceptionTimestamp, DestinationOrder::BySourceTimestamp);
        let last = |depth| History::KeepLast { depth };
        let (reliable, lossy) = (Reliability::RELIABLE, Reliability::BestEffort);
        for (preset, reliability, history, durability, order) in [
            (Preset::SensorData, lossy, last(5), Durability::Volatile, received),
            (Preset::State, reliable, last(1), Durability::TransientLocal, received),
            (Preset::Command, reliable, last(10), Durability::Volatile, received),
            (Preset::Parameter, reliable, last(1), Durability::TransientLocal, written),
            (Preset::Event, reliable, History::KeepAll, Durability::Volatile, received),
        ] {
            let (writer, reader) = (preset.writer(), preset.reader());
            let offered = (writer.reliability, writer.history, writer.durability, writer.destination_order);
            assert_eq!(offered, (reliability, history, durability, order), "{preset:?}");
            let requested = (reader.reliability, reader.history, reader.durability, reader.destination_order);
            assert_eq!(requested, (reliability, history, durability, order), "{preset:?}");
        }
    }

    #[test]
    fn each_preset_is_consistent_and_matches_itself() {
        for preset in ALL {
            let (writer, reader) = (preset.writer(), preset.reader());
            assert_eq!(writer.check(), Ok(()));
            assert_eq!(reader.check(), Ok(()));
            let presentation = Presentation::default();
            let offered = OfferedQos {
                qos: &writer,
                presentation: &presentation,
                representation: writer.offered_representation(true),
                type_is_known: false,
            };
            let requested = RequestedQos {
                qos: &reader,
                presentation: &presentation,
                representations: reader.accepted_representations(),
            };
            assert!(incompatible_policies(&offered, &requested).is_empty(), "{preset:?}");
        }
    }
}
