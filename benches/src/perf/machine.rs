//! Environment of a result: program, machine and command.

use serde::{Deserialize, Serialize};
use std::fs::read_to_string;
use std::time::{SystemTime, UNIX_EPOCH};

/// The program, the machine, the command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Version of this package.
    pub program_version: String,
    /// The commit that it was built from, `-dirty` if files had changed; "unknown" outside of a repository.
    pub commit: String,
    /// `release`, or `debug` with meaningless figures.
    pub profile: String,
    /// Name of the host.
    pub host: String,
    /// The processor.
    pub processor: String,
    /// Number of cores that the process may use.
    pub cores: usize,
    /// The operating system and its version.
    pub kernel: String,
    /// Start time in seconds since 1970.
    pub started: u64,
    /// The command line.
    pub command: Vec<String>,
}

impl Environment {
    /// The environment of this process.
    #[must_use]
    pub fn here() -> Self {
        let file = |path: &str| read_to_string(path).ok().map(|text| text.trim().to_owned());
        let processors = file("/proc/cpuinfo").unwrap_or_default();
        let processor = processors.lines().find_map(|line| line.strip_prefix("model name"));
        let processor = processor.map(|name| name.trim_start_matches([' ', '\t', ':']).to_owned());
        Self {
            program_version: env!("CARGO_PKG_VERSION").to_owned(),
            commit: option_env!("PERF_COMMIT").unwrap_or("unknown").to_owned(),
            profile: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            host: host(),
            processor: processor.unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            kernel: file("/proc/version")
                .map(|version| version.split(" (").next().unwrap_or_default().replace(" version", ""))
                .unwrap_or_else(|| std::env::consts::OS.to_owned()),
            started: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
            command: std::env::args().collect(),
        }
    }
}

/// Seconds since 1970 as a date and time, UTC.
#[must_use]
pub fn date_text(seconds: u64) -> String {
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Eras have 400 years, and years start in March, so the leap day is the last day.
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year + year / 4 - year / 100);
    let march_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 { march_month + 3 } else { march_month - 9 };
    let year = era * 400 + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC", second / 3600, second / 60 % 60, second % 60)
}

/// The name of this host.
#[must_use]
pub fn host() -> String {
    read_to_string("/proc/sys/kernel/hostname").map_or_else(|_| "unknown".to_owned(), |name| name.trim().to_owned())
}

/// Identifies the monotonic clock: processes with the same value share it.
#[must_use]
pub fn boot() -> String {
    let boot = read_to_string("/proc/sys/kernel/random/boot_id").map(|id| id.trim().to_owned());
    boot.unwrap_or_else(|_| format!("{}-{}", std::env::consts::OS, host()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_follow_the_calendar() {
        assert_eq!(date_text(0), "1970-01-01 00:00:00 UTC");
        assert_eq!(date_text(951_782_400), "2000-02-29 00:00:00 UTC");
        assert_eq!(date_text(1_735_689_599), "2024-12-31 23:59:59 UTC");
    }

    #[test]
    fn machine_has_a_name_and_a_clock_id() {
        let here = Environment::here();
        assert!(here.cores > 0 && !here.kernel.is_empty() && !here.processor.is_empty());
        assert_eq!(boot(), boot());
    }
}
