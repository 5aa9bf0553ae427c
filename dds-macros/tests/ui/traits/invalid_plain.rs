use dds_macros::DdsType;

/// A struct with padding.
#[derive(DdsType, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct Padded {
    a: u8,
    b: u32,
}

/// A byte other than 0 and 1 is not a `bool`.
#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct OfBools {
    a: bool,
}

fn main() {}
