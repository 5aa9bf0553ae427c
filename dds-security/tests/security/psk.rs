//! Pre-shared keys: which participant opens which message, and what an outsider can do.

use dds_security::crypto::OpenError;
use dds_security::psk::{Passphrase, PreSharedKey, PskDomain, PskProtection, SealError};
use proptest::prelude::*;

const TEXT: &str = "correct horse battery staple";
const OURS: [u8; 2] = [0x01, 0xdd];

fn key(id: u32, text: &str) -> PreSharedKey {
    PreSharedKey::new(Passphrase::new(id, text).unwrap())
}

fn protection(key: PreSharedKey) -> PskProtection {
    PskProtection::new(key, PskDomain { id: 7, tag: "plant".to_owned(), numbering_vendor: Some(OURS) })
}

/// INFO_DST and an empty PAD of the participant with `prefix`.
fn plain(prefix: &[u8; 12]) -> Vec<u8> {
    [b"RTPS\x02\x05\x01\xdd", &prefix[..], b"\x0e\x01\x0c\x00", &[0; 12], b"\x01\x01\x00\x00"].concat()
}

const SENDER: &[u8; 12] = b"0123456789ab";

fn sealed(by: &PskProtection) -> Vec<u8> {
    let mut message = plain(SENDER);
    by.seal(&mut message).unwrap();
    message
}

fn open(by: &PskProtection, bytes: &[u8]) -> Result<Vec<u8>, OpenError> {
    let mut out = Vec::new();
    by.open(bytes, &mut out).map(|()| out).map_err(|refusal| refusal.reason)
}

/// The bytes come from `tests/vectors/make.py`, which follows the specification without this crate.
#[test]
fn vectors_of_the_layout_are_opened() {
    let receiver = protection(key(0x0102_0304, TEXT));
    let encrypted = include_bytes!("../vectors/psk_message_encrypted.bin");
    let signed = include_bytes!("../vectors/psk_message_signed.bin");
    assert_eq!(open(&receiver, encrypted), Ok(plain(SENDER)));
    assert_eq!(open(&receiver, signed), Ok(plain(SENDER)));
    assert_eq!(signed[44..64], plain(SENDER)[20..]);
}

#[test]
fn sealed_message_differs_from_the_vector_in_counter_and_cipher_only() {
    let message = sealed(&protection(key(0x0102_0304, TEXT)));
    let vector = include_bytes!("../vectors/psk_message_encrypted.bin");
    assert_eq!(message.len(), vector.len());
    // Message header, prefix with flags A and P, kind with revision, key id.
    assert_eq!(message[..32], vector[..32]);
    // Body and its length, then the postfix.
    assert_eq!(message[44..52], vector[44..52]);
    assert_eq!(message[72..76], vector[72..76]);
    assert_eq!(message[92..], vector[92..]);
}

#[test]
fn signed_message_is_readable_and_protected() {
    let robot = protection(key(1, TEXT).signing_only());
    let message = sealed(&robot);
    assert!(message.windows(20).any(|part| part == &plain(SENDER)[20..]));
    assert_eq!(open(&protection(key(1, TEXT)), &message), Ok(plain(SENDER)));
    let mut changed = message.clone();
    changed[50] ^= 1;
    assert_eq!(open(&protection(key(1, TEXT)), &changed), Err(OpenError::Forged));
}

#[test]
fn other_secrets_domains_and_ids_are_told_apart() {
    let robot = protection(key(1, TEXT));
    let message = sealed(&robot);
    assert_eq!(open(&protection(key(1, "wrong horse battery staple")), &message), Err(OpenError::Forged));
    assert_eq!(open(&protection(key(2, TEXT)), &message), Err(OpenError::UnknownKey));
    // The same low byte, and another revision.
    assert_eq!(open(&protection(key(0x0101, TEXT)), &message), Err(OpenError::UnknownKey));
    for (id, tag) in [(8, "plant"), (7, ""), (7, "plant2")] {
        let other = PskProtection::new(key(1, TEXT), PskDomain { id, tag: tag.to_owned(), ..PskDomain::default() });
        assert_eq!(open(&other, &message), Err(OpenError::UnknownKey), "domain {id}, tag {tag:?}");
    }
    assert_eq!(open(&robot, &plain(SENDER)), Err(OpenError::NotProtected));
    assert_eq!(open(&robot, b"hello"), Err(OpenError::Malformed));
}

#[test]
fn passphrase_changes_without_interruption() {
    let (old, new) = (Passphrase::new(1, TEXT).unwrap(), Passphrase::new(2, "another secret of the fleet").unwrap());
    let steps = [
        PreSharedKey::new(old.clone()),
        PreSharedKey::new(old.clone()).also_accepting(new.clone()),
        PreSharedKey::new(new.clone()).also_accepting(old),
        PreSharedKey::new(new),
    ];
    for pair in steps.windows(2) {
        let [one, other] = [&pair[0], &pair[1]].map(|key| protection(key.clone()));
        assert!(open(&other, &sealed(&one)).is_ok() && open(&one, &sealed(&other)).is_ok());
    }
    // The ends of the chain do not understand each other.
    assert!(open(&protection(steps[3].clone()), &sealed(&protection(steps[0].clone()))).is_err());
}

