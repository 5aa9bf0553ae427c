//! Example programs that need more than `dds-core`.
//!
//! | program | shows |
//! |---|---|
//! | `hello_world` | one process publishes, another process receives |
//! | `robot` | two robots and a station: instances, a stream, a clean shutdown on Ctrl-C |
//! | `bad_network` | which QoS tolerates which network, tried in a simulation |
//! | `configured` | settings and QoS from a file, the environment and code |
//! | `protected` | a robot and a station with a pre-shared key; others see nothing |
//! | `doctor` | why samples do not arrive, and what to do |
//! | `print_topic` | prints the samples of any topic without knowing its type |
//! | `durability_service` | stores transient and persistent samples for late-joining readers |
//! | `shapes` | the demo program that all vendors have, for interoperability tests |
//!
//! Run one with `cargo run --release -p examples --example NAME`. Its module documentation lists its arguments.
//! `dds-core` has more examples: `cargo run -p dds-core --example NAME`.
