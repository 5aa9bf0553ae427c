//! The writer under scripts: timed input, and the resulting datagrams.

mod batches;
mod congestion;
mod filtered;
mod fragments;
mod handshake;
mod hostile;
mod late_joiners;
mod limits;
mod liveliness;
mod local_readers;
mod reliability;
mod script;
mod sending;
mod slow_readers;
mod standing_in;
