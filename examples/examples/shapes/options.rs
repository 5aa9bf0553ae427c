//! Command line options.

use clap::{ArgGroup, Parser, ValueEnum};
use dds_core::qos::{
    AccessScope, DataReaderQos, DataRepresentation, DataWriterQos, Durability, History, Ownership, Presentation,
    PublisherQos, SubscriberQos,
};
use std::time::Duration;

/// The shapes program that every DDS vendor ships: publishes or receives moving shapes. Times are in milliseconds.
#[derive(Parser, Debug, Clone)]
#[command(name = "shapes", disable_version_flag = true, args_override_self = true)]
#[command(group = ArgGroup::new("role").required(true).args(["publish", "subscribe"]))]
pub(crate) struct Options {
    /// Publish
    #[arg(short = 'P')]
    pub(crate) publish: bool,
    /// Subscribe
    #[arg(short = 'S')]
    pub(crate) subscribe: bool,
    /// Topic
    #[arg(short = 't', value_name = "NAME")]
    pub(crate) topic: String,
    /// Domain
    #[arg(short = 'd', value_name = "ID", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=232))]
    pub(crate) domain_id: u32,
    /// RELIABILITY best effort
    #[arg(short = 'b', overrides_with = "reliable")]
    pub(crate) best_effort: bool,
    /// RELIABILITY reliable, which is the default
    #[arg(short = 'r', overrides_with = "best_effort")]
    pub(crate) reliable: bool,
    /// HISTORY: 0 keeps all, else the last DEPTH of each instance [default: 1]
    #[arg(short = 'k', value_name = "DEPTH")]
    history_depth: Option<u32>,
    /// DEADLINE: longest period between samples of an instance; 0: none
    #[arg(short = 'f', value_name = "MS", default_value_t = 0)]
    deadline: u64,
    /// OWNERSHIP: -1 shared, else exclusive with this strength of the writer
    #[arg(short = 's', value_name = "STRENGTH", default_value_t = -1, allow_negative_numbers = true)]
    ownership_strength: i32,
    /// Publisher: the color to write [default: BLUE]; subscriber: the only color to receive
    #[arg(short = 'c', value_name = "COLOR", conflicts_with = "cft")]
    pub(crate) color: Option<String>,
    /// PARTITION; a subscriber may use a pattern
    #[arg(short = 'p', value_name = "NAME")]
    partition: Option<String>,
    /// DURABILITY: volatile, transient local, transient, persistent
    #[arg(short = 'D', value_name = "v|l|t|p", default_value = "v")]
    durability: DurabilityOption,
    /// DATA_REPRESENTATION: XCDR1 or XCDR2
    #[arg(short = 'x', value_name = "1|2", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=2))]
    representation: u8,
    /// Publisher: print each written sample
    #[arg(short = 'w')]
    pub(crate) print_written: bool,
    /// Publisher: size of the shape; 0: it grows from 1
    #[arg(short = 'z', value_name = "SIZE", default_value_t = 20, value_parser = clap::value_parser!(i32).range(0..))]
    pub(crate) shape_size: i32,
    /// Publisher: a growing size starts again at 1 after N
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(i32).range(1..))]
    pub(crate) size_modulo: Option<i32>,
    /// Subscriber: read instead of take
    #[arg(short = 'R')]
    pub(crate) read: bool,
    /// Subscriber: get all samples at once instead of by instance
    #[arg(long)]
    pub(crate) take_read: bool,
    /// Publisher: sleep between two rounds
    #[arg(long, value_name = "MS", default_value_t = 33)]
    write_period: u64,
    /// Subscriber: sleep between two rounds
    #[arg(long, value_name = "MS", default_value_t = 100)]
    read_period: u64,
    /// Subscriber: TIME_BASED_FILTER; 0: none
    #[arg(long, value_name = "MS", default_value_t = 0)]
    time_filter: u64,
    /// Publisher: LIFESPAN; 0: infinite
    #[arg(long, value_name = "MS", default_value_t = 0)]
    lifespan: u64,
    /// Number of rounds [default: unlimited]
    #[arg(long = "num-iterations", value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) iterations: Option<u64>,
    /// Publisher: colors C, C1, C2, …
    #[arg(long = "num-instances", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) instances: u32,
    /// Topics T, T1, T2, …
    #[arg(long = "num-topics", value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) topics: u32,
    /// Publisher: unregister or dispose each instance at the end
    #[arg(long, value_name = "u|d")]
    pub(crate) final_instance_state: Option<FinalInstanceState>,
    /// PRESENTATION: instance, topic, group
    #[arg(long, value_name = "i|t|g", default_value = "i")]
    access_scope: AccessScopeOption,
    /// PRESENTATION: coherent access
    #[arg(long)]
    pub(crate) coherent: bool,
    /// PRESENTATION: ordered access
    #[arg(long)]
    pub(crate) ordered: bool,
    /// Publisher: rounds in a coherent set; 0: no coherent sets
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = coherent_sample_count)]
    coherent_sample_count: u64,
    /// Publisher: additional bytes in each sample
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) additional_payload_size: usize,
    /// Subscriber: filter expression
    #[arg(long, value_name = "EXPRESSION")]
    cft: Option<String>,
    /// Period of participant announcements [default: 3000]
    #[arg(long, value_name = "MS")]
    periodic_announcement: Option<u64>,
    /// Largest fragment of a sample in bytes; 0: not set
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = fragment_size)]
    datafrag_size: u16,
    /// Verbosity: errors only, or debug output too
    #[arg(short = 'v', value_name = "e|d", default_value = "e")]
    verbosity: Verbosity,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum DurabilityOption {
    V,
    L,
    T,
    P,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum AccessScopeOption {
    I,
    T,
    G,
}

#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
enum Verbosity {
    E,
    D,
}

/// Final state of the instances when the publisher ends.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FinalInstanceState {
    #[value(name = "u")]
    Unregistered,
    #[value(name = "d")]
    Disposed,
}

