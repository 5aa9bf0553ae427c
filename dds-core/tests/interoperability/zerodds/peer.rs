//! A ZeroDDS process with an identity, for the tests in secure_zerodds.rs.
//!
//!     zerodds_peer ENCLAVE
//!
//! Writes each sample of the topic "Questions" to the topic "Answers", until its standard input ends. ENCLAVE is the
//! folder of its certificate and its signed documents. Prints "ready" first, and "alive" at the end. `.ci/run zerodds`
//! builds it outside of the workspace.

use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use zerodds_dcps::dds_type::{DdsType, DecodeError, EncodeError};
use zerodds_dcps::qos::{HistoryKind, PropertyQosPolicy, ReliabilityKind};
use zerodds_dcps::{
    DataReaderQos, DataWriterQos, DomainParticipantFactory, DomainParticipantQos, PublisherQos, SubscriberQos, TopicQos,
};

/// A sample in its encoded form, which is the same in XCDR1 and XCDR2.
struct Octets(Vec<u8>);

impl DdsType for Octets {
    const TYPE_NAME: &'static str = "Octets";
    const XCDR1_MATCHES_XCDR2: bool = true;
    const BYTE_ORDER_AGNOSTIC: bool = true;

    fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.0);
        Ok(())
    }

    fn decode(bytes: &[u8]) -> Result<Self, DecodeError> {
        Ok(Self(bytes.to_vec()))
    }
}

static HAS_ENDED: AtomicBool = AtomicBool::new(false);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let enclave = std::env::args().nth(1).ok_or("expected ENCLAVE")?;
    let file = |name: &str| format!("file:{enclave}/{name}");
    let property = PropertyQosPolicy::new()
        .with("dds.sec.auth.identity_ca", file("identity_ca.cert.pem"))
        .with("dds.sec.auth.identity_certificate", file("cert.pem"))
        .with("dds.sec.auth.private_key", file("key.pem"))
        .with("dds.sec.access.permissions_ca", file("permissions_ca.cert.pem"))
        .with("dds.sec.access.governance", file("governance.p7s"))
        .with("dds.sec.access.permissions", file("permissions.p7s"));
    let qos = DomainParticipantQos { property, ..Default::default() };
    let participant = DomainParticipantFactory::instance().create_participant(0, qos)?;
    let topic = |name| participant.create_topic::<Octets>(name, TopicQos::default());
    let mut reader_qos = DataReaderQos::default();
    reader_qos.reliability.kind = ReliabilityKind::Reliable;
    reader_qos.history.kind = HistoryKind::KeepAll;
    let subscriber = participant.create_subscriber(SubscriberQos::default());
    let questions = subscriber.create_datareader::<Octets>(&topic("Questions")?, reader_qos)?;
    let mut writer_qos = DataWriterQos::default();
    writer_qos.history.kind = HistoryKind::KeepAll;
    let publisher = participant.create_publisher(PublisherQos::default());
    let answers = publisher.create_datawriter::<Octets>(&topic("Answers")?, writer_qos)?;
    println!("ready");
    std::thread::spawn(|| {
        let _ = std::io::stdin().read_to_end(&mut Vec::new());
        HAS_ENDED.store(true, Ordering::Relaxed);
    });
    // A volatile writer keeps no answer for a reader that matches later.
    answers.wait_for_matched_subscription(1, Duration::from_secs(40))?;
    while !HAS_ENDED.load(Ordering::Relaxed) {
        if questions.wait_for_data(Duration::from_millis(20)).is_ok() {
            for sample in questions.take()? {
                answers.write(&sample)?;
            }
        }
    }
    println!("alive");
    Ok(())
}
