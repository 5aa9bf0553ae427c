//! `dds hz`, `dds bw` and `dds delay`: rates, bytes and delays of a topic, or of all.

use super::statistics::PeriodStatistics;
use super::text::{bytes_text, nanos_text, write_json};
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::MeasureOptions;
use crate::stop::Stop;
use crate::topic_access::topic_type;
use crate::topic_reader::{TopicChange, TopicReader, delay_nanos};
use crate::topic_set::TopicSet;
use dds_core::{DomainParticipant, SampleInfo};
use std::collections::BTreeMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// Time between two looks at the readers of all topics.
const STEP: Duration = Duration::from_millis(5);

/// The measured quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// Samples for each second, and the time between them.
    Rate,
    /// Bytes for each second, and the size of samples.
    Bandwidth,
    /// Time from the source timestamp to the reception. Clocks of different hosts may differ.
    Delay,
}

/// Prints a line for each period, and one for the whole time at the end. Without a topic, each topic has its lines.
///
/// # Errors
/// [`ToolError::NoTopic`] if the topic has no endpoint, [`ToolError::NothingArrived`] if no sample arrived.
pub fn run(
    quantity: Quantity,
    options: &MeasureOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let participant = network::join_to_read(&options.network, options.topic.as_slice())?;
    let watch = DomainWatch::new(&participant)?;
    let meter = Meter { quantity, options };
    match &options.topic {
        Some(topic) => meter.measure_one(topic, &participant, watch, output, stop),
        None => meter.measure_all(participant, watch, output, notes, stop),
    }
}

/// The samples of one topic.
struct MeasuredTopic {
    topic: String,
    period: PeriodStatistics,
    total: PeriodStatistics,
    /// Reception timestamp of the last sample.
    last: Option<i64>,
}

impl MeasuredTopic {
    fn new(topic: String) -> Result<Self, ToolError> {
        Ok(Self { topic, period: PeriodStatistics::new()?, total: PeriodStatistics::new()?, last: None })
    }

    fn add(&mut self, quantity: Quantity, info: &SampleInfo, len: usize) {
        let value = match quantity {
            Quantity::Rate => interval(info, &mut self.last),
            Quantity::Bandwidth => i64::try_from(len).ok(),
            Quantity::Delay => delay_nanos(info),
        };
        let now = Instant::now();
        self.period.add(now, len, value);
        self.total.add(now, len, value);
    }
}

/// Returns the time since the last sample, by the reception timestamps.
fn interval(info: &SampleInfo, last: &mut Option<i64>) -> Option<i64> {
    let now = info.reception_timestamp.as_unix_nanos();
    let before = last.replace(now)?;
    // A clock that was set back gives no interval.
    Some(now - before).filter(|interval| *interval >= 0)
}

/// Says which writers have values that no reader of the program can request.
fn note_refused(refused: &[(String, ToolError)], notes: &mut dyn Write) -> Result<(), ToolError> {
    for (topic, error) in refused {
        writeln!(notes, "does not measure all of {topic}: {error}").map_err(ToolError::output)?;
    }
    Ok(())
}

/// A measurement with its options.
struct Meter<'o> {
    quantity: Quantity,
    options: &'o MeasureOptions,
}

