//! Log records of the library while one seed runs again.

use dds_core::sim::{Passing, Simulation};
use dds_rtps::wire::Message;
use std::cell::RefCell;
use std::fmt::{Debug, Write};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

thread_local! {
    static WORLD: RefCell<Option<Simulation>> = const { RefCell::new(None) };
}

/// Writes log records with the time of the world, and the steps of the scenario in between.
pub(crate) struct Diary;

impl Diary {
    /// Prints the events in `world` on this thread, from now on.
    pub(crate) fn of(world: &Simulation) {
        WORLD.set(Some(world.clone()));
    }
}

/// Prints a line of the scenario itself.
pub(crate) fn note(line: std::fmt::Arguments<'_>) {
    WORLD.with_borrow(|world| {
        if let Some(world) = world {
            println!("{} {line}", world.now());
        }
    });
}

/// Prints a datagram, submessage by submessage.
pub(crate) fn packet(passing: &mut Passing) -> bool {
    let Ok(message) = Message::parse(&passing.bytes) else { return true };
    for submessage in message.submessages().flatten() {
        let mut line = format!("{submessage:?}");
        line.truncate(200);
        println!("{} {} to {}: {line}", passing.sent_at, message.header.prefix, passing.to);
    }
    true
}

struct Line(String);

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Diary {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }
    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, event: &Event<'_>) {
        let mut line = Line(String::new());
        event.record(&mut line);
        note(format_args!("  {} {}", event.metadata().level(), line.0));
    }
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
