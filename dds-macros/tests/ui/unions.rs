use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", bit_bound = 8, mutable)]
enum Cases {
    Two(u32, u32),
    #[dds(case = 0)]
    Again(f64),
    #[dds(case = [])]
    None(u8),
    #[dds(default)]
    Rest(Option<u8>),
    #[dds(default)]
    More(#[dds(key)] u8),
    #[dds(id = 0, bound = 0)]
    Zero(String),
    Empty(),
    #[dds(key, default = 3)]
    Words(u8),
    #[dds(name = "Zero")]
    Renamed(#[dds(discriminator)] i32, #[dds(discriminator)] i32),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", discriminator = bool)]
enum Unlabeled {
    Yes(u8),
    #[dds(default)]
    No,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", discriminator = f32)]
enum Real {
    #[dds(case = 1.5)]
    One(u8),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", try_construct = "trim")]
enum Trims {
    #[dds(try_construct = "trim")]
    Unbounded(String),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", key, try_construct)]
enum KeyedWithDefault {
    One(u8),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", try_construct)]
enum NothingToTry {
    One(u8),
    #[dds(default)]
    Rest,
}

const LABEL: i32 = 3;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
enum AfterAConstant {
    #[dds(case = LABEL)]
    One(u8),
    Two(u8),
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", discriminator = u8)]
struct Struct {
    a: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", member_keys, try_construct)]
enum InKeyWithDefault {
    One(u8),
}

fn main() {}
