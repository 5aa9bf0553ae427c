use dds_macros::DdsType;
use dds_rtps::cdr::{OrDefault, Trimmed};
use std::collections::HashMap;

/// A hash map cannot be cut to its first entries: it has no order.
#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Unordered {
    maps: Vec<Trimmed<HashMap<u8, u8>, 2>>,
}

/// A key must have the value that the writer sent.
#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Keys {
    #[dds(key)]
    trimmed: Trimmed<String, 2>,
    #[dds(key)]
    gear: OrDefault<Gear>,
    #[dds(key)]
    part: Part,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct Part {
    #[dds(try_construct)]
    gear: Gear,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
enum Gear {
    First,
}

fn main() {}
