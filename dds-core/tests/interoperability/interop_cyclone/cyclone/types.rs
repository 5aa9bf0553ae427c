//! The types of `shapes_and_blobs.py` and the content of sample i, on our side.

use dds_core::DdsType;
use dds_core::cdr::{DecodeOwned, Encode, Keyed};
use serde_json::{Value, json};

const COLORS: [&str; 3] = ["BLUE", "RED", "GREEN"];

/// A type of these tests.
pub(crate) trait Subject: DdsType + Encode + DecodeOwned + Send + std::fmt::Debug {
    fn sample(index: u32) -> Self;

    /// Fields as the other side prints them.
    fn fields(&self) -> Value;
}

/// A type with instances.
pub(crate) trait KeyedSubject: Subject + Keyed {
    /// Key fields as the other side prints them.
    fn key_fields(key: &Self::Key) -> Value;
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(name = "ShapeType", extensibility = "appendable")]
pub(crate) struct ShapeType {
    #[dds(key, bound = 128)]
    pub(crate) color: String,
    pub(crate) x: i32,
    pub(crate) y: i32,
    pub(crate) shapesize: i32,
    pub(crate) additional_payload_size: Vec<u8>,
}

impl Subject for ShapeType {
    fn sample(index: u32) -> Self {
        let number = i32::try_from(index).unwrap();
        Self {
            color: COLORS[index as usize % COLORS.len()].into(),
            x: number,
            y: 2 * number,
            shapesize: 20 + number,
            additional_payload_size: vec![255; index as usize % 4],
        }
    }

    fn fields(&self) -> Value {
        let (len, md5) = payload(&self.additional_payload_size);
        json!({"color": self.color, "x": self.x, "y": self.y, "shapesize": self.shapesize, "payload_len": len, "payload_md5": md5})
    }
}

impl KeyedSubject for ShapeType {
    fn key_fields(key: &String) -> Value {
        json!({"color": key})
    }
}

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    pub(crate) on: u8,
    #[dds(key)]
    pub(crate) sensor: u32,
    #[dds(key)]
    pub(crate) channel: u8,
    pub(crate) value: f64,
    pub(crate) unit: String,
}

impl Subject for Reading {
    fn sample(index: u32) -> Self {
        Self {
            on: u8::try_from(index % 2).unwrap(),
            sensor: 1000 + index % 3,
            channel: u8::try_from(index % 3).unwrap(),
            value: f64::from(index) / 4.0,
            unit: "m/s".repeat(index as usize % 3),
        }
    }

    fn fields(&self) -> Value {
        json!({"on": self.on, "sensor": self.sensor, "channel": self.channel, "value": self.value, "unit": self.unit})
    }
}

impl KeyedSubject for Reading {
    fn key_fields((sensor, channel): &(u32, u8)) -> Value {
        json!({"sensor": sensor, "channel": channel})
    }
}

#[derive(DdsType, Debug, Clone, PartialEq)]
pub(crate) struct Blob {
    pub(crate) number: u32,
    pub(crate) bytes: Vec<u8>,
}

impl Blob {
    /// Repeats a period of the content, which is fast even for many MiB.
    pub(crate) fn of_len(index: u32, len: usize) -> Self {
        let period: Vec<u8> = (0..251).map(|position| u8::try_from((index + position) % 251).unwrap()).collect();
        let mut bytes = period.repeat(len.div_ceil(period.len()));
        bytes.truncate(len);
        Self { number: index, bytes }
    }
}

impl Subject for Blob {
    fn sample(index: u32) -> Self {
        Self::of_len(index, 100_000)
    }

    fn fields(&self) -> Value {
        let (len, md5) = payload(&self.bytes);
        json!({"number": self.number, "payload_len": len, "payload_md5": md5})
    }
}

fn payload(octets: &[u8]) -> (usize, String) {
    (octets.len(), format!("{:x}", md5::compute(octets)))
}
