//! The last seconds of all topics, in memory. A trigger writes them into a file.

use crate::error::ToolError;
use crate::latched_samples::{LatchedKey, LatchedSamples};
use crate::options::CompressionOption;
use crate::recording::{MessageTimes, RecordedChannel};
use crate::recording_files::{create_numbered, has_ros_channels, numbered_path};
use crate::ros::ROS_PROFILE;
use dds_core::InstanceHandle;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// Memory of a message beside its payload: its entry in the ring, and the counts of the shared payload.
const MESSAGE_OVERHEAD: usize = size_of::<RingMessage>() + 16;

/// The effect of a message that leaves the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageRole {
    /// It disappears.
    Volatile,
    /// It stays until the next sample of its writer and instance, as late readers receive it.
    Latched(LatchedKey),
    /// It ends the instance of a channel, for all writers.
    EndsInstance(usize, InstanceHandle),
}

/// A message in memory. Copies share the payload.
#[derive(Debug, Clone)]
struct RingMessage {
    channel: usize,
    role: MessageRole,
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
/// The last samples of transient-local instances stay, because they are valid until the next ones. They have at most
/// half of the memory.
#[derive(Debug)]
pub struct RecordingRing {
    duration: u64,
    bytes_max: usize,
    channels: Vec<RecordedChannel>,
    messages: VecDeque<RingMessage>,
    /// The samples that were valid before the first of `messages`.
    latched: LatchedSamples<RingMessage>,
    /// Bytes of `messages`.
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
            duration: u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX),
            bytes_max,
            channels: Vec::new(),
            messages: VecDeque::new(),
            latched: LatchedSamples::new(usize::MAX, bytes_max / 2),
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
    pub fn write(&mut self, channel: usize, times: MessageTimes, payload: &[u8], role: MessageRole) {
        let message = RingMessage { channel, role, times, payload: payload.into() };
        self.bytes += message.len();
        self.messages.push_back(message);
        let start = self.trim(times.log_time);
        while self.bytes + self.latched.bytes() > self.bytes_max && self.remove_oldest(start) {}
    }

    /// Removes the messages that are too old at `now`, in nanoseconds since 1970. Returns the start of the window.
    fn trim(&mut self, now: u64) -> u64 {
        let start = now.saturating_sub(self.duration);
        while self.messages.front().is_some_and(|oldest| oldest.times.log_time < start) {
            self.remove_oldest(start);
        }
        start
    }

    /// Removes the first message, or moves it to the latched ones. Returns whether there was one.
    ///
    /// Messages from `start` on count as dropped if they do not stay.
    fn remove_oldest(&mut self, start: u64) -> bool {
        let Some(oldest) = self.messages.pop_front() else { return false };
        self.bytes -= oldest.len();
        let is_early = oldest.times.log_time >= start;
        match oldest.role {
            MessageRole::Volatile => self.dropped += u64::from(is_early),
            MessageRole::EndsInstance(channel, instance) => {
                self.dropped += u64::from(is_early);
                self.latched.end_instance(channel, instance);
            }
            MessageRole::Latched(key) => {
                let displaced = self.latched.keep(key, oldest.len(), oldest);
                let is_early = displaced.replaced.is_some_and(|before| before.times.log_time >= start);
                self.dropped += displaced.evicted + u64::from(is_early);
            }
        }
        true
    }

    /// Returns the reception time of the last message.
    #[must_use]
    pub fn last_time(&self) -> Option<u64> {
        self.messages.back().map(|message| message.times.log_time)
    }

    /// Returns a copy of the content at `now`, in nanoseconds since 1970. It shares the payloads.
    #[must_use]
    pub fn content(&mut self, now: u64) -> RingContent {
        self.trim(now);
        let mut messages: Vec<RingMessage> = self.latched.iter().cloned().collect();
        messages.sort_by_key(|message| message.times.log_time);
        messages.extend(self.messages.iter().cloned());
        RingContent { channels: self.channels.clone(), messages }
    }
}

/// A file with the content of a ring.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedRing {
    /// The file.
    pub path: PathBuf,
    /// Its number.
    pub number: usize,
    /// The number of messages.
    pub messages: usize,
}

impl RingContent {
    /// Writes the content into a new file, with the first free number from `number`.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn save(&self, path: &Path, number: usize, compression: CompressionOption) -> Result<SavedRing, ToolError> {
        let profile = if has_ros_channels(self.channels.iter()) { ROS_PROFILE } else { "" };
        let (file, number) = create_numbered(path, number)?;
        let mut file = file.begin(compression, profile)?;
        let mut ids = vec![None; self.channels.len()];
        for message in &self.messages {
            let id = match ids[message.channel] {
                Some(id) => id,
                None => *ids[message.channel].insert(file.add_channel(&self.channels[message.channel])?),
            };
            file.write(id, message.times, &message.payload)?;
        }
        file.finish()?;
        Ok(SavedRing { path: numbered_path(path, number), number, messages: self.messages.len() })
    }
}

