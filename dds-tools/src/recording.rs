//! Recordings: MCAP files with the encoded samples of topics.
//!
//! A channel belongs to one topic, type and writer. Its metadata have the GUID and the QoS of the writer. Its schema is
//! the type as IDL (`omgidl`). Its messages are payloads with their encapsulation header (`cdr`, XCDR1 or XCDR2).
//! `log_time` is the reception timestamp, and `publish_time` the source timestamp. Channels of ROS topics are those of
//! `rosbag2`: names and schemas of ROS, and profile `ros2`. Its readers accept several channels of a topic if each has
//! the QoS of all writers.
//!
//! Ends of instances are messages of further channels: `TOPIC#disposed` and `TOPIC#no_writers`. Each message is a
//! sample of the topic's type that has only the key. So every program that decodes the samples also decodes the ends.
//!
//! A keyed topic without a known type has a channel for each instance of each writer. The channel has the key hash that
//! arrived. Its ends are messages with an encapsulation header alone.

use crate::error::ToolError;
use crate::options::CompressionOption;
use crate::ros::{ROS_PROFILE, ros_type_name};
use dds_core::{InstanceHandle, SampleInfo, Time};
use mcap::records::MessageHeader;
use mcap::sans_io::LinearReaderOptions;
use mcap::{McapError, Message, WriteOptions};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Most time until a received sample is in the file. A crash of the program loses at most these samples.
const CHUNK_TIME: Duration = Duration::from_secs(1);
/// Uncompressed size of a chunk.
const CHUNK_BYTES: u64 = 1 << 20;
/// Longest record that is read: a damaged length must not reserve all memory. Samples have at most 64 MiB.
const RECORD_BYTES_MAX: usize = 256 << 20;
/// Opcode of the header, which is the first record of a file.
const HEADER_OPCODE: u8 = 1;
/// Bytes at the start of a file that are searched for its header.
const HEADER_BYTES_MAX: u64 = 1 << 16;
/// Most nanoseconds by which a message may follow a later one.
const SORT_TIME: u64 = 5_000_000_000;
/// Memory for messages that wait for earlier ones.
const SORT_BYTES_MAX: usize = 64 << 20;
/// Encoding of schemas: IDL 4.2 of the OMG.
pub const SCHEMA_ENCODING: &str = "omgidl";
/// Encoding of messages: CDR with its encapsulation header.
pub const MESSAGE_ENCODING: &str = "cdr";
/// Key of the metadata of a channel: the type name of the topic.
pub const TYPE_NAME_KEY: &str = "dds.type_name";
/// Key of the metadata of a channel: the DDS topic, if the channel has the name of ROS.
pub const TOPIC_KEY: &str = "dds.topic";
/// Key of the metadata of a channel: whether its writers were reliable.
pub const RELIABLE_KEY: &str = "dds.reliable";
/// Key of the metadata of a channel: whether its writers kept samples for late readers.
pub const TRANSIENT_LOCAL_KEY: &str = "dds.transient_local";

/// Key of the metadata of a channel: the GUID of its writer.
pub const WRITER_KEY: &str = "dds.writer_guid";
/// Key of the metadata of a channel: the name of the participant of its writer.
pub const PARTICIPANT_KEY: &str = "dds.participant";
/// Key of the metadata of a channel: whether the topic has a key.
pub const KEYED_KEY: &str = "dds.keyed";
/// Key of the metadata of a channel: the key hash of its instance, as 32 hexadecimal digits.
///
/// Without a schema, the samples do not tell their keys. So each instance of each writer has a channel.
pub const KEY_HASH_KEY: &str = "dds.key_hash";
/// Key of the metadata of a channel: all policies of its writer as JSON, as in a profile file.
pub const WRITER_QOS_KEY: &str = "dds.writer_qos";
/// Key of the metadata of a channel: the partitions, PRESENTATION and GROUP_DATA of its publisher as JSON.
pub const PUBLISHER_QOS_KEY: &str = "dds.publisher_qos";
/// Key of the metadata of a channel with ends of instances: `disposed` or `no_writers`.
pub const INSTANCE_END_KEY: &str = "dds.instance_end";

/// Creates the error of a recording.
pub(crate) fn recording_error(path: &Path) -> impl Fn(McapError) -> ToolError + '_ {
    |source| ToolError::Recording { name: path.display().to_string(), source }
}

fn io_error(path: &Path) -> impl Fn(std::io::Error) -> ToolError + '_ {
    |source| ToolError::Io { name: path.display().to_string(), source }
}

