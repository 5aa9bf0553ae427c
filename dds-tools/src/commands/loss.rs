//! `dds loss`: where samples get lost.

use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::LossOptions;
use crate::socket_drops::DropsSinceStart;
use crate::stop::Stop;
use crate::topic_set::TopicSet;
use dds_core::Guid;
use dds_core::stats::ReaderLosses;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::Write;
use std::time::{Duration, Instant};

/// Time between two looks at the readers.
const STEP: Duration = Duration::from_millis(5);

/// Prints the losses of each topic in each period, and the sum at the end.
///
/// Own readers account for every sample of their writers. Of other participants on this host, the system knows how many
/// datagrams their sockets dropped.
///
/// # Errors
/// [`ToolError::NothingArrived`] if no selected topic has a writer.
pub fn run(options: &LossOptions, output: &mut dyn Write, stop: &Stop) -> Result<(), ToolError> {
    let participant = network::join_to_read(&options.network, &options.topics)?;
    let mut watch = DomainWatch::new(&participant)?;
    let mut set = TopicSet::new(participant, &options.topics);
    let mut report =
        LossReport { is_json: options.output.json, socket_drops: DropsSinceStart::default(), drops: HashMap::new() };
    let stop = stop.after(options.end.duration);
    let (mut period_start, mut reports) = (Instant::now(), 0);
    while !stop.is_due() && options.end.count.is_none_or(|count| reports < count) {
        watch.update()?;
        set.open_topics(&watch)?;
        set.take(|_, _, _| ())?;
        if period_start.elapsed() >= options.every {
            period_start = Instant::now();
            for (_, name, topic) in set.topics() {
                report.print_topic(name, &topic.end_period().losses, &watch, false, output)?;
            }
            report.print_drops(&watch, false, output)?;
            reports += 1;
        }
        stop.sleep(STEP);
    }
    let mut has_topics = false;
    for (_, name, topic) in set.topics() {
        has_topics = true;
        report.print_topic(name, &topic.losses(), &watch, true, output)?;
    }
    report.print_drops(&watch, true, output)?;
    if !has_topics {
        return Err(ToolError::NothingArrived {
            awaited: "topic with a writer".to_owned(),
            next_step: "`dds ls` lists the topics of the domain",
        });
    }
    Ok(())
}

struct LossReport {
    is_json: bool,
    socket_drops: DropsSinceStart,
    /// Dropped datagrams by participant, from the start to the end of the last period.
    drops: HashMap<Guid, u64>,
}

impl LossReport {
    fn print_topic(
        &self,
        name: &str,
        losses: &ReaderLosses,
        watch: &DomainWatch,
        is_total: bool,
        output: &mut dyn Write,
    ) -> Result<(), ToolError> {
        if self.is_json {
            return write_json(output, &topic_json(name, losses, watch, is_total));
        }
        let label = if is_total { "total: " } else { "" };
        writeln!(output, "{label}topic {name}: {losses}").and_then(|()| output.flush()).map_err(ToolError::output)
    }

    /// Prints the participants of this host whose sockets dropped datagrams.
    fn print_drops(&mut self, watch: &DomainWatch, is_total: bool, output: &mut dyn Write) -> Result<(), ToolError> {
        let drops = self.socket_drops.read(watch.view());
        for participant in watch.view().participants() {
            let Some(&since_start) = drops.get(&participant.key) else { continue };
            let before = self.drops.get(&participant.key).copied().unwrap_or(0);
            let dropped = if is_total { since_start } else { since_start.saturating_sub(before) };
            let name = watch.view().participant_name(participant.key);
            if self.is_json {
                let guid = participant.key.to_string();
                let line = json!({ "total": is_total, "participant": name, "guid": guid, "socket_dropped": dropped });
                write_json(output, &line)?;
            } else if dropped > 0 {
                let label = if is_total { "total: " } else { "" };
                writeln!(
                    output,
                    "{label}participant {name}: its sockets dropped {dropped} datagrams; \
                     raise its receive buffer, or let its program receive faster"
                )
                .map_err(ToolError::output)?;
            }
        }
        self.drops = drops;
        output.flush().map_err(ToolError::output)
    }
}

fn topic_json(name: &str, losses: &ReaderLosses, watch: &DomainWatch, is_total: bool) -> Value {
    let total = losses.total();
    let writers: Vec<Value> = losses
        .writers
        .iter()
        .chain(&losses.departed)
        .filter_map(|row| Some((row.writer?, row)))
        .map(|(writer, row)| {
            json!({
                "writer": writer.to_string(),
                "participant": watch.view().writer_participant(writer),
                "known": row.known,
                "received": row.received,
                "lost": row.lost(),
                "not_delivered": row.undelivered.total(),
            })
        })
        .collect();
    json!({
        "total": is_total,
        "topic": name,
        "known": total.known,
        "received": total.received,
        "lost": total.lost(),
        "awaited": total.awaited,
        "not_delivered": total.undelivered.total(),
        "never_came": total.not_received.never_came,
        "lacked_fragments": total.not_received.fragments,
        "no_longer_sent": total.not_received.irrelevant,
        "replaced_by_writer": total.not_received.replaced,
        "own_socket_dropped": losses.socket_dropped,
        "likely_cause": losses.likely_cause().map(|cause| cause.to_string()),
        "writers": writers,
    })
}
