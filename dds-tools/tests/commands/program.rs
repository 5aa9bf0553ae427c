//! The program as a process: its exit status, and recordings whose recorder crashed or had no room on its disk.

#![allow(clippy::disallowed_methods, reason = "the program is another process")]

use std::process::{Command, Stdio};

const PROGRAM: &str = env!("CARGO_BIN_EXE_dds");

fn status_of(arguments: &[&str]) -> Option<i32> {
    let output = Command::new(PROGRAM).args(arguments).stdin(Stdio::null()).output().unwrap();
    output.status.code()
}

#[test]
fn exit_status_tells_success_failure_and_wrong_options() {
    assert_eq!(status_of(&["completions", "bash"]), Some(0));
    assert_eq!(status_of(&["info", "/no/such/file.mcap"]), Some(1));
    assert_eq!(status_of(&["info"]), Some(2));
    assert_eq!(status_of(&["record", "--last", "0", "--output", "x.mcap"]), Some(2));
}

#[test]
#[ignore = "needs a network namespace: .ci/run cyclone"]
fn why_names_missing_multicast() {
    // A new namespace has a loopback interface that is down.
    let line = ["-rn", PROGRAM, "why", "--domain", "0", "--wait", "0.2"];
    let output = Command::new("unshare").args(line).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let expected = "no participant was found, and this host does not receive its own multicast; let firewalls pass UDP";
    assert!(text.starts_with(expected), "{text}");
}

/// Programs of a shell.
#[cfg(unix)]
mod unix {
    use super::PROGRAM;
    use crate::support::{Domain, Pose, pose, pose_writer, run_local};
    use dds_core::DataWriter;
    use dds_tools::recording::messages;
    use std::io::{BufRead, BufReader, Read, Write};
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    #[test]
    fn completions_end_well_if_their_reader_has_gone() {
        let script = "\"$0\" completions bash | true; exit ${PIPESTATUS[0]}";
        let status = Command::new("bash").args(["-c", script, PROGRAM]).status().unwrap();
        assert_eq!(status.code(), Some(0));
    }

    /// A recorder that ends with this value.
    struct Recorder(Child);

    impl Recorder {
        /// Starts `dds record`, after `setup` in its shell.
        fn start(domain: &Domain, path: &Path, setup: &str, options: &[&str]) -> Self {
            let script = format!("{setup}exec \"$0\" \"$@\"");
            let line = ["record", "--compression", "none", "--for", "60", "--output", path.to_str().unwrap()];
            let line = [&line[..], options].concat();
            let line = domain.line(&line);
            let mut command = Command::new("bash");
            command.args(["-c", &script, PROGRAM]).args(&line[1..]).stdin(Stdio::null());
            Self(command.stderr(Stdio::piped()).spawn().unwrap())
        }
    }

    impl Drop for Recorder {
        fn drop(&mut self) {
            // The process may have ended by itself.
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// Writes samples of 10 kB until `is_done`, and returns how many.
    fn write_until(writer: &DataWriter<Pose>, mut is_done: impl FnMut() -> bool) -> u32 {
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        let (start, mut count) = (Instant::now(), 0);
        while !is_done() {
            assert!(start.elapsed() < Duration::from_secs(60), "the recorder does not end");
            writer.write(&Pose { robot: count, x: 0.5, tags: vec!["x".repeat(10_000)] }).unwrap();
            count += 1;
            std::thread::sleep(Duration::from_millis(20));
        }
        count
    }

    fn recovered_samples(path: &Path) -> usize {
        let recovered = path.with_extension("recovered.mcap");
        run_local(&["recover", path.to_str().unwrap(), "--output", recovered.to_str().unwrap()]).unwrap();
        messages(&recovered).unwrap().map(Result::unwrap).count()
    }

    /// A limit of the file size acts like a full disk: a write of the recorder fails.
    #[test]
    #[cfg(target_os = "linux")]
    fn recording_on_a_full_disk_keeps_its_complete_chunks() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.mcap");
        let domain = Domain::new();
        let writer = pose_writer(&domain.join("robot"));
        // 3 MB: the recorder has written a chunk of 1 MiB before.
        let mut recorder = Recorder::start(&domain, &path, "trap '' XFSZ; ulimit -f 3000; ", &[]);
        let written = write_until(&writer, || recorder.0.try_wait().unwrap().is_some());
        let mut notes = String::new();
        recorder.0.stderr.take().unwrap().read_to_string(&mut notes).unwrap();
        assert_eq!(recorder.0.wait().unwrap().code(), Some(1), "{notes}");
        assert!(notes.contains("drive.mcap: ") && notes.contains("File too large"), "{notes}");
        assert!(notes.contains("robot/pose: "), "the figures of each topic: {notes}");
        let recovered = recovered_samples(&path);
        assert!((80..=written as usize).contains(&recovered), "{recovered} of {written}");
    }

    #[test]
    fn recording_of_a_killed_recorder_recovers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("drive.mcap");
        let domain = Domain::new();
        let writer = pose_writer(&domain.join("robot"));
        let recorder = Recorder::start(&domain, &path, "", &[]);
        // A chunk is complete after a second or 1 MiB, so the file has at least one.
        let has_chunk = || std::fs::metadata(&path).is_ok_and(|file| file.len() > 1_300_000);
        let written = write_until(&writer, has_chunk);
        // By SIGKILL.
        drop(recorder);
        let recovered = recovered_samples(&path);
        assert!((10..=written as usize).contains(&recovered), "{recovered} of {written}");
    }

