use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Log {
    #[dds(key)]
    source: String,
    data: Vec<u8>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", view_of = Log)]
struct LogView<'a> {
    #[dds(key)]
    source: &'a str,
    date: &'a [u8],
}

fn main() {}
