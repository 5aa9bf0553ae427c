use dds_macros::DdsType;

/// The types of these members accept each received value.
#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Struct {
    #[dds(try_construct)]
    number: u32,
    #[dds(try_construct = "use_default")]
    text: String,
    #[dds(try_construct)]
    list: Vec<u8>,
    #[dds(bound = 8, try_construct)]
    name: String,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
enum Union {
    #[dds(try_construct)]
    Flag(bool),
}

fn main() {}
