//! Example programs that need more than `dds-core`, and the documentation tests of the book.
//!
//! | program | shows |
//! |---|---|
//! | `hello_world` | one process publishes, another process receives |
//! | `robot` | two robots and a station: instances, a stream, a clean shutdown on Ctrl-C |
//! | `bad_network` | which QoS tolerates which network, tried in a simulation |
//! | `configured` | settings and QoS from a file, the environment and code |
//! | `protected` | a robot and a station with a pre-shared key; others see nothing |
//! | `doctor` | why samples do not arrive, and what to do |
//! | `echo` | prints the samples of any topic without knowing its type |
//! | `durability_service` | stores transient and persistent samples for late-joining readers |
//! | `shapes` | the demo program that all vendors have, for interoperability tests |
//!
//! Run one with `cargo run --release -p examples --example NAME`. Its module documentation lists its arguments.
//! `dds-core` has more examples: `cargo run -p dds-core --example NAME`.

use dds_core::{DomainParticipant, Result, Scope};

/// Creates a participant of this host that only this process sees, for the tests of the book.
///
/// # Errors
/// As [`DomainParticipant::new`].
pub fn private_participant() -> Result<DomainParticipant> {
    let tag = format!("book-{}", std::process::id());
    Ok(DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).build()?)
}

/// The pages of the book with Rust code. Their snippets are documentation tests.
#[cfg(doctest)]
mod book {
    macro_rules! pages {
        ($($name:ident $page:literal)*) => {
            $(
                #[doc = include_str!(concat!("../../book/src/", $page))]
                struct $name;
            )*
        };
    }

    pages! {
        Introduction "introduction.md"
        Tutorial "tutorial.md"
        Concepts "concepts.md"
        Qos "howto/qos.md"
        Images "howto/images.md"
        LateJoiners "howto/late-joiners.md"
        RequestReply "howto/request-reply.md"
        Idl "howto/idl.md"
        Ros2 "howto/ros2.md"
        Tokio "howto/tokio.md"
        Simulator "howto/simulator.md"
        RealTime "howto/real-time.md"
        Files "howto/files.md"
        UnknownTypes "howto/unknown-types.md"
        Types "reference/types.md"
        Security "deploy/security.md"
        Unicast "deploy/unicast.md"
        Buffers "deploy/buffers.md"
        Troubleshooting "troubleshooting.md"
        Migration "migration.md"
    }
}
