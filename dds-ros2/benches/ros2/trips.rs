//! Round trips of a text, of an image of 1 MiB, and of a call.

use crate::Outcome;
use crate::process::{Process, say_ready, wait_for_end};
use dds_core::cdr::{DecodeOwned, Encode, TypeInfo};
use dds_core::qos::{DataReaderQos, DataRepresentation, DataWriterQos};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant};
use dds_ros2::msgs::sensor_msgs::msg::Image;
use dds_ros2::msgs::std_msgs::msg::String as Text;
use dds_ros2::msgs::std_srvs::srv::{SetBool, SetBoolRequest, SetBoolResponse};
use dds_ros2::{Client, Context, Node, Publisher, RosMessage, Subscription};
use std::io::BufRead;
use std::time::{Duration, Instant};

/// No other bench uses these domains: one for each implementation, which therefore do not meet.
const DOMAIN_ROS2: u32 = 63;
const DOMAIN_CORE: u32 = 64;
const DOMAIN_RCLPY: u32 = 65;

/// Longest wait for a match.
const PATIENCE: Duration = Duration::from_secs(60);

/// The name of each work, and its repetitions in a turn.
const WORK: [(&str, usize); 3] = [("text", 400), ("image", 40), ("call", 400)];
const TURNS: usize = 12;

/// The times of one implementation in nanoseconds, by work.
struct Contestant {
    name: &'static str,
    /// The number of its works. Plain `dds-core` has no services of ROS 2.
    works: usize,
    ping: Process,
    _pong: Process,
    times: [Vec<u64>; 3],
}

impl Contestant {
    fn new(name: &'static str, start: impl Fn(&'static str) -> Outcome<Option<Process>>) -> Outcome<Option<Self>> {
        let (Some(mut pong), Some(mut ping)) = (start("pong")?, start("ping")?) else { return Ok(None) };
        for process in [&mut pong, &mut ping] {
            process.line()?;
        }
        let works = if name == "dds-core" { WORK.len() - 1 } else { WORK.len() };
        Ok(Some(Self { name, works, ping, _pong: pong, times: Default::default() }))
    }

    fn take_turn(&mut self, work: usize, count: usize) -> Outcome {
        self.ping.tell(&format!("{} {count}", WORK[work].0))?;
        for time in self.ping.line()?.split_whitespace() {
            self.times[work].push(time.parse()?);
        }
        Ok(())
    }

    /// A quantile of the times in microseconds, or `None` if the implementation lacks the work.
    fn quantile(&mut self, work: usize, quantile: f64) -> Option<f64> {
        let times = &mut self.times[work];
        times.sort_unstable();
        let index = (times.len().checked_sub(1)? as f64 * quantile).round() as usize;
        Some(times[index] as f64 / 1000.0)
    }
}

pub(crate) fn measure(is_test: bool) -> Outcome {
    let own = |name| move |role| Process::own(&[role, name]).map(Some);
    let contestants = [
        Contestant::new("dds-core", own("core"))?,
        Contestant::new("dds-ros2", own("ros2"))?,
        Contestant::new("rclpy", |role| Process::python(&[role], DOMAIN_RCLPY))?,
    ];
    let mut contestants: Vec<Contestant> = contestants.into_iter().flatten().collect();
    for turn in 0..if is_test { 1 } else { TURNS } {
        for (work, (_, count)) in WORK.iter().enumerate() {
            // Each implementation comes first in turn.
            let first = turn % contestants.len();
            contestants.rotate_left(first);
            for contestant in contestants.iter_mut().filter(|contestant| work < contestant.works) {
                contestant.take_turn(work, if is_test { 2 } else { *count })?;
            }
        }
        if turn == 0 && !is_test {
            // The first turn warms up.
            contestants.iter_mut().flat_map(|contestant| &mut contestant.times).for_each(Vec::clear);
        }
    }
    contestants.sort_by_key(|contestant| contestant.name);
    print(&mut contestants);
    Ok(())
}

fn print(contestants: &mut [Contestant]) {
    println!("| round trip in µs | text: p50 | p99 | image of 1 MiB: p50 | p99 | call: p50 | p99 |");
    println!("|---|---|---|---|---|---|---|");
    for contestant in &mut *contestants {
        let mut row = format!("| {} |", contestant.name);
        for work in 0..WORK.len() {
            for quantile in [0.5, 0.99] {
                let time = contestant.quantile(work, quantile);
                row.push_str(&time.map_or("  |".to_owned(), |time| format!(" {time:.1} |")));
            }
        }
        println!("{row}");
    }
    let mut median = |name: &str, work| {
        let found = contestants.iter_mut().find(|contestant| contestant.name == name);
        found.and_then(|found| found.quantile(work, 0.5)).unwrap_or(f64::NAN)
    };
    let (text, call) = (median("dds-ros2", 0), median("dds-ros2", 2));
    let image = median("dds-ros2", 1);
    println!(
        "text of dds-ros2 to dds-core {:.2}, image {:.2}",
        text / median("dds-core", 0),
        image / median("dds-core", 1)
    );
    println!("call to text of dds-ros2 {:.2}, of rclpy {:.2}", call / text, median("rclpy", 2) / median("rclpy", 0));
}

fn text() -> Text {
    Text { data: "x".repeat(32) }
}

fn image() -> Image {
    let (height, width, step) = (1024, 1024, 1024);
    Image { height, width, step, encoding: "mono8".into(), data: vec![0; 1 << 20], ..Image::default() }
}

