//! The tests of the book, and the functions that its snippets call in hidden lines.
//!
//! The documentation tests of this package compile and run the snippets of the book and of the README.

use dds_core::{DomainParticipant, Result, Scope};
use std::process::{Child, Command, ExitStatus};
use std::time::{Duration, Instant};

/// A snippet of the book that takes longer hangs.
const SNIPPET_MAX: Duration = Duration::from_secs(120);

/// Creates a participant of this host that only this process sees, for the tests of the book.
///
/// # Errors
/// As [`DomainParticipant::new`].
pub fn private_participant() -> Result<DomainParticipant> {
    let tag = format!("book-{}", std::process::id());
    Ok(DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).build()?)
}

/// Repeats this snippet in a new process and in a new folder with these files. No other program sees it.
///
/// Returns in that process. The first one ends with its result.
///
/// # Panics
/// If the folder cannot be made, the process cannot start, or the snippet fails or does not end.
pub fn alone(files: &[(&str, &str)]) {
    if std::env::var_os("BOOK_ALONE").is_some() {
        return;
    }
    let tag = format!("book-{}", std::process::id());
    let folder = std::env::temp_dir().join(&tag);
    std::fs::create_dir_all(&folder).expect("a folder for temporary files exists");
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(&folder)).expect("the folder is new");
        std::fs::write(path, content).expect("the folder is new");
    }
    let mut started = std::env::current_exe()
        .and_then(|program| {
            Command::new(program)
                .args(std::env::args_os().skip(1))
                .current_dir(&folder)
                .env("OUT_DIR", &folder) // for build scripts
                .envs([("BOOK_ALONE", "1"), ("DDS_SCOPE", "host"), ("DDS_DOMAIN_TAG", &tag)])
                .spawn()
        })
        .expect("a program can start itself");
    let ended = ended_within(&mut started, SNIPPET_MAX);
    let removed = std::fs::remove_dir_all(&folder);
    assert!(ended.expect("the snippet ends").success());
    removed.expect("the folder is of this process");
    std::process::exit(0);
}

/// Returns how a process ended. Kills it after `limit`, and returns `None` then.
fn ended_within(process: &mut Child, limit: Duration) -> Option<ExitStatus> {
    let until = Instant::now() + limit;
    loop {
        match process.try_wait().expect("the system knows its own process") {
            Some(status) => return Some(status),
            None if Instant::now() >= until => break,
            None => std::thread::sleep(Duration::from_millis(10)),
        }
    }
    // It may have ended just now.
    let _ = process.kill();
    let _ = process.wait();
    None
}

/// Returns a code block of a page of the book: the first one that begins with `start`.
///
/// # Panics
/// If the page has no such block.
#[must_use]
pub fn shown(page: &str, start: &str) -> String {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/").to_owned() + page;
    let text = std::fs::read_to_string(path).expect("the page exists");
    let block = text.split("```").skip(1).step_by(2).find_map(|block| {
        let (_language, code) = block.split_once('\n')?;
        code.starts_with(start).then(|| code.to_owned())
    });
    block.expect("the page has the block")
}

/// Compiles the program of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

/// The pages of the book with Rust code. Their snippets are documentation tests.
#[cfg(doctest)]
mod pages {
    macro_rules! pages {
        ($($name:ident $page:literal)*) => {
            $(
                #[doc = include_str!(concat!("src/", $page))]
                struct $name;
            )*
        };
    }

    pages! {
        Introduction "introduction.md"
        Tutorial "tutorial.md"
        Concepts "concepts.md"
        Qos "howto/qos.md"
        Images "howto/images.md"
        LateJoiners "howto/late-joiners.md"
        RequestReply "howto/request-reply.md"
        Idl "howto/idl.md"
        Ros2 "howto/ros2.md"
        Tokio "howto/tokio.md"
        Simulator "howto/simulator.md"
        RealTime "howto/real-time.md"
        Files "howto/files.md"
        UnknownTypes "howto/unknown-types.md"
        Types "reference/types.md"
        Security "deploy/security.md"
        Unicast "deploy/unicast.md"
        Buffers "deploy/buffers.md"
        Troubleshooting "troubleshooting.md"
        Migration "migration.md"
    }
}
