//! Types of the tests.

use crate::cdr::Run;
use dds_macros::DdsType;

/// The type of the shapes demo, as in the demos of all vendors.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", appendable)]
pub(super) struct ShapeType {
    #[dds(key, bound = 128)]
    pub(super) color: String,
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) shapesize: i32,
    pub(super) additional_payload_size: Vec<u8>,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", view_of = ShapeType, appendable)]
pub(super) struct ShapeView<'a> {
    #[dds(key, bound = 128)]
    pub(super) color: &'a str,
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) shapesize: i32,
    pub(super) additional_payload_size: &'a [u8],
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq, Eq, Default)]
#[dds(crate = "crate")]
pub(super) enum Gear {
    #[default]
    Reverse = -1,
    Neutral,
    First = 7,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested)]
pub(super) struct Point {
    pub(super) x: f32,
    pub(super) y: f64,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate", nested, extensibility = "appendable")]
pub(super) struct Label {
    pub(super) text: String,
    pub(super) level: u8,
}

macro_rules! all_kinds {
    ($name:ident, $extensibility:literal) => {
        /// A struct with a member of every kind.
        #[derive(DdsType, Debug, Clone, PartialEq)]
        #[dds(crate = "crate", extensibility = $extensibility)]
        pub(super) struct $name {
            pub(super) flag: bool,
            #[dds(key)]
            pub(super) id: i64,
            pub(super) a: u8,
            pub(super) b: i8,
            pub(super) c: u16,
            pub(super) d: i16,
            pub(super) e: u32,
            #[dds(key)]
            pub(super) name: String,
            pub(super) f: i32,
            pub(super) g: u64,
            pub(super) h: f32,
            pub(super) i: f64,
            pub(super) letter: char,
            pub(super) text: String,
            pub(super) gear: Gear,
            pub(super) point: Point,
            pub(super) label: Label,
            pub(super) bytes: Vec<u8>,
            pub(super) doubles: Vec<f64>,
            pub(super) flags: Vec<bool>,
            pub(super) strings: Vec<String>,
            pub(super) points: Vec<Point>,
            pub(super) labels: Vec<Label>,
            pub(super) gears: Vec<Gear>,
            pub(super) rows: Vec<Vec<u16>>,
            pub(super) hash: [u8; 5],
            pub(super) matrix: [[i16; 2]; 3],
            pub(super) names: [[String; 2]; 2],
            pub(super) pairs: Vec<[u64; 2]>,
            pub(super) pairs_of_strings: Vec<[String; 2]>,
            pub(super) maybe: Option<f64>,
            pub(super) maybe_text: Option<String>,
            pub(super) maybe_many: Option<Vec<u64>>,
            pub(super) boxed: Box<u16>,
            pub(super) last: u64,
        }
    };
}

all_kinds!(AllFinal, "final");
all_kinds!(AllAppendable, "appendable");
all_kinds!(AllMutable, "mutable");

/// A recursive type.
#[derive(DdsType, Debug, Clone, PartialEq, Default)]
#[dds(crate = "crate")]
pub(super) struct Tree {
    pub(super) value: u32,
    pub(super) children: Vec<Tree>,
    pub(super) next: Option<Box<Tree>>,
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(crate = "crate")]
pub(super) struct Scan<'a> {
    #[dds(key)]
    pub(super) frame: &'a str,
    pub(super) ranges: Run<'a, f32>,
}
