//! Ledger of losses: which samples a reader did not get, and why.

use dds_rtps::reader::{Losses, WriterLosses};
use dds_rtps::types::Time;
use std::fmt;

/// Ledger of a reader's samples by writer, with the likely cause of losses.
///
/// Two sums account for each sample of a writer:
///
/// - [`known`](WriterLosses::known) = received + not received, by cause + awaited;
/// - received = [`delivered`](WriterLosses::delivered) + waiting + not delivered, by reason.
///
/// The reader always counts. This costs nothing for a sample that arrives in order. `Display` prints sentences.
///
/// ```
/// # use dds_core::{DdsType, DomainParticipant, Result};
/// # #[derive(DdsType)]
/// # struct Scan { ranges: Vec<f32> }
/// # fn main() -> Result<()> {
/// # let participant = DomainParticipant::builder(0)
/// #     .scope(dds_core::Scope::Host)
/// #     .domain_tag(std::process::id().to_string())
/// #     .build()?;
/// let reader = participant.reader::<Scan>("scan")?;
/// let before = reader.losses();
/// // … a minute later:
/// let minute = reader.losses().since(&before);
/// if minute.total().lost() > 0 {
///     println!("{minute}");
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReaderLosses {
    /// Writers that match now.
    pub writers: Vec<WriterLosses>,
    /// Writers that left last, at most 16, from the oldest to the newest.
    pub departed: Vec<WriterLosses>,
    /// Sum of the writers that left before those in `departed`.
    pub departed_before: WriterLosses,
    /// Announcements that the plausibility check rejected at first.
    ///
    /// Their sequence numbers were too far from the writer's last one. Either the writer was restarted, or another
    /// program uses its identity.
    pub doubtful: u64,
    /// Samples with a source timestamp more than 30 s in the future.
    ///
    /// The clock of the writer or of the reader is wrong. The reader takes the time of arrival instead. It checks only
    /// where the time matters: for LIFESPAN, and for DESTINATION_ORDER by source timestamp.
    pub from_future: u64,
    /// Datagrams that the participant's user-data sockets dropped, for any reader.
    ///
    /// `None` if the system does not report it. Linux does.
    pub socket_dropped: Option<u64>,
    /// Receive buffer that the system granted to these sockets, in bytes.
    pub receive_buffer: usize,
    /// Submessages that occupied endpoints of the participant dropped, for any endpoint.
    ///
    /// [`Undelivered::inbox_overflow`](dds_rtps::reader::Undelivered::inbox_overflow) counts the samples that this
    /// reader lost by them.
    pub inbox_dropped: u64,
    /// Start of the interval: creation of the reader, or `until` of the subtracted ledger.
    pub since: Time,
    /// End of the interval.
    pub until: Time,
}

/// Likely cause of samples that never arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum LikelyCause {
    /// The participant's sockets dropped datagrams. It receives too slowly for its buffer.
    SocketOverflow {
        /// Datagrams that were dropped in the interval.
        dropped: u64,
        /// Size of the receive buffer in bytes.
        receive_buffer: usize,
    },
    /// Endpoints were occupied for too long, by large takes or by many samples at once.
    InboxOverflow {
        /// Submessages that were dropped in the interval.
        dropped: u64,
    },
    /// Not this process. The network lost them, or the writer had replaced them already.
    Elsewhere,
}

impl ReaderLosses {
    pub(super) fn new(losses: Losses, context: LossContext) -> Self {
        let LossContext { from_future, socket_dropped, receive_buffer, inbox_dropped, since, until } = context;
        Self {
            writers: losses.writers,
            departed: losses.departed,
            departed_before: losses.departed_before,
            doubtful: losses.doubtful,
            from_future,
            socket_dropped,
            receive_buffer,
            inbox_dropped,
            since,
            until,
        }
    }

    /// Returns the sum of all writers, including those that left.
    #[must_use]
    pub fn total(&self) -> WriterLosses {
        let mut total = WriterLosses::default();
        for row in self.writers.iter().chain(&self.departed) {
            total.add(row);
        }
        // Rows of departed writers are bounded, and older ones are summed up here.
        total.add(&self.departed_before);
        total
    }

