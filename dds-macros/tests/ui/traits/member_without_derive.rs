use dds_macros::DdsType;

struct Plain;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Outer {
    plain: Plain,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", mutable)]
struct Derived {
    #[dds(base)]
    base: Plain,
    level: u8,
}

fn main() {}
