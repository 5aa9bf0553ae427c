//! Samples from one byte to 64 MiB, from and to Cyclone DDS, with defaults and with settings for large data.
//!
//! Each test prints the time from the first write to the last sample. It includes Python's work for each octet.

use super::agreement::{Agreement, IsWithin};
use super::peer::{LIMIT, Peer};
use super::types::{Blob, Subject};
use dds_core::DomainParticipant;
use dds_core::cdr::TypeInfo;
use dds_core::qos::{DataRepresentation, Durability};
use std::time::{Duration, Instant};

const MIB: usize = 1 << 20;

/// Octets of a [`Blob`].
const RELIABLE: [usize; 5] = [1, 1 << 10, 64 << 10, MIB, 16 * MIB];
const BEST_EFFORT: [usize; 4] = [1, 1 << 10, 64 << 10, MIB];

/// Our writer paces by the free space in Cyclone's receive buffer, so that any size arrives.
const BEST_EFFORT_TO: [usize; 2] = [16 * MIB, 64 * MIB];

/// Sizes of Cyclone's best-effort samples.
///
/// Cyclone sends each sample at once, and a full receive buffer drops the excess. With the 4 MiB that a usual system
/// grants, each of these samples always loses a fragment.
const BEST_EFFORT_FROM: [usize; 2] = [16 * MIB, 64 * MIB];

/// Space for all datagrams of a 64 MiB sample, including the kernel's overhead for each.
///
/// Systems grant less by default. The test needs privileges, which it has if it created its network namespace.
const ROOM_FOR_ALL: usize = 256 * MIB;

/// Samples written in direct succession, so that they overlap on their way.
const SAMPLES: u32 = 3;

/// Attempts at a best-effort sample, which Cyclone DDS sends at once.
///
/// Other work can keep a receive thread from its socket for any time. Then a full buffer drops datagrams, and neither
/// side is at fault.
const TRIES: u32 = 60;

/// Long enough for any written best-effort sample to arrive. A later sample counts as lost.
const LOST_AFTER: Duration = Duration::from_secs(2);

/// Additional time for Python for each MiB of octets.
const PYTHON_PER_MIB: Duration = Duration::from_millis(500);

/// Settings of Cyclone DDS.
#[derive(Debug, Clone, Copy)]
enum Setup {
    /// Fragments of 1344 bytes in datagrams of 14 720, and a receive buffer of 1 MiB.
    Defaults,
    /// The largest datagrams, with one fragment each, and the largest receive buffer that the system grants.
    LargeData,
}

impl Setup {
    fn start(self, script: &str, agreement: Agreement) -> Peer {
        const LARGE_DATA: &str = "<CycloneDDS><Domain>\
            <General><MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>\
            <Internal><SocketReceiveBufferSize min=\"default\" max=\"10MB\"/></Internal>\
            </Domain></CycloneDDS>";
        let arguments = agreement.arguments(Blob::TYPE_NAME);
        match self {
            Self::Defaults => Peer::start(script, &arguments),
            Self::LargeData => Peer::start_with(script, &arguments, &[("CYCLONEDDS_URI", LARGE_DATA)]),
        }
    }
}

fn agreement(topic: &'static str, reliable: bool) -> Agreement {
    Agreement { topic, reliable, representation: DataRepresentation::Xcdr2, durability: Durability::Volatile }
}

/// Cyclone publishes: reliable samples in succession, best-effort ones repeatedly until they arrive.
fn receive(agreement: Agreement, setup: Setup, sizes: &[usize]) {
    let builder = DomainParticipant::builder(0);
    let is_too_much = !agreement.reliable && sizes.iter().any(|len| *len > MIB);
    let builder = if is_too_much { builder.receive_buffer(ROOM_FOR_ALL) } else { builder };
    let participant = builder.build().unwrap();
    let reader = agreement.reader::<Blob>(&participant);
    let mut publisher = setup.start("publisher.py", agreement);
    reader.wait_for_writers(1).block_for(LIMIT).unwrap();
    publisher.wait_for("matched", |event| event["count"] == 1);
    for &len in sizes {
        let begin = Instant::now();
        if agreement.reliable {
            publisher.tell(&format!("write 0 {SAMPLES} {len}"));
        }
        let samples = if agreement.reliable || len <= MIB { SAMPLES } else { 1 };
        for index in 0..samples {
            let sample = if agreement.reliable {
                reader.next_sample().block_for(LIMIT + PYTHON_PER_MIB * (len / MIB) as u32).unwrap()
            } else {
                one_of_many(agreement.topic, len, || {
                    publisher.tell(&format!("write {index} 1 {len}"));
                    publisher.wait_for("written", |_| true);
                    reader.next_sample().block_for(LOST_AFTER).ok()
                })
            };
            // `assert_eq!` would print many MiB.
            assert!(sample.data.unwrap() == Blob::of_len(index, len), "sample {index} of {len} bytes");
        }
        println!("{}: {samples} x {len} bytes in {:?}", agreement.topic, begin.elapsed());
    }
    assert_eq!(reader.not_decodable(), 0);
}