#[cfg(test)]
mod tests {
    use super::{MessageRole, RecordingRing};
    use crate::latched_samples::LatchedKey;
    use crate::options::CompressionOption;
    use crate::recording::{MessageTimes, RecordedChannel};
    use dds_core::InstanceHandle;
    use std::collections::BTreeMap;
    use std::time::Duration;

    const SECOND: u64 = 1_000_000_000;

    fn at(second: u64) -> MessageTimes {
        MessageTimes { sequence: 1, log_time: second * SECOND, publish_time: second * SECOND }
    }

    fn ring(bytes_max: usize) -> RecordingRing {
        let mut ring = RecordingRing::new(Duration::from_secs(10), bytes_max);
        ring.add_channel(RecordedChannel { name: "map".to_owned(), schema: None, metadata: BTreeMap::new() });
        ring
    }

    fn handle(byte: u8) -> InstanceHandle {
        InstanceHandle::from_key_hash([byte; 16])
    }

    fn latched(instance: u8, writer: u8) -> MessageRole {
        MessageRole::Latched(LatchedKey { topic: 0, instance: handle(instance), writer: handle(writer) })
    }

    fn times(ring: &mut RecordingRing) -> Vec<u64> {
        let now = ring.last_time().unwrap_or(0);
        ring.content(now).messages.iter().map(|message| message.times.log_time / SECOND).collect()
    }

    #[test]
    fn old_messages_leave_but_latched_ones_stay() {
        let mut ring = ring(1 << 20);
        ring.write(0, at(1), b"old", latched(1, 1));
        ring.write(0, at(2), b"newer", latched(1, 1));
        ring.write(0, at(3), b"other instance", latched(2, 1));
        ring.write(0, at(4), b"other writer", latched(1, 2));
        ring.write(0, at(5), b"volatile", MessageRole::Volatile);
        ring.write(0, at(20), b"last", MessageRole::Volatile);
        assert_eq!(times(&mut ring), [2, 3, 4, 20]);
        ring.write(0, at(21), b"end", MessageRole::EndsInstance(0, handle(1)));
        // The samples were valid at the start of the window.
        assert_eq!(times(&mut ring), [2, 3, 4, 20, 21]);
        ring.write(0, at(32), b"after", MessageRole::Volatile);
        assert_eq!((times(&mut ring), ring.dropped()), (vec![3, 32], 0));
    }

    #[test]
    fn end_before_the_sample_leaves_holds_later() {
        let mut ring = ring(1 << 20);
        ring.write(0, at(1), b"sample", latched(1, 1));
        ring.write(0, at(2), b"end", MessageRole::EndsInstance(0, handle(1)));
        ring.write(0, at(3), b"of a later life", latched(2, 1));
        ring.write(0, at(20), b"last", MessageRole::Volatile);
        assert_eq!(times(&mut ring), [3, 20]);
    }

    #[test]
    fn memory_has_a_bound() {
        let mut ring = ring(10_000);
        for second in 0..1000 {
            ring.write(0, at(second / 500), &[0; 1000], latched(second as u8, 1));
            assert!(ring.bytes + ring.latched.bytes() <= 10_000);
        }
        assert!(ring.dropped() > 900 && times(&mut ring).len() > 5);
    }

    #[test]
    fn latched_samples_leave_room_for_others() {
        let mut ring = ring(10_000);
        for instance in 0..20 {
            ring.write(0, at(1), &[0; 1000], latched(instance, 1));
        }
        for second in 20..23 {
            ring.write(0, at(second), &[0; 1000], MessageRole::Volatile);
        }
        let times = times(&mut ring);
        assert!(times.ends_with(&[20, 21, 22]) && times.starts_with(&[1, 1]), "{times:?}");
    }

    #[test]
    fn sample_that_memory_removes_replaces_the_one_before() {
        let mut ring = ring(10_000);
        ring.write(0, at(1), b"old", latched(1, 1));
        ring.write(0, at(20), b"new", latched(1, 1));
        for _ in 0..20 {
            ring.write(0, at(21), &[0; 1000], MessageRole::Volatile);
        }
        let times = times(&mut ring);
        assert_eq!((times[0], times[1]), (20, 21));
    }

    #[test]
    fn content_is_that_of_now() {
        let mut ring = ring(1 << 20);
        ring.write(0, at(1), b"sample", latched(1, 1));
        ring.write(0, at(2), b"volatile", MessageRole::Volatile);
        assert_eq!(ring.content(60 * SECOND).messages.len(), 1);
    }

    #[test]
    fn existing_files_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ring.mcap");
        let mut ring = ring(1 << 20);
        ring.write(0, at(1), b"sample", latched(1, 1));
        std::fs::write(folder.path().join("ring_0.mcap"), "mine").unwrap();
        let saved = ring.content(SECOND).save(&path, 0, CompressionOption::None).unwrap();
        assert_eq!((saved.number, saved.messages), (1, 1));
        assert!(saved.path.ends_with("ring_1.mcap"));
        assert_eq!(std::fs::read(folder.path().join("ring_0.mcap")).unwrap(), b"mine");
        let elsewhere = folder.path().join("missing").join("ring.mcap");
        ring.content(SECOND).save(&elsewhere, 0, CompressionOption::None).unwrap_err();
    }
}
