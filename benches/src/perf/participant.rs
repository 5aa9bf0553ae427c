//! Options of the participant: domain, network, threads, faults.

use crate::perf::quantity::{Span, size};
use crate::perf::receive::ReceiveMode;
use crate::perf::{Failure, Result};
use clap::{Args, ValueEnum};
use dds_core::config::{ChecksumKind, IpFamilies, Receiving};
use dds_core::listener::Delivery;
use dds_core::{DomainParticipant, DomainParticipantBuilder, Duration, Scope};
use dds_rtps::transport::faults::Faults;
use std::str::FromStr;

/// The options of every process.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Place")]
pub struct Place {
    /// The DDS domain, 0 to 232
    #[arg(long, default_value_t = 0, value_name = "ID")]
    pub domain: u32,

    /// How far to look for others. Default: subnet; host for `run`
    #[arg(long, value_enum, value_name = "SCOPE")]
    pub scope: Option<ScopeOption>,

    /// Hosts to look for by unicast: `robot`, `192.0.2.7`, `robot:7412`
    #[arg(long, value_delimiter = ',', value_name = "HOSTS")]
    pub peers: Vec<String>,

    /// Network interfaces to use, by name or address. Default: all
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    pub interfaces: Vec<String>,

    /// Which versions of IP to speak
    #[arg(long, value_enum, default_value_t = IpOption::Auto)]
    pub ip: IpOption,

    /// Only participants with the same tag see each other
    #[arg(long, value_name = "TAG")]
    pub domain_tag: Option<String>,

    /// A checksum in every message
    #[arg(long, value_enum, value_name = "KIND")]
    pub checksums: Option<ChecksumOption>,

    /// Bytes asked of the system for what waits to be received, for each socket
    #[arg(long, value_parser = size, value_name = "BYTES")]
    pub receive_buffer: Option<usize>,

    /// Bytes asked of the system for what waits to be sent, for each socket
    #[arg(long, value_parser = size, value_name = "BYTES")]
    pub send_buffer: Option<usize>,

    /// Faults of sent datagrams, such as `lost=5,delay=1ms`. Percent: lost, repeated, reordered, truncated, damaged,
    /// blocked; times: delay, jitter; bytes: longest, queue, bandwidth (per second); numbers: seed, blocked-in-a-row
    #[arg(long, value_name = "FAULTS")]
    pub faults: Option<FaultSpec>,

    /// How samples are received
    #[arg(long, value_enum, default_value_t = ReceiveMode::Inline, help_heading = "Threads", value_name = "HOW")]
    pub receive: ReceiveMode,

    /// Which thread receives from the network: one of the library, or the one that waits (see --receive)
    #[arg(long, value_enum, default_value_t = ReceivingOption::Thread, help_heading = "Threads", value_name = "WHO")]
    pub receive_by: ReceivingOption,

    /// The cores that this process may run on: `0`, `0,1`. Default: all
    #[arg(long, value_delimiter = ',', help_heading = "Threads", value_name = "CORES")]
    pub cpu: Vec<usize>,

    /// The real-time priority of the receive thread, 1 to 99. Needs a build with --features perf,rt, and CAP_SYS_NICE
    #[arg(long, help_heading = "Threads", value_name = "PRIORITY", value_parser = clap::value_parser!(u8).range(1..=99))]
    pub receive_priority: Option<u8>,
}

/// As `DomainParticipantBuilder::scope`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ScopeOption {
    /// This host only.
    Host,
    /// Multicast, and the peers.
    Subnet,
    /// The peers only.
    PeersOnly,
}

/// As `DomainParticipantBuilder::ip_families`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum IpOption {
    /// IPv4, and IPv6 if there is no route by IPv4.
    Auto,
    /// IPv4 only.
    V4,
    /// IPv6 only.
    V6,
    /// Both.
    Both,
}

/// As `DomainParticipantBuilder::receive`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReceivingOption {
    /// A thread of the participant.
    Thread,
    /// A thread that waits.
    Caller,
}

/// As `DomainParticipantBuilder::message_checksums`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChecksumOption {
    /// CRC-32C.
    Crc32c,
    /// CRC-64.
    Crc64,
    /// MD5.
    Md5,
}