    #[test]
    fn ring_is_written_at_its_signal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fault.mcap");
        let domain = Domain::new();
        let writer = pose_writer(&domain.join("robot"));
        let mut recorder = Recorder::start(&domain, &path, "", &["--last", "60s"]);
        // The program handles the signal before it has a reader. Otherwise the signal would end it.
        writer.wait_for_readers(1).block_for(Duration::from_secs(30)).unwrap();
        writer.write(&pose(1, 0.5)).unwrap();
        writer.acknowledged().block_for(Duration::from_secs(30)).unwrap();
        let process = recorder.0.id().to_string();
        let mut notes = BufReader::new(recorder.0.stderr.take().unwrap()).lines().map(Result::unwrap);
        let mut signal = || {
            let status = Command::new("bash").args(["-c", "kill -s USR1 \"$0\"", &process]).status().unwrap();
            assert!(status.success());
            notes.find(|note| note.starts_with("wrote ")).expect("the recorder writes a file")
        };
        // The sample has arrived, and may still wait in the queue.
        let note = loop {
            let note = signal();
            if !note.starts_with("wrote 0 samples ") {
                break note;
            }
        };
        let (count, file) = note.split_once(" into ").unwrap();
        assert_eq!(count, "wrote 1 samples");
        assert!(file.starts_with(path.with_file_name("fault_").to_str().unwrap()), "{file}");
        assert_eq!(messages(Path::new(file)).unwrap().map(Result::unwrap).count(), 1);
        // The recording goes on.
        let next = signal();
        assert!(next.starts_with("wrote 1 samples ") && next != note, "{next}");
    }

    /// Sends keys to a replay in a terminal that `script` creates. Returns the output.
    ///
    /// The replay waits for readers that never come.
    #[cfg(target_os = "linux")]
    fn replay_in_a_terminal(keys: &[&str]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.mcap");
        crate::recording::ten_seconds(&path);
        // The shell survives Ctrl-C, and prints the mode of the terminal.
        let line = format!(
            "trap : INT; {PROGRAM} play {} --scope host --readers-wait 60; echo \"status $?\"; stty -a",
            path.display()
        );
        let mut command = Command::new("script");
        command.args(["-qfec", &line, "/dev/null"]).env("SHELL", "/bin/bash");
        let mut script = Recorder(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        let mut input = script.0.stdin.take().unwrap();
        let mut output = script.0.stdout.take().unwrap();
        let (mut text, mut bytes) = (String::new(), [0; 4096]);
        while !text.contains("q ends") {
            let len = output.read(&mut bytes).unwrap();
            assert!(len > 0, "{text}");
            text += &String::from_utf8_lossy(&bytes[..len]);
        }
        for key in keys {
            input.write_all(key.as_bytes()).unwrap();
        }
        input.flush().unwrap();
        let start = Instant::now();
        while script.0.try_wait().unwrap().is_none() {
            assert!(start.elapsed() < Duration::from_secs(30), "the replay does not end");
            std::thread::sleep(Duration::from_millis(20));
        }
        output.read_to_string(&mut text).unwrap();
        text
    }

    /// Runs a command in a terminal that `script` creates, with settings of the shell. Returns the output.
    #[cfg(target_os = "linux")]
    fn in_a_terminal(settings: &str, arguments: &str) -> String {
        // Without a size, the terminal shows nothing.
        let line = format!("stty cols 120 rows 30; {settings} {PROGRAM} {arguments}");
        let mut command = Command::new("script");
        command.args(["-qfec", &line, "/dev/null"]).env("SHELL", "/bin/bash").env("TERM", "xterm-256color");
        let output = command.env_remove("NO_COLOR").stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn terminal_has_colors_unless_no_color_is_set() {
        // The escape sequence of a color of the text.
        let has_color = |text: &str| text.contains("\x1b[38;5;");
        let top = "top --scope host --every 0.2 --for 2";
        let text = in_a_terminal("", top);
        assert!(has_color(&text) && text.contains("none"), "{text:?}");
        let text = in_a_terminal("NO_COLOR=1", top);
        assert!(!has_color(&text) && text.contains("none"), "{text:?}");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn replay_shows_its_progress_on_a_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.mcap");
        crate::recording::ten_seconds(&path);
        let arguments = format!("play {} --scope host --readers-wait 0 --rate 10 --start 1", path.display());
        let text = in_a_terminal("", &arguments);
        assert!(text.contains(" of 8.0 s, ") && text.contains('█'), "{text:?}");
        // Notes have lines of their own, and the last step removes the line with the progress.
        assert!(text.contains("\x1b[2Kpublished 18 samples of 2 topics\r\n"), "{text:?}");
        assert!(text.trim_end().ends_with("\x1b[2K"), "{text:?}");
        assert!(!in_a_terminal("", &format!("{arguments} --json")).contains(" of 8.0 s, "));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn recording_shows_its_progress_on_a_terminal() {
        let folder = tempfile::tempdir().unwrap();
        let arguments = format!("record --output {}/a.mcap --scope host --for 1", folder.path().display());
        let text = in_a_terminal("", &arguments);
        assert!(text.contains(" s, 0 topics, 0 samples, 0 MiB wait in memory"), "{text:?}");
    }

    /// Raw mode would make a key of it, which waits as long as the replay waits for readers.
    #[test]
    #[cfg(target_os = "linux")]
    fn ctrl_c_ends_a_replay_that_waits_and_restores_the_terminal() {
        let text = replay_in_a_terminal(&["\x03"]);
        assert!(text.contains("status 0"), "{text}");
        assert!(text.contains(" icanon") && text.contains(" echo "), "{text}");
        // A second one may come while the first one ends the program.
        let text = replay_in_a_terminal(&["\x03", "\x03"]);
        assert!(text.contains("status 0") || text.contains("status 130"), "{text}");
        assert!(text.contains(" icanon") && text.contains(" echo "), "{text}");
    }
}
