//! A tour of types: keys, enums, unions, optional members, newtypes, and a type that gains members later.

use dds_core::{DdsType, DomainParticipant, Duration, Result, Scope};

/// A newtype is encoded as its field.
#[derive(DdsType, Debug, Clone, PartialEq)]
struct RobotId(u32);

/// `nested`: part of other types, but not a topic of its own.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(nested)]
enum Mode {
    Idle,
    Driving,
    Error = 100,
}

/// A Rust enum with data is a union.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(nested, appendable)]
enum Task {
    None,
    Goto {
        point: Point,
    },
    #[dds(bound = 64)]
    Say(String),
}

#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(nested)]
struct Point {
    x: f64,
    y: f64,
}

/// The status of a robot, as the first release sends it.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(appendable, name = "Status")]
struct StatusV1 {
    #[dds(key)]
    robot: RobotId,
    mode: Mode,
    task: Task,
    position: Option<Point>,
    history: Vec<Point>,
}

/// The second release appends members. Both releases understand each other.
#[derive(DdsType, Debug, Clone, PartialEq)]
#[dds(appendable, name = "Status")]
struct StatusV2 {
    #[dds(key)]
    robot: RobotId,
    mode: Mode,
    task: Task,
    position: Option<Point>,
    history: Vec<Point>,
    #[dds(default = 100)]
    battery: u8,
    uptime: std::time::Duration,
}

fn main() -> Result<()> {
    let participant = DomainParticipant::builder(0).scope(Scope::Host).build()?;
    let limit = Duration::from_secs(10);
    let status = StatusV1 {
        robot: RobotId(7),
        mode: Mode::Driving,
        task: Task::Goto { point: Point { x: 1.0, y: 2.0 } },
        position: None,
        history: vec![Point { x: 0.5, y: 0.0 }],
    };

    // An old writer and a new reader: missing members take their defaults.
    let old_writer = participant.writer::<StatusV1>("status")?;
    let new_reader = participant.reader::<StatusV2>("status")?;
    old_writer.wait_for_readers(1).block_for(limit)?;
    old_writer.write(&status)?;
    let received = new_reader.next_sample().block_for(limit)?.data;
    println!("new reader: {received:?}");

    // A new writer and an old reader: the reader skips members that it does not know.
    let new_writer = participant.writer::<StatusV2>("other status")?;
    let old_reader = participant.reader::<StatusV1>("other status")?;
    new_writer.wait_for_readers(1).block_for(limit)?;
    let mut newer = received.expect("a written sample has data");
    (newer.battery, newer.mode, newer.task) = (40, Mode::Error, Task::Say("help".into()));
    new_writer.write(&newer)?;
    println!("old reader: {:?}", old_reader.next_sample().block_for(limit)?.data);

    // Each value of the key is one instance, with its own history and its own end.
    new_writer.dispose(&RobotId(7))?;
    old_reader.readable().block_for(limit)?;
    let end: Vec<_> = old_reader.take()?.into_changes().collect();
    println!("{end:?}");
    Ok(())
}
