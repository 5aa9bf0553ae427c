//! Records of the library through `tracing`.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

/// Collects records of one kind, each as a line of its fields.
#[derive(Clone)]
pub(crate) struct Notes {
    is_noted: fn(&Metadata<'_>) -> bool,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Notes {
    /// Collects every warning.
    pub(crate) fn of_warnings() -> Self {
        Self::of(|metadata| metadata.is_event() && *metadata.level() == Level::WARN)
    }

    /// Collects every line at level INFO.
    pub(crate) fn of_infos() -> Self {
        Self::of(|metadata| metadata.is_event() && *metadata.level() == Level::INFO)
    }

    /// Collects every new span. Its line begins with its name.
    pub(crate) fn of_spans() -> Self {
        Self::of(|metadata| metadata.is_span())
    }

    fn of(is_noted: fn(&Metadata<'_>) -> bool) -> Self {
        Self { is_noted, lines: Arc::default() }
    }

    /// Runs `work` and returns the records of this thread.
    pub(crate) fn take<T>(self, work: impl FnOnce() -> T) -> (T, Vec<String>) {
        let done = tracing::subscriber::with_default(self.clone(), work);
        let lines = std::mem::take(&mut *self.lines.lock().unwrap());
        (done, lines)
    }
}

struct Fields(String);

impl Visit for Fields {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl Subscriber for Notes {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        (self.is_noted)(metadata)
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut fields = Fields(span.metadata().name().to_owned());
        span.record(&mut fields);
        let mut lines = self.lines.lock().unwrap();
        lines.push(fields.0);
        Id::from_u64(lines.len() as u64)
    }

    fn event(&self, event: &Event<'_>) {
        let mut fields = Fields(String::new());
        event.record(&mut fields);
        self.lines.lock().unwrap().push(fields.0);
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}