/// A recording that is being written.
///
/// Every second, it completes a chunk and passes it to the operating system. After a crash,
/// [`recover`](crate::commands::recover) finds all complete chunks.
pub struct RecordingWriter {
    path: PathBuf,
    writer: mcap::Writer<CountedFile>,
    /// Whether readers of ROS open the file.
    is_of_ros: bool,
    written: Arc<AtomicU64>,
    chunk_start: Instant,
}

/// A file that counts its written bytes.
struct CountedFile {
    file: BufWriter<File>,
    written: Arc<AtomicU64>,
}

impl Write for CountedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let len = self.file.write(bytes)?;
        self.written.fetch_add(len as u64, Ordering::Relaxed);
        Ok(len)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.file.flush()
    }
}

impl Seek for CountedFile {
    fn seek(&mut self, position: SeekFrom) -> std::io::Result<u64> {
        self.file.seek(position)
    }
}

/// A schema of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedSchema {
    /// Name of the type.
    pub name: String,
    /// Encoding of the text, such as [`SCHEMA_ENCODING`].
    pub encoding: &'static str,
    /// Definition of the type.
    pub text: String,
}

/// A channel of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedChannel {
    /// Its name: the topic, or the topic and the kind of the ends of instances.
    pub name: String,
    /// The type. Without it, readers of the file cannot decode the messages.
    pub schema: Option<Arc<RecordedSchema>>,
    /// Further facts, such as the QoS of the writers.
    pub metadata: BTreeMap<String, String>,
}

/// The sequence number and the times of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessageTimes {
    /// Sequence number of the sample.
    pub sequence: u32,
    /// Nanoseconds from 1970 to the reception.
    pub log_time: u64,
    /// Nanoseconds from 1970 to the source timestamp.
    pub publish_time: u64,
}

impl MessageTimes {
    /// Returns the present time as the time of a reception.
    pub(crate) fn now() -> u64 {
        nanoseconds(Time::now())
    }
}

impl From<&SampleInfo> for MessageTimes {
    fn from(info: &SampleInfo) -> Self {
        let log_time = nanoseconds(info.reception_timestamp);
        Self {
            // The format has 32 bits for the sequence number.
            sequence: info.sequence_number.0 as u32,
            log_time,
            publish_time: if info.source_timestamp.is_valid() { nanoseconds(info.source_timestamp) } else { log_time },
        }
    }
}

impl std::fmt::Debug for RecordingWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RecordingWriter").field("path", &self.path).finish_non_exhaustive()
    }
}

/// A channel in a file that is being written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChannelId(u16);

/// A new file without a header.
#[derive(Debug)]
pub struct ReservedFile {
    path: PathBuf,
    file: File,
}

impl ReservedFile {
    /// Creates an empty file.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be created.
    pub fn create(path: &Path) -> Result<Self, ToolError> {
        let file = File::create_new(path).map_err(io_error(path))?;
        Ok(Self { path: path.to_owned(), file })
    }

    /// Writes the header. `profile` names the rules for the channels, and is empty without such rules.
    ///
    /// # Errors
    /// Fails if the file cannot be written.
    pub fn begin(self, compression: CompressionOption, profile: &str) -> Result<RecordingWriter, ToolError> {
        let Self { path, file } = self;
        let compression = match compression {
            CompressionOption::None => None,
            #[cfg(feature = "compression")]
            CompressionOption::Zstd => Some(mcap::Compression::Zstd),
            #[cfg(feature = "compression")]
            CompressionOption::Lz4 => Some(mcap::Compression::Lz4),
        };
        let options = WriteOptions::new();
        // Level 1 is the fastest of zstd, and lz4 has no faster one.
        #[cfg(feature = "compression")]
        let options = options.compression_level(1);
        let options = options
            .compression(compression)
            .chunk_size(Some(CHUNK_BYTES))
            .profile(profile)
            .library(concat!("dds-tools ", env!("CARGO_PKG_VERSION")));
        let written = Arc::new(AtomicU64::new(0));
        let file = CountedFile { file: BufWriter::new(file), written: Arc::clone(&written) };
        let writer = options.create(file).map_err(recording_error(&path))?;
        let is_of_ros = profile == ROS_PROFILE;
        Ok(RecordingWriter { path, writer, is_of_ros, written, chunk_start: Instant::now() })
    }
}

impl RecordingWriter {
    /// Creates a file with its header, as [`ReservedFile`] does in two steps.
    ///
    /// # Errors
    /// Fails if the file exists, cannot be created or cannot be written.
    pub fn create(path: &Path, compression: CompressionOption, profile: &str) -> Result<Self, ToolError> {
        ReservedFile::create(path)?.begin(compression, profile)
    }

