use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bitmask)]
struct Signed(i8);

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bitmask, bit_bound = 8, flags(A, B = 0, A, HIGH = 8))]
struct Wide(u16);

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bitset, appendable)]
struct Fields {
    #[dds(bits = 9)]
    narrow: u8,
    unsaid: u16,
    #[dds(bits = 3, key)]
    key: u8,
    #[dds(bits = 3)]
    real: f32,
    #[dds(bits = 60)]
    rest: u64,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bitset)]
struct Overlapping {
    #[dds(bits = 3, position = 1)]
    low: u8,
    #[dds(bits = 3, position = 3)]
    high: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bitmask)]
enum Mask {
    A,
}

fn main() {}
