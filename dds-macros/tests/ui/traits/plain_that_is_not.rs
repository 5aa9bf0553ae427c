use dds_macros::DdsType;

/// It has padding.
#[derive(DdsType, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u32,
}

/// Not all bytes are bools.
#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct OfBools {
    a: bool,
}

fn main() {}
