//! The mode of the terminal while a command reads single keys.
//!
//! Keys arrive at once and without an echo. Ctrl-C, Ctrl-Z and Ctrl-\ still send their signals to the process group.

use rustix::termios::{self, LocalModes, OptionalActions, SpecialCodeIndex, Termios};
use std::io::stdin;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The terminal has one mode, so the process has one value.
static TERMINAL: Mutex<Terminal> = Mutex::new(Terminal { is_reading: false, before: None });

struct Terminal {
    /// Whether a command reads keys.
    is_reading: bool,
    /// The mode before the first change, or after the shell has changed it.
    before: Option<Termios>,
}

fn terminal() -> MutexGuard<'static, Terminal> {
    TERMINAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Changes the mode, until [`restore`]. `false`: the input is no terminal, or it listens to another program.
pub(crate) fn read_keys() -> bool {
    terminal().is_reading = true;
    let is_changed = is_in_foreground() && renew();
    if !is_changed {
        restore();
    }
    is_changed
}

/// Changes the mode again if the shell has restored it, as after Ctrl-Z. Returns whether the terminal sends keys.
///
/// Call it in the foreground only: the system stops a program of the background that changes the mode.
pub(crate) fn renew() -> bool {
    let mut terminal = terminal();
    let Ok(mut mode) = termios::tcgetattr(stdin()) else { return false };
    if !terminal.is_reading || !mode.local_modes.contains(LocalModes::ICANON) {
        return terminal.is_reading;
    }
    let before = mode.clone();
    mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
    // A read returns with the first byte.
    mode.special_codes[SpecialCodeIndex::VMIN] = 1;
    mode.special_codes[SpecialCodeIndex::VTIME] = 0;
    if termios::tcsetattr(stdin(), OptionalActions::Now, &mode).is_err() {
        return false;
    }
    terminal.before = Some(before);
    true
}

/// Gives the terminal its mode before [`read_keys`]. In the background, the shell has already done that.
pub(crate) fn restore() {
    let mut terminal = terminal();
    terminal.is_reading = false;
    if let Some(before) = terminal.before.take()
        && is_in_foreground()
    {
        // A terminal that has gone needs no restoration.
        let _ = termios::tcsetattr(stdin(), OptionalActions::Now, &before);
    }
}

/// Returns whether the terminal sends its keys to this program.
///
/// The system stops a program of the background that reads.
pub(crate) fn is_in_foreground() -> bool {
    termios::tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp())
}
