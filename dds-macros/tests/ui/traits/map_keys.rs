use dds_macros::DdsType;
use std::collections::BTreeMap;

#[derive(DdsType, PartialEq, Eq, PartialOrd, Ord)]
#[dds(crate = "dds_rtps", nested)]
struct Point {
    x: i32,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Structs {
    map: BTreeMap<Point, u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Keyed {
    #[dds(key)]
    map: BTreeMap<u8, u8>,
}

fn main() {}
