//! The writer under scripts: input at a time, and the datagrams that come out.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod batches;
mod filtered;
mod flow;
mod fragments;
mod hostile;
mod late_joiners;
mod limits;
mod liveliness;
mod local_readers;
mod opening;
mod reliability;
mod script;
mod sending;
mod slow_readers;
mod standing_in;
