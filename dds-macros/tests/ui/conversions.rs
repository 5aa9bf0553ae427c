use dds_macros::DdsType;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", into = u8)]
struct OneWay(u16);

#[derive(DdsType)]
#[dds(crate = "dds_rtps", into = u8, from = u16)]
struct Different(u16);

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Maybe(Option<u8>);

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct Inner(#[dds(key)] u8);

#[derive(DdsType)]
#[dds(crate = "dds_rtps", view = NumberView)]
struct Number {
    number: u32,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", view_derive(Debug))]
struct WithoutView {
    #[dds(kee)]
    text: String,
    #[dds(boundd = 3)]
    other: String,
    #[dds(elephant)]
    third: String,
}

fn main() {}
