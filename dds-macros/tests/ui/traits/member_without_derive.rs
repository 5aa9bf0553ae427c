use dds_macros::DdsType;

struct Plain;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Outer {
    plain: Plain,
}

fn main() {}
