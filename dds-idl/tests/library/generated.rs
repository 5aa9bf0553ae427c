//! The committed code of the tests, as a build script would include it.

#[allow(unreachable_pub, reason = "a test exports nothing")]
pub(crate) mod robot {
    include!("../data/rust/robot.rs");
}

#[allow(unreachable_pub, reason = "a test exports nothing")]
pub(crate) mod all_types {
    include!("../data/rust/all_types.rs");
}
