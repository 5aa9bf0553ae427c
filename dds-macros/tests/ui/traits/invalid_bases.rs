use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Keyed {
    #[dds(key)]
    id: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Forgets {
    #[dds(base)]
    base: Keyed,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct Grows {
    #[dds(base, key)]
    base: Keyed,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Twice {
    #[dds(base, key)]
    base: Keyed,
    #[dds(id = 0)]
    other: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct OfBytes {
    #[dds(base)]
    base: Vec<u8>,
}

fn main() {
    use dds_rtps::cdr::TypeInfo;
    let _ = (Forgets::DESCRIPTION, Grows::DESCRIPTION, Twice::DESCRIPTION, OfBytes::DESCRIPTION);
}
