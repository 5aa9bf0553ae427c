//! Blocks of the pool: their holders, messages that stay in place, and lent content.

use super::*;

#[test]
fn blocks_return_after_the_peer_has_read() {
    let (one, mut other) = connected();
    for round in 0..200 {
        one.send(&bytes(100_000)).unwrap();
        assert_eq!(one.used_grains(), 7, "round {round}: the same block is used again");
        assert_eq!(other.expect(), Seen::Message(bytes(100_000)));
    }
}

/// Receives a message and keeps it in place.
fn kept(side: &mut Side) -> KeptMessage {
    let Some(ShmEvent::Message(message)) = side.reception.next_event(Some(PATIENCE)) else { panic!("no message") };
    let mut place = KeptMessage::new();
    message.keep(&mut place).expect("a peer in this process is trusted");
    place
}

#[test]
fn kept_message_lies_in_its_block_until_it_is_dropped() {
    let (one, mut other) = connected();
    for round in 0..100 {
        one.send(&bytes(100_000)).unwrap();
        let first = kept(&mut other);
        one.send(&bytes(99_999)).unwrap();
        assert_eq!(one.used_grains(), 14, "round {round}");
        let second = kept(&mut other);
        // Another thread returns the first one, and later than the second.
        assert_eq!(second.as_ref(), bytes(99_999));
        drop(second);
        assert_eq!(first.as_ref(), bytes(100_000));
        std::thread::spawn(move || drop(first)).join().unwrap();
        one.path.as_ref().unwrap().state.take_returned();
        assert_eq!(one.used_grains(), 0, "round {round}");
    }
}

#[test]
fn message_beyond_the_bound_or_within_the_ring_is_copied() {
    let (one, mut other) = connected();
    let (mut all, mut place) = (Vec::new(), KeptMessage::new());
    // An eighth of the pool of 8 MiB.
    for _ in 0..10 {
        one.send(&bytes(100_000)).unwrap();
        match other.reception.next_event(Some(PATIENCE)) {
            Some(ShmEvent::Message(message)) => match message.keep(&mut place) {
                Ok(()) => all.push(std::mem::take(&mut place)),
                Err(message) => {
                    let mut copy = vec![0; message.len()];
                    message.copy_to(&mut copy);
                    assert_eq!(copy, bytes(100_000));
                }
            },
            event => panic!("{event:?}"),
        }
    }
    assert_eq!(all.len(), 9);
    all.pop();
    one.send(&bytes(2000)).unwrap();
    let Some(ShmEvent::Message(message)) = other.reception.next_event(Some(PATIENCE)) else { panic!("no message") };
    assert_eq!(message.keep(&mut place).unwrap_err().len(), 2000, "it lies in the ring");
    one.send(&bytes(100_000)).unwrap();
    all.push(kept(&mut other));
    assert!(all.iter().all(|message| message.as_ref() == bytes(100_000)));
}

#[test]
fn host_that_keeps_nothing_copies_each_message() {
    let (one, mut other) = connected_with(&ShmConfig { kept_bytes_max: 0, ..config() });
    one.send(&bytes(100_000)).unwrap();
    let Some(ShmEvent::Message(message)) = other.reception.next_event(Some(PATIENCE)) else { panic!("no message") };
    assert!(message.keep(&mut KeptMessage::new()).is_err());
}

/// Short messages count more than their bytes: the peer permits a number of blocks as well.
#[test]
fn number_of_kept_messages_is_bounded() {
    let (one, mut other) = connected();
    let mut all = Vec::new();
    while all.len() < 100 {
        one.send(&bytes(3000)).unwrap();
        let Some(ShmEvent::Message(message)) = other.reception.next_event(Some(PATIENCE)) else { panic!("no message") };
        let mut place = KeptMessage::new();
        if message.keep(&mut place).is_err() {
            break;
        }
        all.push(place);
    }
    assert_eq!(all.len(), 16);
}

