//! The writer under scripts: input at a time, and the datagrams that come out.

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
