use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Base {
    id: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Late {
    first: u8,
    #[dds(base, id = 3)]
    base: Base,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Maybe {
    #[dds(base)]
    base: Option<Base>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Tries {
    #[dds(try_construct = "hard")]
    hard: u8,
    #[dds(try_construct = "trim")]
    unbounded: String,
    #[dds(key, try_construct = "use_default")]
    key: u8,
    #[dds(key, bound = 8, try_construct = "trim")]
    trimmed_key: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", try_construct = "use_default")]
struct OnAStruct {
    member: u8,
}

fn main() {}