impl Place {
    /// Pins this thread, and threads that it starts later, to the cores.
    ///
    /// # Errors
    ///
    /// Returns an error if a core does not exist.
    pub fn pin(&self) -> Result<()> {
        if self.cpu.is_empty() {
            return Ok(());
        }
        #[cfg(target_os = "linux")]
        {
            use nix::sched::{CpuSet, sched_setaffinity};
            let mut cores = CpuSet::new();
            let set = self.cpu.iter().try_for_each(|core| cores.set(*core));
            let all = std::thread::available_parallelism().map_or(1, usize::from);
            set.and_then(|()| sched_setaffinity(nix::unistd::Pid::from_raw(0), &cores)).map_err(|error| {
                let asked: Vec<String> = self.cpu.iter().map(ToString::to_string).collect();
                Failure::new(format!(
                    "--cpu {}: {error}; this process may use {all} cores, the first one is 0",
                    asked.join(",")
                ))
            })
        }
        #[cfg(not(target_os = "linux"))]
        Err(Failure::new("--cpu: expected Linux"))
    }

    /// Creates the participant.
    ///
    /// # Errors
    ///
    /// Returns an error if the library rejects a setting.
    pub fn participant(&self, name: &str) -> Result<DomainParticipant> {
        let scope = match self.scope.unwrap_or(ScopeOption::Subnet) {
            ScopeOption::Host => Scope::Host,
            ScopeOption::Subnet => Scope::Subnet,
            ScopeOption::PeersOnly => Scope::PeersOnly,
        };
        let ip = match self.ip {
            IpOption::Auto => IpFamilies::Auto,
            IpOption::V4 => IpFamilies::V4,
            IpOption::V6 => IpFamilies::V6,
            IpOption::Both => IpFamilies::Both,
        };
        let mut builder = DomainParticipant::builder(self.domain).name(name).scope(scope).ip_families(ip);
        builder = self.with_priority(builder.delivery(Delivery::EventThread))?;
        builder = builder.receive(match self.receive_by {
            ReceivingOption::Thread => Receiving::Thread,
            ReceivingOption::Caller => Receiving::Caller,
        });
        if !self.peers.is_empty() {
            builder = builder.peers(self.peers.clone());
        }
        if !self.interfaces.is_empty() {
            builder = builder.interfaces(self.interfaces.clone());
        }
        if let Some(tag) = &self.domain_tag {
            builder = builder.domain_tag(tag);
        }
        if let Some(kind) = self.checksums {
            builder = builder.message_checksums(match kind {
                ChecksumOption::Crc32c => ChecksumKind::Crc32c,
                ChecksumOption::Crc64 => ChecksumKind::Crc64,
                ChecksumOption::Md5 => ChecksumKind::Md5,
            });
        }
        if let Some(bytes) = self.receive_buffer {
            builder = builder.receive_buffer(bytes);
        }
        if let Some(bytes) = self.send_buffer {
            builder = builder.send_buffer(bytes);
        }
        if let Some(faults) = &self.faults {
            builder = builder.faults(faults.faults);
        }
        Ok(builder.build()?)
    }

    fn with_priority(&self, builder: DomainParticipantBuilder) -> Result<DomainParticipantBuilder> {
        match self.receive_priority {
            None => Ok(builder),
            #[cfg(feature = "rt")]
            Some(priority) => Ok(builder.receive_thread(dds_core::config::ThreadSettings::new().priority(priority))),
            #[cfg(not(feature = "rt"))]
            Some(_) => Err(Failure::new(
                "--receive-priority needs the library's feature `rt`: build with `--features perf,rt`",
            )),
        }
    }

    /// The arguments that select the same place in another process.
    #[must_use]
    pub fn arguments(&self) -> Vec<String> {
        let mut arguments = Vec::new();
        let mut add = |name: &str, value: Option<String>| {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                arguments.push(format!("--{name}={value}"));
            }
        };
        let numbers = |all: &[usize]| all.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
        add("domain", Some(self.domain.to_string()));
        add("scope", self.scope.map(name_of));
        add("peers", Some(self.peers.join(",")));
        add("interfaces", Some(self.interfaces.join(",")));
        add("ip", Some(name_of(self.ip)));
        add("domain-tag", self.domain_tag.clone());
        add("checksums", self.checksums.map(name_of));
        add("receive-buffer", self.receive_buffer.map(|bytes| bytes.to_string()));
        add("send-buffer", self.send_buffer.map(|bytes| bytes.to_string()));
        add("faults", self.faults.as_ref().map(|faults| faults.text.clone()));
        add("receive", Some(name_of(self.receive)));
        add("receive-by", Some(name_of(self.receive_by)));
        add("cpu", Some(numbers(&self.cpu)));
        add("receive-priority", self.receive_priority.map(|priority| priority.to_string()));
        arguments
    }
}

