//! iceoryx2, which is no DDS: it moves memory and knows neither keys nor an encoding, so the sample is an identifier and a
//! value one behind the other.
//!
//! It has no callbacks: who wants to know of a sample looks, or waits for an event that the publisher has to send beside
//! it. Here one thread sends and then receives, with no channel between, **which is less than the other contenders do**:
//! theirs is the time until another piece of code has been called and has told the main thread. The services are the
//! library's form for one process, which leaves nothing behind in the file system; between processes they cost the
//! same. The sample is copied into a loan, and from there into a value that is kept.

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

    /// Makes a node with both. They know each other at once.
    ///
    /// # Panics
    ///
    /// If one of them cannot be made.
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
    /// If it cannot be sent or is not there.
    pub fn pass(&self) {
        let loan = self.publisher.loan_slice_uninit(self.sample.len()).expect("a loan");
        loan.write_from_slice(&self.sample).send().expect("a send");
        let received = self.subscriber.receive().expect("a look").expect("the sample is there");
        let mut kept = self.kept.borrow_mut();
        kept.clear();
        kept.extend_from_slice(&received);
    }
}
