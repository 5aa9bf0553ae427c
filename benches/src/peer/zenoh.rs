//! Zenoh, which is no DDS: it carries bytes and knows no keys, so the sample is an identifier and a value one behind the other.
//!
//! One session has the publisher and the subscriber, and neither looks for others nor listens. The subscriber's callback
//! runs on the thread that puts, as our `Inline` listener does. A put copies the sample into a payload of its own, as
//! whoever encodes one has to; the callback copies it into a value that it keeps.

use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Arrival, slot};
use zenoh::pubsub::Publisher;
use zenoh::{Config, Session, Wait};

/// What keeps a session to itself.
const ALONE: [(&str, &str); 4] = [
    ("mode", "\"peer\""),
    ("scouting/multicast/enabled", "false"),
    ("listen/endpoints", "[]"),
    ("connect/endpoints", "[]"),
];

/// A publisher and a subscriber of one session.
pub struct WriteAndReceive {
    publisher: Publisher<'static>,
    sample: Vec<u8>,
    arrival: Arrival,
    _session: Session,
}

impl WriteAndReceive {
    /// A pair for the small sample.
    #[must_use]
    pub fn small() -> Self {
        Self::new("zenoh/small", vec![1, 7])
    }

    /// A pair for the large sample.
    #[must_use]
    pub fn large() -> Self {
        Self::new("zenoh/large", [vec![1], vec![7; LARGE_PAYLOAD_LEN]].concat())
    }

    /// Makes a session with both. They know each other at once.
    ///
    /// # Panics
    ///
    /// If one of them cannot be made.
    fn new(name: &'static str, sample: Vec<u8>) -> Self {
        let mut config = Config::default();
        for (key, value) in ALONE {
            config.insert_json5(key, value).expect("a setting that Zenoh knows");
        }
        let session = zenoh::open(config).wait().expect("a session");
        let (announce, arrival) = slot();
        let mut kept = Vec::new();
        session
            .declare_subscriber(name)
            .callback_mut(move |sample| {
                kept.clear();
                kept.extend_from_slice(&sample.payload().to_bytes());
                announce.announce();
            })
            // It lives as long as its session.
            .background()
            .wait()
            .expect("a subscriber");
        let publisher = session.declare_publisher(name).wait().expect("a publisher");
        Self { publisher, sample, arrival, _session: session }
    }

    /// Puts one sample and waits until the callback has announced it.
    ///
    /// # Panics
    ///
    /// If it cannot be put or does not arrive.
    pub fn pass(&self) {
        self.publisher.put(self.sample.as_slice()).wait().expect("a put");
        self.arrival.wait();
    }
}