/// Uses the whole pool of `one`, so that a block that was released too early would be overwritten.
fn overwrite_pool(one: &Side) {
    let junk = vec![0xee; 16 << 10];
    let mut staged = Vec::new();
    while let Ok(message) = one.host.stage(&[IoSlice::new(&junk)]) {
        staged.push(message);
    }
    assert!(staged.len() > 100);
}

#[test]
fn kept_message_outlives_its_path() {
    for ends_at_receiver in [true, false] {
        let (mut one, mut other) = connected();
        one.send(&bytes(100_000)).unwrap();
        let message = kept(&mut other);
        // The receiver never reads this one.
        one.send(&bytes(50_000)).unwrap();
        if ends_at_receiver {
            drop(other.reception);
            drop(other.host);
            assert_eq!(one.expect(), Seen::Down(PathEnd::PeerLeft));
        } else {
            one.path.as_ref().unwrap().close();
            assert_eq!(one.expect(), Seen::Down(PathEnd::Closed));
            assert_eq!(other.expect(), Seen::Message(bytes(50_000)));
            assert_eq!(other.expect(), Seen::Down(PathEnd::PeerLeft));
        }
        overwrite_pool(&one);
        assert_eq!(message.as_ref(), bytes(100_000), "the receiver ends the path: {ends_at_receiver}");
        assert_eq!(one.used_grains(), 7);
        drop(message);
        one.host.shared.departed.sweep();
        assert_eq!(one.used_grains(), 0);
    }
}

/// A peer takes all that it may hold, leaves, and comes back.
#[test]
fn blocks_of_ended_paths_count_for_the_next_path() {
    let limits = ShmConfig { held_blocks_max: 4, ..config() };
    let (mut one, mut other) = connected_with(&limits);
    let mut kept_messages = Vec::new();
    for _ in 0..2 {
        one.send(&bytes(100_000)).unwrap();
        kept_messages.push(kept(&mut other));
    }
    one.path.as_ref().unwrap().close();
    assert_eq!(one.expect(), Seen::Down(PathEnd::Closed));
    assert_eq!(other.expect(), Seen::Down(PathEnd::PeerLeft));
    other.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut other);
    for _ in 0..2 {
        one.send(&bytes(100_000)).unwrap();
    }
    assert_eq!(one.send(&bytes(100_000)), Err(SendFailure::Full(Exhausted::HeldByPeer)));
    kept_messages.pop();
    one.send(&bytes(100_000)).unwrap();
    assert_eq!(one.send(&bytes(100_000)), Err(SendFailure::Full(Exhausted::HeldByPeer)));
    assert_eq!(kept_messages[0].as_ref(), bytes(100_000));
}

#[test]
fn kept_message_outlives_the_host_of_its_sender() {
    let (one, mut other) = connected();
    one.send(&bytes(100_000)).unwrap();
    let message = kept(&mut other);
    drop(one);
    assert_eq!(other.expect(), Seen::Down(PathEnd::PeerLeft));
    assert_eq!(message.as_ref(), bytes(100_000));
    drop(other);
    assert_eq!(message.as_ref(), bytes(100_000));
}

#[test]
fn returned_block_wakes_a_sender_that_waits_for_room() {
    let limits = ShmConfig { held_blocks_max: 1, ..config() };
    let (mut one, mut other) = connected_with(&limits);
    one.send(&bytes(100_000)).unwrap();
    let message = kept(&mut other);
    assert_eq!(other.next(Duration::ZERO), None);
    assert_eq!(one.send(&bytes(100_000)), Err(SendFailure::Full(Exhausted::HeldByPeer)));
    assert_eq!(one.next(Duration::ZERO), None);
    std::thread::spawn(move || drop(message)).join().unwrap();
    assert_eq!(one.expect(), Seen::Room);
    one.send(&bytes(100_000)).unwrap();
    assert_eq!(other.expect(), Seen::Message(bytes(100_000)));
}

