//! error: is not a view of `Log`
//! error: declare it with `#[dds(view_of = Log)]`
use dds_core::DdsType;
use dds_core::reader::SampleRef;

#[derive(DdsType)]
pub struct Log {
    pub text: String,
}

#[derive(DdsType)]
pub struct Pose {
    pub frame: String,
}

#[derive(DdsType)]
#[dds(view_of = Pose)]
pub struct PoseView<'a> {
    pub frame: &'a str,
}

pub fn program(sample: SampleRef<'_, Log>) {
    let _ = sample.view::<PoseView<'_>>();
}

fn main() {}