impl Meter<'_> {
    fn measure_one(
        &self,
        topic: &str,
        participant: &DomainParticipant,
        mut watch: DomainWatch,
        output: &mut dyn Write,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let ty = match topic_type(participant, &mut watch, topic, &self.options.ty, stop) {
            Ok(ty) => Some(ty),
            // The measurement needs no type.
            Err(ToolError::NoType { .. }) => None,
            Err(error) => return Err(error),
        };
        let mut reader = TopicReader::new(participant, topic, &watch.view().endpoints_of(topic), ty.as_ref())?;
        let stop = stop.after(self.options.end.duration);
        let mut figures = MeasuredTopic::new(topic.to_owned())?;
        while !stop.is_due() && !self.is_complete(figures.total.samples) {
            let left = self.options.every.saturating_sub(figures.period.start.elapsed());
            reader.wait(stop.step().min(left.max(Duration::from_millis(1))));
            if watch.update()? {
                reader.cover(&watch.view().endpoints_of(topic))?;
            }
            reader.take(|info, change| {
                if let TopicChange::Sample(sample) = change
                    && !self.is_complete(figures.total.samples)
                {
                    figures.add(self.quantity, info, sample.bytes.len());
                }
                Ok(())
            })?;
            if figures.period.start.elapsed() >= self.options.every {
                self.print_period(&mut figures, output)?;
            }
        }
        if figures.total.samples == 0 {
            return Err(ToolError::NothingArrived {
                awaited: format!("sample of topic \"{topic}\""),
                next_step: "`dds show` lists its endpoints, and `dds why` the obstacles between them",
            });
        }
        self.print(&figures.topic, &figures.total, true, output)
    }

    /// Measures every topic that has a writer, also one that appears later.
    fn measure_all(
        &self,
        participant: DomainParticipant,
        mut watch: DomainWatch,
        output: &mut dyn Write,
        notes: &mut dyn Write,
        stop: &Stop,
    ) -> Result<(), ToolError> {
        let mut set = TopicSet::new(participant, &[]);
        let mut topics = BTreeMap::<usize, MeasuredTopic>::new();
        let stop = stop.after(self.options.end.duration);
        let (mut samples, mut period_start) = (0, Instant::now());
        while !stop.is_due() && !self.is_complete(samples) {
            watch.update()?;
            let changes = set.open_topics(&watch)?;
            for (number, topic, _) in changes.opened {
                topics.insert(number, MeasuredTopic::new(topic)?);
            }
            note_refused(&changes.refused, notes)?;
            set.take(|number, info, len| {
                if let Some(figures) = topics.get_mut(&number)
                    && !self.is_complete(samples)
                {
                    samples += 1;
                    figures.add(self.quantity, info, len);
                }
            })?;
            if period_start.elapsed() >= self.options.every {
                period_start = Instant::now();
                topics.values_mut().try_for_each(|figures| self.print_period(figures, output))?;
            }
            stop.sleep(STEP);
        }
        if samples == 0 {
            return Err(ToolError::NothingArrived {
                awaited: "sample of any topic".to_owned(),
                next_step: "`dds ls` lists the topics, and `dds why` the obstacles between their endpoints",
            });
        }
        topics.values().try_for_each(|figures| self.print(&figures.topic, &figures.total, true, output))
    }

    fn is_complete(&self, samples: u64) -> bool {
        self.options.end.count.is_some_and(|count| samples >= count)
    }

    /// Prints the period, and starts the next one.
    fn print_period(&self, figures: &mut MeasuredTopic, output: &mut dyn Write) -> Result<(), ToolError> {
        self.print(&figures.topic, &figures.period, false, output)?;
        figures.period = PeriodStatistics::new()?;
        Ok(())
    }

    fn print(
        &self,
        topic: &str,
        found: &PeriodStatistics,
        is_total: bool,
        output: &mut dyn Write,
    ) -> Result<(), ToolError> {
        let (rate, bytes_per_second) = found.rates_until(Instant::now());
        if self.options.output.json {
            let unit = match self.quantity {
                Quantity::Rate => "interval_ns",
                Quantity::Bandwidth => "size_bytes",
                Quantity::Delay => "delay_ns",
            };
            let mut line = found.to_json(unit, is_total, (rate, bytes_per_second));
            line["topic"] = topic.into();
            return write_json(output, &line);
        }
        let label = if is_total { "total: " } else { "" };
        // The user of one topic knows its name.
        let name = if self.options.topic.is_none() { format!("{topic}: ") } else { String::new() };
        let line = match self.quantity {
            Quantity::Rate => format!("{rate:.1} Hz, interval {}", found.percentiles(nanos_text)),
            Quantity::Bandwidth => {
                let (bytes, sizes) = (bytes_text(bytes_per_second), found.percentiles(bytes_text));
                format!("{bytes}/s, {rate:.1} Hz, size {sizes}")
            }
            Quantity::Delay => found.delay_text(),
        };
        writeln!(output, "{label}{name}{} samples, {line}", found.samples)
            .and_then(|()| output.flush())
            .map_err(ToolError::output)
    }
}

#[cfg(test)]
mod tests {
    use super::{ToolError, note_refused};

    #[test]
    fn topic_that_is_not_measured_is_named() {
        let mut notes = Vec::new();
        note_refused(&[("robot/pose".to_owned(), ToolError::value("the name is too long"))], &mut notes).unwrap();
        let notes = String::from_utf8(notes).unwrap();
        assert!(notes.starts_with("does not measure all of robot/pose: "), "{notes}");
        assert!(notes.contains("the name is too long"), "{notes}");
    }
}
