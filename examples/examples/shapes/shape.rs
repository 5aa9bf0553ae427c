//! The sample type of the topic.

use dds_core::DdsType;

/// A shape. Its color is the key.
#[derive(DdsType, Debug, Clone, PartialEq, Eq)]
#[dds(name = "ShapeType", extensibility = "appendable")]
pub(crate) struct Shape {
    /// `BLUE`, `RED`, …
    #[dds(key, bound = 128)]
    pub(crate) color: String,
    /// Pixels from the left.
    pub(crate) x: i32,
    /// Pixels from the top.
    pub(crate) y: i32,
    /// Side or diameter in pixels.
    pub(crate) shapesize: i32,
    /// Bytes that only make the sample larger.
    pub(crate) additional_payload_size: Vec<u8>,
}

impl Shape {
    /// The line that is printed for a sample.
    pub(crate) fn line(&self, topic: &str) -> String {
        let Self { color, x, y, shapesize, additional_payload_size } = self;
        let payload = additional_payload_size.last().map(|last| format!(" {{{last}}}")).unwrap_or_default();
        format!("{topic:<10} {color:<10} {x:03} {y:03} [{shapesize}]{payload}")
    }
}
