//! Compares the loss ledgers of all readers with written and received samples.

use super::endpoints::Reading;
use super::logs::{WriterLog, Written};
use super::scenario::Scenario;
use dds_core::stats::{ReaderLosses, WriterLosses};

impl Scenario {
    /// Errors of the ledgers, once no sample is in flight.
    pub(crate) fn misaccounts(&self) -> Vec<String> {
        let mut complaints = Vec::new();
        for reading in &self.readers {
            let Some(handle) = &reading.handle else { continue };
            let losses = handle.losses();
            let mut complain = |what: String| complaints.push(format!("ledger of reader {}: {what}", reading.log.id));
            columns_add_up(&losses, &mut complain);
            self.rows_are_right(reading, &losses, &mut complain);
            self.delivered_is_what_was_got(reading, &losses, &mut complain);
            let (total, status) = (losses.total(), handle.sample_lost().total_count);
            let undelivered = &total.undelivered;
            // SAMPLE_LOST counts all samples that the reader was entitled to and can never return.
            let counted = total.lost() + undelivered.stranded + undelivered.not_decodable + undelivered.incoherent;
            let counted = counted + undelivered.inbox_overflow;
            if status != counted {
                complain(format!("SAMPLE_LOST says {status}: {total:?} {losses:?}"));
            }
        }
        complaints
    }

    /// Checks the rows of matched writers: no sample is expected, and no number is missing at the end.
    fn rows_are_right(&self, reading: &Reading, losses: &ReaderLosses, complain: &mut impl FnMut(String)) {
        for row in &losses.writers {
            let Some(writing) = self.writers.iter().find(|writing| Some(writing.log.guid) == row.writer) else {
                complain(format!("{row:?} is nobody's"));
                continue;
            };
            let log = &writing.log;
            let reliable = log.qos.reliability.is_reliable() && reading.log.qos.reliability.is_reliable();
            let written = log.entries.len() as i64;
            // A reader holds a coherent set until a later sample arrives. A best-effort reader gets no report of its
            // loss.
            let holds_a_set = !reliable && row.last.0 < written;
            if row.awaited > 0 || (row.waiting > 0 && !holds_a_set) {
                complain(format!("is not at rest with writer {}: {row:?}", log.id));
            }
            // The numbers of a row are consecutive.
            let span = row.last.0 - row.first.0 + 1;
            if row.known != span as u64 || row.received + row.not_received.total() != row.known {
                complain(format!("does not add up with writer {}: {row:?}", log.id));
            }
            // A reader never learns of samples that expire before delivery.
            let hears_of_all = reliable && log.qos.lifespan.is_infinite();
            self.filter_adds_up(reading, log, row, complain);
            if row.last.0 > written || (hears_of_all && row.known > 0 && row.last.0 != written) {
                complain(format!("knows of {} numbers of writer {}, which has written {written}", row.last, log.id));
            }
        }
    }

    /// Checks that a filter dropped only samples that do not pass.
    ///
    /// If all samples arrived, it dropped all of these.
    fn filter_adds_up(
        &self,
        reading: &Reading,
        log: &WriterLog,
        row: &WriterLosses,
        complain: &mut impl FnMut(String),
    ) {
        let (span, reader) = (row.first.0..=row.last.0, &reading.log);
        let entries = || (1..).zip(&log.entries).filter(|(number, _)| span.contains(number));
        let left_out = entries().filter(|(number, entry)| !reader.must_see(log.id, entry, *number)).count() as u64;
        let never_in = entries().filter(|(number, entry)| !reader.may_see(log.id, entry, *number)).count() as u64;
        let filtered = row.undelivered.filtered;
        // The filter cannot have evaluated numbers that did not arrive.
        let unseen = row.not_received.total() + row.undelivered.inbox_overflow;
        // Filtered samples may have been lost before evaluation, so the count has a range.
        let least = never_in.saturating_sub(unseen);
        if reader.with(log).partings == 0 && !(least..=left_out).contains(&filtered) {
            complain(format!("{filtered} of writer {} are filtered, not {least} to {left_out}: {row:?}", log.id));
        }
    }

    /// Checks that the application got all delivered samples.
    ///
    /// These are samples with data, and at most one without data for each end of an instance. For a remote reader
    /// without coherent access, the end of a set is a number like others.
    fn delivered_is_what_was_got(&self, reading: &Reading, losses: &ReaderLosses, complain: &mut impl FnMut(String)) {
        let got = reading.log.got.iter().filter(|got| got.data.is_some()).count() as u64;
        let ends = |log: &WriterLog| {
            // After an ended match the writer's history may arrive again, with all its ends.
            let lives = 1 + reading.log.with(log).partings as u64;
            lives * log.entries.iter().filter(|entry| entry.what != Written::Data).count() as u64
        };
        let ends: u64 = self.writers.iter().map(|writing| ends(&writing.log)).sum();
        let delivered = losses.total().delivered();
        if !(got..=got + ends).contains(&delivered) {
            complain(format!(
                "{delivered} delivered, {got} got, at most {ends} ends of instances: {:?}",
                losses.total()
            ));
        }
    }
}

fn columns_add_up(losses: &ReaderLosses, complain: &mut impl FnMut(String)) {
    let total = losses.total();
    for row in losses.writers.iter().chain(&losses.departed).chain([&total]) {
        let known = row.received + row.not_received.total() + row.awaited;
        let received = row.delivered() + row.waiting + row.undelivered.total();
        if row.known != known || row.received != received {
            complain(format!("a row does not add up: {row:?}"));
        }
    }
    if losses.departed_before == WriterLosses::default() && losses.departed.len() > 16 {
        complain("rows without end".to_owned());
    }
}
