//! The keys of a terminal that steer a replay.

use super::play_clock::PlayKey;
use std::sync::mpsc::Sender;

/// A thread that reads keys, and the terminal without lines and echo. The end of the value restores the terminal.
#[cfg(unix)]
pub(super) struct TerminalKeys {
    is_ended: std::sync::Arc<std::sync::atomic::AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

/// Other systems have no such mode, so a replay has no keys there.
#[cfg(not(unix))]
pub(super) struct TerminalKeys;

#[cfg(not(unix))]
impl TerminalKeys {
    pub(super) fn start(_keys: Sender<PlayKey>) -> Option<Self> {
        None
    }
}

#[cfg(unix)]
mod reading {
    use super::{KeyBytes, PlayKey, Sender, TerminalKeys};
    use crate::terminal;
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;
    use std::io::stdin;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    /// Time between two looks at the end of the replay.
    const LOOK: Duration = Duration::from_millis(100);

    impl TerminalKeys {
        /// Reads keys, if the input is a terminal that listens to this program.
        pub(in crate::commands) fn start(keys: Sender<PlayKey>) -> Option<Self> {
            if !terminal::read_keys() {
                return None;
            }
            let is_ended = Arc::new(AtomicBool::new(false));
            let ended = Arc::clone(&is_ended);
            // The replay goes on without keys if the terminal fails.
            let thread = std::thread::spawn(move || {
                let _ = read_keys(&keys, &ended);
            });
            Some(Self { is_ended, thread: Some(thread) })
        }
    }

    impl Drop for TerminalKeys {
        fn drop(&mut self) {
            self.is_ended.store(true, Ordering::Relaxed);
            if let Some(thread) = self.thread.take() {
                // The thread has no result, and a panic of it must not hide another one.
                let _ = thread.join();
            }
            terminal::restore();
        }
    }

    /// Sends keys until the replay ends, or the terminal goes away.
    fn read_keys(keys: &Sender<PlayKey>, is_ended: &AtomicBool) -> Result<(), Errno> {
        let mut state = KeyBytes::default();
        let input = stdin();
        let limit = Timespec::try_from(LOOK).map_err(|_| Errno::INVAL)?;
        while !is_ended.load(Ordering::Relaxed) {
            // After Ctrl-Z and `bg`, the keys are those of the shell.
            if !terminal::is_in_foreground() || !terminal::renew() {
                std::thread::sleep(LOOK);
                continue;
            }
            match poll(&mut [PollFd::new(&input, PollFlags::IN)], Some(&limit)) {
                Ok(0) | Err(Errno::INTR) => continue,
                Ok(_) if !terminal::is_in_foreground() => continue,
                Ok(_) => {}
                Err(error) => return Err(error),
            }
            let mut bytes = [0; 64];
            let len = match rustix::io::read(&input, &mut bytes) {
                Ok(0) => return Ok(()),
                Err(Errno::INTR) => continue,
                read => read?,
            };
            for key in bytes[..len].iter().filter_map(|byte| state.key_of(*byte)) {
                if keys.send(key).is_err() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

/// Finds keys in the bytes of a terminal. A read may end within the bytes of a key.
#[cfg(unix)]
#[derive(Debug, Default)]
enum KeyBytes {
    /// No key has begun.
    #[default]
    Start,
    /// After ESC.
    Escape,
    /// After `ESC [` or `ESC O`, until a final byte (ECMA-48, 5.4).
    Sequence,
}

#[cfg(unix)]
impl KeyBytes {
    fn key_of(&mut self, byte: u8) -> Option<PlayKey> {
        let state = std::mem::take(self);
        match (state, byte) {
            (_, 0x1b) => *self = Self::Escape,
            (Self::Escape, b'[' | b'O') | (Self::Sequence, b' '..=b'?') => *self = Self::Sequence,
            (Self::Sequence, b'C') => return Some(PlayKey::Step),
            (Self::Start | Self::Escape, b' ') => return Some(PlayKey::Pause),
            (Self::Start | Self::Escape, b's') => return Some(PlayKey::Step),
            (Self::Start | Self::Escape, b'q') => return Some(PlayKey::End),
            _ => {}
        }
        None
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::{KeyBytes, PlayKey};

    fn keys_of(bytes: &[u8]) -> Vec<PlayKey> {
        let mut state = KeyBytes::default();
        bytes.iter().filter_map(|byte| state.key_of(*byte)).collect()
    }

    #[test]
    fn keys_pause_step_and_end() {
        assert_eq!(keys_of(b" sq"), [PlayKey::Pause, PlayKey::Step, PlayKey::End]);
        assert_eq!(keys_of(b"x\nSQ"), []);
    }

    #[test]
    fn right_arrow_steps_and_other_sequences_do_nothing() {
        assert_eq!(keys_of(b"\x1b[C"), [PlayKey::Step]);
        assert_eq!(keys_of(b"\x1bOC"), [PlayKey::Step], "the mode of applications");
        assert_eq!(keys_of(b"\x1b[1;5C"), [PlayKey::Step], "with Ctrl");
        assert_eq!(keys_of(b"\x1b[A\x1b[D\x1b[3~\x1b[1;2s"), []);
        assert_eq!(keys_of(b"\x1b[Aq"), [PlayKey::End], "a key after a sequence");
        assert_eq!(keys_of(b"\x1bq"), [PlayKey::End], "a key after Escape");
        assert_eq!(keys_of(b"\x1b\x1b[C"), [PlayKey::Step]);
    }
}