    /// Adds a channel.
    ///
    /// # Errors
    /// Fails if the file has 65 535 channels already.
    pub fn add_channel(&mut self, channel: &RecordedChannel) -> Result<ChannelId, ToolError> {
        let error = recording_error(&self.path);
        let schema = match &channel.schema {
            Some(schema) => {
                self.writer.add_schema(&schema.name, schema.encoding, schema.text.as_bytes()).map_err(&error)?
            }
            // `rosbag2` opens no file in which a channel lacks a schema. It writes an unknown type in the same way.
            None if self.is_of_ros => {
                let type_name = channel.metadata.get(TYPE_NAME_KEY).map_or("", String::as_str);
                self.writer.add_schema(&ros_type_name(type_name), "", b"").map_err(&error)?
            }
            // The format has the id 0 for a channel without a schema.
            None => 0,
        };
        let id = self.writer.add_channel(schema, &channel.name, MESSAGE_ENCODING, &channel.metadata).map_err(&error)?;
        Ok(ChannelId(id))
    }

    /// Adds a message.
    ///
    /// # Errors
    /// Fails if the file cannot be written, for example because the disk is full.
    pub fn write(&mut self, channel: ChannelId, times: MessageTimes, payload: &[u8]) -> Result<(), ToolError> {
        let MessageTimes { sequence, log_time, publish_time } = times;
        let header = MessageHeader { channel_id: channel.0, sequence, log_time, publish_time };
        self.writer.write_to_known_channel(&header, payload).map_err(recording_error(&self.path))
    }

    /// Returns the size of the file so far. Its present chunk is not part of it.
    #[must_use]
    pub fn written_len(&self) -> u64 {
        self.written.load(Ordering::Relaxed)
    }

    /// Completes a chunk if the present one is older than a second. Call it at least every second.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn complete_chunk_in_time(&mut self) -> Result<(), ToolError> {
        if self.chunk_start.elapsed() < CHUNK_TIME {
            return Ok(());
        }
        self.chunk_start = Instant::now();
        self.writer.flush().map_err(recording_error(&self.path))
    }

    /// Completes the file with its index.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn finish(mut self) -> Result<(), ToolError> {
        self.writer.finish().map_err(recording_error(&self.path))?;
        Ok(())
    }

    /// Copies a message of another recording.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn copy(&mut self, message: &Message<'_>) -> Result<(), ToolError> {
        self.writer.write(message).map_err(recording_error(&self.path))
    }
}

/// Returns nanoseconds since 1970. A time before 1970 is 0.
fn nanoseconds(time: Time) -> u64 {
    u64::try_from(time.as_unix_nanos()).unwrap_or(0)
}

/// Returns the time of nanoseconds since 1970.
#[must_use]
pub fn time_of(nanoseconds: u64) -> Time {
    Time::from_unix_nanos(i64::try_from(nanoseconds).unwrap_or(i64::MAX))
}

/// Returns the schema of a channel, if it defines the type. `rosbag2` writes an empty one for an unknown type.
#[must_use]
pub fn definition_of<'c, 'd>(channel: &'c mcap::Channel<'d>) -> Option<&'c mcap::Schema<'d>> {
    channel.schema.as_deref().filter(|schema| !schema.encoding.is_empty())
}

/// Returns the instance of a channel with a key hash.
#[must_use]
pub fn instance_of(channel: &mcap::Channel<'_>) -> Option<InstanceHandle> {
    let digits = channel.metadata.get(KEY_HASH_KEY)?;
    if digits.len() != 32 {
        return None;
    }
    let number = u128::from_str_radix(digits, 16).ok()?;
    Some(InstanceHandle::from_key_hash(number.to_be_bytes()))
}

/// Returns the key hash of an instance as [`KEY_HASH_KEY`] has it. `None` for the instance of a topic without a key.
#[must_use]
pub fn key_hash_text(instance: InstanceHandle) -> Option<String> {
    instance.as_bytes().map(|bytes| format!("{:032x}", u128::from_be_bytes(*bytes)))
}

/// Returns the topic of a channel, also of one with ends of instances.
#[must_use]
pub fn topic_of<'c>(channel: &'c mcap::Channel<'_>) -> &'c str {
    match channel.topic.rsplit_once('#') {
        Some((topic, _)) if channel.metadata.contains_key(INSTANCE_END_KEY) => topic,
        _ => &channel.topic,
    }
}

