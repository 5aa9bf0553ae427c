//! Resource usage of a process: processor time, context switches, memory, datagrams.

use dds_core::stats::TrafficCounters;
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeVal;
use serde::{Deserialize, Serialize};

/// Usage since the start of the process, or between two times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Microseconds of processor time in the program.
    pub user_us: u64,
    /// Microseconds of processor time in the system.
    pub system_us: u64,
    /// Number of voluntary context switches.
    pub voluntary_switches: u64,
    /// Number of involuntary context switches.
    pub involuntary_switches: u64,
    /// Resident memory in bytes.
    pub resident: u64,
    /// Largest resident memory in bytes.
    pub resident_max: u64,
    /// Datagrams sent by the participant.
    pub datagrams_sent: u64,
    /// Their bytes.
    pub bytes_sent: u64,
    /// Datagrams received by the participant.
    pub datagrams_received: u64,
    /// Number of sends that a full socket blocked.
    pub send_blocked: u64,
    /// Submessages that an occupied endpoint dropped because its inbox was full.
    pub inbox_full: u64,
}

impl Usage {
    /// Usage of this process so far.
    #[must_use]
    pub fn now(traffic: &TrafficCounters) -> Self {
        let mut usage = Self {
            datagrams_sent: traffic.sent,
            bytes_sent: traffic.sent_bytes,
            datagrams_received: traffic.received,
            send_blocked: traffic.send_blocked,
            inbox_full: traffic.inbox_full,
            resident: status_bytes("VmRSS:"),
            resident_max: status_bytes("VmHWM:"),
            ..Self::default()
        };
        // `getrusage` fails only for a wrong argument.
        if let Ok(used) = getrusage(UsageWho::RUSAGE_SELF) {
            usage.user_us = micros(used.user_time());
            usage.system_us = micros(used.system_time());
            usage.voluntary_switches = used.voluntary_context_switches().unsigned_abs();
            usage.involuntary_switches = used.involuntary_context_switches().unsigned_abs();
        }
        usage
    }

    /// Usage since an earlier time. Memory is the current value.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            user_us: self.user_us.saturating_sub(earlier.user_us),
            system_us: self.system_us.saturating_sub(earlier.system_us),
            voluntary_switches: self.voluntary_switches.saturating_sub(earlier.voluntary_switches),
            involuntary_switches: self.involuntary_switches.saturating_sub(earlier.involuntary_switches),
            resident: self.resident,
            resident_max: self.resident_max,
            datagrams_sent: self.datagrams_sent.saturating_sub(earlier.datagrams_sent),
            bytes_sent: self.bytes_sent.saturating_sub(earlier.bytes_sent),
            datagrams_received: self.datagrams_received.saturating_sub(earlier.datagrams_received),
            send_blocked: self.send_blocked.saturating_sub(earlier.send_blocked),
            inbox_full: self.inbox_full.saturating_sub(earlier.inbox_full),
        }
    }

    /// Total processor time.
    #[must_use]
    pub fn cpu_us(&self) -> u64 {
        self.user_us + self.system_us
    }
}

fn micros(time: TimeVal) -> u64 {
    (time.tv_sec() as u64) * 1_000_000 + time.tv_usec() as u64
}

/// A value of `/proc/self/status`, in bytes. 0 if it is absent, as on systems other than Linux.
fn status_bytes(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.trim().trim_end_matches("kB").trim().parse::<u64>().ok());
    kilobytes.unwrap_or_default() * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn since_subtracts_counters_but_not_memory() {
        let earlier = Usage { user_us: 5, resident: 100, datagrams_sent: 7, ..Usage::default() };
        let later = Usage { user_us: 9, system_us: 1, resident: 80, datagrams_sent: 10, ..Usage::default() };
        let between = later.since(&earlier);
        assert_eq!((between.user_us, between.cpu_us(), between.resident, between.datagrams_sent), (4, 5, 80, 3));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn process_has_resident_memory() {
        assert!(Usage::now(&TrafficCounters::default()).resident > 0);
    }
}
