//! Zenoh, which is not a DDS: it carries bytes, here by TCP between two peers. Its writers wait for room.

use crate::comparison::role::{Arrived, Link, Write1};
use crate::perf::Result;
use zenoh::pubsub::Publisher;
use zenoh::qos::CongestionControl;
use zenoh::{Config, Wait};

/// One side listens there.
const ENDPOINT: &str = "[\"tcp/127.0.0.1:17447\"]";

pub(super) fn open(link: Link, mut arrived: Arrived) -> Result<Write1> {
    let mut config = Config::default();
    let (listens, connects) = if link.writes == "there" { (ENDPOINT, "[]") } else { ("[]", ENDPOINT) };
    config.insert_json5("mode", "\"peer\"")?;
    config.insert_json5("scouting/multicast/enabled", "false")?;
    config.insert_json5("listen/endpoints", listens)?;
    config.insert_json5("connect/endpoints", connects)?;
    let session = zenoh::open(config).wait()?;
    let publisher = session.declare_publisher(link.writes).congestion_control(CongestionControl::Block).wait()?;
    let replies = session.declare_publisher(link.writes).congestion_control(CongestionControl::Block).wait()?;
    let mut reply = load(link);
    let callback = move |sample: zenoh::sample::Sample| {
        let bytes = sample.payload().to_bytes();
        let Some(number) = bytes.first_chunk().copied().map(u64::from_le_bytes) else { return };
        if let Some(next) = arrived(number) {
            write(&replies, &mut reply, next);
        }
    };
    // The subscriber lives as long as its session.
    session.declare_subscriber(link.reads).callback_mut(callback).background().wait()?;
    std::mem::forget(session);
    let mut sample = load(link);
    Ok(Box::new(move |number| write(&publisher, &mut sample, number)))
}

fn load(link: Link) -> Vec<u8> {
    vec![0x5a; link.size]
}

fn write(publisher: &Publisher<'_>, sample: &mut [u8], number: u64) {
    if let Some(head) = sample.first_chunk_mut() {
        *head = number.to_le_bytes();
    }
    publisher.put(&*sample).wait().expect("a put");
}