impl Options {
    /// Warnings about options without effect and about an implied color.
    pub(crate) fn warnings(&self) -> Vec<String> {
        let role = if self.publish { "publisher" } else { "subscriber" };
        let of_subscribers = [
            (self.time_filter > 0, "--time-filter"),
            (self.read, "-R"),
            (self.take_read, "--take-read"),
            (self.read_period != 100, "--read-period"),
            (self.cft.is_some(), "--cft"),
        ];
        let of_publishers = [
            (self.shape_size != 20, "-z"),
            (self.size_modulo.is_some(), "--size-modulo"),
            (self.print_written, "-w"),
            (self.write_period != 33, "--write-period"),
            (self.lifespan > 0, "--lifespan"),
            (self.instances > 1, "--num-instances"),
            (self.final_instance_state.is_some(), "--final-instance-state"),
            (self.additional_payload_size > 0, "--additional-payload-size"),
            (self.coherent_sample_count > 0, "--coherent-sample-count"),
        ];
        let useless: &[(bool, &str)] = if self.publish { &of_subscribers } else { &of_publishers };
        let mut warnings = Vec::new();
        for (is_given, option) in useless {
            if *is_given {
                warnings.push(format!("warning: {option} has no effect on a {role}"));
            }
        }
        if self.publish && self.color.is_none() {
            warnings.push("warning: no color was given, so it is BLUE".to_owned());
        }
        if self.publish && self.size_modulo.is_some() && self.shape_size != 0 {
            warnings.push("warning: --size-modulo has no effect unless -z is 0".to_owned());
        }
        warnings
    }

    /// The content filter of a subscriber: an expression and its parameters.
    pub(crate) fn filter(&self) -> Option<(&str, Vec<String>)> {
        if let Some(expression) = &self.cft {
            return Some((expression, Vec::new()));
        }
        let color = self.color.as_ref()?;
        Some(("color = %0", vec![format!("'{color}'")]))
    }

    pub(crate) fn topic_names(&self) -> Vec<String> {
        numbered(&self.topic, self.topics)
    }

    /// The colors that a publisher writes.
    pub(crate) fn colors(&self) -> Vec<String> {
        numbered(self.color.as_deref().unwrap_or("BLUE"), self.instances)
    }

    pub(crate) fn write_period(&self) -> Duration {
        Duration::from_millis(self.write_period)
    }

    pub(crate) fn read_period(&self) -> Duration {
        Duration::from_millis(self.read_period)
    }

    pub(crate) fn announcement_period(&self) -> Option<Duration> {
        self.periodic_announcement.map(Duration::from_millis)
    }

