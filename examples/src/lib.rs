//! Programs that show how it is used; this library has what several of them need.
//!
//! | program | shows |
//! |---|---|
//! | `hello_world` | the main job: one process publishes, another one receives, over UDP |
//! | `robot` | two robots and a station: typed topics, one instance a robot, a stream, an orderly end by Ctrl-C |
//! | `bad_network` | which QoS survives which network, tried over simulated ones |
//! | `configured` | settings and QoS from a file (`configured.toml`), changed by the environment and by code |
//! | `doctor` | why does nothing arrive? What the library says of obstacles |
//! | `echo` | prints the samples of any topic without knowing its type |
//! | `durability_service` | keeps what writers of DURABILITY transient and persistent write, for who comes late |
//! | `shapes` | the program that all vendors have, for tests of interoperability |
//!
//! `cargo run --release -p examples --example NAME`; each says at its head what it does and which arguments it takes.
