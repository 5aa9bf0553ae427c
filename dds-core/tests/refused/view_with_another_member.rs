//! error: `LogView` is not a view of `Log`: expected members that agree in name, id, key, optional and extensibility
use dds_core::DdsType;

#[derive(DdsType)]
pub struct Log {
    #[dds(key)]
    pub line: u32,
    pub text: String,
}

#[derive(DdsType)]
#[dds(view_of = Log)]
pub struct LogView<'a> {
    #[dds(key)]
    pub number: u32,
    pub text: &'a str,
}

fn main() {}