/// Answers the requests of the parent with the times of round trips.
fn serve(mut round_trip: impl FnMut(&str) -> Outcome) -> Outcome {
    say_ready()?;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (work, count) = line.split_once(' ').ok_or("expected WORK COUNT")?;
        let mut times = Vec::new();
        for _ in 0..count.parse()? {
            let start = Instant::now();
            round_trip(work)?;
            times.push(start.elapsed().as_nanos().to_string());
        }
        println!("{}", times.join(" "));
    }
    Ok(())
}

pub(crate) fn ping(implementation: &str) -> Outcome {
    if implementation == "core" { core_ping() } else { ros2_ping() }
}

pub(crate) fn pong(implementation: &str) -> Outcome {
    if implementation == "core" { core_pong() } else { ros2_pong() }
}

fn ros2_node(name: &str) -> Outcome<Node> {
    Ok(Context::builder().ignore_environment().domain_id(DOMAIN_ROS2).build()?.node(name)?)
}

fn ros2_pair<T: RosMessage + 'static>(
    node: &Node,
    there: &str,
    back: &str,
) -> Outcome<(Publisher<T>, Subscription<T>)> {
    Ok((node.publisher(there)?, node.subscription(back)?))
}

fn ros2_ping() -> Outcome {
    let node = ros2_node("ping")?;
    let texts = ros2_pair::<Text>(&node, "text", "text_back")?;
    let images = ros2_pair::<Image>(&node, "image", "image_back")?;
    let client: Client<SetBool> = node.client("flip")?;
    let (text, image) = (text(), image());
    texts.0.wait_for_subscribers(1).block_for(PATIENCE)?;
    texts.1.wait_for_publishers(1).block_for(PATIENCE)?;
    images.0.wait_for_subscribers(1).block_for(PATIENCE)?;
    images.1.wait_for_publishers(1).block_for(PATIENCE)?;
    client.wait_for_service().block_for(PATIENCE)?;
    serve(|work| {
        match work {
            "text" => ros2_round_trip(&texts, &text)?,
            "image" => ros2_round_trip(&images, &image)?,
            _ => drop(client.call(SetBoolRequest { data: true }).block()?),
        }
        Ok(())
    })
}

fn ros2_round_trip<T: RosMessage + 'static>(pair: &(Publisher<T>, Subscription<T>), message: &T) -> Outcome {
    pair.0.publish(message)?;
    pair.1.next_message().block()?;
    Ok(())
}

fn ros2_pong() -> Outcome {
    let node = ros2_node("pong")?;
    let (texts, heard_texts) = ros2_pair::<Text>(&node, "text_back", "text")?;
    let (images, heard_images) = ros2_pair::<Image>(&node, "image_back", "image")?;
    let service = node.service::<SetBool>("flip")?;
    std::thread::spawn(move || heard_texts.iter().try_for_each(|text| texts.publish(&text)));
    std::thread::spawn(move || heard_images.iter().try_for_each(|image| images.publish(&image)));
    std::thread::spawn(move || service.serve(|_| SetBoolResponse::default()));
    say_ready()?;
    wait_for_end()
}

type CorePair<T> = (DataWriter<T>, DataReader<T>);

/// A writer and a reader with the QoS that `dds-ros2` has.
fn core_pair<T: DdsType + 'static>(participant: &DomainParticipant, there: &str, back: &str) -> Outcome<CorePair<T>> {
    let xcdr1 = vec![DataRepresentation::Xcdr1];
    let offered = DataWriterQos::default().reliable().keep_last(10).representation(xcdr1.clone());
    let requested = DataReaderQos::default().reliable().keep_last(10).representation(xcdr1);
    let writer = participant.writer_builder::<T>(there).qos(offered).build()?;
    Ok((writer, participant.reader_builder::<T>(back).qos(requested).build()?))
}

fn core_participant() -> Outcome<DomainParticipant> {
    Ok(DomainParticipant::builder(DOMAIN_CORE).build()?)
}

fn core_ping() -> Outcome {
    let participant = core_participant()?;
    let texts = core_pair::<Text>(&participant, "text", "text_back")?;
    let images = core_pair::<Image>(&participant, "image", "image_back")?;
    let (text, image) = (text(), image());
    texts.0.wait_for_readers(1).block_for(PATIENCE)?;
    texts.1.wait_for_writers(1).block_for(PATIENCE)?;
    images.0.wait_for_readers(1).block_for(PATIENCE)?;
    images.1.wait_for_writers(1).block_for(PATIENCE)?;
    serve(|work| match work {
        "text" => core_round_trip(&texts, &text),
        _ => core_round_trip(&images, &image),
    })
}

fn core_round_trip<T: Encode + TypeInfo + DecodeOwned>(pair: &CorePair<T>, message: &T) -> Outcome {
    pair.0.write(message)?;
    pair.1.next_sample().block()?;
    Ok(())
}

fn core_pong() -> Outcome {
    let participant = core_participant()?;
    let (texts, heard_texts) = core_pair::<Text>(&participant, "text_back", "text")?;
    let (images, heard_images) = core_pair::<Image>(&participant, "image_back", "image")?;
    std::thread::spawn(move || heard_texts.iter().try_for_each(|text| texts.write(&text)));
    std::thread::spawn(move || heard_images.iter().try_for_each(|image| images.write(&image)));
    say_ready()?;
    wait_for_end()
}
