//! A writer with readers that send arbitrary requests.

use super::script::{Script, best_effort, late_joiner, line_of, reader_guid, reliable};
use dds_rtps::history::ChangeKind;
use dds_rtps::qos::{DataWriterQos, Durability, ResourceLimits};
use dds_rtps::types::{InstanceHandle, SequenceNumber};
use dds_rtps::wire::{AckNack, FragmentNumberSet, NackFrag, SequenceNumberSet};
use dds_rtps::writer::FragmentSize;
use proptest::prelude::*;

/// An event of a writer.
#[derive(Debug, Clone)]
enum Step {
    Write { len: usize },
    Match { reader: u8, kind: u8 },
    Unmatch { reader: u8 },
    AckNack { reader: u8, base: i64, missing: Vec<u8>, count: i32, is_final: bool },
    NackFrag { reader: u8, number: i64, base: u32, missing: Vec<u8>, count: i32 },
    Wait { ms: u64 },
    TransmitOnce,
}

/// Sequence numbers around the existing ones, and extreme ones.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![
        8 => -2..40_i64,
        1 => Just(i64::MAX),
        1 => Just(i64::MIN),
        1 => Just(-(1_i64 << 32)),
        1 => Just(1_i64 << 32),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let missing = || proptest::collection::vec(any::<u8>(), 0..6);
    prop_oneof![
        6 => (4..400_usize).prop_map(|len| Step::Write { len }),
        2 => (2..6_u8, 0..3_u8).prop_map(|(reader, kind)| Step::Match { reader, kind }),
        1 => (2..6_u8).prop_map(|reader| Step::Unmatch { reader }),
        6 => (2..6_u8, number(), missing(), any::<i32>(), any::<bool>())
            .prop_map(|(reader, base, missing, count, is_final)| Step::AckNack { reader, base, missing, count, is_final }),
        3 => (2..6_u8, number(), 0..10_u32, missing(), any::<i32>())
            .prop_map(|(reader, number, base, missing, count)| Step::NackFrag { reader, number, base, missing, count }),
        3 => (0..300_u64).prop_map(|ms| Step::Wait { ms }),
        4 => Just(Step::TransmitOnce),
    ]
}

fn apply(script: &mut Script, step: Step) {
    let now = script.now();
    match step {
        Step::Write { len } => {
            let payload: Vec<u8> = (0..len).map(|index| (index % 251) as u8).collect();
            // The writer may refuse it.
            let _ = script.write_change(ChangeKind::Alive, InstanceHandle::NIL, &payload);
        }
        Step::Match { reader, kind } => script.match_reader(match kind {
            0 => best_effort(reader),
            1 => reliable(reader),
            _ => late_joiner(reader),
        }),
        Step::Unmatch { reader } => {
            script.writer.unmatch_reader(now, reader_guid(reader));
        }
        Step::AckNack { reader, base, missing, count, is_final } => {
            let mut reader_sn_state = SequenceNumberSet::empty(SequenceNumber(base));
            for offset in missing {
                reader_sn_state.insert(SequenceNumber(base.saturating_add(offset.into())));
            }
            let reader = reader_guid(reader);
            let writer_id = script.writer.guid().entity_id;
            let ack_nack = AckNack { reader_id: reader.entity_id, writer_id, reader_sn_state, count, is_final };
            script.writer.handle_acknack(now, reader.into(), &ack_nack);
        }
        Step::NackFrag { reader, number, base, missing, count } => {
            let mut fragment_number_state = FragmentNumberSet::empty(base);
            for offset in missing {
                fragment_number_state.insert(base + u32::from(offset));
            }
            let reader = reader_guid(reader);
            let nack_frag = NackFrag {
                reader_id: reader.entity_id,
                writer_id: script.writer.guid().entity_id,
                writer_sn: SequenceNumber(number),
                fragment_number_state,
                count,
            };
            script.writer.handle_nack_frag(now, reader.into(), &nack_frag);
        }
        Step::Wait { ms } => script.wait(ms),
        Step::TransmitOnce => {
            if script.writer.poll_transmit(now, &mut script.datagram) {
                // `line_of` parses the datagram, so it is valid.
                line_of(&script.datagram);
                assert!(!script.datagram.destinations().is_empty());
            }
        }
    }
}

fn qos(kind: u8) -> DataWriterQos {
    let limits = ResourceLimits::NONE.max_samples(6);
    match kind {
        0 => DataWriterQos::default().keep_last(2),
        1 => DataWriterQos::default().keep_last(3).durability(Durability::TransientLocal),
        2 => DataWriterQos::default().keep_all().resource_limits(limits),
        3 => DataWriterQos::default().keep_all().resource_limits(limits).durability(Durability::TransientLocal),
        _ => DataWriterQos::default().keep_last(3).lifespan(std::time::Duration::from_millis(200)),
    }
}

proptest! {
    #[test]
    fn writer_survives_arbitrary_reader_input(kind in 0..5_u8, steps in proptest::collection::vec(step(), 1..120)) {
        let mut script = Script::with(false, &qos(kind), |config| {
            config.fragment_size = FragmentSize { same_host: 64, network: 64 };
        });
        for step in steps {
            apply(&mut script, step);
            prop_assert!(script.writer.history_len() <= 6);
            prop_assert!(script.writer.acknowledged() <= script.writer.last_sequence_number());
        }
        // The writer comes to rest: 6 changes of at most 7 fragments, 4 readers, and their requests.
        prop_assert!(script.sent().len() < 1000);
        script.wait(20);
        script.sent();
        for reader in 2..6 {
            script.writer.unmatch_reader(script.now(), reader_guid(reader));
        }
        script.wait(10_000);
        prop_assert!(script.sent().is_empty());
        prop_assert_eq!(script.writer.acknowledged(), script.writer.last_sequence_number());
    }
}
