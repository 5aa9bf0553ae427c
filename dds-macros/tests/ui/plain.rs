use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain, appendable)]
struct Grows {
    maybe: Option<u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain)]
enum Enum {
    One,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", plain)]
#[repr(C)]
struct Empty {
    #[dds(non_serialized)]
    hidden: u8,
}

fn main() {}