    /// Returns the difference to an earlier ledger of the same reader.
    ///
    /// Writers that left in between and have no row any more are part of `departed_before`. Samples that were awaited
    /// then and are lost now count as lost.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        // The difference of the sums covers writers without a row. Rows are subtracted from it below.
        let mut total = self.total().since(&earlier.total());
        let writers: Vec<_> = self.writers.iter().map(|row| earlier.until_now(row)).collect();
        let departed: Vec<_> = self.departed.iter().map(|row| earlier.until_now(row)).collect();
        let mut rows = WriterLosses::default();
        for row in writers.iter().chain(&departed) {
            rows.add(row);
        }
        total = total.since(&rows);
        let dropped_before = earlier.socket_dropped.unwrap_or_default();
        Self {
            writers,
            departed,
            departed_before: total,
            // The caller may pass a ledger of another reader, which has higher counts.
            doubtful: self.doubtful.saturating_sub(earlier.doubtful),
            from_future: self.from_future.saturating_sub(earlier.from_future),
            socket_dropped: self.socket_dropped.map(|now| now.saturating_sub(dropped_before)),
            receive_buffer: self.receive_buffer,
            inbox_dropped: self.inbox_dropped.saturating_sub(earlier.inbox_dropped),
            since: earlier.until,
            until: self.until,
        }
    }

    /// Returns the change of a row since this ledger. A writer that this ledger does not know has its whole row.
    fn until_now(&self, row: &WriterLosses) -> WriterLosses {
        for known in self.writers.iter().chain(&self.departed) {
            if known.writer == row.writer {
                return row.since(known);
            }
        }
        *row
    }

    /// Returns the likely cause of the losses, or `None` if there are none.
    ///
    /// It covers samples that never arrived, and samples that were dropped because the reader was occupied.
    #[must_use]
    pub fn likely_cause(&self) -> Option<LikelyCause> {
        let total = self.total();
        let overflowed = total.undelivered.inbox_overflow;
        let receive_buffer = self.receive_buffer;
        // `overflowed` counts only samples of this reader. The participant's count may be higher.
        let dropped = self.inbox_dropped.max(overflowed);
        // The socket first: it drops before the inbox can, and its datagrams may be of any reader.
        match self.socket_dropped {
            _ if total.lost() == 0 && overflowed == 0 => None,
            Some(dropped) if dropped > 0 && total.lost() > 0 => {
                Some(LikelyCause::SocketOverflow { dropped, receive_buffer })
            }
            _ if dropped > 0 => Some(LikelyCause::InboxOverflow { dropped }),
            _ => Some(LikelyCause::Elsewhere),
        }
    }
}

/// Values of the ledger that do not belong to one writer.
pub(super) struct LossContext {
    pub(super) from_future: u64,
    pub(super) socket_dropped: Option<u64>,
    pub(super) receive_buffer: usize,
    pub(super) inbox_dropped: u64,
    pub(super) since: Time,
    pub(super) until: Time,
}

impl fmt::Display for LikelyCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SocketOverflow { dropped, receive_buffer } => write!(
                f,
                "the socket dropped {dropped} datagrams in this interval: raise the participant's receive_buffer (it has \
                 {receive_buffer} bytes) and the system's net.core.rmem_max, or let the writers send less at once"
            ),
            Self::InboxOverflow { dropped } => write!(
                f,
                "occupied endpoints had no room for {dropped} submessages in this interval: take smaller \
                 batches, and do little work in Inline listeners"
            ),
            Self::Elsewhere => f.write_str(
                "this process dropped nothing: the network lost them, or their writers had removed them before they \
                 were received (reliable writers: raise HISTORY depth if it is KEEP_LAST, or LIFESPAN if it is short; \
                 best-effort ones: RELIABILITY)",
            ),
        }
    }
}

