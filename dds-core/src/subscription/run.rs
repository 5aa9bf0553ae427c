//! Runs of submessages that a reader processes together.
//!
//! A datagram may contain hundreds of small samples of one writer. They are processed in one visit of the reader's
//! cell, or become one piece of mail. The length of a run is limited by the time that one visit may take. A visit for
//! each submessage would cost more than the submessages, and mail for each would fill the inbox.

use dds_rtps::reader::Source;
use dds_rtps::types::{EntityId, Time};
use dds_rtps::wire::{Message, Submessage, Submessages};

/// Maximum number of submessages of a run. They take about 10 us.
const RUN_MAX: usize = 32;

/// Consecutive submessages of one writer to one reader, or to all matched readers. INFO_TS may stand between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SubmessageRun {
    /// Offset of the first submessage in the message.
    pub(crate) offset: usize,
    /// State of the message before the first submessage.
    pub(crate) source: Source,
    /// Reader that the submessages address.
    pub(crate) reader_id: EntityId,
}

/// End of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SubmessageRunEnd {
    /// Offset in the message of the first submessage after the run.
    pub(crate) offset: usize,
    /// Timestamp that applies to that submessage.
    pub(crate) timestamp: Option<Time>,
}

/// The first submessage of a run in parsed form, and the submessages after it.
#[derive(Debug, Clone)]
pub(crate) struct ParsedRun<'m, 'a> {
    pub(crate) first: &'m Submessage<'a>,
    pub(crate) behind: Submessages<'a>,
}

impl SubmessageRun {
    /// As [`SubmessageRun::walk_on`], for a datagram from the inbox.
    pub(crate) fn walk(&self, message: &Message<'_>, take: impl FnMut(&Source, &Submessage<'_>)) {
        let mut behind = message.submessages_from(self.offset);
        // The submessage parsed before the datagram became mail.
        if let Some(Ok(first)) = behind.next() {
            self.walk_on(ParsedRun { first: &first, behind }, take);
        }
    }

    /// Calls `take` for each submessage of the run. The end of the run depends only on the message.
    #[inline]
    pub(crate) fn walk_on<'a>(
        &self,
        parsed: ParsedRun<'_, 'a>,
        mut take: impl FnMut(&Source, &Submessage<'a>),
    ) -> SubmessageRunEnd {
        let ParsedRun { first, behind: mut submessages } = parsed;
        let mut source = self.source;
        take(&source, first);
        let mut end = SubmessageRunEnd { offset: submessages.offset(), timestamp: source.timestamp };
        let mut count = 1;
        while count < RUN_MAX {
            // Fast path: a timestamp precedes every sample of a batch, so it is not parsed into a `Submessage`.
            if let Some(timestamp) = submessages.next_timestamp() {
                source.timestamp = Some(timestamp);
                end = SubmessageRunEnd { offset: submessages.offset(), timestamp: source.timestamp };
                continue;
            }
            let Some(Ok(submessage)) = submessages.next() else { break };
            match (submessage.writer_and_reader(), &submessage) {
                (Some(endpoints), _) if endpoints == (source.writer.entity_id, self.reader_id) => {
                    take(&source, &submessage);
                    count += 1;
                }
                (_, Submessage::InfoTimestamp(timestamp)) => source.timestamp = *timestamp,
                _ => break,
            }
            end = SubmessageRunEnd { offset: submessages.offset(), timestamp: source.timestamp };
        }
        debug_assert!(end.offset > self.offset, "a run has at least one submessage");
        end
    }
}

#[cfg(not(dds_loom))]
#[cfg(test)]
mod tests {
    use super::*;
    use dds_rtps::types::{Guid, GuidPrefix, SequenceNumber, VendorId};
    use dds_rtps::wire::{Heartbeat, MessageBuilder};

    const WRITER: EntityId = EntityId([0, 0, 1, 3]);
    const READER: EntityId = EntityId([0, 0, 1, 4]);
    const SOURCE: GuidPrefix = GuidPrefix([1; 12]);

    fn heartbeat(builder: &mut MessageBuilder<'_>, writer_id: EntityId, reader_id: EntityId, count: i32) {
        builder.heartbeat(&Heartbeat {
            reader_id,
            writer_id,
            first_sn: SequenceNumber::FIRST,
            last_sn: SequenceNumber::FIRST,
            count,
            is_final: true,
            liveliness: false,
            group_info: None,
        });
    }

    /// Returns the submessages of a run that starts at the first one, and its end.
    fn taken(build: impl FnOnce(&mut MessageBuilder<'_>)) -> (Vec<(i32, Option<Time>)>, SubmessageRunEnd, usize) {
        let mut bytes = Vec::new();
        let mut builder = MessageBuilder::new(&mut bytes);
        builder.header(SOURCE);
        build(&mut builder);
        let message = Message::parse(&bytes).unwrap();
        let writer = Guid::new(SOURCE, WRITER);
        let source = Source { writer, timestamp: None, vendor: VendorId::CYCLONE, reply: None };
        let mut taken = Vec::new();
        let mut behind = message.submessages_from(20);
        let first = behind.next().unwrap().unwrap();
        let parsed = ParsedRun { first: &first, behind };
        let run = SubmessageRun { offset: 20, source, reader_id: READER };
        let end = run.walk_on(parsed, |source, submessage| {
            let Submessage::Heartbeat(heartbeat) = submessage else { panic!("{submessage:?} is in the run") };
            taken.push((heartbeat.count, source.timestamp));
        });
        (taken, end, bytes.len())
    }

    #[test]
    fn run_ends_at_another_writer_or_reader() {
        for (writer_id, reader_id) in [(WRITER, EntityId::UNKNOWN), (EntityId([0, 0, 2, 3]), READER)] {
            let (taken, end, _) = taken(|builder| {
                for count in 0..3 {
                    heartbeat(builder, WRITER, READER, count);
                }
                heartbeat(builder, writer_id, reader_id, 3);
                heartbeat(builder, WRITER, READER, 4);
            });
            assert_eq!(taken.len(), 3);
            assert_eq!(end.offset, 20 + 3 * 32);
        }
    }

    #[test]
    fn submessage_has_last_timestamp_before_it() {
        let times = [Time::from_unix_nanos(1_000_000_000), Time::from_unix_nanos(2_000_000_000)];
        let (taken, end, len) = taken(|builder| {
            for (count, time) in [(0, None), (1, Some(times[0])), (2, Some(times[1]))] {
                if time.is_some() {
                    builder.info_ts(time);
                }
                heartbeat(builder, WRITER, READER, count);
            }
        });
        assert_eq!(taken, [(0, None), (1, Some(times[0])), (2, Some(times[1]))]);
        assert_eq!(end, SubmessageRunEnd { offset: len, timestamp: Some(times[1]) });
    }

    #[test]
    fn run_length_is_bounded() {
        let (taken, end, _) = taken(|builder| {
            for count in 0..100 {
                heartbeat(builder, WRITER, READER, count);
            }
        });
        assert_eq!((taken.len(), end.offset), (RUN_MAX, 20 + RUN_MAX * 32));
    }

    #[test]
    fn run_ends_at_info_dst() {
        let (destined, end, _) = taken(|builder| {
            heartbeat(builder, WRITER, READER, 0);
            builder.info_dst(SOURCE);
            heartbeat(builder, WRITER, READER, 1);
        });
        assert_eq!((destined.len(), end.offset), (1, 20 + 32));
    }
}
