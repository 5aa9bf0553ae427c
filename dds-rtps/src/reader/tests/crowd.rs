//! Many writers: what one of them says concerns no other.

use super::*;
use crate::reader::writers::MatchedWriter;

const WRITERS: usize = 1000;

fn writer(number: usize) -> Guid {
    let mut prefix = [9; 12];
    prefix[..4].copy_from_slice(&(number as u32).to_be_bytes());
    Guid::new(GuidPrefix(prefix), EntityId([0, 0, 1, 2]))
}

fn hear(script: &mut Script, number: usize, last: i64, count: i32) {
    let heard = heartbeat(1, last, count);
    script.reader.handle_heartbeat(script.now(), &source(writer(number)), &heard);
}

/// All that the reader has to say, as the numbers of the writers that it is said to.
fn told(script: &mut Script) -> Vec<usize> {
    let (mut told, mut datagram) = (Vec::new(), Datagram::new());
    while script.reader.poll_transmit(script.now(), &mut datagram) {
        let mut bytes = Vec::new();
        datagram.copy_to(&mut bytes);
        let prefix = Message::parse(&bytes).unwrap().submessages().find_map(|submessage| match submessage.unwrap() {
            Submessage::InfoDestination(prefix) => Some(prefix.0),
            _ => None,
        });
        told.push(u32::from_be_bytes(*prefix.unwrap().first_chunk().unwrap()) as usize);
        assert!(told.len() <= WRITERS, "a reader that never stops talking");
    }
    told
}

/// A reliable reader that all of them match and have been heard by.
fn crowd() -> Script {
    let mut script = Script::new(transient_local(keep_all(config(KeySource::None))));
    (0..WRITERS).for_each(|number| assert!(script.meet(writer(number), true)));
    assert_eq!(told(&mut script).len(), WRITERS, "each is asked once whether it is there");
    (0..WRITERS).for_each(|number| hear(&mut script, number, 0, 1));
    assert_eq!(told(&mut script).len(), WRITERS, "each is answered");
    script
}

fn looks(script: &Script) -> u64 {
    script.reader.writers.iter().map(|writer: &MatchedWriter| writer.proxy.transmit_polls).sum()
}

#[test]
fn a_heartbeat_is_answered_without_a_look_at_other_writers() {
    let mut script = crowd();
    let before = looks(&script);
    for count in 2..12 {
        hear(&mut script, 500, 0, count);
        assert_eq!(told(&mut script), [500]);
    }
    assert_eq!(looks(&script) - before, 10, "{WRITERS} writers match, and one has spoken");
}

#[test]
fn answers_go_out_in_the_order_in_which_they_were_due() {
    let mut script = crowd();
    let speakers = [700, 3, 998, 0, 250];
    speakers.iter().for_each(|&number| hear(&mut script, number, 0, 2));
    assert_eq!(told(&mut script), speakers);
}

/// Places are filled up from the end when a writer leaves: what was due of the last one is due still.
#[test]
fn a_writer_that_leaves_takes_no_other_answer_with_it() {
    let mut script = crowd();
    hear(&mut script, WRITERS - 1, 0, 2);
    hear(&mut script, 4, 0, 2);
    hear(&mut script, 5, 0, 2);
    let now = script.now();
    assert!(script.reader.unmatch_writer(now, writer(4)));
    let mut left = told(&mut script);
    left.sort_unstable();
    assert_eq!(left, [5, WRITERS - 1]);
    assert!(script.reader.deadline().is_none(), "nothing of the one that has left is due");
}
