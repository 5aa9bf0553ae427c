use dds_macros::DdsType;
use dds_rtps::cdr;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested)]
struct Part {
    x: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct View<'a> {
    text: &'a str,
}

struct Plain;

fn topic<T: cdr::DdsType>() {}
fn dispose<T: cdr::Keyed>() {}
fn iterate<T: cdr::DecodeOwned>() {}
fn view<T, V: cdr::ViewOf<T>>() {}

fn main() {
    topic::<Plain>();
    topic::<Part>();
    dispose::<Part>();
    iterate::<View<'_>>();
    view::<Part, View<'_>>();
}
