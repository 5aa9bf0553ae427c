//! A recording as one file, or as a sequence of complete files.

use crate::error::ToolError;
use crate::options::CompressionOption;
use crate::recording::{ChannelId, MessageTimes, RecordedChannel, RecordingWriter, ReservedFile};
use crate::ros::ROS_PROFILE;
use crate::ros_schemas::is_ros_encoding;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// When a recording begins a new file.
#[derive(Debug, Clone, Copy, Default)]
pub struct SplitRules {
    /// Size of a file. The last chunk and the index may exceed it.
    pub bytes: Option<u64>,
    /// Duration of a file.
    pub duration: Option<Duration>,
}

impl SplitRules {
    const fn is_single_file(self) -> bool {
        self.bytes.is_none() && self.duration.is_none()
    }
}

/// A recording that is being written. Every file has the schemas of its messages, and an index.
#[derive(Debug)]
pub struct RecordingFiles {
    path: PathBuf,
    compression: CompressionOption,
    rules: SplitRules,
    /// All channels, with their ids in the present file. A file has only the channels with messages.
    channels: Vec<(RecordedChannel, Option<ChannelId>)>,
    /// Whether a topic of ROS is recorded, which decides the profile of the next header.
    has_ros_topics: bool,
    /// `None` between two files.
    file: Option<PresentFile>,
    file_start: Instant,
    file_count: usize,
    /// Number of the next file.
    next_number: usize,
}

/// The file that is being written.
#[derive(Debug)]
enum PresentFile {
    /// The first message writes the header: its profile depends on the topics, and nodes may start later.
    Reserved(ReservedFile),
    Open(Box<RecordingWriter>),
}

impl RecordingFiles {
    /// Creates the first file. With rules, `drive.mcap` stands for `drive_0.mcap`, `drive_1.mcap` and so on.
    ///
    /// # Errors
    /// Fails if the file exists or cannot be created.
    pub fn create(path: &Path, compression: CompressionOption, rules: SplitRules) -> Result<Self, ToolError> {
        let mut files = Self {
            path: path.to_owned(),
            compression,
            rules,
            channels: Vec::new(),
            has_ros_topics: false,
            file: None,
            file_start: Instant::now(),
            file_count: 0,
            next_number: 0,
        };
        if !rules.is_single_file() && numbered_path(path, 0).exists() {
            // Parts of two recordings under one name would look like one recording.
            return Err(ToolError::Io {
                name: numbered_path(path, 0).display().to_string(),
                source: ErrorKind::AlreadyExists.into(),
            });
        }
        files.file = Some(PresentFile::Reserved(files.next_file()?));
        Ok(files)
    }

    /// Returns the number of files so far.
    #[must_use]
    pub const fn file_count(&self) -> usize {
        self.file_count
    }

    fn next_file(&mut self) -> Result<ReservedFile, ToolError> {
        let file = if self.rules.is_single_file() {
            ReservedFile::create(&self.path)?
        } else {
            let (file, number) = create_numbered(&self.path, self.next_number)?;
            self.next_number = number + 1;
            file
        };
        self.file_count += 1;
        Ok(file)
    }

    fn begin(&mut self, file: ReservedFile) -> Result<Box<RecordingWriter>, ToolError> {
        self.file_start = Instant::now();
        file.begin(self.compression, if self.has_ros_topics { ROS_PROFILE } else { "" }).map(Box::new)
    }

    /// Notes that a topic of ROS is recorded. Files whose first message comes later have the profile of ROS.
    pub fn expect_ros_topics(&mut self) {
        self.has_ros_topics = true;
    }

    /// Adds a channel, and returns its index.
    pub fn add_channel(&mut self, channel: RecordedChannel) -> usize {
        self.channels.push((channel, None));
        self.channels.len() - 1
    }

    /// Adds a message to the channel with this index.
    ///
    /// # Errors
    /// Fails if the file cannot be written, for example because the disk is full.
    pub fn write(&mut self, channel: usize, times: MessageTimes, payload: &[u8]) -> Result<(), ToolError> {
        self.split_in_time()?;
        let mut file = match self.file.take() {
            Some(PresentFile::Open(file)) => file,
            Some(PresentFile::Reserved(file)) => self.begin(file)?,
            None => {
                let file = self.next_file()?;
                self.begin(file)?
            }
        };
        let written = self.write_into(&mut file, channel, times, payload);
        self.file = Some(PresentFile::Open(file));
        written
    }

