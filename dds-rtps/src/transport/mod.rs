//! Moves datagrams.
