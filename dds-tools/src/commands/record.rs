//! `dds record`: topics into MCAP files.

use super::recorded_topic::{MessagePlace, RecordedTopic};
use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::{CompressionOption, RecordOptions};
use crate::progress::ProgressLine;
use crate::recording::{MessageTimes, RecordedChannel};
use crate::recording_files::{RecordingFiles, SplitRules};
use crate::recording_ring::{RecordingRing, SavedRing};
use crate::stop::Stop;
use crate::topic_access::sql_filter;
use crate::topic_reader::TopicChange;
use crate::topic_set::{TopicSelection, TopicSet};
use crate::topic_types::{KnownType, TopicTypes};
use dds_cdr::filter::Filter;
use dds_core::stats::WriterLosses;
use dds_core::{SampleInfo, Time};
use ratatui::crossterm::event::{self, Event, KeyCode};
use serde_json::json;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Time to discover the topics that exist at the start.
const FIRST_LOOK: Duration = Duration::from_millis(300);
/// Time between two looks at the topics of the domain.
const LOOK: Duration = Duration::from_millis(100);
/// Time between two looks at the queue, unless many samples wait in it.
const STEP: Duration = Duration::from_millis(2);
/// Bytes that wait at the end and may take a while. The command then says so.
const NOTED_REST: usize = 64 << 20;

/// Records until the count, the time or the request to stop. Topics may appear at any time.
///
/// A topic whose type no endpoint describes is recorded without a schema. The readers of the program hold back no
/// writer. Samples wait in a queue for a slow disk, and a full queue loses samples. The command prints the losses of
/// each topic at the end.
///
/// # Errors
/// Fails if the file exists or cannot be written.
pub fn run(
    options: &RecordOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let progress = ProgressLine::text(&options.report);
    let notes: &mut dyn Write = &mut progress.notes(notes);
    let participant = network::join_to_read(&options.network, &read_topics(options))?;
    let mut watch = DomainWatch::new(&participant)?;
    // The header of the file has the profile, so the topics before the first sample decide it.
    watch.settle(FIRST_LOOK, stop)?;
    let start = Time::now();
    let selection = TopicSelection {
        topics: options.topics.clone(),
        exclude: options.exclude.clone(),
        always: options.trigger.clone(),
    };
    let types = TopicTypes::new(participant.clone(), options.type_wait, options.type_file.clone())?;
    let queue_bytes = usize::try_from(options.queue_bytes).unwrap_or(usize::MAX);
    let mut set = TopicSet::with_queue(participant, selection, types, queue_bytes);
    let mut recorder = TopicRecorder {
        recorded: BTreeMap::new(),
        total: 0,
        limit: options.end.count,
        start,
        filter: options.filter.clone(),
        type_wait: options.type_wait,
        trigger: RingTrigger::new(options)?,
        trigger_name: options.trigger.clone(),
        trigger_topic: None,
        sink: Sink::new(options)?,
        progress,
    };
    let stop = stop.after(options.end.duration);
    let written = recorder.record(&mut set, &mut watch, notes, &stop);
    // Also after a failure: samples that nothing writes need no memory.
    set.close_queue();
    let written = written.and_then(|()| recorder.write_rest(&mut set, &mut watch, notes));
    let TopicRecorder { recorded, total, sink, .. } = recorder;
    let finished = sink.finish(notes);
    // The figures also help after a failure.
    let reported = match options.report.json {
        true => report_json(&recorded, &mut set, output),
        false => Ok(()),
    };
    let reported = reported.and(report(&recorded, total, &mut set, notes));
    written.and(finished).and(reported)
}

/// Returns the names and patterns of all topics that may have a reader. Without one, it is every topic.
fn read_topics(options: &RecordOptions) -> Vec<String> {
    if options.topics.is_empty() {
        return Vec::new();
    }
    options.topics.iter().chain(&options.trigger).cloned().collect()
}

/// Returns whether a sample is older than the recording: a writer kept it for late readers.
fn is_older(info: &SampleInfo, start: Time) -> bool {
    info.source_timestamp.is_valid() && info.source_timestamp < start
}

/// Requests to write the ring: SIGUSR1, Enter in the terminal, or a sample of the trigger topic.
struct RingTrigger {
    is_set: Arc<AtomicBool>,
    reads_keys: bool,
    #[cfg(unix)]
    signal: Option<signal_hook::SigId>,
}