/// Returns the profile of a recording. It is empty if the header of the file is damaged.
///
/// # Errors
/// Fails if the file cannot be opened or read.
pub fn profile_of(path: &Path) -> Result<String, ToolError> {
    let mut start = Vec::new();
    File::open(path).and_then(|file| file.take(HEADER_BYTES_MAX).read_to_end(&mut start)).map_err(io_error(path))?;
    let record = start.strip_prefix(mcap::MAGIC).and_then(|rest| rest.strip_prefix(&[HEADER_OPCODE]));
    let Some((length, rest)) = record.and_then(|record| record.split_first_chunk()) else { return Ok(String::new()) };
    let length = usize::try_from(u64::from_le_bytes(*length)).unwrap_or(usize::MAX);
    let header = rest.get(..length).and_then(|body| mcap::parse_record(HEADER_OPCODE, body).ok());
    match header {
        Some(mcap::records::Record::Header(header)) => Ok(header.profile),
        _ => Ok(String::new()),
    }
}

/// Opens a recording and returns its messages, in the order of the file.
///
/// A file that lacks its end is read up to the last complete chunk.
///
/// # Errors
/// Fails if the file cannot be opened. A message is an error at a damaged place; the iterator then ends.
pub fn messages(path: &Path) -> Result<impl Iterator<Item = Result<Message<'static>, ToolError>>, ToolError> {
    let file = File::open(path).map_err(io_error(path))?;
    let options = LinearReaderOptions::default()
        .with_skip_end_magic(true)
        .with_validate_chunk_crcs(true)
        .with_record_length_limit(RECORD_BYTES_MAX);
    let path = path.to_owned();
    let messages = mcap::io::MessageReader::new_with_options(BufReader::new(file), options);
    let mut has_failed = false;
    Ok(messages.map_while(move |message| {
        if has_failed {
            return None;
        }
        has_failed = message.is_err();
        Some(message.map_err(recording_error(&path)))
    }))
}

/// Opens a recording and returns its messages in the order of their log time.
///
/// Messages that are more than 5 s or 64 MiB apart in the file keep their order there.
///
/// # Errors
/// As [`messages`]. A damaged place follows all messages before it.
pub fn messages_by_time(path: &Path) -> Result<impl Iterator<Item = Result<Message<'static>, ToolError>>, ToolError> {
    Ok(SortedMessages { input: messages(path)?, failure: None, window: BTreeMap::new(), next_number: 0, bytes: 0 })
}

/// Messages that wait for earlier ones.
struct SortedMessages<I> {
    input: I,
    /// The end of the input, if a damaged place made it.
    failure: Option<ToolError>,
    /// The messages by log time and place in the file.
    window: BTreeMap<(u64, u64), Message<'static>>,
    next_number: u64,
    bytes: usize,
}

impl<I: Iterator<Item = Result<Message<'static>, ToolError>>> SortedMessages<I> {
    fn is_full(&self) -> bool {
        let (first, last) = (self.window.first_key_value(), self.window.last_key_value());
        let (Some(((first, _), _)), Some(((last, _), _))) = (first, last) else { return false };
        self.bytes >= SORT_BYTES_MAX || last - first > SORT_TIME
    }
}

impl<I: Iterator<Item = Result<Message<'static>, ToolError>>> Iterator for SortedMessages<I> {
    type Item = Result<Message<'static>, ToolError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.failure.is_none() && !self.is_full() {
            match self.input.next() {
                Some(Ok(message)) => {
                    self.bytes += message.data.len() + size_of::<Message<'_>>();
                    self.window.insert((message.log_time, self.next_number), message);
                    self.next_number += 1;
                }
                Some(Err(error)) => self.failure = Some(error),
                None => break,
            }
        }
        let Some((_, message)) = self.window.pop_first() else { return self.failure.take().map(Err) };
        self.bytes -= message.data.len() + size_of::<Message<'_>>();
        Some(Ok(message))
    }
}

/// Returns whether a name matches a pattern with `*` and `?`.
#[must_use]
pub fn matches_pattern(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut n) = (0, 0);
    // The last `*`, and the first character that it does not yet cover.
    let mut star = None;
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, n));
                p += 1;
            }
            Some(&wanted) if wanted == '?' || wanted == name[n] => {
                p += 1;
                n += 1;
            }
            _ => {
                let Some((star_p, star_n)) = star else { return false };
                star = Some((star_p, star_n + 1));
                p = star_p + 1;
                n = star_n + 1;
            }
        }
    }
    pattern[p..].iter().all(|rest| *rest == '*')
}

