//! The RTPS readers.
