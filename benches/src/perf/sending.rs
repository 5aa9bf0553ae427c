//! The loop that sends: as fast as possible, or each sample when it is due.

use crate::perf::clock::{self, now, sleep_until, spin_until};
use crate::perf::load::{Sender, sequence};
use crate::perf::meter::Meter;
use crate::perf::options::Pace;
use crate::perf::schedule::Schedule;
use std::sync::atomic::{AtomicU64, Ordering};

/// What to send.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Phase of each sample.
    pub phase: u64,
    /// Samples a second of this sender; none: as fast as possible.
    pub rate: Option<f64>,
    /// How to wait.
    pub pace: Pace,
    /// Time at which the first sample is due, in nanoseconds of the monotonic clock.
    pub begin: u64,
    /// No sample is due from this time on.
    pub end: u64,
    /// Most samples to send.
    pub count: u64,
}

/// Sends all samples of the plan and returns their number.
///
/// `sent` has the current number, and `delay` records how late each sample was sent.
pub fn send_all(sender: &mut Sender, plan: &Plan, sent: &AtomicU64, delay: &Meter) -> u64 {
    match plan.rate {
        Some(rate) => send_at(sender, plan, Schedule::new(rate), sent, delay),
        None => send_at_once(sender, plan, sent),
    }
}

fn send_at_once(sender: &mut Sender, plan: &Plan, sent: &AtomicU64) -> u64 {
    sleep_until(plan.begin);
    let mut number = 0;
    while number < plan.count {
        let now = now();
        if now >= plan.end || !sender.send(sequence(plan.phase, number), now) {
            break;
        }
        number += 1;
        sent.store(number, Ordering::Relaxed);
    }
    number
}

fn send_at(sender: &mut Sender, plan: &Plan, mut schedule: Schedule, sent: &AtomicU64, delay: &Meter) -> u64 {
    clock::sleep_exactly();
    let mut number = 0;
    while number < plan.count {
        let due = plan.begin.saturating_add(schedule.due());
        if due >= plan.end {
            break;
        }
        match plan.pace {
            Pace::Sleep => sleep_until(due),
            Pace::Spin => spin_until(due),
        }
        let begun = now();
        delay.record(begun, begun.saturating_sub(due) as i64, 0);
        if !sender.send(sequence(plan.phase, number), due) {
            break;
        }
        number += 1;
        schedule.advance();
        sent.store(number, Ordering::Relaxed);
    }
    number
}
