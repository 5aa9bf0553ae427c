use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
enum Never {}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", mutable, autoid = "hash", bit_bound = 33)]
enum Growing {
    #[dds(default, case = 1)]
    One,
    #[dds(default)]
    Two,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bit_bound = 8)]
struct Bits {
    bits: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
enum Large {
    Fits = -0x8000_0000,
    DoesNot = 0x8000_0000,
}

fn main() {}