/// Returns whether a topic is selected by the patterns of a command. Without patterns, it is.
#[must_use]
pub fn is_selected(topic: &str, patterns: &[String], exclude: &[String]) -> bool {
    let is_included = patterns.is_empty() || patterns.iter().any(|pattern| matches_pattern(pattern, topic));
    is_included && !exclude.iter().any(|pattern| matches_pattern(pattern, topic))
}

#[cfg(test)]
mod tests {
    use super::{
        MessageTimes, RecordedChannel, RecordingWriter, TYPE_NAME_KEY, definition_of, is_selected, matches_pattern,
        messages, messages_by_time, nanoseconds, time_of,
    };
    use crate::options::CompressionOption;
    use crate::ros::ROS_PROFILE;
    use dds_core::Time;
    use std::collections::BTreeMap;

    #[test]
    fn patterns_match_whole_names() {
        for (pattern, name, expected) in [
            ("pose", "pose", true),
            ("pose", "poses", false),
            ("*", "", true),
            ("robot/*", "robot/1/pose", true),
            ("*pose", "robot/pose", true),
            ("*pose", "robot/pose/x", false),
            ("r?bot*", "robot", true),
            ("?", "", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
        ] {
            assert_eq!(matches_pattern(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn long_pattern_takes_no_exponential_time() {
        assert!(!matches_pattern(&"a*".repeat(1000), &"a".repeat(999)));
        assert!(!matches_pattern(&format!("{}b", "a*".repeat(200)), &"a".repeat(5000)));
    }

    #[test]
    fn excluded_topics_are_not_selected() {
        let lists = |list: &[&str]| list.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        assert!(is_selected("a", &[], &[]));
        assert!(is_selected("a", &lists(&["b", "a"]), &[]));
        assert!(!is_selected("a", &lists(&["b"]), &[]));
        assert!(!is_selected("a", &[], &lists(&["a*"])));
    }

    #[test]
    fn times_read_back() {
        let time = Time::from_unix_nanos(1_700_000_000_123_456_789);
        assert_eq!(time_of(nanoseconds(time)), time);
        assert_eq!(nanoseconds(Time::from_unix_nanos(-1)), 0);
    }

    /// `rosbag2` opens no file in which a channel lacks a schema.
    #[test]
    fn each_channel_of_a_ros_recording_has_a_schema() {
        let folder = tempfile::tempdir().unwrap();
        for (profile, expected) in [(ROS_PROFILE, [Some("my_pkg/msg/Thing"), Some("Shape")]), ("", [None, None])] {
            let path = folder.path().join(format!("{profile}.mcap"));
            let mut file = RecordingWriter::create(&path, CompressionOption::None, profile).unwrap();
            for type_name in ["my_pkg::msg::dds_::Thing_", "Shape"] {
                let metadata = BTreeMap::from([(TYPE_NAME_KEY.to_owned(), type_name.to_owned())]);
                let channel = RecordedChannel { name: type_name.to_owned(), schema: None, metadata };
                let channel = file.add_channel(&channel).unwrap();
                file.write(channel, MessageTimes { sequence: 1, log_time: 1, publish_time: 1 }, b"sample").unwrap();
            }
            file.finish().unwrap();
            let found: Vec<_> = messages(&path).unwrap().map(|message| message.unwrap().channel).collect();
            let names: Vec<_> =
                found.iter().map(|channel| channel.schema.as_ref().map(|schema| &*schema.name)).collect();
            assert_eq!(names, expected);
            assert!(found.iter().all(|channel| definition_of(channel).is_none()));
        }
    }

    #[test]
    fn messages_come_by_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.mcap");
        let mut file = RecordingWriter::create(&path, CompressionOption::None, "").unwrap();
        let channel = RecordedChannel { name: "a".to_owned(), schema: None, metadata: BTreeMap::new() };
        let channel = file.add_channel(&channel).unwrap();
        let written = [3, 1, 2, 2, 20, 19, 1];
        for (sequence, second) in (0..).zip(written) {
            let time = second * 1_000_000_000;
            file.write(channel, MessageTimes { sequence, log_time: time, publish_time: time }, b"sample").unwrap();
        }
        file.finish().unwrap();
        let read = || messages_by_time(&path).unwrap();
        let sequences: Vec<u32> = read().map(|message| message.unwrap().sequence).collect();
        // The last message is too far away from its place, before which the first ones have left.
        assert_eq!(sequences, [1, 2, 3, 0, 6, 5, 4]);
    }
}