/// The name of a value on the command line.
pub fn name_of(value: impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

/// Faults, and their text on the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct FaultSpec {
    text: String,
    faults: Faults,
}

impl FaultSpec {
    /// The text on the command line.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for FaultSpec {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let mut faults = Faults::default();
        for part in text.split(',') {
            let (name, value) = part.split_once('=').ok_or_else(|| format!("expected NAME=VALUE, found `{part}`"))?;
            let share = || match value.trim_end_matches('%').parse::<f64>() {
                Ok(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
                _ => Err(format!("{name}: expected a percentage from 0 to 100, found `{value}`")),
            };
            let time = || value.parse::<Span>().map(|span| Duration::from_nanos(span.0.as_nanos() as i64));
            let conditions = &mut faults.conditions;
            match name {
                "seed" => {
                    faults.seed = value.parse().map_err(|_| format!("seed: expected a number, found `{value}`"))?
                }
                "lost" => conditions.loss = share()?,
                "repeated" => conditions.duplicated = share()?,
                "reordered" => conditions.reordered = share()?,
                "truncated" => conditions.truncated = share()?,
                "damaged" => conditions.damaged = share()?,
                "longest" => conditions.longest = Some(size(value)?),
                "bandwidth" => conditions.bandwidth = Some(size(value)? as u64),
                "delay" => conditions.delay = time()?,
                "jitter" => conditions.jitter = time()?,
                "queue" => conditions.queue = size(value)?,
                "blocked" => faults.blocked = share()?,
                "blocked-in-a-row" => {
                    let number = value.parse::<u8>();
                    faults.blocked_in_a_row =
                        number.map_err(|_| format!("{name}: expected a number from 0 to 255, found `{value}`"))?;
                }
                _ => return Err(format!("unknown fault `{name}`; see --help")),
            }
        }
        Ok(Self { text: text.to_owned(), faults })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::options::{Command, Options};
    use clap::Parser;
    use dds_rtps::link::Conditions;

    fn place(arguments: &[&str]) -> Place {
        let arguments = ["perf", "pong"].iter().chain(arguments).copied();
        match Options::try_parse_from(arguments).unwrap().command {
            Command::Pong(responder) => responder.place,
            other => panic!("expected a pong, found {other:?}"),
        }
    }

    #[test]
    fn place_arguments_round_trip() {
        let all = place(&[
            "--domain=7",
            "--scope=peers-only",
            "--peers=a,b:7412",
            "--interfaces=lo",
            "--ip=v6",
            "--domain-tag=t",
            "--checksums=crc64",
            "--receive-buffer=1M",
            "--send-buffer=64k",
            "--faults=lost=5,delay=1ms",
            "--receive=wait-set",
            "--receive-by=caller",
            "--cpu=0,1",
            "--receive-priority=7",
        ]);
        for place_made in [all, place(&[])] {
            let arguments = place_made.arguments();
            let again = place(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
            assert_eq!(again.arguments(), arguments);
            assert_eq!(format!("{again:?}"), format!("{place_made:?}"));
        }
    }

    #[test]
    fn faults_are_parsed_by_name() {
        let spec: FaultSpec =
            "lost=5,reordered=10%,jitter=100us,longest=1500,bandwidth=1M,blocked=1,seed=9".parse().unwrap();
        let Faults { seed, conditions, blocked, .. } = spec.faults;
        assert_eq!((conditions.loss, conditions.reordered, blocked, seed), (0.05, 0.1, 0.01, 9));
        let Conditions { jitter, longest, bandwidth, .. } = conditions;
        assert_eq!((jitter, longest, bandwidth), (Duration::from_micros(100), Some(1500), Some(1 << 20)));
        for wrong in ["lost", "lost=101", "lost=x", "gone=5", "delay=5"] {
            assert!(wrong.parse::<FaultSpec>().is_err(), "{wrong}");
        }
    }
}