/// Our side publishes: reliable samples in succession, best-effort ones repeatedly until they arrive.
fn publish(agreement: Agreement, setup: Setup, sizes: &[usize]) {
    let participant = DomainParticipant::new(0).unwrap();
    let writer = agreement.writer::<Blob>(&participant);
    let mut subscriber = setup.start("subscriber.py", agreement);
    writer.wait_for_readers(1).block_for(LIMIT).unwrap();
    subscriber.wait_for("matched", |event| event["count"] == 1);
    for &len in sizes {
        let samples: Vec<Blob> = (0..SAMPLES).map(|index| Blob::of_len(index, len)).collect();
        let begin = Instant::now();
        if agreement.reliable {
            samples.iter().for_each(|sample| writer.write(sample).unwrap());
        }
        for (index, sample) in samples.iter().enumerate() {
            let event = if agreement.reliable {
                subscriber.wait_for("sample", |_| true)
            } else {
                one_of_many(agreement.topic, len, || {
                    writer.write(sample).unwrap();
                    subscriber.try_wait_for("sample", LOST_AFTER + PYTHON_PER_MIB * (len / MIB) as u32)
                })
            };
            assert!(sample.fields().is_within(&event), "sample {index} of {len} bytes: {event}");
        }
        println!("{}: {SAMPLES} x {len} bytes in {:?}", agreement.topic, begin.elapsed());
    }
    if agreement.reliable {
        writer.acknowledged().block_for(LIMIT).unwrap();
    }
}

/// Sends a best-effort sample until it arrives, and prints the number of attempts if it exceeds one.
fn one_of_many<T>(topic: &str, len: usize, mut send: impl FnMut() -> Option<T>) -> T {
    let (tries, arrived) =
        (1..=TRIES).find_map(|tries| send().map(|arrived| (tries, arrived))).expect("one of many arrives");
    if tries > 1 {
        println!("{topic}: {len} bytes arrived at try {tries}");
    }
    arrived
}

/// Defines one test for each combination, so that a failure names it.
macro_rules! combinations {
    ($($name:ident: $direction:ident, $reliable:literal, $setup:ident, $sizes:expr;)*) => {
        $(#[test]
        #[ignore = "needs Cyclone DDS: .ci/run cyclone large"]
        fn $name() {
            $direction(agreement(stringify!($name), $reliable), Setup::$setup, &$sizes);
        })*
    };
}

combinations! {
    reliable_from_cyclone: receive, true, Defaults, RELIABLE;
    reliable_from_cyclone_for_large_data: receive, true, LargeData, RELIABLE;
    reliable_to_cyclone: publish, true, Defaults, RELIABLE;
    reliable_to_cyclone_for_large_data: publish, true, LargeData, RELIABLE;
    best_effort_from_cyclone: receive, false, Defaults, BEST_EFFORT;
    best_effort_from_cyclone_for_large_data: receive, false, LargeData, BEST_EFFORT;
    best_effort_to_cyclone: publish, false, Defaults, BEST_EFFORT;
    best_effort_to_cyclone_for_large_data: publish, false, LargeData, BEST_EFFORT;
    of_64_mib_from_cyclone: receive, true, Defaults, [64 * MIB];
    of_64_mib_from_cyclone_for_large_data: receive, true, LargeData, [64 * MIB];
    of_64_mib_to_cyclone: publish, true, Defaults, [64 * MIB];
    of_64_mib_to_cyclone_for_large_data: publish, true, LargeData, [64 * MIB];
    best_effort_of_64_mib_from_cyclone: receive, false, Defaults, BEST_EFFORT_FROM;
    best_effort_of_64_mib_from_cyclone_for_large_data: receive, false, LargeData, BEST_EFFORT_FROM;
    best_effort_of_64_mib_to_cyclone: publish, false, Defaults, BEST_EFFORT_TO;
    best_effort_of_64_mib_to_cyclone_for_large_data: publish, false, LargeData, BEST_EFFORT_TO;
}
