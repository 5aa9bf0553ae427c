//! Many participants start at once on one host. They match soon and without a message storm. The test counts datagrams
//! in simulated time.

#[cfg(feature = "security-pki")]
use crate::keystore::{Keystore, Kinds};
use dds_core::sim::{Conditions, Interference, Simulation};
use dds_core::{DataReader, DataWriter, DdsType, DomainParticipant, DomainParticipantBuilder, Duration};

#[derive(DdsType, Debug, Clone, PartialEq)]
struct Step {
    number: u32,
}

struct Member {
    participant: DomainParticipant,
    writer: DataWriter<Step>,
    reader: DataReader<Step>,
}

/// Datagrams of `count` participants, each with a writer and a reader of one topic.
struct Counted {
    /// Until all are matched, for each ordered pair of participants.
    each_pair: f64,
    /// After that, for each participant and second.
    each_second: f64,
}

/// `handling`: processing time of each datagram in each participant.
fn crowd(count: usize, handling: Duration) -> Counted {
    crowd_of(count, (handling, Duration::ZERO), |_| DomainParticipant::builder(0))
}

/// As [`crowd`], with a builder for each participant. Each answers the datagrams of a `burst` together.
fn crowd_of(
    count: usize,
    (handling, burst): (Duration, Duration),
    builder: impl Fn(usize) -> DomainParticipantBuilder,
) -> Counted {
    let simulation = Simulation::with_interference(1, Interference { burst, ..Interference::NONE });
    simulation.set_network(Conditions::perfect());
    simulation.host("one").set_handling(handling);
    let start = |number| {
        let participant = simulation.build("one", builder(number)).unwrap();
        let writer = participant.writer::<Step>("crowd").unwrap();
        let reader = participant.reader::<Step>("crowd").unwrap();
        Member { participant, writer, reader }
    };
    let members: Vec<Member> = (0..count).map(start).collect();
    let is_matched = |member: &Member| {
        member.writer.publication_matched().current_count as usize == count
            && member.reader.subscription_matched().current_count as usize == count
    };
    let mut matched = 0;
    let all = simulation.run_until(Duration::from_secs(10), || {
        while members.get(matched).is_some_and(is_matched) {
            matched += 1;
        }
        matched == count
    });
    assert!(all, "{matched} of {count} are matched after 10 s");
    let sent = || members.iter().map(|member| member.participant.traffic().sent).sum::<u64>();
    let before = sent();
    simulation.run_for(Duration::from_secs(60));
    let later = (sent() - before) as f64;
    assert!(members.iter().all(is_matched));
    let counted =
        Counted { each_pair: before as f64 / (count * (count - 1)) as f64, each_second: later / count as f64 / 60.0 };
    println!(
        "{count} participants: {before} datagrams, {:.2} for each pair; after that {:.2} a second of each",
        counted.each_pair, counted.each_second
    );
    counted
}

#[test]
fn many_participants_match_without_message_storm() {
    // Announcements of participants and endpoints, and their answers. With more participants, more of them share a
    // datagram.
    for counted in [10, 20].map(|count| crowd(count, Duration::ZERO)) {
        assert!(counted.each_pair <= 4.2, "{} datagrams for each pair", counted.each_pair);
        assert!(counted.each_second <= 0.6, "{} datagrams a second of each", counted.each_second);
    }
}

/// Many participants at once keep a machine busy, so answers come late. Repeated requests would make it busier.
#[test]
fn slow_hosts_cause_no_extra_discovery_traffic() {
    let counted = crowd(40, Duration::from_millis(2));
    assert!(counted.each_pair <= 7.0, "{} datagrams for each pair", counted.each_pair);
}

/// Each pair also proves identities, and exchanges the keys of all endpoints.
#[cfg(feature = "security-pki")]
#[test]
fn participants_with_identities_match_without_message_storm() {
    let kinds = Kinds { rtps: "SIGN", discovery: "ENCRYPT", metadata: "ENCRYPT", ..Kinds::NONE };
    let names: Vec<_> = (0..18).map(|number| format!("robot_{number}")).collect();
    let keystore = Keystore::new(&names.iter().map(String::as_str).collect::<Vec<_>>(), kinds, |text| text);
    let builder = |number: usize| DomainParticipant::builder(0).credentials(keystore.credentials(&names[number]));
    // Protected and plain endpoints share datagrams, which are long on one host. Apart they send 53 for each pair.
    let counted = crowd_of(6, (Duration::ZERO, Duration::ZERO), builder);
    assert!(counted.each_pair <= 15.0, "{} datagrams for each pair", counted.each_pair);
    // A busy host answers late. Many handshakes at once would repeat their messages, and so would HEARTBEATs.
    let handling = Duration::from_millis(2);
    let counted = crowd_of(18, (handling, Duration::ZERO), builder);
    assert!(counted.each_pair <= 24.0, "{} datagrams for each pair", counted.each_pair);
    // It answers all datagrams that wait for it together.
    let counted = crowd_of(18, (handling, Duration::from_millis(30)), builder);
    assert!(counted.each_pair <= 12.5, "{} datagrams for each pair", counted.each_pair);
}
