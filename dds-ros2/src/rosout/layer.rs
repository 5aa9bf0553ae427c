//! A layer of `tracing` that publishes events on `/rosout`.
//!
//! Events may come from code that holds locks of DDS. So the layer only queues them, and the background thread writes.

use super::logger::{Rosout, logger_name};
use crate::context::{Task, Turn};
use crate::message_time::stamp;
use crate::node::Node;
use crate::{Error, Result};
use dds_ros2_msgs::rcl_interfaces::msg::Log;
use std::collections::VecDeque;
use std::fmt::{self, Write};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::layer::{Context, Layer};

/// Events that wait to be written: the depth of `/rosout`. The oldest ones are dropped.
const QUEUE_MAX: usize = 1000;

/// Events that are written before other tasks of the background thread have their turn.
const TURN_MAX: usize = 32;

/// Publishes the events of `tracing` on `/rosout` (feature `rosout-layer`). See [`Node::rosout_layer`].
///
/// Events below the level of the node's logger are left out, as with [`Logger`](crate::Logger). So are events of this
/// workspace below `WARN`, and all events of the publication itself.
pub struct RosoutLayer {
    queue: Arc<Queue>,
    task: Arc<Task>,
}

struct Queue {
    /// The name of the node's logger.
    logger: String,
    rosout: Arc<Rosout>,
    events: Mutex<VecDeque<Log>>,
}

impl Queue {
    fn events(&self) -> MutexGuard<'_, VecDeque<Log>> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes at most this many events.
    fn write(&self, most: usize) -> Turn {
        for _ in 0..most {
            // The lock ends with this line: the write may cause further events.
            let next = self.events().pop_front();
            let Some(log) = next else { return Turn::Done };
            self.rosout.publish(log);
        }
        Turn::More
    }
}

impl RosoutLayer {
    pub(crate) fn new(node: &Node, rosout: Option<Arc<Rosout>>) -> Result<Self> {
        let rosout = rosout.ok_or_else(|| Error::Setting {
            setting: "layer for /rosout",
            reason: "the node was built without `/rosout`".into(),
        })?;
        let queue = Arc::new(Queue { logger: logger_name(&node.full_name()), rosout, events: Mutex::default() });
        let weak = Arc::downgrade(&queue);
        let task = node
            .context()
            .inner
            .background
            .task(move || weak.upgrade().map_or(Turn::Done, |queue| queue.write(TURN_MAX)))?;
        Ok(Self { queue, task })
    }
}

impl Drop for RosoutLayer {
    fn drop(&mut self) {
        self.queue.write(QUEUE_MAX);
    }
}

impl<S: Subscriber> Layer<S> for RosoutLayer {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let metadata = event.metadata();
        let target = metadata.target();
        // Such an event would cause the next publication, and so on without end.
        if Rosout::is_publishing() {
            return;
        }
        // A logger has published its message itself.
        if target == "rosout" || (target.starts_with("dds_") && *metadata.level() > Level::WARN) {
            return;
        }
        let level = level_of(*metadata.level());
        if !self.queue.rosout.is_enabled(&self.queue.logger, level) {
            return;
        }
        let mut text = Text::default();
        event.record(&mut text);
        let log = Log {
            stamp: stamp(self.queue.rosout.participant.now()),
            level,
            name: self.queue.logger.clone(),
            msg: text.message + &text.fields,
            file: metadata.file().unwrap_or_default().to_owned(),
            function: target.to_owned(),
            line: metadata.line().unwrap_or_default(),
        };
        {
            let mut events = self.queue.events();
            if events.len() >= QUEUE_MAX {
                events.pop_front();
            }
            events.push_back(log);
        }
        self.task.wake();
    }
}

fn level_of(level: Level) -> u8 {
    match level {
        Level::ERROR => Log::ERROR,
        Level::WARN => Log::WARN,
        Level::INFO => Log::INFO,
        _ => Log::DEBUG,
    }
}

/// The message of an event, and its fields.
#[derive(Default)]
struct Text {
    message: String,
    fields: String,
}

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        // Writing to a text does not fail.
        let _ = match field.name() {
            "message" => write!(self.message, "{value:?}"),
            name => write!(self.fields, " {name}={value:?}"),
        };
    }
}

impl fmt::Debug for RosoutLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RosoutLayer({:?})", self.queue.logger)
    }
}
