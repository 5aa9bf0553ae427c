//! Zenoh, which is not a DDS: it carries bytes without keys. The sample is an identifier and a value.
//!
//! One session has the publisher and the subscriber, without discovery and without a listening socket. The callback of
//! the subscriber runs on the thread that puts, like an `Inline` listener. A put copies the sample into a new payload,
//! which corresponds to the encoding of a DDS. The callback copies it into a reused value.

use crate::LARGE_PAYLOAD_LEN;
use crate::slot::{Arrival, slot};
use zenoh::pubsub::Publisher;
use zenoh::{Config, Session, Wait};

/// Settings that isolate the session.
const ISOLATED: [(&str, &str); 4] = [
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

    /// Creates a session with both. They are connected at once.
    ///
    /// # Panics
    ///
    /// Panics if one of them cannot be created.
    fn new(name: &'static str, sample: Vec<u8>) -> Self {
        let mut config = Config::default();
        for (key, value) in ISOLATED {
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
            // The subscriber lives as long as its session.
            .background()
            .wait()
            .expect("a subscriber");
        let publisher = session.declare_publisher(name).wait().expect("a publisher");
        Self { publisher, sample, arrival, _session: session }
    }

    /// Puts one sample and waits until the callback announces it.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be put or does not arrive.
    pub fn pass(&self) {
        self.publisher.put(self.sample.as_slice()).wait().expect("a put");
        self.arrival.wait();
    }
}
