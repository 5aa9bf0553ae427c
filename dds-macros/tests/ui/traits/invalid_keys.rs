use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct Keyed {
    #[dds(key)]
    id: u32,
    note: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct Between {
    keyed: Keyed,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Outer {
    #[dds(key)]
    between: Between,
}

fn main() {}
