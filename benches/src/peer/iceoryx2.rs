//! iceoryx2, which is not a DDS: it moves memory without keys and encodings. The sample is an identifier and a value.
//!
//! It has no callbacks. A subscriber polls, or waits for an event that the publisher sends separately. Here one thread
//! sends and then receives, **which is less work than that of the other contenders**: their time includes a callback
//! that notifies the main thread.
//!
//! The services have the library's form for one process, which leaves no files behind. Between processes they cost the
//! same. The sample is copied into a loan, and from there into a reused value.

use crate::LARGE_PAYLOAD_LEN;
use iceoryx2::node::{Node, NodeBuilder};
use iceoryx2::port::publisher::Publisher;
use iceoryx2::port::subscriber::Subscriber;
use iceoryx2::service::local::Service;
use std::cell::RefCell;

/// A publisher and a subscriber of one service.
pub struct WriteAndReceive {
    publisher: Publisher<Service, [u8], ()>,
    subscriber: Subscriber<Service, [u8], ()>,
    sample: Vec<u8>,
    kept: RefCell<Vec<u8>>,
    _node: Node<Service>,
}

impl WriteAndReceive {
    /// A pair for the small sample.
    #[must_use]
    pub fn small() -> Self {
        Self::new("iceoryx2 small", vec![1, 7])
    }

    /// A pair for the large sample.
    #[must_use]
    pub fn large() -> Self {
        Self::new("iceoryx2 large", [vec![1], vec![7; LARGE_PAYLOAD_LEN]].concat())
    }

    /// Creates a node with both. They are connected at once.
    ///
    /// # Panics
    ///
    /// Panics if one of them cannot be created.
    fn new(name: &str, sample: Vec<u8>) -> Self {
        let node = NodeBuilder::new().create::<Service>().expect("a node");
        let name = name.try_into().expect("a name of a service");
        let service = node.service_builder(&name).publish_subscribe::<[u8]>().open_or_create().expect("a service");
        let subscriber = service.subscriber_builder().create().expect("a subscriber");
        let publisher = service.publisher_builder().initial_max_slice_len(sample.len()).create().expect("a publisher");
        Self { publisher, subscriber, sample, kept: RefCell::default(), _node: node }
    }

    /// Sends one sample and receives it.
    ///
    /// # Panics
    ///
    /// Panics if it cannot be sent or does not arrive.
    pub fn pass(&self) {
        let loan = self.publisher.loan_slice_uninit(self.sample.len()).expect("a loan");
        loan.write_from_slice(&self.sample).send().expect("a send");
        let received = self.subscriber.receive().expect("a successful poll").expect("the sample is there");
        let mut kept = self.kept.borrow_mut();
        kept.clear();
        kept.extend_from_slice(&received);
    }
}
