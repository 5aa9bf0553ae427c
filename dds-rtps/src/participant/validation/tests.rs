use super::challenge::{WRONG_MAX, windows_of};
use super::*;
use crate::types::VendorId;
use crate::wire::{Heartbeat, MessageBuilder, SequenceNumberSet};

const OURS: GuidPrefix = GuidPrefix([1; 12]);
const PEER: GuidPrefix = GuidPrefix([2; 12]);
const MESSAGES: BuiltinPairTopic = BuiltinPairTopic::Messages;

fn at(ms: u64) -> Instant {
    Instant::from_nanos(1_000_000_000 + ms * 1_000_000)
}

fn route(port: u16) -> Route {
    Route { unicast: [Locator::udp_v4([10, 0, 0, 2].into(), port)].into_iter().collect(), ..Route::default() }
}

fn peer(vendor: VendorId) -> ParticipantData {
    ParticipantData { vendor, ..ParticipantData::new(PEER) }
}

fn begin(received: usize) -> Validations {
    begin_with(BuiltinEndpoints::MESSAGE_READER, received)
}

fn begin_with(has: BuiltinEndpoints, received: usize) -> Validations {
    let mut validations = Validations::new(HashSeed::fixed(7));
    let peer = peer(VendorId::CYCLONE);
    validations.begin(at(0), (&peer, ChallengeReason::Address), has, route(7410), received);
    validations
}

/// Returns the first sequence number of the next challenge.
fn challenge(validations: &mut Validations, now: Instant) -> Option<SequenceNumber> {
    Some(heartbeat(validations, now)?.first_sn)
}

/// Returns the next challenge.
fn heartbeat(validations: &mut Validations, now: Instant) -> Option<Heartbeat> {
    let mut datagram = Datagram::new();
    if !validations.poll_transmit(now, OURS, &mut datagram, |_| 1) {
        return None;
    }
    let message = Message::parse(datagram.head()).unwrap();
    let heartbeat = message.submessages().find_map(|submessage| match submessage {
        Ok(Submessage::Heartbeat(heartbeat)) => Some(heartbeat),
        _ => None,
    });
    Some(heartbeat.unwrap())
}

fn answer(validations: &mut Validations, topic: BuiltinPairTopic, base: i64) -> Answer {
    let (writer_id, reader_id) = topic.ids();
    let reader_sn_state = SequenceNumberSet::empty(SequenceNumber(base));
    let ack_nack = AckNack { reader_id, writer_id, reader_sn_state, count: 1, is_final: true };
    validations.handle_answer(at(1), PEER, topic, &ack_nack, SequenceNumber(NEXT))
}

/// The number of the next change.
const NEXT: i64 = 80_001;

fn answer_all(validations: &mut Validations, topic: BuiltinPairTopic) -> (Vec<SequenceNumber>, Answer) {
    answer_all_at(validations, topic, 2)
}

/// Answers all challenges.
fn answer_all_at(validations: &mut Validations, topic: BuiltinPairTopic, ms: u64) -> (Vec<SequenceNumber>, Answer) {
    let mut secrets = Vec::new();
    loop {
        let secret = challenge(validations, at(ms)).unwrap();
        secrets.push(secret);
        match answer(validations, topic, secret.0) {
            Answer::Unrelated => assert!(!validations.is_valid(PEER)),
            valid => return (secrets, valid),
        }
    }
}

#[test]
fn only_the_secret_number_validates() {
    let mut validations = begin(1_000);
    let secret = challenge(&mut validations, at(0)).unwrap().0;
    assert_eq!(answer(&mut validations, BuiltinPairTopic::Publications, secret), Answer::Unrelated);
    assert_eq!(answer(&mut validations, MESSAGES, secret - 1), Answer::Unrelated);
    assert!(secret > 1 && secret <= last_challenge(MESSAGES).0 && !validations.is_valid(PEER));
    assert!(matches!(answer(&mut validations, MESSAGES, secret), Answer::Valid(_)));
    assert!(validations.is_valid(PEER));
}

#[test]
fn answer_without_a_challenge_validates_nothing() {
    let mut validations = begin(0);
    assert_eq!(challenge(&mut validations, at(0)), None, "nothing was received, so nothing may be sent");
    for base in 2..=last_challenge(MESSAGES).0 {
        assert!(!matches!(answer(&mut validations, MESSAGES, base), Answer::Valid(_)), "{base}");
    }
}

#[test]
fn guesses_in_order_validate_nothing() {
    let (mut validations, topic) = (begin_with(BuiltinEndpoints(0x3f), 100_000), BuiltinPairTopic::Publications);
    for round in 0..100 {
        challenge(&mut validations, at(round * 200_000));
        for base in 2..=last_challenge(topic).0 {
            answer(&mut validations, topic, base);
        }
        validations.challenge_again(at(round * 200_000), PEER);
    }
    assert!(!validations.is_valid(PEER));
}

