//! Real-time publish/subscribe (DDS) in pure Rust over the open RTPS wire protocol.
