//! Peers that end early or break rules.

use super::*;

/// A step of a hand-made peer during the handshake.
type Step = fn(&HandMade, &mut Side);

/// A broken rule.
type Fault = fn(&mut Opened);

/// A peer that follows the protocol by hand.
pub(super) struct HandMade {
    socket: OwnedFd,
    side: OwnSide,
    pool: BlockPool,
    identity: Identity,
}

impl HandMade {
    pub(super) fn connect(to: &Side) -> Self {
        let socket = new_socket().unwrap();
        rustix::net::connect(&socket, &address_of(&to.host.identity()).unwrap()).unwrap();
        let pool = BlockPool::new(1 << 20).unwrap();
        Self { socket, side: OwnSide::new(RING_LEN).unwrap(), pool, identity: identity() }
    }

    fn hello_to(&self, receiver: Identity) -> HandshakeMessage {
        HandshakeMessage::Hello(Hello { ring_len: RING_LEN, pool_len: 1 << 20, sender: self.identity, receiver })
    }

    fn send_hello(&self, to: &Side) {
        self.side.send_hello(&self.socket, &self.hello_to(to.host.identity()), self.pool.descriptor()).unwrap();
    }

    fn send_bytes(&self, bytes: &[u8]) {
        rustix::net::send(&self.socket, bytes, SendFlags::empty()).unwrap();
    }

    pub(super) fn wake(&self) {
        self.send_bytes(&[0]);
    }

    fn receive_hello(&self, from: &mut Side) -> (Hello, PeerDescriptors) {
        loop {
            from.next(Duration::from_millis(1));
            match receive_handshake(&self.socket).unwrap() {
                Some((HandshakeMessage::Hello(hello), Some(descriptors))) => return (hello, descriptors),
                Some(other) => panic!("{other:?}"),
                None => {}
            }
        }
    }

    /// Opens the path like an honest peer.
    pub(super) fn open(self, to: &mut Side) -> Opened {
        self.send_hello(to);
        let (hello, descriptors) = self.receive_hello(to);
        let theirs = Arc::new(MappedMemory::open(descriptors.outbox.as_fd(), outbox_len(hello.ring_len)).unwrap());
        let own = Arc::clone(&self.side.outbox);
        let mut writer = RingWriter::new(Arc::clone(&own), Arc::clone(&theirs), RING_LEN);
        let mut reader = RingReader::new(Arc::clone(&own), theirs, hello.ring_len);
        let probe = reader.peek().unwrap().unwrap();
        assert_eq!(probe.kind, RecordKind::Probe);
        writer.push(RecordKind::Answer, probe.argument, 0, &[]).unwrap();
        reader.consume(probe);
        self.wake();
        assert_eq!(to.expect(), Seen::Up);
        Opened { peer: self, writer }
    }
}

/// A hand-made peer with an open path.
pub(super) struct Opened {
    pub(super) peer: HandMade,
    writer: RingWriter<MappedMemory>,
}

/// A peer that ends at each step of the handshake, and its refusal.
#[test]
fn peer_that_ends_during_the_handshake_leaves_nothing() {
    let mut one = side(config());
    let steps: [(&str, Step); 8] = [
        ("before the path was open", |_, _| {}),
        ("malformed", |peer, _| peer.send_bytes(b"GET / HTTP/1.1")),
        ("malformed", |peer, one| peer.send_bytes(&peer.hello_to(one.host.identity()).encode()[..30])),
        ("file descriptor", |peer, one| peer.send_bytes(&peer.hello_to(one.host.identity()).encode())),
        ("another process answers", |peer, _| {
            peer.side.send_hello(&peer.socket, &peer.hello_to([9; 16]), peer.pool.descriptor()).unwrap()
        }),
        ("is too short", |peer, one| {
            let long =
                Hello { ring_len: RING_LEN, pool_len: 2 << 20, sender: peer.identity, receiver: one.host.identity() };
            peer.side.send_hello(&peer.socket, &HandshakeMessage::Hello(long), peer.pool.descriptor()).unwrap();
        }),
        ("before the path was open", |peer, one| peer.send_hello(one)),
        ("before the path was open", |peer, one| {
            peer.send_hello(one);
            peer.receive_hello(one);
        }),
    ];
    for (number, (reason, step)) in steps.iter().enumerate() {
        let peer = HandMade::connect(&one);
        step(&peer, &mut one);
        let mut alive = Some(peer);
        if reason.starts_with("before") {
            alive = None;
        }
        match one.expect() {
            Seen::Refused(text) => assert!(text.contains(reason), "step {number}: {text}"),
            seen => panic!("step {number}: {seen:?}"),
        }
        assert_eq!(one.reception.connection_count(), 0, "step {number}");
        assert!(one.host.shared.lock_peers().claims.is_empty(), "step {number}");
        drop(alive);
    }
    let mut good = side(config());
    good.host.connect(one.host.identity()).unwrap();
    open_both(&mut one, &mut good);
}

#[test]
fn peer_that_stops_after_its_hello_is_refused_in_time() {
    let mut one = side(impatient());
    let peer = HandMade::connect(&one);
    peer.send_hello(&one);
    assert_eq!(one.expect(), Seen::Refused(Refusal::TimedOut.to_string()));
    assert_eq!(one.reception.connection_count(), 0);
    drop(peer);
}