#[test]
fn wrong_answers_and_an_empty_allowance_end_with_the_next_announcement() {
    let mut validations = begin(8);
    let secret = challenge(&mut validations, at(0)).unwrap().0;
    for _ in 0..WRONG_MAX {
        answer(&mut validations, MESSAGES, secret - 1);
    }
    assert_eq!(answer(&mut validations, MESSAGES, secret), Answer::Unrelated, "no answer counts any more");
    assert_eq!(challenge(&mut validations, at(100)), None, "the allowance is spent");
    validations.note_received(PEER, 400);
    validations.challenge_again(at(200), PEER);
    let (_, valid) = answer_all_at(&mut validations, MESSAGES, 200);
    assert!(matches!(valid, Answer::Valid(_)));
}

#[test]
fn silent_topic_makes_room_for_the_next_one() {
    let mut validations = Validations::new(HashSeed::fixed(7));
    validations.begin(
        at(0),
        (&peer(VendorId::CYCLONE), ChallengeReason::Address),
        BuiltinEndpoints(0x43f | 0x800),
        route(7410),
        100_000,
    );
    for ms in 0..1_800 {
        challenge(&mut validations, at(ms));
    }
    assert_eq!(validations.topic_of(PEER), Some(MESSAGES));
    challenge(&mut validations, at(1_800));
    assert_eq!(validations.topic_of(PEER), Some(BuiltinPairTopic::Publications));
    let (secrets, valid) = answer_all_at(&mut validations, BuiltinPairTopic::Publications, 3_500);
    let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
    assert!(validated.was_matched && secrets.len() == 3);
}

#[test]
fn each_validation_has_another_secret() {
    let mut validations = begin(400);
    let first = challenge(&mut validations, at(0));
    validations.begin(
        at(1),
        (&peer(VendorId::CYCLONE), ChallengeReason::Address),
        BuiltinEndpoints::MESSAGE_READER,
        route(7412),
        400,
    );
    assert_ne!(challenge(&mut validations, at(1)), first);
}

/// Returns how many changes each of the first ten challenges announces.
fn announced_changes(vendor: VendorId) -> Vec<i64> {
    let mut validations = Validations::new(HashSeed::fixed(7));
    validations.begin(
        at(0),
        (&peer(vendor), ChallengeReason::Address),
        BuiltinEndpoints::MESSAGE_READER,
        route(7410),
        100_000,
    );
    let sent = (0..10).map(|round| heartbeat(&mut validations, at(round * 100_000)).unwrap());
    sent.map(|heartbeat| heartbeat.last_sn.0 - heartbeat.first_sn.0 + 1).collect()
}

