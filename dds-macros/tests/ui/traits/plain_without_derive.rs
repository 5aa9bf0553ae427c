use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct WithoutDerives {
    a: u32,
    b: [f32; 3],
}

#[derive(DdsType, zerocopy::FromBytes, zerocopy::Immutable)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct WithoutOneDerive {
    a: u32,
}

fn main() {}