#[test]
fn message_before_the_test_message_came_back_ends_the_path() {
    let mut one = side(config());
    let peer = HandMade::connect(&one);
    peer.send_hello(&one);
    let (hello, descriptors) = peer.receive_hello(&mut one);
    let theirs = Arc::new(MappedMemory::open(descriptors.outbox.as_fd(), outbox_len(hello.ring_len)).unwrap());
    let mut writer = RingWriter::new(Arc::clone(&peer.side.outbox), theirs, RING_LEN);
    writer.push(RecordKind::Inline, 0, 1, &[IoSlice::new(b"x")]).unwrap();
    peer.wake();
    assert_eq!(one.expect(), Seen::Refused(Refusal::Broken(Violation::OutOfTurn).to_string()));
}

#[test]
fn violation_of_an_open_peer_ends_its_path_only() {
    let (mut one, mut good) = connected();
    let to_good = one.path.clone().unwrap();
    let faults: [(Violation, Fault); 4] = [
        (Violation::BlockOutside, |peer| {
            peer.writer.push(RecordKind::Block, 63, 20_000, &[]).unwrap();
        }),
        (Violation::BlockOutside, |peer| {
            peer.writer.push(RecordKind::Block, u32::MAX, u32::MAX, &[]).unwrap();
        }),
        (Violation::OutOfTurn, |peer| {
            peer.writer.push(RecordKind::Answer, 1, 0, &[]).unwrap();
        }),
        (Violation::WrittenBeyondRing, |peer| peer.peer.side.outbox.store(0, 1 << 30)),
    ];
    for (violation, fault) in faults {
        let mut peer = HandMade::connect(&one).open(&mut one);
        fault(&mut peer);
        peer.peer.wake();
        assert_eq!(one.expect(), Seen::Down(PathEnd::Broken(violation)));
    }
    // The sending side finds these violations.
    for (at, value) in [(64, 1 << 30), (256, 77)] {
        let peer = HandMade::connect(&one).open(&mut one);
        one.send(&bytes(5000)).unwrap();
        peer.peer.side.outbox.store(at, value);
        while one.send(&bytes(5000)).is_ok() {}
        while one.send(&bytes(1000)).is_ok() {}
        assert!(matches!(one.expect(), Seen::Down(PathEnd::Broken(_))));
        assert_eq!(one.used_grains(), 0);
    }
    to_good.send(&[IoSlice::new(b"unharmed")]).unwrap();
    assert_eq!(good.expect(), Seen::Message(b"unharmed".to_vec()));
}

/// A hostile peer writes random numbers over all memory that it can write, again and again.
#[test]
fn hostile_peer_that_scribbles_harms_no_other_path() {
    let (mut one, mut good) = connected();
    let to_good = one.path.clone().unwrap();
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = move || {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random
    };
    let until = Instant::now() + PATIENCE;
    let mut ends = 0;
    let mut received = 0;
    while ends <= 10 && Instant::now() < until {
        let peer = HandMade::connect(&one).open(&mut one);
        let stops = AtomicBool::new(false);
        let seed = next();
        std::thread::scope(|scope| {
            scope.spawn(|| scribble(&peer, seed, &stops));
            for round in 0..400_u32 {
                // To the hostile peer, so that its returned blocks and positions are read.
                let _ = one.send(&bytes(if round % 3 == 0 { 6000 } else { 60 }));
                to_good.send(&[IoSlice::new(&round.to_ne_bytes())]).unwrap();
                assert_eq!(good.expect(), Seen::Message(round.to_ne_bytes().to_vec()));
                match one.next(Duration::ZERO) {
                    Some(Seen::Down(_)) => {
                        ends += 1;
                        break;
                    }
                    Some(Seen::Message(_)) => received += 1,
                    Some(Seen::Room) | None => {}
                    seen => panic!("{seen:?}"),
                }
            }
            stops.store(true, Ordering::Relaxed);
        });
        drop(peer);
        while one.reception.connection_count() > 1 && Instant::now() < until {
            if let Some(Seen::Down(_)) = one.next(Duration::from_millis(50)) {
                break;
            }
        }
    }
    assert!(ends > 10, "{ends} paths ended by a violation, {received} random messages");
}

/// Mostly plausible numbers, so that all checks are reached.
fn scribble(peer: &Opened, mut random: u64, stops: &AtomicBool) {
    let outbox = &peer.peer.side.outbox;
    while !stops.load(Ordering::Relaxed) {
        for _ in 0..8 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let value = (random >> 32) as u32;
            let small = value % 64 * 16;
            match random % 16 {
                0 => outbox.store(0, small),
                1 => outbox.store(64, small),
                2 => outbox.store(128, value),
                3 => outbox.store(192, value),
                4 => outbox.store(256, value % 4),
                5 => outbox.store(1024 + (value % 256) as usize * 4, value >> 8),
                6 => outbox.store(value as usize % outbox_len(RING_LEN) / 4 * 4, value),
                _ => outbox.store(4096 + (value % RING_LEN) as usize / 16 * 16, value >> 16 & 7),
            }
        }
        let _ = rustix::net::send(&peer.peer.socket, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
    }
}
