use dds_macros::DdsType;

const LARGE: u64 = 1 << 40;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
#[repr(u64)]
enum Large {
    Fits = 1,
    DoesNot = LARGE,
}

fn main() {}
