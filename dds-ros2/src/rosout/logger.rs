//! The publisher of `/rosout` of a node, and its loggers.

use super::levels::SharedLevels;
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
use std::fmt;
use std::panic::Location;
use std::sync::Arc;

thread_local! {
    /// This thread is in [`Rosout::publish`].
    static IS_PUBLISHING: Cell<bool> = const { Cell::new(false) };
}

/// The publisher of `/rosout` of a node.
pub(crate) struct Rosout {
    pub(super) participant: DomainParticipant,
    writer: DataWriter<Log>,
    levels: SharedLevels,
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

    /// Returns whether messages of a logger with this level are published.
    pub(super) fn is_enabled(&self, logger: &str, level: u8) -> bool {
        level >= self.levels.of(logger)
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
/// Messages below the level of the logger are not published. It is INFO, that of `--log-level`, or that of the service
/// `~/set_logger_levels`. The subscriber of `tracing` decides about its own.
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
        let Some(rosout) = self.rosout.as_ref().filter(|rosout| rosout.is_enabled(&self.name, level)) else { return };
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
