//! What is counted of one writer; `losses` makes a row of the ledger of it.

use crate::history::Admission;
use crate::reader::coherent::group::WriterPart;
use crate::reader::coherent::set::SetGate;
use crate::reader::config::ReaderConfig;
use crate::reader::event::LossCause;
use crate::reader::ledger::{NotReceived, Undelivered};
use crate::reader::payload::Inbound;

/// The counts of one writer. Nothing is counted for a change that arrives in order and is kept.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) not_received: NotReceived,
    pub(crate) undelivered: Undelivered,
    /// Numbers from before the writer began again, at lower ones.
    pub(crate) known_before: u64,
    /// The coherent sets of the writer, of a reader with coherent access: here because what passes them goes into the counts.
    pub(crate) sets: Option<Box<SetGate>>,
}

impl Tally {
    /// Those of a writer that has just been matched.
    pub(crate) fn new(config: &ReaderConfig) -> Self {
        let coherent = config.presentation.coherent_access;
        let group = config.is_group().then(|| WriterPart::new(coherent));
        Self { sets: config.presents().then(|| Box::new(SetGate::new(group))), ..Self::default() }
    }

    /// How many changes wait for the end of their set.
    pub(crate) fn held(&self) -> u64 {
        self.sets.as_ref().map_or(0, |sets| sets.held())
    }

    pub(crate) fn lose(&mut self, count: u64, cause: LossCause) {
        let counter = match cause {
            LossCause::NeverArrived => &mut self.not_received.never_came,
            LossCause::Fragments => &mut self.not_received.fragments,
            LossCause::NotDecodable => &mut self.undelivered.not_decodable,
            LossCause::Incoherent => &mut self.undelivered.incoherent,
        };
        *counter = counter.saturating_add(count);
    }

    pub(crate) fn pass(&mut self, count: u64) {
        self.not_received.irrelevant = self.not_received.irrelevant.saturating_add(count);
    }

    /// Of those counted as irrelevant since there were `before` of them, so many are known to be filtered.
    pub(crate) fn note_filtered(&mut self, before: u64, count: u64) {
        let filtered = self.not_received.irrelevant.saturating_sub(before).min(count);
        self.not_received.irrelevant -= filtered;
        self.not_received.filtered = self.not_received.filtered.saturating_add(filtered);
    }

    /// The writer's numbers begin anew; so many were known until now.
    pub(crate) fn begin_again(&mut self, known: u64) {
        self.known_before = self.known_before.saturating_add(known);
    }

    /// The writer has denied that these are lost or irrelevant, or lie before the row.
    pub(crate) fn take_back(&mut self, lost: u64, irrelevant: u64, known_before: u64) {
        self.known_before = self.known_before.saturating_sub(known_before);
        self.not_received.never_came = self.not_received.never_came.saturating_sub(lost);
        let among_filtered = irrelevant.saturating_sub(self.not_received.irrelevant);
        self.not_received.filtered = self.not_received.filtered.saturating_sub(among_filtered);
        self.not_received.irrelevant = self.not_received.irrelevant.saturating_sub(irrelevant);
    }

    /// Counts a change that the content filter does not let in.
    pub(crate) fn filter(&mut self, inbound: &Inbound) {
        if matches!(inbound, Inbound::Filtered) {
            self.undelivered.filtered += 1;
        }
    }

    /// What became of a change that arrived.
    pub(crate) fn admit(&mut self, admission: Admission) {
        match admission {
            Admission::Expired => self.undelivered.expired += 1,
            Admission::NotOwner => self.undelivered.not_owner += 1,
            Admission::Superseded => self.undelivered.superseded += 1,
            Admission::Known => self.undelivered.known += 1,
            // What has nothing to say is not lost.
            // What is kept back may still be seen: the history counts what a newer one replaces.
            Admission::Visible | Admission::Unchanged | Admission::UnknownInstance | Admission::Held => {}
        }
    }
}