#[test]
fn only_other_vendors_get_challenges_with_a_change() {
    assert_eq!(announced_changes(VendorId::CYCLONE), [0, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
    assert_eq!(announced_changes(VendorId::OURS), [0; 10]);
}

/// Returns the next challenges, one for each locator.
fn round(validations: &mut Validations, now: Instant) -> Vec<(Locator, i64)> {
    let mut datagram = Datagram::new();
    let mut sent = Vec::new();
    while validations.poll_transmit(now, OURS, &mut datagram, |_| 1) {
        let [locator] = datagram.destinations() else { panic!("{:?}", datagram.destinations()) };
        let message = Message::parse(datagram.head()).unwrap();
        let Some(Ok(Submessage::Heartbeat(heartbeat))) = message.submessages().nth(1) else { panic!() };
        sent.push((*locator, heartbeat.first_sn.0));
    }
    sent
}

#[test]
fn answer_validates_only_the_locator_with_its_number() {
    let locators = [7410, 7412, 7414].map(|port| route(port).unicast[0]);
    for topic in [MESSAGES, BuiltinPairTopic::Publications] {
        let has = if topic == MESSAGES { BuiltinEndpoints(0x800) } else { BuiltinEndpoints(0x3f) };
        for (chosen, locator) in locators.into_iter().enumerate() {
            let mut validations = Validations::new(HashSeed::fixed(7));
            let route = Route { unicast: locators.into_iter().collect(), ..Route::default() };
            validations.begin(at(0), (&peer(VendorId::CYCLONE), ChallengeReason::Address), has, route, 1_000);
            let mut answered = Answer::Unrelated;
            for window in 0..windows_of(topic).count {
                let sent = round(&mut validations, at(u64::from(window)));
                let secrets: Vec<_> = sent.iter().map(|(_, secret)| *secret).collect();
                assert!(secrets.windows(2).all(|pair| pair[0] < pair[1]), "{secrets:?}");
                let reached: Vec<_> = sent.iter().map(|(locator, _)| *locator).collect();
                // The other windows are for the locator that has answered.
                assert_eq!(reached, if window == 0 { locators.to_vec() } else { vec![locator] });
                answered = answer(&mut validations, topic, secrets[if window == 0 { chosen } else { 0 }]);
            }
            let Answer::Valid(validated) = answered else { panic!("{topic:?}: {answered:?}") };
            assert_eq!(validated.locator, locator);
        }
    }
}

/// The challenge to a peer with two locators.
fn at_two_locators() -> Validations {
    let unicast = [7410, 7412].map(|port| route(port).unicast[0]).into_iter().collect();
    let mut validations = Validations::new(HashSeed::fixed(7));
    let peer = peer(VendorId::CYCLONE);
    let all = Route { unicast, ..Route::default() };
    validations.begin(at(0), (&peer, ChallengeReason::Address), BuiltinEndpoints(0x3f), all, 100_000);
    validations
}

#[test]
fn locator_that_falls_silent_leaves_the_next_challenge_to_all() {
    let mut validations = at_two_locators();
    let secret = round(&mut validations, at(0))[1].1;
    assert_eq!(answer(&mut validations, BuiltinPairTopic::Publications, secret), Answer::Unrelated);
    let reached: Vec<_> = (1..100).map(|second| round(&mut validations, at(second * 1_000)).len()).collect();
    assert_eq!((reached[0], reached.iter().max()), (1, Some(&2)), "{reached:?}");
}

#[test]
fn answers_of_an_earlier_route_do_not_count() {
    let topic = BuiltinPairTopic::Publications;
    let mut validations = at_two_locators();
    for _ in 0..2 {
        let secret = challenge(&mut validations, at(1)).unwrap();
        assert_eq!(answer(&mut validations, topic, secret.0), Answer::Unrelated);
    }
    validations.set_route(PEER, &route(7414));
    let (secrets, valid) = answer_all_at(&mut validations, topic, 1_000);
    let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
    assert_eq!((secrets.len(), validated.locator), (3, route(7414).unicast[0]));
    assert!(secrets[0] <= SequenceNumber(1 << 10), "{secrets:?}");
}

#[test]
fn challenges_repeat_four_times_then_back_off() {
    let mut validations = begin(100_000);
    let mut sent = Vec::new();
    for ms in 0..2_000 {
        if challenge(&mut validations, at(ms)).is_some() {
            sent.push(ms);
        }
    }
    assert_eq!(sent, [0, 100, 200, 300, 400, 600, 1_000, 1_800]);
}

#[test]
fn peer_that_is_ahead_gets_a_higher_challenge() {
    let mut validations = begin(1_000);
    challenge(&mut validations, at(0));
    assert_eq!(answer(&mut validations, MESSAGES, 70_000), Answer::IsAhead);
    let last = validations.raise(at(2), PEER, SequenceNumber(NEXT - 1));
    assert_eq!(last, SequenceNumber(NEXT - 1 + 3_072), "a forged announcement takes few numbers");
    assert_eq!(answer(&mut validations, MESSAGES, NEXT + 1), Answer::Unrelated, "no challenge was sent yet");
    let (secrets, valid) = answer_all(&mut validations, MESSAGES);
    assert!(secrets.len() == 3 && secrets.iter().all(|secret| secret.0 > NEXT && *secret <= last));
    let Answer::Valid(validated) = valid else { panic!("{valid:?}") };
    assert!(validated.has_passed && !validated.was_matched);
}

#[test]
fn peer_that_moves_on_gets_a_higher_challenge_again() {
    let mut validations = begin(1_000);
    validations.raise(at(2), PEER, SequenceNumber(100));
    challenge(&mut validations, at(2));
    // A change has reached it at its old address.
    assert_eq!(answer(&mut validations, MESSAGES, NEXT), Answer::IsAhead);
    assert_eq!(answer(&mut validations, MESSAGES, NEXT + 1), Answer::Unrelated, "no peer is beyond the next change");
}

#[test]
fn peer_without_messages_answers_three_challenges() {
    let (mut validations, topic) = (begin_with(BuiltinEndpoints(0x3f), 400), BuiltinPairTopic::Publications);
    let (secrets, _) = answer_all(&mut validations, topic);
    assert_eq!(secrets.len(), 3);
    assert!(secrets.is_sorted() && secrets.iter().all(|secret| *secret <= last_challenge(topic)));
}

#[test]
fn allowance_bounds_the_bytes_to_an_address() {
    let mut validations = begin(100);
    let mut sent = 0;
    for ms in 0..1_000_000 {
        let mut datagram = Datagram::new();
        if validations.poll_transmit(at(ms), OURS, &mut datagram, |_| 1) {
            sent += datagram.len();
        }
        let mut message = MessageBuilder::new(datagram.buffer());
        message.header(OURS);
        message.info_dst(PEER);
        sent += if validations.admit(MESSAGES, &mut datagram) { datagram.len() } else { 0 };
    }
    assert!((800..=900).contains(&sent), "{sent}");
}
