//! The keys of a terminal that steer a replay.

use super::play_clock::PlayKey;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use std::io::{IsTerminal, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::thread::JoinHandle;
use std::time::Duration;

/// Time between two looks at the end of the replay.
const LOOK: Duration = Duration::from_millis(100);

/// A thread that reads keys, and the terminal in raw mode. The end of the value restores the terminal.
pub(super) struct TerminalKeys {
    is_ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl TerminalKeys {
    /// Reads keys, if the input is a terminal that listens to this program and has a raw mode.
    pub(super) fn start(keys: Sender<PlayKey>) -> Option<Self> {
        if !std::io::stdin().is_terminal() || !is_in_foreground() || enable_raw_mode().is_err() {
            return None;
        }
        let is_ended = Arc::new(AtomicBool::new(false));
        let ended = Arc::clone(&is_ended);
        let thread = std::thread::spawn(move || read_keys(&keys, &ended));
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
        // A terminal that has gone needs no restoration.
        let _ = disable_raw_mode();
    }
}

/// Notes for a terminal in raw mode. There, a line feed alone does not go to the begin of the line.
pub(super) struct RawModeNotes<'n>(pub(super) &'n mut dyn Write);

impl Write for RawModeNotes<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            match line.strip_suffix(b"\n") {
                Some(text) => self.0.write_all(text).and_then(|()| self.0.write_all(b"\r\n"))?,
                None => self.0.write_all(line)?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

/// Returns whether the terminal sends its keys to this program. A change of its mode stops a program in the background.
fn is_in_foreground() -> bool {
    // Other systems have no such file. There a program in the background stops, and goes on in the foreground.
    std::fs::read_to_string("/proc/self/stat").map_or(true, |stat| stat_is_of_foreground(&stat))
}

/// Compares the process group with that of the terminal (`proc_pid_stat(5)`: `pgrp` and `tpgid`).
fn stat_is_of_foreground(stat: &str) -> bool {
    // The name of the program may contain spaces and parentheses.
    let Some((_, fields)) = stat.rsplit_once(')') else { return false };
    let fields: Vec<&str> = fields.split_whitespace().collect();
    matches!((fields.get(2), fields.get(5)), (Some(group), Some(foreground)) if group == foreground)
}

fn read_keys(keys: &Sender<PlayKey>, is_ended: &AtomicBool) {
    while !is_ended.load(Ordering::Relaxed) {
        let read = match event::poll(LOOK) {
            Ok(true) => event::read(),
            Ok(false) => continue,
            Err(error) => Err(error),
        };
        let Ok(read) = read else {
            // The replay goes on without keys. In its old mode, the terminal sends a signal for Ctrl-C.
            let _ = disable_raw_mode();
            return;
        };
        if let Event::Key(key) = read
            && let Some(key) = key_of(&key)
            && keys.send(key).is_err()
        {
            return;
        }
    }
}

/// Returns what a key means. In raw mode, Ctrl-C is a key.
fn key_of(key: &KeyEvent) -> Option<PlayKey> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    match key.code {
        KeyCode::Char('c') if key.modifiers.contains(KeyModifiers::CONTROL) => Some(PlayKey::End),
        KeyCode::Char(' ') => Some(PlayKey::Pause),
        KeyCode::Char('s') | KeyCode::Right => Some(PlayKey::Step),
        KeyCode::Char('q') => Some(PlayKey::End),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{PlayKey, RawModeNotes, key_of, stat_is_of_foreground};
    use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
    use std::io::Write;

    #[test]
    fn notes_in_raw_mode_return_the_carriage() {
        let mut notes = Vec::new();
        write!(RawModeNotes(&mut notes), "one\ntwo\n\nthree").unwrap();
        assert_eq!(notes, b"one\r\ntwo\r\n\r\nthree");
    }

    #[test]
    fn keys_pause_step_and_end() {
        let plain = |code| key_of(&KeyEvent::new(code, KeyModifiers::NONE));
        assert_eq!(plain(KeyCode::Char(' ')), Some(PlayKey::Pause));
        assert_eq!((plain(KeyCode::Char('s')), plain(KeyCode::Right)), (Some(PlayKey::Step), Some(PlayKey::Step)));
        assert_eq!(plain(KeyCode::Char('q')), Some(PlayKey::End));
        assert_eq!((plain(KeyCode::Char('c')), plain(KeyCode::Left)), (None, None));
        assert_eq!(key_of(&KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL)), Some(PlayKey::End));
    }

    #[test]
    fn background_is_another_group_than_that_of_the_terminal() {
        let stat = |foreground: &str| format!("812 (dds (x) ) S 700 812 700 34816 {foreground} 4194304 1");
        assert!(stat_is_of_foreground(&stat("812")));
        assert!(!stat_is_of_foreground(&stat("700")));
        assert!(!stat_is_of_foreground(&stat("-1")));
        assert!(!stat_is_of_foreground("damaged"));
    }
}