    pub(crate) fn fragment_size(&self) -> Option<u16> {
        if self.datafrag_size == 0 { None } else { Some(self.datafrag_size) }
    }

    pub(crate) fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::D
    }

    pub(crate) fn publisher_qos(&self) -> PublisherQos {
        PublisherQos::default().partition(&self.partition).presentation(self.presentation())
    }

    pub(crate) fn subscriber_qos(&self) -> SubscriberQos {
        SubscriberQos::default().partition(&self.partition).presentation(self.presentation())
    }

    /// The access scope only has an effect with coherent or ordered access.
    fn presentation(&self) -> Presentation {
        let mut presentation = Presentation::default();
        if self.coherent || self.ordered {
            presentation.access_scope = match self.access_scope {
                AccessScopeOption::I => AccessScope::Instance,
                AccessScopeOption::T => AccessScope::Topic,
                AccessScopeOption::G => AccessScope::Group,
            };
        }
        (presentation.coherent_access, presentation.ordered_access) = (self.coherent, self.ordered);
        presentation
    }

    /// Rounds in a coherent set. The suite requires at least two.
    pub(crate) fn rounds_in_a_set(&self) -> Option<u64> {
        if self.coherent_sample_count > 1 { Some(self.coherent_sample_count) } else { None }
    }

    /// QoS of the writers.
    pub(crate) fn writer_qos(&self) -> DataWriterQos {
        let mut qos = DataWriterQos::default()
            .durability(self.durability())
            .representation([self.representation()])
            .deadline(or_infinite(self.deadline))
            .lifespan(or_infinite(self.lifespan))
            .ownership(self.ownership())
            .ownership_strength(self.ownership_strength.max(0));
        qos = if self.best_effort { qos.best_effort() } else { qos.reliable() };
        qos.history = self.history();
        // Otherwise `unregister_instance` would also dispose the instance.
        qos.writer_data_lifecycle.autodispose_unregistered_instances =
            self.final_instance_state != Some(FinalInstanceState::Unregistered);
        qos
    }

    /// QoS of the readers.
    pub(crate) fn reader_qos(&self) -> DataReaderQos {
        let mut qos = DataReaderQos::default()
            .durability(self.durability())
            .representation([self.representation()])
            .deadline(or_infinite(self.deadline))
            .time_based_filter(Duration::from_millis(self.time_filter))
            .ownership(self.ownership());
        qos = if self.best_effort { qos.best_effort() } else { qos.reliable() };
        qos.history = self.history();
        qos
    }

    fn durability(&self) -> Durability {
        match self.durability {
            DurabilityOption::V => Durability::Volatile,
            DurabilityOption::L => Durability::TransientLocal,
            DurabilityOption::T => Durability::Transient,
            DurabilityOption::P => Durability::Persistent,
        }
    }

    fn representation(&self) -> DataRepresentation {
        if self.representation == 1 { DataRepresentation::Xcdr1 } else { DataRepresentation::Xcdr2 }
    }

    fn ownership(&self) -> Ownership {
        if self.ownership_strength < 0 { Ownership::Shared } else { Ownership::Exclusive }
    }

    fn history(&self) -> History {
        match self.history_depth {
            None => History::default(),
            Some(0) => History::KeepAll,
            Some(depth) => History::KeepLast { depth },
        }
    }
}

/// Reads the number of rounds in a coherent set. A single round needs no set.
fn coherent_sample_count(text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(1) | Err(_) => Err("expected 0, or a number of at least 2".to_owned()),
        Ok(count) => Ok(count),
    }
}

fn fragment_size(text: &str) -> Result<u16, String> {
    match text.parse() {
        Ok(size) if size == 0 || size >= 64 => Ok(size),
        _ => Err("expected 0, or a number from 64 to 65535".to_owned()),
    }
}

/// `name`, `name1`, `name2`, …
fn numbered(name: &str, count: u32) -> Vec<String> {
    let mut names = Vec::new();
    for number in 0..count {
        names.push(if number == 0 { name.to_owned() } else { format!("{name}{number}") });
    }
    names
}

/// A duration, where 0 means infinite.
fn or_infinite(milliseconds: u64) -> dds_core::Duration {
    if milliseconds == 0 { dds_core::Duration::INFINITE } else { dds_core::Duration::from_millis(milliseconds) }
}
