//! Names of the participant's threads. With the feature `rt` also their priorities and cores.

use crate::support::{PATIENCE, World};
use dds_core::DdsType;
use dds_core::config::ThreadSettings;
use dds_core::error::CreateErrorKind;

#[derive(DdsType)]
struct Count {
    count: u64,
}

/// The directory of this process's thread with that name.
///
/// A thread sets its name when it begins to run.
#[allow(clippy::disallowed_methods, reason = "nothing says when a thread has begun")]
fn thread(name: &str) -> String {
    let started = std::time::Instant::now();
    loop {
        let found = std::fs::read_dir("/proc/self/task").unwrap().find_map(|entry| {
            let path = entry.unwrap().path();
            let comm = std::fs::read_to_string(path.join("comm")).ok()?;
            (comm.trim_end() == name).then(|| path.to_str().unwrap().to_owned())
        });
        if let Some(found) = found {
            return found;
        }
        assert!(started.elapsed() < PATIENCE.to_std().unwrap(), "no thread is called {name}");
        std::thread::yield_now();
    }
}

#[test]
fn threads_have_configured_names() {
    let builder = World::new().builder().receive_thread(ThreadSettings::new().name("my-receive"));
    let builder = builder.event_thread(ThreadSettings::new().name("my-event"));
    let participant = builder.io_thread(ThreadSettings::new().name("my-io")).build().unwrap();
    let _reader = participant.reader_builder::<Count>("t").on_data(|_| ()).build().unwrap();
    for name in ["my-receive", "my-event", "my-io"] {
        thread(name);
    }
}

#[test]
fn invalid_thread_name_is_rejected() {
    let settings = ThreadSettings::new().name("a\0b");
    let error = World::new().builder().receive_thread(settings).build().unwrap_err();
    assert!(matches!(error.kind(), CreateErrorKind::ThreadOption { thread: "receive", option: "name", .. }), "{error}");
}

#[cfg(feature = "rt")]
mod rt {
    use super::*;

    /// The scheduling policy and the real-time priority of a thread: fields 41 and 40 of its `stat`.
    fn scheduling(thread: &str) -> (u32, u32) {
        let stat = std::fs::read_to_string(format!("{thread}/stat")).unwrap();
        // The second field is the name. It may contain blanks, and ends with the last parenthesis.
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        (fields[41 - 3].parse().unwrap(), fields[40 - 3].parse().unwrap())
    }

    fn cores(thread: &str) -> String {
        let status = std::fs::read_to_string(format!("{thread}/status")).unwrap();
        status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap().trim().to_owned()
    }

    #[test]
    fn threads_have_configured_priorities_and_cores() {
        const SCHED_FIFO: u32 = 1;
        let settings = |name: &str, priority| ThreadSettings::new().name(name).priority(priority).cores([0]);
        let builder = World::new().builder().receive_thread(settings("rt-receive", 12));
        let builder = builder.event_thread(settings("rt-event", 11)).io_thread(settings("rt-io", 10));
        let participant = match builder.build() {
            Ok(participant) => participant,
            Err(error) => {
                let kind = error.kind();
                assert!(
                    matches!(kind, CreateErrorKind::ThreadOption { thread: "io", option: "priority", .. }),
                    "{error}"
                );
                println!("{error}");
                crate::support::skip("SCHED_FIFO");
                return;
            }
        };
        let _reader = participant.reader_builder::<Count>("t").on_data(|_| ()).build().unwrap();
        for (name, priority) in [("rt-receive", 12), ("rt-event", 11), ("rt-io", 10)] {
            assert_eq!(scheduling(&thread(name)), (SCHED_FIFO, priority), "{name}");
            assert_eq!(cores(&thread(name)), "0", "{name}");
        }
    }

    #[test]
    fn missing_core_fails_with_its_number() {
        let settings = ThreadSettings::new().cores([1000]);
        let error = World::new().builder().receive_thread(settings.clone()).build().unwrap_err();
        assert!(
            matches!(error.kind(), CreateErrorKind::ThreadOption { thread: "receive", option: "cores", .. }),
            "{error}"
        );
        let participant = World::new().builder().event_thread(settings).build().unwrap();
        let error = participant.reader_builder::<Count>("t").on_data(|_| ()).build().unwrap_err();
        assert!(
            matches!(error.kind(), CreateErrorKind::ThreadOption { thread: "event", option: "cores", .. }),
            "{error}"
        );
    }
}
