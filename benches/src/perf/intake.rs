//! Handling of each sample in a process that measures.

use crate::perf::load::{LOAD_MIN, LoadView, is_measured, number_of, phase_of};
use crate::perf::meter::Meter;
use crate::perf::receive::OnLoad;
use crate::perf::tally::{Arrival, Tally};
use std::sync::Arc;

/// Counts the samples of one reader and records their latencies.
pub struct Intake {
    meter: Arc<Meter>,
    phase: u64,
    tallies: Vec<Tally>,
    /// Difference of the sender's clock to the clock of this process.
    clock_offset: i64,
}

impl Intake {
    /// Creates the counter for `writers` whose clock is `clock_offset` nanoseconds ahead.
    #[must_use]
    pub fn new(meter: Arc<Meter>, writers: u32, clock_offset: i64) -> Self {
        Self { meter, phase: 0, tallies: vec![Tally::default(); writers as usize], clock_offset }
    }
}

impl OnLoad for Intake {
    fn on_load(&mut self, load: &LoadView<'_>, now: u64) {
        let phase = phase_of(load.sequence);
        if phase != self.phase {
            // A late sample of an earlier phase does not count.
            if phase < self.phase {
                return;
            }
            self.phase = phase;
            self.tallies.fill(Tally::default());
        }
        if !is_measured(phase) {
            return;
        }
        let Some(tally) = self.tallies.get_mut(load.source as usize) else { return };
        match tally.see(number_of(load.sequence)) {
            Arrival::InOrder => {}
            Arrival::Late => self.meter.note_late(),
            Arrival::Repeated => return self.meter.note_repeated(),
        }
        let latency = (now as i64).wrapping_add(self.clock_offset).wrapping_sub(load.due as i64);
        self.meter.record(now, latency, LOAD_MIN + load.bytes.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::load::sequence;
    use crate::perf::meter::Snapshot;

    fn load(phase: u64, number: u64, source: u32) -> LoadView<'static> {
        LoadView { sequence: sequence(phase, number), due: 1000, source, bytes: &[0; 40] }
    }

    #[test]
    fn only_measured_phases_count_for_each_writer() {
        let meter = Arc::new(Meter::default());
        let mut intake = Intake::new(Arc::clone(&meter), 2, 0);
        let samples =
            [(0, 0, 0), (0, 1, 0), (1, 0, 0), (1, 0, 1), (1, 2, 0), (1, 1, 0), (1, 1, 0), (0, 2, 0), (1, 0, 9)];
        for (phase, number, source) in samples {
            intake.on_load(&load(phase, number, source), 3000);
        }
        let all = Snapshot::of([&*meter]);
        assert_eq!((all.samples, all.late, all.repeated, all.bytes), (4, 1, 1, 4 * 64));
        assert!(all.histogram().equivalent(all.histogram().max(), 2000));
    }

    #[test]
    fn clock_offset_corrects_the_latency() {
        let meter = Arc::new(Meter::default());
        let mut intake = Intake::new(Arc::clone(&meter), 1, -500);
        intake.on_load(&load(1, 0, 0), 3000);
        intake.on_load(&load(1, 1, 0), 1200);
        let all = Snapshot::of([&*meter]);
        assert_eq!((all.samples, all.before_sent), (2, 1));
        assert!(all.histogram().equivalent(all.histogram().max(), 1500));
    }
}