#[test]
fn replayed_message_is_refused_and_reflected_one_opened_once() {
    let (robot, station) = (protection(key(1, TEXT)), protection(key(1, TEXT)));
    let messages = [(); 5].map(|()| sealed(&robot));
    for message in messages.iter().rev() {
        assert_eq!(open(&station, message), Ok(plain(SENDER)));
    }
    for message in &messages {
        assert_eq!(open(&station, message), Err(OpenError::Replayed));
    }
    assert_eq!(station.refused().replayed, 5);
    // By reflection a participant gets its own message. Its name in the header tells it.
    assert_eq!(open(&robot, &messages[0]), Ok(plain(SENDER)));
    assert_eq!(open(&robot, &messages[0]), Err(OpenError::Replayed));
}

/// A participant with two links gets two copies of each multicast message.
#[test]
fn second_copy_of_a_message_is_dropped_without_news() {
    let (robot, station) = (protection(key(1, TEXT)), protection(key(1, TEXT)));
    let message = sealed(&robot);
    assert_eq!(open(&station, &message), Ok(plain(SENDER)));
    let refusal = station.open(&message, &mut Vec::new()).unwrap_err();
    assert_eq!((refusal.reason, refusal.is_first), (OpenError::Replayed, false));
    assert_eq!(station.explain(), "");
    let refused = station.refused();
    assert_eq!((refused.replayed, refused.without_replays(), refused.total()), (1, 0, 1));
    assert!(station.open(b"hello", &mut Vec::new()).unwrap_err().is_first);
    assert_eq!(station.refused().without_replays(), 1);
}

#[test]
fn sender_of_another_vendor_is_not_checked_for_replays() {
    let station = PskProtection::new(
        key(1, TEXT),
        PskDomain { id: 7, tag: "plant".to_owned(), numbering_vendor: Some([0x01, 0x01]) },
    );
    let message = sealed(&protection(key(1, TEXT)));
    assert!(open(&station, &message).is_ok() && open(&station, &message).is_ok());
}

#[test]
fn outsider_takes_no_memory() {
    let station = protection(key(1, TEXT));
    for number in 0..5000_u32 {
        // Each seals under few names.
        let outsider = protection(key(1, "a guess of the outsider"));
        let mut prefix = *SENDER;
        prefix[..4].copy_from_slice(&number.to_be_bytes());
        let mut message = plain(&prefix);
        outsider.seal(&mut message).unwrap();
        assert_eq!(open(&station, &message), Err(OpenError::Forged));
    }
    assert_eq!((station.known_senders(), station.refused().forged), (0, 5000));
}

#[test]
fn seventeenth_sender_is_refused_and_the_first_stays() {
    let (relay, station) = (protection(key(1, TEXT)), protection(key(1, TEXT)));
    assert_eq!(open(&station, &sealed(&relay)), Ok(plain(SENDER)));
    for number in 1..20 {
        let mut prefix = *SENDER;
        prefix[0] = number;
        let mut message = plain(&prefix);
        let expected = if number < 16 { Ok(()) } else { Err(SealError::TooManySenders) };
        assert_eq!(relay.seal(&mut message), expected, "{number}");
        assert!(number < 16 || message == plain(&prefix), "{number}");
    }
    assert_eq!(open(&station, &sealed(&relay)), Ok(plain(SENDER)));
}

#[test]
fn refusals_are_explained_without_the_secret() {
    let station = protection(key(1, TEXT));
    let refusal = station.open(&plain(SENDER), &mut Vec::new()).unwrap_err();
    assert!(refusal.is_first);
    assert!(!station.open(&plain(SENDER), &mut Vec::new()).unwrap_err().is_first);
    let _ = station.open(&sealed(&protection(key(9, TEXT))), &mut Vec::new());
    let text = station.explain();
    assert_eq!(
        text,
        "2 datagrams were refused, the last one in the name of participant 30313233:34353637:38396162: it is not \
         protected (give that participant the pre-shared key (DDS_PRE_SHARED_KEY)); 1 datagram was refused, the last \
         one in the name of participant 30313233:34353637:38396162: its sender uses an unknown key (compare passphrase \
         id, domain and domain tag on both sides)"
    );
    assert!(!format!("{station:?}").contains("horse"));
}

#[test]
fn threads_seal_and_open_at_once() {
    let (robot, station) = (protection(key(1, TEXT)), protection(key(1, TEXT)));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                for _ in 0..200 {
                    assert_eq!(open(&station, &sealed(&robot)), Ok(plain(SENDER)));
                }
            });
        }
    });
    assert_eq!((station.refused().total(), station.known_senders()), (0, 1));
}

proptest! {
    #[test]
    fn any_datagram_is_refused(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
        let station = protection(key(1, TEXT));
        prop_assert!(open(&station, &bytes).is_err());
        // Behind a valid prefix, so that the parsers behind it run.
        let message = sealed(&protection(key(1, TEXT)));
        prop_assert!(open(&station, &[&message[..44], &bytes[..]].concat()).is_err());
        prop_assert_eq!(station.known_senders(), 0);
    }
}
