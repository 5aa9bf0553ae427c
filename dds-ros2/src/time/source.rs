//! The subscription of `/clock`, while a node uses simulated time.

use super::clock::{Announcement, Clock};
use crate::Result;
use crate::graph::{LocalEndpoint, Registration};
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::topic::user_data_of;
use dds_core::DataReader;
use dds_core::listener::Delivery;
use dds_ros2_msgs::rosgraph_msgs::msg::Clock as ClockMessage;
use std::fmt;
use std::sync::Arc;

/// Simulated time of a node. Dropping it returns to the time of the system.
pub(crate) struct SimTime {
    clock: Clock,
    /// The number of the subscription.
    source: u64,
    _reader: DataReader<ClockMessage>,
    _registration: Registration,
}

impl SimTime {
    /// Subscribes to `/clock`. The time stays that of the system until [`start`](Self::start), so that an error of the
    /// subscription changes nothing.
    pub(crate) fn new(node: &Node) -> Result<Self> {
        let clock = node.clock();
        let source = clock.shared.new_source();
        let shared = Arc::clone(&clock.shared);
        let reader = node
            .context()
            .participant()
            .reader_builder::<ClockMessage>(&topic_name("rt", &node.resolve_topic("/clock")?, ""))
            .qos(QosProfile::CLOCK.reader(user_data_of::<ClockMessage>()))
            // Callbacks of the program may block the event thread while they wait for a time.
            .delivery(Delivery::Inline)
            .on_data(move |reader| {
                // The only error means that the reader is closed.
                let Ok(samples) = reader.take() else { return };
                let last = samples.iter().filter_map(|sample| sample.decode()?.ok()).last();
                if let Some(message) = last {
                    shared.advance(source, crate::message_time::time_of(&message.clock));
                }
            })
            .build()?;
        node.types().add_message::<ClockMessage>();
        let registration = node.register(vec![LocalEndpoint::of_reader(&reader)])?;
        Ok(Self { clock, source, _reader: reader, _registration: registration })
    }

    /// Starts simulated time.
    pub(crate) fn start(&self) -> Option<Announcement> {
        self.clock.shared.start(self.source, self.clock.system_now())
    }
}

impl Drop for SimTime {
    fn drop(&mut self) {
        let stopped = self.clock.shared.stop(self.source, self.clock.system_now());
        if let Some(announcement) = stopped {
            announcement.announce();
        }
    }
}

impl fmt::Debug for SimTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SimTime")
    }
}
