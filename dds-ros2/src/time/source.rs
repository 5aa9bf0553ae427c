//! The subscription of `/clock`, while a node uses simulated time.

use super::clock::Clock;
use crate::Result;
use crate::graph::{LocalEndpoint, Registration};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::topic::user_data_of;
use dds_core::{DataReader, Time};
use dds_ros2_msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use std::fmt;
use std::sync::Arc;

/// Simulated time of a node. Dropping it returns to the time of the system.
pub(crate) struct SimTime {
    clock: Clock,
    _reader: DataReader<ClockMessage>,
    _registration: Registration,
}

impl SimTime {
    pub(crate) fn start(node: &Node) -> Result<Self> {
        let clock = node.clock();
        let participant = node.context().participant();
        clock.shared.set(Some(Time::from_unix_nanos(0)), participant.now());
        let shared = Arc::clone(&clock.shared);
        let reader = participant
            .reader_builder::<ClockMessage>(&topic_name("rt", &node.resolve_topic("/clock")?, ""))
            .qos(QosProfile::CLOCK.reader(user_data_of::<ClockMessage>()))
            .on_data(move |reader| {
                // The only error means that the reader is closed.
                let Ok(samples) = reader.take() else { return };
                let last = samples.iter().filter_map(|sample| sample.decode()?.ok()).last();
                if let Some(message) = last {
                    shared.advance(crate::message_time::time_of(&message.clock));
                }
            })
            .build()?;
        let registration = node.register(vec![LocalEndpoint::of_reader(&reader)])?;
        Ok(Self { clock, _reader: reader, _registration: registration })
    }
}

impl Drop for SimTime {
    fn drop(&mut self) {
        let system = self.clock.system_now();
        self.clock.shared.set(None, system);
    }
}

impl fmt::Debug for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimTime")
    }
}
