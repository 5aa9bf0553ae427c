use dds_macros::DdsType;
use dds_rtps::cdr;

struct Id;

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct Final {
    #[dds(key)]
    id: Id,
    level: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", appendable)]
struct Appendable {
    #[dds(key)]
    id: Vec<Id>,
    #[dds(key)]
    number: u8,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", mutable)]
struct Mutable {
    #[dds(key)]
    id: [Id; 2],
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps")]
struct View<'a> {
    #[dds(key)]
    id: Id,
    text: &'a str,
}

fn main() {
    // A use of these types adds no further error.
    fn topic<T: cdr::DdsType>() {}
    topic::<Final>();
    topic::<Appendable>();
    topic::<Mutable>();
    topic::<View<'_>>();
}
