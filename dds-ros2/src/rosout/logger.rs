//! The publisher of `/rosout` of a node, and its loggers.

use crate::Result;
use crate::graph::{LocalEndpoint, Registration};
use crate::message_time::stamp;
use crate::name::topic_name;
use crate::node::Node;
use crate::qos::QosProfile;
use crate::topic::user_data_of;
use dds_core::{DataWriter, DomainParticipant};
use dds_ros2_msgs::rcl_interfaces::msg::Log;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

/// The levels of loggers, from `--log-level`. Messages below the level of their logger are not published.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogLevels {
    /// The level of loggers without a name here. Default: INFO, as in ROS 2.
    default: Option<u8>,
    named: BTreeMap<String, u8>,
}

impl LogLevels {
    /// Adds an argument: `level` or `logger:=level`. Returns `None` if it is not valid.
    pub(crate) fn add(&mut self, argument: &str) -> Option<()> {
        let (name, level) = match argument.split_once(":=") {
            Some((name, level)) => (Some(name), level),
            None => (None, argument),
        };
        let level = match level.to_ascii_lowercase().as_str() {
            "debug" => Log::DEBUG,
            "info" => Log::INFO,
            "warn" => Log::WARN,
            "error" => Log::ERROR,
            "fatal" => Log::FATAL,
            _ => return None,
        };
        match name {
            None => self.default = Some(level),
            Some("") => return None,
            Some(name) => {
                self.named.insert(name.to_owned(), level);
            }
        }
        Some(())
    }

    /// Returns the level of a logger: its own, that of the nearest logger above, or the default.
    fn of(&self, logger: &str) -> u8 {
        let mut name = logger;
        loop {
            if let Some(level) = self.named.get(name) {
                return *level;
            }
            let Some((above, _)) = name.rsplit_once('.') else { return self.default.unwrap_or(Log::INFO) };
            name = above;
        }
    }
}

thread_local! {
    /// This thread is in [`Rosout::publish`].
    static IS_PUBLISHING: Cell<bool> = const { Cell::new(false) };
}

/// The publisher of `/rosout` of a node.
pub(crate) struct Rosout {
    pub(super) participant: DomainParticipant,
    writer: DataWriter<Log>,
    levels: LogLevels,
    _registration: Registration,
}

impl Rosout {
    pub(crate) fn new(node: &Node) -> Result<Self> {
        let participant = node.context().participant().clone();
        let writer = participant
            .writer_builder::<Log>(&topic_name("rt", &node.resolve_topic("/rosout")?, ""))
            .qos(QosProfile::ROSOUT.writer(user_data_of::<Log>()))
            .build()?;
        node.types().add_message::<Log>();
        let registration = node.register(vec![LocalEndpoint::of_writer(&writer)])?;
        let levels = node.context().inner.log_levels.clone();
        Ok(Self { participant, writer, levels, _registration: registration })
    }

    /// Publishes a message. KEEP_LAST: the call does not block.
    pub(super) fn publish(&self, mut log: Log) {
        // CDR cannot encode NUL.
        for text in [&mut log.name, &mut log.msg, &mut log.file, &mut log.function] {
            if text.contains('\0') {
                *text = text.replace('\0', "\u{fffd}");
            }
        }
        // The only error left: the context is closed.
        let before = IS_PUBLISHING.replace(true);
        let _ = self.writer.write(&log);
        IS_PUBLISHING.set(before);
    }

    /// Returns whether this thread publishes a message now.
    #[cfg(feature = "rosout-layer")]
    pub(super) fn is_publishing() -> bool {
        // A thread that ends has no such value any more, and publishes nothing.
        IS_PUBLISHING.try_with(Cell::get).unwrap_or(false)
    }
}

/// The name of the logger of a node: `/lab/camera` is `lab.camera`.
pub(super) fn logger_name(node: &str) -> String {
    node.trim_start_matches('/').replace('/', ".")
}

/// Logs for a node: to `/rosout`, and to the subscriber of `tracing` with the target `rosout`.
///
/// Messages below the level of the logger are not published. It is INFO, or that of `--log-level`. The subscriber of
/// `tracing` decides about its own.
///
/// A handle: clones are cheap. It keeps the publisher of `/rosout`, and not the node.
///
/// ```
/// # use dds_ros2::{Context, DiscoveryRange};
/// # fn main() -> dds_ros2::Result<()> {
/// # let context = Context::builder().discovery_range(DiscoveryRange::Off).build()?;
/// let node = context.node_builder("camera").namespace("/lab").build()?;
/// let logger = node.logger();
/// logger.info("started");
/// logger.child("lens").warn(format!("focus is at {} %", 3));
/// assert_eq!(logger.name(), "lab.camera");
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Logger {
    name: String,
    /// `None` without `/rosout`.
    rosout: Option<Arc<Rosout>>,
}

impl Logger {
    pub(crate) fn new(node: &Node, rosout: Option<Arc<Rosout>>) -> Self {
        Self { name: logger_name(&node.full_name()), rosout }
    }

    /// Returns a logger with a name below this one: `lab.camera.lens`.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self { name: format!("{}.{name}", self.name), rosout: self.rosout.clone() }
    }

    /// Logs details for the developer.
    #[track_caller]
    pub fn debug(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::debug!(target: "rosout", logger = self.name, "{text}");
        self.publish(Log::DEBUG, text, Location::caller());
    }

    /// Logs the normal course.
    #[track_caller]
    pub fn info(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::info!(target: "rosout", logger = self.name, "{text}");
        self.publish(Log::INFO, text, Location::caller());
    }

    /// Logs an unusual event.
    #[track_caller]
    pub fn warn(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::warn!(target: "rosout", logger = self.name, "{text}");
        self.publish(Log::WARN, text, Location::caller());
    }

    /// Logs a failure.
    #[track_caller]
    pub fn error(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::error!(target: "rosout", logger = self.name, "{text}");
        self.publish(Log::ERROR, text, Location::caller());
    }

    /// Logs a failure that ends the program.
    #[track_caller]
    pub fn fatal(&self, text: impl Into<String>) {
        let text = text.into();
        tracing::error!(target: "rosout", logger = self.name, "{text}");
        self.publish(Log::FATAL, text, Location::caller());
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    fn publish(&self, level: u8, msg: String, caller: &Location<'_>) {
        let Some(rosout) = self.rosout.as_ref().filter(|rosout| level >= rosout.levels.of(&self.name)) else { return };
        rosout.publish(Log {
            stamp: stamp(rosout.participant.now()),
            level,
            name: self.name.clone(),
            msg,
            file: caller.file().to_owned(),
            function: String::new(),
            line: caller.line(),
        });
    }
}

impl fmt::Debug for Logger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Logger({:?})", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_of_a_logger_is_that_of_the_nearest_name() {
        let mut levels = LogLevels::default();
        assert_eq!(levels.of("lab.camera"), Log::INFO);
        for argument in ["WARN", "lab:=error", "lab.camera:=debug"] {
            levels.add(argument).unwrap();
        }
        let found = ["arm", "lab", "lab.arm", "lab.camera.lens", "laboratory"].map(|name| levels.of(name));
        assert_eq!(found, [Log::WARN, Log::ERROR, Log::ERROR, Log::DEBUG, Log::WARN]);
        for argument in ["", "loud", "lab:=", ":=info", "lab=info"] {
            assert_eq!(levels.add(argument), None, "{argument}");
        }
    }
}
