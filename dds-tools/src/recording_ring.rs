//! The last seconds of all topics, in memory. A trigger writes them into a file.

use crate::error::ToolError;
use crate::options::CompressionOption;
use crate::recording::{MessageTimes, RecordedChannel, RecordingWriter};
use crate::recording_files::has_ros_channels;
use crate::ros::ROS_PROFILE;
use dds_core::InstanceHandle;
use std::collections::{HashMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// Memory of a message beside its payload: its entry in the ring, and the counts of the shared payload.
const MESSAGE_OVERHEAD: usize = size_of::<RingMessage>() + 16;

/// A message in memory. Copies share the payload.
#[derive(Debug, Clone)]
struct RingMessage {
    channel: usize,
    /// The instance, if late readers of its topic receive its last sample.
    latched: Option<InstanceHandle>,
    times: MessageTimes,
    payload: Arc<[u8]>,
}

impl RingMessage {
    fn len(&self) -> usize {
        self.payload.len() + MESSAGE_OVERHEAD
    }
}

/// The last messages of all channels, bounded by time and by memory.
///
/// The last sample of each transient-local instance stays, because it is valid until the next one.
#[derive(Debug)]
pub struct RecordingRing {
    duration: Duration,
    bytes_max: usize,
    channels: Vec<RecordedChannel>,
    messages: VecDeque<RingMessage>,
    latched: HashMap<(usize, InstanceHandle), RingMessage>,
    bytes: usize,
    dropped: u64,
}

/// A copy of the ring, for a file that another thread writes.
#[derive(Debug)]
pub struct RingContent {
    channels: Vec<RecordedChannel>,
    messages: Vec<RingMessage>,
}

impl RecordingRing {
    /// Creates a ring for the messages of `duration`, with at most `bytes_max` bytes of memory.
    #[must_use]
    pub fn new(duration: Duration, bytes_max: usize) -> Self {
        Self {
            duration,
            bytes_max,
            channels: Vec::new(),
            messages: VecDeque::new(),
            latched: HashMap::new(),
            bytes: 0,
            dropped: 0,
        }
    }

    /// Returns how many messages the memory limit removed before their time.
    #[must_use]
    pub const fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Adds a channel, and returns its index.
    pub fn add_channel(&mut self, channel: RecordedChannel) -> usize {
        self.channels.push(channel);
        self.channels.len() - 1
    }

    /// Adds a message, and removes the oldest ones beyond the limits.
    ///
    /// `latched` has the instance of a sample that late readers of its topic receive.
    pub fn write(&mut self, channel: usize, times: MessageTimes, payload: &[u8], latched: Option<InstanceHandle>) {
        let message = RingMessage { channel, latched, times, payload: payload.into() };
        self.bytes += message.len();
        self.messages.push_back(message);
        let duration = u64::try_from(self.duration.as_nanos()).unwrap_or(u64::MAX);
        let start = times.log_time.saturating_sub(duration);
        while let Some(oldest) = self.messages.front() {
            let is_beyond_memory = self.bytes > self.bytes_max;
            if oldest.times.log_time >= start && !is_beyond_memory {
                break;
            }
            self.dropped += u64::from(oldest.times.log_time >= start);
            let Some(oldest) = self.messages.pop_front() else { break };
            self.bytes -= oldest.len();
            // The memory limit also holds for the samples that stay.
            if !is_beyond_memory {
                self.keep_latched(oldest);
            }
        }
    }

    fn keep_latched(&mut self, message: RingMessage) {
        let Some(instance) = message.latched else { return };
        self.bytes += message.len();
        if let Some(before) = self.latched.insert((message.channel, instance), message) {
            self.bytes -= before.len();
        }
    }

    /// Forgets the last sample of an instance that has ended.
    pub fn end_instance(&mut self, channel: usize, instance: InstanceHandle) {
        if let Some(before) = self.latched.remove(&(channel, instance)) {
            self.bytes -= before.len();
        }
    }

    /// Returns whether a message has arrived since `before`, the reception time of the last message then.
    #[must_use]
    pub fn last_time(&self) -> Option<u64> {
        self.messages.back().map(|message| message.times.log_time)
    }

    /// Returns a copy that shares the payloads.
    #[must_use]
    pub fn content(&self) -> RingContent {
        let mut messages: Vec<RingMessage> = self.latched.values().cloned().collect();
        messages.sort_unstable_by_key(|message| message.times.log_time);
        messages.extend(self.messages.iter().cloned());
        RingContent { channels: self.channels.clone(), messages }
    }
}

impl RingContent {
    /// Writes the content into a new file. Returns the number of messages.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be written.
    pub fn save(&self, path: &Path, compression: CompressionOption) -> Result<usize, ToolError> {
        let profile = if has_ros_channels(self.channels.iter()) { ROS_PROFILE } else { "" };
        let mut file = RecordingWriter::create(path, compression, profile)?;
        let mut ids = vec![None; self.channels.len()];
        for message in &self.messages {
            let id = match ids[message.channel] {
                Some(id) => id,
                None => *ids[message.channel].insert(file.add_channel(&self.channels[message.channel])?),
            };
            file.write(id, message.times, &message.payload)?;
        }
        file.finish()?;
        Ok(self.messages.len())
    }
}

#[cfg(test)]
mod tests {
    use super::RecordingRing;
    use crate::recording::{MessageTimes, RecordedChannel};
    use dds_core::InstanceHandle;
    use std::collections::BTreeMap;
    use std::time::Duration;

    fn at(second: u64) -> MessageTimes {
        let time = second * 1_000_000_000;
        MessageTimes { sequence: 1, log_time: time, publish_time: time }
    }

    fn ring(bytes_max: usize) -> RecordingRing {
        let mut ring = RecordingRing::new(Duration::from_secs(10), bytes_max);
        ring.add_channel(RecordedChannel { name: "map".to_owned(), schema: None, metadata: BTreeMap::new() });
        ring
    }

    fn times(ring: &RecordingRing) -> Vec<u64> {
        ring.content().messages.iter().map(|message| message.times.log_time / 1_000_000_000).collect()
    }

    #[test]
    fn old_messages_leave_but_latched_ones_stay() {
        let mut ring = ring(1 << 20);
        let (one, two) = (InstanceHandle::from_key_hash([1; 16]), InstanceHandle::from_key_hash([2; 16]));
        ring.write(0, at(1), b"old", Some(one));
        ring.write(0, at(2), b"newer", Some(one));
        ring.write(0, at(3), b"other", Some(two));
        ring.write(0, at(4), b"volatile", None);
        ring.write(0, at(20), b"last", None);
        assert_eq!(times(&ring), [2, 3, 20]);
        ring.end_instance(0, two);
        assert_eq!((times(&ring), ring.dropped()), (vec![2, 20], 0));
    }

    #[test]
    fn memory_has_a_bound() {
        let mut ring = ring(10_000);
        for second in 0..1000 {
            ring.write(0, at(second / 500), &[0; 1000], Some(InstanceHandle::from_key_hash([second as u8; 16])));
            assert!(ring.bytes <= 10_000, "{}", ring.bytes);
        }
        assert!(ring.dropped() > 900 && times(&ring).len() > 5);
    }
}