impl fmt::Display for ReaderLosses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.total();
        let seconds = (self.until - self.since).as_nanos() as f64 / 1e9;
        write!(f, "in {seconds:.1} s: {} of {} samples received", total.received, total.known)?;
        let missing = total.not_received;
        for (count, what) in [
            (missing.never_came, "never arrived"),
            (missing.fragments, "lacked fragments"),
            (missing.replaced, "were replaced by their KEEP_LAST writer before they arrived"),
            (missing.irrelevant, "were no longer sent: replaced, expired, or older than the match"),
            (missing.filtered, "were not sent: their writer knows the content filter"),
            (total.awaited, "are still expected"),
        ] {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        write!(f, "; {} delivered", total.delivered())?;
        if total.waiting > 0 {
            write!(f, ", {} wait for earlier ones, for space or for the end of their set", total.waiting)?;
        }
        for (count, what) in total.undelivered.reasons() {
            if count > 0 {
                write!(f, ", {count} {what}")?;
            }
        }
        if let Some(cause) = self.likely_cause() {
            write!(f, "\nlikely cause: {cause}")?;
        }
        if self.doubtful > 0 {
            write!(
                f,
                "\n{} announcements failed the plausibility check: a restarted writer, or a forged identity",
                self.doubtful
            )?;
        }
        if self.from_future > 0 {
            write!(f, "\n{} samples have timestamps in the future: the clocks of the hosts differ", self.from_future)?;
        }
        for row in self.writers.iter().chain(&self.departed) {
            let Some(writer) = row.writer else { continue };
            // A reader may have thousands of writers. The report names those to look at.
            if row.lost() + row.undelivered.total() == 0 {
                continue;
            }
            write!(
                f,
                "\n  {writer}: {} of {} received, {} lost, {} not delivered",
                row.received,
                row.known,
                row.lost(),
                row.undelivered.total()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn losses(known: u64, received: u64, dropped: u64) -> ReaderLosses {
        let mut row = WriterLosses::default();
        (row.known, row.received, row.not_received.never_came) = (known, received, known - received);
        let time = |seconds: i64| Time::from_unix_nanos(seconds * 1_000_000_000);
        ReaderLosses {
            writers: vec![row],
            departed: Vec::new(),
            departed_before: WriterLosses::default(),
            doubtful: 0,
            from_future: 0,
            socket_dropped: Some(dropped),
            receive_buffer: 212_992,
            inbox_dropped: 0,
            since: time(0),
            until: time(known as i64),
        }
    }

    #[test]
    fn difference_of_ledgers_has_losses_of_interval() {
        let minute = losses(200, 70, 120).since(&losses(50, 40, 2));
        let total = minute.total();
        assert_eq!((total.known, total.received, total.lost()), (150, 30, 120));
        assert_eq!(minute.likely_cause(), Some(LikelyCause::SocketOverflow { dropped: 118, receive_buffer: 212_992 }));
        assert!(
            minute.to_string().starts_with("in 150.0 s: 30 of 150 samples received, 120 never arrived; 30 delivered")
        );
        assert!(minute.to_string().contains("the socket dropped 118 datagrams"));
    }

    #[test]
    fn inbox_overflow_is_a_cause_of_its_own() {
        let mut some = losses(50, 50, 2);
        some.writers[0].undelivered.inbox_overflow = 7;
        assert_eq!(some.likely_cause(), Some(LikelyCause::InboxOverflow { dropped: 7 }));
        some.inbox_dropped = 9;
        let text = some.to_string();
        assert!(text.contains("43 delivered, 7 while the reader was busy"), "{text}");
        assert!(text.contains("occupied endpoints had no room for 9 submessages"), "{text}");
    }

    #[test]
    fn text_accounts_for_each_known_sample() {
        let mut some = losses(250, 246, 0);
        let row = &mut some.writers[0];
        (row.not_received.never_came, row.not_received.irrelevant, row.waiting) = (1, 3, 2);
        let text = some.to_string();
        assert!(text.contains("246 of 250 samples received, 1 never arrived, 3 were no longer sent"), "{text}");
        assert!(text.contains("; 244 delivered, 2 wait for earlier ones"), "{text}");
        assert!(text.contains("raise HISTORY depth if it is KEEP_LAST, or LIFESPAN if it is short"), "{text}");
    }

    #[test]
    fn ledger_without_losses_has_no_cause() {
        assert_eq!(losses(50, 50, 2).likely_cause(), None);
        assert_eq!(losses(50, 49, 0).likely_cause(), Some(LikelyCause::Elsewhere));
    }
}