impl RingTrigger {
    fn new(options: &RecordOptions) -> Result<Self, ToolError> {
        let is_set = Arc::new(AtomicBool::new(false));
        let has_ring = options.last.is_some();
        #[cfg(unix)]
        let signal = match has_ring {
            true => {
                let flag = signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&is_set));
                Some(flag.map_err(|source| ToolError::Io { name: "SIGUSR1".to_owned(), source })?)
            }
            false => None,
        };
        Ok(Self {
            is_set,
            reads_keys: has_ring && std::io::stdin().is_terminal(),
            #[cfg(unix)]
            signal,
        })
    }

    fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.is_set.swap(false, Ordering::Relaxed)
    }

    fn look_at_keys(&self) -> Result<(), ToolError> {
        while self.reads_keys && event::poll(Duration::ZERO).map_err(ToolError::output)? {
            if let Event::Key(key) = event::read().map_err(ToolError::output)?
                && key.code == KeyCode::Enter
            {
                self.set();
            }
        }
        Ok(())
    }
}

impl Drop for RingTrigger {
    fn drop(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = self.signal.take() {
            signal_hook::low_level::unregister(signal);
        }
    }
}

/// Where the messages go.
pub(super) struct Sink {
    /// Channels of single writers so far.
    pub(super) writer_channels: usize,
    kind: SinkKind,
}

enum SinkKind {
    Files(Box<RecordingFiles>),
    Ring(Box<RingFiles>),
}

/// A ring with the files that triggers write.
struct RingFiles {
    ring: RecordingRing,
    path: PathBuf,
    compression: CompressionOption,
    /// Number of the next file. A file that exists has its number already.
    next_number: usize,
    /// Reception time of the last message in a file.
    saved_until: Option<u64>,
    saving: Option<RingSaving>,
    /// The first failure. The command returns it at the end.
    failure: Option<ToolError>,
}

/// A file of the ring that is being written.
struct RingSaving {
    /// The thread that writes it, so that the readers do not wait for the disk.
    thread: JoinHandle<Result<SavedRing, ToolError>>,
    /// Reception time of its last message.
    until: Option<u64>,
}

impl Sink {
    fn new(options: &RecordOptions) -> Result<Self, ToolError> {
        Ok(Self { writer_channels: 0, kind: SinkKind::new(options)? })
    }

    /// Notes that a topic of ROS is recorded. A ring knows its channels when it writes a file.
    fn expect_ros_topics(&mut self) {
        if let SinkKind::Files(files) = &mut self.kind {
            files.expect_ros_topics();
        }
    }

    pub(super) fn add_channel(&mut self, channel: RecordedChannel) -> usize {
        match &mut self.kind {
            SinkKind::Files(files) => files.add_channel(channel),
            SinkKind::Ring(files) => files.ring.add_channel(channel),
        }
    }

    fn write(&mut self, place: MessagePlace, info: &SampleInfo, payload: &[u8]) -> Result<(), ToolError> {
        let MessagePlace { channel, role } = place;
        let times = MessageTimes::from(info);
        match &mut self.kind {
            SinkKind::Files(files) => files.write(channel, times, payload),
            SinkKind::Ring(files) => {
                files.ring.write(channel, times, payload, role);
                Ok(())
            }
        }
    }

    /// Does the work that is due without samples: completes a chunk, or writes the ring after a trigger.
    fn keep_up(&mut self, trigger: &RingTrigger, notes: &mut dyn Write) -> Result<(), ToolError> {
        match &mut self.kind {
            SinkKind::Files(files) => files.complete_chunk_in_time(),
            SinkKind::Ring(files) => {
                files.finish_saving(false, notes)?;
                // A trigger during a save waits for its end.
                if files.saving.is_none() && trigger.take() {
                    files.save();
                }
                Ok(())
            }
        }
    }

