//! The QoS that a user gives to a writer.
//!
//! In: options of the command line, and the QoS that the command chose. Out: the QoS with the given policies.

use crate::options::period;
use clap::{Args, ValueEnum};
use dds_core::qos::{DataWriterQos, Durability, Ownership, PublisherQos};
use std::time::Duration;

/// Options for the QoS of a writer. Each replaces a policy that the command chose.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "QoS (without an option: of `pub` as the readers request it, of `play` as recorded)")]
pub struct WriterQosOptions {
    /// Repair lost samples.
    #[arg(long)]
    pub reliable: bool,
    /// Do not repair lost samples.
    #[arg(long, conflicts_with = "reliable")]
    pub best_effort: bool,
    /// Samples that a late reader receives.
    #[arg(long, value_enum, value_name = "KIND")]
    pub durability: Option<DurabilityOption>,
    /// Keep the newest samples of each instance.
    #[arg(long, value_name = "SAMPLES", value_parser = clap::value_parser!(u32).range(1..))]
    pub keep_last: Option<u32>,
    /// Keep every sample, up to the limits of the writer.
    #[arg(long, conflicts_with = "keep_last")]
    pub keep_all: bool,
    /// Longest time between two samples of an instance.
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub deadline: Option<Duration>,
    /// Time after which readers drop a sample.
    #[arg(long, value_name = "SECONDS", value_parser = period)]
    pub lifespan: Option<Duration>,
    /// Partition. Repeat it for several partitions. The empty name is the default partition.
    #[arg(long, value_name = "NAME")]
    pub partition: Vec<String>,
    /// Own instances exclusively, with this strength.
    #[arg(long, value_name = "STRENGTH", allow_negative_numbers = true)]
    pub ownership_strength: Option<i32>,
}

/// Samples that a late reader receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum DurabilityOption {
    /// None.
    Volatile,
    /// Those that the writer keeps, while it lives.
    TransientLocal,
    /// Also those that a durability service keeps in memory.
    Transient,
    /// Also those that a durability service keeps on disk.
    Persistent,
}

impl From<DurabilityOption> for Durability {
    fn from(option: DurabilityOption) -> Self {
        match option {
            DurabilityOption::Volatile => Self::Volatile,
            DurabilityOption::TransientLocal => Self::TransientLocal,
            DurabilityOption::Transient => Self::Transient,
            DurabilityOption::Persistent => Self::Persistent,
        }
    }
}

impl WriterQosOptions {
    /// Returns the QoS of the writer with the given policies.
    #[must_use]
    pub fn writer(&self, mut qos: DataWriterQos) -> DataWriterQos {
        if self.reliable {
            qos = qos.reliable();
        }
        if self.best_effort {
            qos = qos.best_effort();
        }
        if let Some(durability) = self.durability {
            qos.durability = durability.into();
        }
        if let Some(depth) = self.keep_last {
            qos = qos.keep_last(depth);
        }
        if self.keep_all {
            qos = qos.keep_all();
        }
        if let Some(deadline) = self.deadline {
            qos.deadline = deadline.into();
        }
        if let Some(lifespan) = self.lifespan {
            qos.lifespan = lifespan.into();
        }
        if let Some(strength) = self.ownership_strength {
            // Only exclusive owners have a strength (DDS 1.4, 2.2.3.10).
            qos.ownership = Ownership::Exclusive;
            qos.ownership_strength = strength;
        }
        qos
    }

    /// Returns the QoS of the publisher with the given partitions.
    #[must_use]
    pub fn publisher(&self, qos: PublisherQos) -> PublisherQos {
        if self.partition.is_empty() {
            return qos;
        }
        qos.partition(&self.partition)
    }
}

#[cfg(test)]
mod tests {
    use crate::options::{Command, CommandLine};
    use clap::Parser;
    use dds_core::qos::{DataWriterQos, History};

    fn given(options: &[&str], qos: DataWriterQos) -> DataWriterQos {
        let line = [&["dds", "pub", "topic", "{}"], options].concat();
        match CommandLine::try_parse_from(line).unwrap().command {
            Command::Pub(options) => options.qos.writer(qos),
            command => panic!("{command:?}"),
        }
    }

    #[test]
    fn given_policies_win() {
        let base = DataWriterQos::default().best_effort().keep_last(1000);
        assert_eq!(given(&[], base.clone()), base);
        assert!(given(&["--reliable"], base.clone()).reliability.is_reliable());
        assert_eq!(given(&["--keep-last", "3"], base.clone()).history, History::KeepLast { depth: 3 });
        assert_eq!(given(&["--keep-all"], base).history, History::KeepAll);
    }

    #[test]
    fn contradictions_are_wrong_options() {
        for options in
            [&["--reliable", "--best-effort"][..], &["--keep-all", "--keep-last", "3"], &["--keep-last", "0"]]
        {
            let line = [&["dds", "pub", "topic", "{}"], options].concat();
            assert!(CommandLine::try_parse_from(line).is_err(), "{options:?}");
        }
    }
}
