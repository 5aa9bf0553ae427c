//! The page of `dds serve` in a large domain: the time of one refresh.
//!
//! `cargo bench -p dds-tools --bench live_view` starts 200 participants with 2000 endpoints in one process. Then it
//! asks a server for the state, as the page does each second. `-- --test` starts three participants.
//!
//! The time starts with the request and ends with the last byte of the response. All robots know each other before
//! the first request. The first answers are left out, because the server still creates its readers.

#![allow(clippy::print_stdout, reason = "the result of the program")]

use clap::Parser;
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, Scope};
use dds_tools::options::CommandLine;
use dds_tools::{Stop, commands};
use std::error::Error;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};

/// Writers of each participant. It has as many readers.
const WRITERS: usize = 5;
/// Writers of each topic.
const WRITERS_OF_TOPIC: usize = 2;
/// Longest wait for the server's discovery.
const PATIENCE: Duration = Duration::from_secs(300);
/// Requests before the measurement.
const WARM_UP: usize = 5;

type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

#[derive(DdsType)]
struct Pose {
    #[dds(key)]
    robot: u32,
    x: f64,
}

struct Robot {
    _participant: DomainParticipant,
    writers: Vec<DataWriter<Pose>>,
    _readers: Vec<DataReader<Pose>>,
}

impl Robot {
    fn start(number: usize, topics: usize, tag: &str) -> Outcome<Self> {
        // Robots are programs of their own. One process could not map the memory of 40 000 pairs.
        let participant = DomainParticipant::builder(0)
            .scope(Scope::Host)
            .domain_tag(tag)
            .shared_memory(0)
            // All robots share the processors of the server. Their announcements would make it wait.
            .lease(10 * PATIENCE)
            .announcement_period(PATIENCE)
            .name(format!("robot {number}"))
            .build()?;
        let (mut writers, mut readers) = (Vec::new(), Vec::new());
        for endpoint in 0..WRITERS {
            let topic = format!("topic/{}", (number * WRITERS + endpoint) % topics);
            writers.push(participant.writer(topic.as_str())?);
            readers.push(participant.reader(topic.as_str())?);
        }
        Ok(Self { _participant: participant, writers, _readers: readers })
    }
}

fn main() -> Outcome<()> {
    let is_test = std::env::args().any(|argument| argument == "--test");
    let (participants, requests) = if is_test { (3, 2) } else { (200, 60) };
    let tag = format!("live-view-{}", std::process::id());
    let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
    let stop = Stop::new();
    let bind = address.to_string();
    let line = ["dds", "serve", "--bind", &bind, "--domain", "0", "--scope", "host", "--tag", &tag];
    let options = CommandLine::try_parse_from(line)?;
    let server = std::thread::spawn({
        let stop = stop.clone();
        move || {
            commands::run(&options.command, &mut std::io::empty(), &mut std::io::sink(), &mut std::io::sink(), &stop)
        }
    });
    let topics = (participants * WRITERS / WRITERS_OF_TOPIC).max(1);
    let robots = (0..participants).map(|number| Robot::start(number, topics, &tag)).collect::<Outcome<Vec<_>>>()?;
    let start = Instant::now();
    let endpoints = 2 * WRITERS * participants;
    while refresh(address).map_or(0, |(_, state)| state.matches("\"kind\"").count()) < endpoints {
        if start.elapsed() > PATIENCE || server.is_finished() {
            return Err("the server did not discover all endpoints".into());
        }
        std::thread::sleep(Duration::from_millis(500));
    }
    for writer in robots.iter().flat_map(|robot| &robot.writers) {
        writer.wait_for_readers(WRITERS_OF_TOPIC).block_for(PATIENCE)?;
    }
    println!(
        "{participants} participants, {endpoints} endpoints, {topics} topics: known after {:.1?}",
        start.elapsed()
    );
    let mut times = Vec::new();
    let mut len = 0;
    for request in 0..WARM_UP + requests {
        for (number, robot) in robots.iter().enumerate() {
            robot.writers[0].write(&Pose { robot: number as u32, x: 0.0 })?;
        }
        std::thread::sleep(Duration::from_secs(1));
        let (time, state) = refresh(address)?;
        len = state.len();
        if request >= WARM_UP {
            times.push(time);
        }
    }
    times.sort_unstable();
    println!("refresh: p50 {:.1?}, max {:.1?}, {len} bytes", times[times.len() / 2], times[times.len() - 1]);
    stop.request();
    server.join().map_err(|_| "the server panicked")??;
    Ok(())
}

/// Returns the state, and the time until it was complete.
fn refresh(address: SocketAddr) -> Outcome<(Duration, String)> {
    let start = Instant::now();
    let mut stream = TcpStream::connect(address)?;
    write!(stream, "GET /api/state HTTP/1.1\r\nHost: {address}\r\n\r\n")?;
    let mut response = String::new();
    stream.read_to_string(&mut response)?;
    Ok((start.elapsed(), response))
}