    fn finish(self, notes: &mut dyn Write) -> Result<(), ToolError> {
        match self.kind {
            SinkKind::Files(files) => {
                if files.file_count() > 1 {
                    writeln!(notes, "wrote {} files", files.file_count()).map_err(ToolError::output)?;
                }
                files.finish()
            }
            SinkKind::Ring(mut files) => {
                files.finish_saving(true, notes)?;
                if files.ring.last_time() > files.saved_until {
                    files.save();
                    files.finish_saving(true, notes)?;
                }
                let dropped = files.ring.dropped();
                if dropped > 0 {
                    writeln!(notes, "the memory limit removed {dropped} samples early; raise --last-bytes")
                        .map_err(ToolError::output)?;
                }
                files.failure.take().map_or(Ok(()), Err)
            }
        }
    }
}

impl SinkKind {
    fn new(options: &RecordOptions) -> Result<Self, ToolError> {
        let (path, compression) = (options.output.clone(), options.compression);
        if let Some(last) = options.last {
            // The first file comes later, so only the folder can fail now.
            if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
                let name = folder.display().to_string();
                std::fs::metadata(folder).map_err(|source| ToolError::Io { name, source })?;
            }
            let ring = RecordingRing::new(last, usize::try_from(options.last_bytes).unwrap_or(usize::MAX));
            let (next_number, saved_until, saving, failure) = (0, None, None, None);
            let files = RingFiles { ring, path, compression, next_number, saved_until, saving, failure };
            return Ok(Self::Ring(Box::new(files)));
        }
        let rules = SplitRules { bytes: options.split_bytes, duration: options.split_time };
        Ok(Self::Files(Box::new(RecordingFiles::create(&path, compression, rules)?)))
    }
}

impl RingFiles {
    fn save(&mut self) {
        let (path, number, compression) = (self.path.clone(), self.next_number, self.compression);
        let content = self.ring.content(MessageTimes::now());
        let thread = std::thread::spawn(move || content.save(&path, number, compression));
        self.saving = Some(RingSaving { thread, until: self.ring.last_time() });
    }

    /// Takes the result of the thread. A failure is no reason to lose the ring, so the recording goes on.
    fn finish_saving(&mut self, waits: bool, notes: &mut dyn Write) -> Result<(), ToolError> {
        if !self.saving.as_ref().is_some_and(|saving| waits || saving.thread.is_finished()) {
            return Ok(());
        }
        let Some(RingSaving { thread, until }) = self.saving.take() else { return Ok(()) };
        let panicked = |_| {
            let source = std::io::Error::other("the thread that writes the last seconds panicked");
            Err(ToolError::Io { name: self.path.display().to_string(), source })
        };
        match thread.join().unwrap_or_else(panicked) {
            Ok(saved) => {
                self.next_number = saved.number + 1;
                self.saved_until = until;
                writeln!(notes, "wrote {} samples into {}", saved.messages, saved.path.display())
            }
            Err(error) => {
                let result = writeln!(notes, "cannot write the last seconds, and keeps them: {error}");
                self.failure.get_or_insert(error);
                result
            }
        }
        .map_err(ToolError::output)
    }
}

struct TopicRecorder {
    /// The topics by their numbers in the set.
    recorded: BTreeMap<usize, RecordedTopic>,
    /// Samples of all topics.
    total: u64,
    /// Most samples of the recording.
    limit: Option<u64>,
    start: Time,
    filter: Option<String>,
    /// Time to wait for the type of a topic.
    type_wait: Duration,
    trigger: RingTrigger,
    /// Name of the trigger topic, and its number once it has a reader.
    trigger_name: Option<String>,
    trigger_topic: Option<usize>,
    sink: Sink,
    progress: ProgressLine,
}

impl TopicRecorder {
    /// Records until the count or the request to stop.
    fn record(
        &mut self,
        set: &mut TopicSet,
        watch: &mut DomainWatch,
        notes: &mut dyn Write,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let (start, mut last_look) = (Instant::now(), None::<Instant>);
        while !stop.is_due() && !self.is_complete() {
            if last_look.is_none_or(|last| last.elapsed() >= LOOK) {
                last_look = Some(Instant::now());
                watch.update()?;
                self.open_topics(set, watch, notes)?;
                self.trigger.look_at_keys()?;
                self.show_progress(start.elapsed(), set);
            }
            let is_behind = set.deliver(|topic, info, change| self.write(topic, info, change, watch))?;
            self.sink.keep_up(&self.trigger, notes)?;
            if !is_behind {
                stop.sleep(STEP);
            }
        }
        Ok(())
    }

