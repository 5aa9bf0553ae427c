//! Round trips between two processes: `cargo bench -p dds-shm`.
//!
//! Prints the median and the minimum of 64 B, 64 KiB and 1 MiB. The message is copied in and out on both sides.
//! `--spin` lets both receive threads poll, for two idle cores.

#![allow(clippy::unwrap_used, reason = "a failure is the report")]

#[cfg(target_os = "linux")]
mod program {
    use dds_shm::{Identity, ShmConfig, ShmEvent, ShmHost, ShmPath, ShmReception};
    use std::io::IoSlice;
    use std::process::Command;
    use std::time::{Duration, Instant};

    const WARM_UP: usize = 200;

    /// Longest wait for the other process.
    const PATIENCE: Duration = Duration::from_secs(10);

    fn open(identity: Identity) -> (ShmHost, ShmReception) {
        let mut config = ShmConfig::default();
        if std::env::args().any(|argument| argument == "--spin") {
            config.spin = Duration::from_millis(10);
        }
        ShmHost::new(identity, config).unwrap()
    }

    fn wait_until_up(reception: &mut ShmReception) -> ShmPath {
        match reception.next_event(Some(PATIENCE)) {
            Some(ShmEvent::Up(path)) => path,
            event => panic!("the path does not open: {event:?}"),
        }
    }

    /// Returns the message, or `None` after the end of the path.
    fn receive<'a>(reception: &mut ShmReception, buffer: &'a mut [u8]) -> Option<&'a [u8]> {
        loop {
            match reception.next_event(None) {
                Some(ShmEvent::Message(message)) => {
                    let len = message.copy_to(buffer);
                    drop(message);
                    return Some(&buffer[..len]);
                }
                Some(ShmEvent::Down { .. }) => return None,
                _ => {}
            }
        }
    }

    pub(super) fn reply(own: Identity) {
        let (_host, mut reception) = open(own);
        let path = wait_until_up(&mut reception);
        let mut buffer = vec![0; 2 << 20];
        while let Some(message) = receive(&mut reception, &mut buffer) {
            path.send(&[IoSlice::new(message)]).unwrap();
        }
    }

    pub(super) fn measure() {
        let program = std::process::id().to_le_bytes();
        let mut identity = [1; 16];
        identity[..4].copy_from_slice(&program);
        let mut peer = [2; 16];
        peer[..4].copy_from_slice(&program);
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.env("DDS_SHM_REPLY", format!("{}", std::process::id()));
        command.args(std::env::args().filter(|argument| argument == "--spin"));
        let mut child = command.spawn().unwrap();
        let (host, mut reception) = open(identity);
        let until = Instant::now() + PATIENCE;
        while let Err(refusal) = host.connect(peer) {
            let ended = child.try_wait().unwrap();
            assert!(
                ended.is_none() && Instant::now() < until,
                "the other process does not listen: {refusal}, {ended:?}"
            );
            std::thread::sleep(Duration::from_millis(1));
        }
        let path = wait_until_up(&mut reception);
        let is_test = std::env::args().any(|argument| argument == "--test");
        for (name, len, count) in [("64 B", 64, 50_000), ("64 KiB", 64 << 10, 20_000), ("1 MiB", 1 << 20, 2000)] {
            let count = if is_test { 10 } else { count };
            let message = vec![7; len];
            let mut buffer = vec![0; len];
            let mut times = Vec::with_capacity(count);
            for round in 0..count + WARM_UP {
                let start = Instant::now();
                path.send(&[IoSlice::new(&message)]).unwrap();
                let received = receive(&mut reception, &mut buffer).unwrap();
                let took = start.elapsed();
                assert_eq!(received.len(), len);
                if round >= WARM_UP {
                    times.push(took);
                }
            }
            times.sort_unstable();
            println!("{name:>7}: p50 {:?}, minimum {:?}", times[count / 2], times[0]);
        }
        path.close();
        child.wait().unwrap();
    }

    pub(super) fn peer_of(program: &str) -> Identity {
        let mut identity = [2; 16];
        identity[..4].copy_from_slice(&program.parse::<u32>().unwrap().to_le_bytes());
        identity
    }
}

#[cfg(target_os = "linux")]
fn main() {
    match std::env::var("DDS_SHM_REPLY") {
        Ok(program) => program::reply(program::peer_of(&program)),
        Err(_) => program::measure(),
    }
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("shared memory needs Linux");
}
