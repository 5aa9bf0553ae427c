//! The type of the topic.

use dds_core::DdsType;

/// A shape of one colour; the colour is the instance.
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "ShapeType", extensibility = "appendable")]
pub(crate) struct Shape {
    /// `BLUE`, `RED`, …
    #[dds(key, bound = 128)]
    pub(crate) color: String,
    /// To the right.
    pub(crate) x: i32,
    /// Downwards.
    pub(crate) y: i32,
    /// Of the side or the diameter.
    pub(crate) shapesize: i32,
    /// Bytes without a meaning, to make samples large.
    pub(crate) additional_payload_size: Vec<u8>,
}

impl Shape {
    /// The line for a sample.
    pub(crate) fn line(&self, topic: &str) -> String {
        let Self { color, x, y, shapesize, additional_payload_size } = self;
        let payload = additional_payload_size.last().map(|last| format!(" {{{last}}}")).unwrap_or_default();
        format!("{topic:<10} {color:<10} {x:03} {y:03} [{shapesize}]{payload}")
    }
}