    fn show_progress(&mut self, time: Duration, set: &TopicSet) {
        if !self.progress.is_due() {
            return;
        }
        let (topics, seconds, queued) = (self.recorded.len(), time.as_secs_f64(), set.queued_bytes() >> 20);
        let samples = self.total;
        self.progress.show(format!("{seconds:.1} s, {topics} topics, {samples} samples, {queued} MiB wait in memory"));
    }

    /// Writes the samples that wait in the closed queue: they arrived before the end.
    fn write_rest(
        &mut self,
        set: &mut TopicSet,
        watch: &mut DomainWatch,
        notes: &mut dyn Write,
    ) -> Result<(), ToolError> {
        let bytes = set.queued_bytes();
        // A complete recording writes none of the samples.
        if bytes >= NOTED_REST && !self.is_complete() {
            writeln!(notes, "writes {} MiB that wait in memory", bytes >> 20).map_err(ToolError::output)?;
        }
        while set.deliver(|topic, info, change| self.write(topic, info, change, watch))? {}
        Ok(())
    }

    fn is_complete(&self) -> bool {
        self.limit.is_some_and(|limit| self.total >= limit)
    }

    /// Writes a change of a topic.
    fn write(
        &mut self,
        topic: usize,
        info: &SampleInfo,
        change: TopicChange<'_>,
        watch: &mut DomainWatch,
    ) -> Result<(), ToolError> {
        let is_complete = self.is_complete();
        let is_trigger = self.trigger_topic == Some(topic);
        let topic = self.recorded.get_mut(&topic);
        if is_trigger && matches!(change, TopicChange::Sample(_)) {
            // Only such topics have samples from before the start. Others trigger even if the clocks differ.
            let keeps_samples = topic.as_ref().is_some_and(|topic| topic.is_transient_local());
            if !(keeps_samples && is_older(info, self.start)) {
                self.trigger.set();
            }
        }
        let Some(topic) = topic else { return Ok(()) };
        if !topic.passes(&change) {
            return Ok(());
        }
        match change {
            TopicChange::Sample(_) if is_complete => Ok(()),
            TopicChange::Sample(sample) => {
                self.total += 1;
                let place = topic.place_of(info, watch, &mut self.sink)?;
                self.sink.write(place, info, sample.bytes)
            }
            TopicChange::End(end) => {
                let Some(end) = topic.end_of(info, &end, &mut self.sink) else { return Ok(()) };
                self.sink.write(end.place, info, &end.payload)
            }
        }
    }

    /// Returns the filter for a topic, or the reason for not recording it.
    fn filter_of(&self, ty: &KnownType) -> Result<Option<Filter>, String> {
        match (&self.filter, ty.dynamic()) {
            (None, _) => Ok(None),
            (Some(expression), Some(ty)) => sql_filter(ty, expression).map(Some).map_err(|error| error.to_string()),
            (Some(_), None) => Err("a filter needs its type, which no endpoint describes".to_owned()),
        }
    }

    fn open_topics(&mut self, set: &mut TopicSet, watch: &DomainWatch, notes: &mut dyn Write) -> Result<(), ToolError> {
        let changes = set.open_topics(watch)?;
        for (number, name, ty) in changes.opened {
            if self.trigger_name.as_deref() == Some(&name) {
                self.trigger_topic = Some(number);
            }
            let topic = watch.view().endpoints_of(&name);
            let filter = match self.filter_of(&ty) {
                Ok(filter) => filter,
                Err(reason) => {
                    writeln!(notes, "does not record {name}: {reason}").map_err(ToolError::output)?;
                    // The samples of a trigger have work to do, even if no file has them.
                    if self.trigger_topic != Some(number) {
                        set.ignore(number);
                    }
                    continue;
                }
            };
            let note = if ty.dynamic().is_some() { "" } else { " without a schema: no endpoint describes its type" };
            writeln!(notes, "records {name} ({}){note}", ty.name(&topic)).map_err(ToolError::output)?;
            let topic = RecordedTopic::new(number, &name, &topic, &ty, filter);
            if topic.is_ros() {
                self.sink.expect_ros_topics();
            }
            self.recorded.insert(number, topic);
        }
        for name in changes.awaited {
            let seconds = self.type_wait.as_secs_f64();
            writeln!(notes, "{name}: waits {seconds} s for its type; earlier samples are not recorded")
                .map_err(ToolError::output)?;
        }
        for (name, error) in changes.refused {
            let is_recorded = self.recorded.values().any(|topic| topic.name == name);
            let part = if is_recorded { "a writer of " } else { "" };
            writeln!(notes, "does not record {part}{name}: {error}").map_err(ToolError::output)?;
        }
        Ok(())
    }
}

