//! Coherent sets of a writer.

use super::diary::note;
use super::scenario::Scenario;
use dds_core::Duration;

impl Scenario {
    /// Runs `act` on a writer, possibly as a coherent set.
    ///
    /// The publisher needs coherent access for that, and a random choice decides.
    pub(crate) fn in_a_set(&mut self, writer: usize, act: impl FnOnce(&mut Self, bool)) {
        let is_set = self.has_sets && self.writers[writer].log.presentation.coherent_access && self.extras.falls(60);
        if !is_set {
            return act(self, false);
        }
        let publisher = self.writers[writer].publisher.clone();
        let set = publisher.coherent_changes().unwrap();
        self.writers[writer].log.begin_set();
        act(self, true);
        set.end().unwrap();
        let now = self.simulation.now();
        self.writers[writer].log.end_set(now);
        note(format_args!("writer {writer} has ended a set, at {}", self.writers[writer].log.next_number() - 1));
    }

    /// Actions while a set is open: its samples leave, a reader takes, an instance ends.
    pub(crate) fn amid_a_set(&mut self, writer: usize, instance: u32) {
        match self.extras.below(12) {
            0 | 1 => {
                let pause = self.extras.below(60) as u64;
                self.simulation.run_for(Duration::from_millis(pause));
                if !self.readers.is_empty() {
                    let reader = self.extras.below(self.readers.len());
                    _ = self.take(reader);
                }
            }
            2 => {
                let unregisters = self.extras.falls(40);
                self.end_one(writer, instance, unregisters);
            }
            _ => {}
        }
    }
}
