//! DATA_REPRESENTATION (XTYPES 1.3, 7.6.3.1.1): the encoding of sent samples, and the readers that accept it.

use super::*;
use DataRepresentation::{Xcdr1, Xcdr2};
use dds_core::cdr::Raw;
use dds_core::qos::{DataRepresentation, PolicyId, TopicQos};

/// Encoding in the header of a written sample, for a writer with this offer.
///
/// A raw reader that accepts all encodings receives it.
fn encoding(pair: &Pair, offer: &[DataRepresentation]) -> [u8; 2] {
    let topic = pair.to.raw_topic("pose", "Pose", TopicQos::default()).unwrap();
    let request = DataReaderQos::default().keep_all().representation([Xcdr1, Xcdr2]);
    let reader = pair.to.reader_builder(&topic).qos(request).build().unwrap();
    let writer = pair.writer(DataWriterQos::default().representation(offer.to_vec()));
    pair.settle();
    pair.write(&writer, 1, 1);
    let raw: Raw = reader.take().unwrap().into_data().next().unwrap();
    raw.bytes[..2].try_into().unwrap()
}

/// `Pose` is final, so both encodings are plain: CDR_LE is 1, and CDR2_LE is 7 (RTPS 2.5, 10.5).
#[test]
fn writer_uses_first_offered_representation() {
    Pair::on_every_way(|pair| {
        for (offer, expected) in [(&[Xcdr1][..], 1), (&[Xcdr2], 7), (&[Xcdr2, Xcdr1], 7), (&[Xcdr1, Xcdr2], 1)] {
            assert_eq!(encoding(pair, offer), [0, expected], "{offer:?}");
        }
    });
}

/// A writer uses its first offered encoding, and a reader accepts any in its list (XTYPES 1.3, 7.6.3.1.1).
#[test]
fn match_requires_accepted_representation() {
    Pair::on_every_way(|pair| {
        for (offer, request, is_matched) in [
            (&[Xcdr1][..], &[Xcdr1][..], true),
            (&[Xcdr2], &[Xcdr2], true),
            (&[Xcdr2], &[Xcdr1], false),
            (&[Xcdr1], &[Xcdr2], false),
            (&[Xcdr2], &[Xcdr1, Xcdr2], true),
            (&[Xcdr1], &[Xcdr1, Xcdr2], true),
            (&[Xcdr2, Xcdr1], &[Xcdr1], false),
            (&[Xcdr1, Xcdr2], &[Xcdr1], true),
        ] {
            let writer = pair.writer(DataWriterQos::default().representation(offer.to_vec()));
            let reader = pair.reader(DataReaderQos::default().representation(request.to_vec()));
            pair.settle();
            let what = format!("{offer:?} {request:?}");
            assert_eq!(reader.subscription_matched().current_count, u32::from(is_matched), "{what}");
            let policies = [writer.offered_incompatible_qos().policies, reader.requested_incompatible_qos().policies];
            let expected = if is_matched { vec![] } else { vec![(PolicyId::DataRepresentation, 1)] };
            assert_eq!(policies, [expected.clone(), expected], "{what}");
            pair.write(&writer, 1, 7);
            assert_eq!(values(&reader).len(), usize::from(is_matched), "{what}");
            drop((writer, reader));
            pair.settle();
        }
    });
}