#[test]
fn staged_message_is_copied_once_for_several_peers() {
    let (mut one, mut other) = connected();
    let mut third = side(config());
    let path = one.path.clone().unwrap();
    third.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut third);
    let to_third = one.path.clone().unwrap();
    let message = one.host.stage(&[IoSlice::new(&bytes(40_000))]).unwrap();
    path.send_staged(&message).unwrap();
    to_third.send_staged(&message).unwrap();
    drop(message);
    assert_eq!(one.used_grains(), 3);
    for side in [&mut other, &mut third] {
        assert_eq!(side.expect(), Seen::Message(bytes(40_000)));
    }
    path.state.take_returned();
    assert_eq!(one.used_grains(), 3, "one peer still holds the block");
    to_third.state.take_returned();
    assert_eq!(one.used_grains(), 0);
}

/// A place with this content, behind 100 bytes and before at most 40.
fn lent(host: &ShmHost, content: &[u8]) -> Result<LentContent, SendFailure> {
    let mut place = LentContent::new();
    host.lend(&mut place, content.len(), 100, 40)?;
    place.bytes_mut().copy_from_slice(content);
    Ok(place)
}

#[test]
fn lent_content_is_sent_without_a_copy_and_stays_until_all_return_it() {
    let (one, mut other) = connected();
    let mut content = lent(&one.host, &[&bytes(50_000)[..], b"unused"].concat()).unwrap();
    content.truncate(50_000);
    assert_eq!(content.as_ref(), bytes(50_000));
    let path = one.path.as_ref().unwrap();
    let grains = one.used_grains();
    assert_eq!(grains, 4);
    path.send_staged(&content.stage(&[7; 100], b"the end").unwrap()).unwrap();
    assert_eq!(one.used_grains(), grains, "the message is the lent block");
    let message = [&[7; 100][..], &bytes(50_000), b"the end"].concat();
    let kept = kept(&mut other);
    assert_eq!(kept.as_ref(), message);
    // The owner gives it up, and the peer still reads it.
    drop(content);
    overwrite_pool(&one);
    assert_eq!(kept.as_ref(), message);
    drop(kept);
    path.state.take_returned();
    assert_eq!(one.used_grains(), 0);
}

#[test]
fn lent_content_has_one_message_around_it() {
    let (one, mut other) = connected();
    let content = lent(&one.host, &bytes(3000)).unwrap();
    assert!(content.stage(&[7; 99], b"").is_none() && content.stage(&[7; 100], &[0; 41]).is_none());
    let mut content = content;
    assert_eq!(content.bytes_mut().len(), 3000);
    let first = content.stage(&[7; 100], b"end").unwrap();
    assert_eq!(first.len(), 3103);
    assert!(content.bytes_mut().is_empty(), "peers may read it");
    // Peers may read the first one now, so others are refused and the same is not written again.
    assert!(content.stage(&[8; 100], b"end").is_none());
    assert!(content.stage(&[7; 100], b"enD").is_none() && content.stage(&[7; 100], b"en").is_none());
    let second = content.stage(&[7; 100], b"end").unwrap();
    let path = one.path.as_ref().unwrap();
    path.send_staged(&first).unwrap();
    path.send_staged(&second).unwrap();
    for _ in 0..2 {
        assert_eq!(other.expect(), Seen::Message([&[7; 100][..], &bytes(3000), b"end"].concat()));
    }
}

#[test]
fn lent_memory_is_bounded_and_returns() {
    let (one, mut other) = connected();
    let max = one.host.shared.pool.len() / 2;
    assert_eq!(lent(&one.host, &vec![0; max]).unwrap_err(), SendFailure::TooLong { max });
    let mut all = Vec::new();
    let refused = loop {
        match lent(&one.host, &bytes(30_000)) {
            Ok(content) => all.push(content),
            Err(refused) => break refused,
        }
    };
    assert_eq!((refused, all.len()), (SendFailure::Full(Exhausted::Pool), max / (32 << 10)));
    one.send(&bytes(60_000)).unwrap();
    assert_eq!(other.expect(), Seen::Message(bytes(60_000)), "messages have room");
    all.clear();
    assert!(lent(&one.host, &bytes(30_000)).is_ok());
    assert!(LentContent::new().bytes_mut().is_empty() && LentContent::new().stage(&[], &[]).is_none());
}
