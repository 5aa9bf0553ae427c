//! Replacement for reception by callers on systems other than Linux, and in models.

use super::Leading;
use super::intake::Inlet;
use crate::driver::Parker;
use crate::sync::{Arc, AtomicBool};
use std::io;
use std::time::Duration;

/// Has no values, because callers never receive here.
#[derive(Debug)]
pub(super) enum Attendance {}

impl Attendance {
    pub(super) fn new(_: Vec<Inlet>, _: &Arc<AtomicBool>, _: Leading) -> io::Result<Arc<Self>> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(super) fn begin(&self) {
        match *self {}
    }

    pub(super) fn park(&self, _: &Parker, _: impl Fn() -> Option<Duration>) {
        match *self {}
    }

    pub(super) fn be_prompt(&self) {
        match *self {}
    }

    pub(super) async fn receive(self: Arc<Self>) {
        match *self {}
    }

    pub(super) async fn look_after(self: Arc<Self>) {
        match *self {}
    }

    pub(super) fn stop(&self) {
        match *self {}
    }
}
