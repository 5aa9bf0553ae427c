use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Tuple(u8, u8);

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Generic<T> {
    value: T,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
union Bits {
    a: u32,
    b: f32,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Static {
    text: &'static str,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", view_of = Static)]
struct NoView {
    text: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Floats<'a> {
    values: &'a [f32],
}

fn main() {}
