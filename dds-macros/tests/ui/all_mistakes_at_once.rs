use dds_macros::DdsType;
use std::collections::HashSet;

#[derive(DdsType)]
#[dds(crate = "dds_rtps", extensibility = "growing", autoid = "name", nesteed, key, flags(A))]
struct Many {
    #[dds(key)]
    maybe: Option<u32>,
    #[dds(id = 0)]
    twice: u8,
    #[dds(key, key)]
    wide: u128,
    map: HashSet<u8>,
    tuple: (u8, u8),
    size: Vec<usize>,
    #[dds(bound = 0)]
    text: String,
    #[dds(octet, id = 9, hashid)]
    signed: i8,
    #[dds(name = "map")]
    other: u8,
    #[dds(key, default)]
    key: u32,
    inner: Vec<Option<u8>>,
    #[dds(non_serialized, bound = 3)]
    cache: u8,
    #[dds(position = 3)]
    bits: u8,
    #[dds(bits = 3)]
    few: u8,
}

fn main() {
    // A use of the rejected type adds no further error.
    fn needs<T: dds_rtps::cdr::DdsType>() {}
    needs::<Many>();
}
