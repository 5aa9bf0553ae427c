//! The commands of the program `dds`, for other programs and for tests.
//!
//! Each command reads its options, writes text or JSON to any [`std::io::Write`], and ends at [`Stop`]. It needs
//! neither a terminal nor the types of the topics at compile time.
//!
//! | module | content |
//! |---|---|
//! | [`options`] | the command line |
//! | [`error`] | why a command fails, with the exit status |
//! | [`stop`] | the end of a command: Ctrl-C, a time or a count |
//! | [`network`] | the participant of a command |
//! | [`domain_view`] | the participants, writers and readers of a domain |
//! | [`contract`] | contracts, and their differences to a system |
//! | [`topic_access`] | types and QoS for readers and writers that match the endpoints of a topic |
//! | [`topic_types`] | the types of topics, from endpoints and interface files |
//! | [`topic_reader`] | readers for all writers of a topic, with any QoS |
//! | [`topic_set`] | readers for all selected topics, with rates and losses |
//! | [`socket_drops`] | datagrams that the sockets of this host dropped |
//! | [`latencies`] | latencies that participants publish, and delays of received samples |
//! | [`tag_listener`] | domain tags of other participants |
//! | [`json_input`] | samples from JSON and YAML |
//! | [`yaml`] | values between JSON and YAML |
//! | [`ros`] | types, names and QoS of ROS 2 |
//! | [`ros_schemas`] | definitions of ROS messages in recordings |
//! | [`recording`] | MCAP files |
//! | [`recording_files`] | a recording as a sequence of files |
//! | [`recording_ring`] | the last seconds of all topics in memory |
//! | [`latched_samples`] | the last samples that late readers receive |
//! | [`commands`] | one module for each command |

pub mod commands;
pub mod contract;
pub mod domain_view;
pub mod error;
mod instance_keys;
pub mod json_input;
mod json_names;
pub mod latched_samples;
pub mod latencies;
mod live_view;
mod multicast;
pub mod network;
pub mod options;
mod password_file;
mod process_facts;
mod progress;
mod reachability;
pub mod recording;
pub mod recording_files;
pub mod recording_ring;
pub mod ros;
pub mod ros_schemas;
mod sample_queue;
pub mod socket_drops;
pub mod stop;
pub mod tag_listener;
#[cfg(unix)]
mod terminal;
pub mod topic_access;
pub mod topic_reader;
pub mod topic_set;
pub mod topic_types;
mod writer_classes;
mod writer_options;
pub mod yaml;

pub use error::ToolError;
pub use stop::Stop;