    fn write_into(
        &mut self,
        file: &mut RecordingWriter,
        channel: usize,
        times: MessageTimes,
        payload: &[u8],
    ) -> Result<(), ToolError> {
        let (definition, id) = &mut self.channels[channel];
        let id = match *id {
            Some(id) => id,
            None => *id.insert(file.add_channel(definition)?),
        };
        file.write(id, times, payload)
    }

    /// Completes a chunk if the present one is older than a second. Call it at least every second.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn complete_chunk_in_time(&mut self) -> Result<(), ToolError> {
        match &mut self.file {
            Some(PresentFile::Open(file)) => file.complete_chunk_in_time(),
            _ => Ok(()),
        }
    }

    /// Completes the present file if a rule says so. The next message creates another one.
    fn split_in_time(&mut self) -> Result<(), ToolError> {
        let Some(PresentFile::Open(file)) = &self.file else { return Ok(()) };
        let is_large = self.rules.bytes.is_some_and(|limit| file.written_len() >= limit);
        let is_old = self.rules.duration.is_some_and(|limit| self.file_start.elapsed() >= limit);
        if is_large || is_old {
            self.finish_file()?;
        }
        Ok(())
    }

    fn finish_file(&mut self) -> Result<(), ToolError> {
        for (_, id) in &mut self.channels {
            *id = None;
        }
        match self.file.take() {
            Some(PresentFile::Open(file)) => file.finish(),
            Some(PresentFile::Reserved(file)) => self.begin(file)?.finish(),
            None => Ok(()),
        }
    }

    /// Completes the last file with its index.
    ///
    /// # Errors
    /// As [`write`](Self::write).
    pub fn finish(mut self) -> Result<(), ToolError> {
        self.finish_file()
    }
}

/// Returns whether a channel is a topic of ROS. One is enough for the profile of ROS.
pub(crate) fn has_ros_channels<'c>(mut channels: impl Iterator<Item = &'c RecordedChannel>) -> bool {
    channels.any(|channel| channel.schema.as_ref().is_some_and(|schema| is_ros_encoding(schema.encoding)))
}

/// Creates a file with the first free number from `number`, and returns the number.
///
/// # Errors
/// Fails if the file cannot be created. An existing file is no error, and stays.
pub(crate) fn create_numbered(path: &Path, mut number: usize) -> Result<(ReservedFile, usize), ToolError> {
    loop {
        match ReservedFile::create(&numbered_path(path, number)) {
            Err(ToolError::Io { source, .. }) if source.kind() == ErrorKind::AlreadyExists => number += 1,
            result => return result.map(|file| (file, number)),
        }
    }
}

/// Returns `drive_3.mcap` for `drive.mcap` and 3.
pub(crate) fn numbered_path(path: &Path, number: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let name = match path.extension() {
        Some(extension) => format!("{stem}_{number}.{}", extension.to_string_lossy()),
        None => format!("{stem}_{number}"),
    };
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use super::{RecordingFiles, SplitRules, numbered_path};
    use crate::options::CompressionOption;
    use crate::recording::{MessageTimes, RecordedChannel};
    use std::collections::BTreeMap;
    use std::path::Path;

    #[test]
    fn files_are_numbered_before_the_extension() {
        assert_eq!(numbered_path(Path::new("a/drive.mcap"), 3), Path::new("a/drive_3.mcap"));
        assert_eq!(numbered_path(Path::new("drive"), 0), Path::new("drive_0"));
    }

    #[test]
    fn existing_part_is_skipped_but_not_at_the_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.mcap");
        let rules = SplitRules { bytes: Some(1), duration: None };
        let create = || RecordingFiles::create(&path, CompressionOption::None, rules);
        let mut files = create().unwrap();
        std::fs::write(folder.path().join("drive_1.mcap"), "mine").unwrap();
        let channel = RecordedChannel { name: "a".to_owned(), schema: None, metadata: BTreeMap::new() };
        let channel = files.add_channel(channel);
        let times = MessageTimes { sequence: 1, log_time: 1, publish_time: 1 };
        for _ in 0..2 {
            // The header of the first file exceeds the size, so the second message goes into the next one.
            files.write(channel, times, b"sample").unwrap();
        }
        files.finish().unwrap();
        assert_eq!(std::fs::read(folder.path().join("drive_1.mcap")).unwrap(), b"mine");
        assert!(folder.path().join("drive_2.mcap").exists());
        create().unwrap_err();
    }
}
