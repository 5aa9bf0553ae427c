//! Many writers: the traffic of one does not cause work for the others.

use super::*;
use crate::reader::writers::MatchedWriter;

const WRITERS: usize = 1000;

fn writer(number: usize) -> Guid {
    let mut prefix = [9; 12];
    prefix[..4].copy_from_slice(&(number as u32).to_be_bytes());
    Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 2]))
}

fn send_heartbeat(script: &mut Script, number: usize, last: i64, count: i32) {
    let heard = heartbeat(1, last, count);
    script.reader.handle_heartbeat(script.now(), &source(writer(number)), &heard);
}

/// All answers of the reader, as the numbers of their writers.
fn answered(script: &mut Script) -> Vec<usize> {
    let (mut answered, mut datagram) = (Vec::new(), Datagram::new());
    while script.reader.poll_transmit(script.now(), &mut datagram) {
        let mut bytes = Vec::new();
        datagram.copy_to(&mut bytes);
        let prefix = Message::parse(&bytes).unwrap().submessages().find_map(|submessage| match submessage.unwrap() {
            Submessage::InfoDestination(prefix) => Some(prefix.0),
            _ => None,
        });
        answered.push(u32::from_be_bytes(*prefix.unwrap().first_chunk().unwrap()) as usize);
        assert!(answered.len() <= WRITERS, "the reader never stops sending");
    }
    answered
}

/// A reliable reader that matched and heard all writers.
fn crowd() -> Script {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    for number in 0..WRITERS {
        assert!(script.match_remote(writer(number), true));
    }
    assert_eq!(answered(&mut script).len(), WRITERS, "each gets one pre-emptive ACKNACK");
    for number in 0..WRITERS {
        send_heartbeat(&mut script, number, 0, 1);
    }
    assert_eq!(answered(&mut script).len(), WRITERS, "each is answered");
    script
}

fn polls(script: &Script) -> u64 {
    script.reader.writers.iter().map(|writer: &MatchedWriter| writer.proxy.transmit_polls).sum()
}

#[test]
fn heartbeat_answer_polls_one_writer_only() {
    let mut script = crowd();
    let before = polls(&script);
    for count in 2..12 {
        send_heartbeat(&mut script, 500, 0, count);
        assert_eq!(answered(&mut script), [500]);
    }
    assert_eq!(polls(&script) - before, 10, "{WRITERS} writers match, and one has sent a HEARTBEAT");
}

#[test]
fn answers_leave_in_the_order_of_their_due_times() {
    let mut script = crowd();
    let speakers = [700, 3, 998, 0, 250];
    for &number in &speakers {
        send_heartbeat(&mut script, number, 0, 2);
    }
    assert_eq!(answered(&mut script), speakers);
}

/// The last writer takes the index of an unmatched one. Its answer is still due.
#[test]
fn unmatch_keeps_answers_to_other_writers() {
    let mut script = crowd();
    send_heartbeat(&mut script, WRITERS - 1, 0, 2);
    send_heartbeat(&mut script, 4, 0, 2);
    send_heartbeat(&mut script, 5, 0, 2);
    let now = script.now();
    assert!(script.reader.unmatch_writer(now, writer(4)));
    let mut left = answered(&mut script);
    left.sort_unstable();
    assert_eq!(left, [5, WRITERS - 1]);
    assert!(script.reader.deadline().is_none(), "the unmatched writer has no deadline");
}