/// Returns how many samples the reader, or the inbox before it, dropped: the program did not keep up.
fn too_fast(total: &WriterLosses) -> u64 {
    total.undelivered.overwritten_unread + total.undelivered.inbox_overflow
}

/// `without_room`: the samples and ends of instances that had no room in the queue.
fn losses_text(total: &WriterLosses, without_room: u64) -> String {
    let mut text = format!("{} lost", total.lost());
    let too_fast = too_fast(total) + without_room;
    let counts = [(too_fast, "not recorded in time"), (total.not_received.replaced, "replaced by their writer")];
    for (count, fate) in counts {
        if count > 0 {
            text += &format!(", {count} {fate}");
        }
    }
    text
}

/// Prints an object for each topic, with its samples and losses.
fn report_json(
    recorded: &BTreeMap<usize, RecordedTopic>,
    set: &mut TopicSet,
    output: &mut dyn Write,
) -> Result<(), ToolError> {
    let without_room: Vec<u64> = recorded.keys().map(|&number| set.without_room(number)).collect();
    for (number, name, observed) in set.topics() {
        let Some(topic) = recorded.get(&number) else { continue };
        let total = observed.losses().total();
        let without_room = recorded.keys().zip(&without_room).find(|(known, _)| **known == number);
        let without_room = without_room.map_or(0, |(_, count)| *count);
        let line = json!({
            "topic": name,
            "samples": topic.samples,
            "lost": total.lost(),
            "not_recorded": too_fast(&total) + without_room,
            "replaced_by_writer": total.not_received.replaced,
            "ends": topic.ends,
            "ends_without_key": topic.ends_without_key,
        });
        write_json(output, &line)?;
    }
    Ok(())
}

/// Prints the number of samples and the losses of each topic.
fn report(
    recorded: &BTreeMap<usize, RecordedTopic>,
    total: u64,
    set: &mut TopicSet,
    notes: &mut dyn Write,
) -> Result<(), ToolError> {
    if set.is_full() {
        writeln!(notes, "the limit of topics was reached").map_err(ToolError::output)?;
    }
    let without_room: BTreeMap<usize, u64> =
        recorded.keys().map(|&number| (number, set.without_room(number))).collect();
    for (number, name, observed) in set.topics() {
        let Some(topic) = recorded.get(&number) else { continue };
        let losses = observed.losses();
        let total = losses.total();
        let without_room = without_room.get(&number).copied().unwrap_or(0);
        let mut line = format!("{name}: {} samples, {}", topic.samples, losses_text(&total, without_room));
        if topic.ends > 0 {
            line += &format!(", {} ends of instances", topic.ends);
        }
        if topic.ends_without_key > 0 {
            line += &format!(", {} ends of instances not recorded: their key is unknown", topic.ends_without_key);
        }
        writeln!(notes, "{line}").map_err(ToolError::output)?;
        if without_room > 0 {
            writeln!(notes, "{name}: the queue had no room for {without_room} changes; raise --queue-bytes")
                .map_err(ToolError::output)?;
        }
        if total.not_received.total() + too_fast(&total) > 0 {
            writeln!(notes, "{losses}").map_err(ToolError::output)?;
        }
    }
    writeln!(notes, "recorded {total} samples of {} topics", recorded.len()).map_err(ToolError::output)?;
    if recorded.is_empty() {
        return Err(ToolError::NothingArrived {
            awaited: "topic with a writer".to_owned(),
            next_step: "`dds ls` lists the topics of the domain",
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn report_counts_lost_late_and_replaced_samples() {
        let mut total = WriterLosses::default();
        assert_eq!(losses_text(&total, 0), "0 lost");
        total.not_received.never_came = 2;
        total.not_received.replaced = 3;
        total.undelivered.overwritten_unread = 4;
        total.undelivered.inbox_overflow = 5;
        assert_eq!(losses_text(&total, 1), "2 lost, 10 not recorded in time, 3 replaced by their writer");
    }
}
