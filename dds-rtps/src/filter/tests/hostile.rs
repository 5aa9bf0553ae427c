//! Bytes and expressions of strangers.

use super::sample::{Fields, INTEGERS, TEXTS, appendable, fixed, mutable};
use super::{ENCODINGS, Filter, ORDERS, filter, payload};
use crate::cdr::{Encode, TypeInfo};
use crate::types::SplitMix64;
use proptest::prelude::*;

/// Each field is asked for, and none decides.
fn asks_for_all<T: TypeInfo>() -> Filter {
    let numbers = INTEGERS.iter().map(|name| format!("{name} = 99"));
    let texts = TEXTS.iter().map(|name| format!("{name} LIKE '%x_'"));
    filter::<T>(&numbers.chain(texts).collect::<Vec<_>>().join(" OR "), &[]).unwrap()
}

fn ask<T: Fields + Encode + TypeInfo>(seed: u64, damage: &[(usize, u8)], cut: usize) {
    let (filter, sample) = (asks_for_all::<T>(), T::random(&mut SplitMix64::new(seed)));
    for (encoding, order) in ENCODINGS.iter().flat_map(|encoding| ORDERS.map(|order| (*encoding, order))) {
        let mut bytes = payload(&sample, encoding, order);
        for (at, value) in damage {
            let at = at % bytes.len();
            bytes[at] = *value;
        }
        for bytes in [&bytes[..], &bytes[..cut % (bytes.len() + 1)]] {
            let _ = filter.evaluate(bytes, false);
            let _ = filter.evaluate(bytes, true);
            assert!(filter.evaluate(bytes, false).is_ok() || filter.passes(bytes), "what cannot be read passes");
        }
    }
}

proptest! {
    #[test]
    fn damaged_samples_do_no_harm(
        seed in any::<u64>(),
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 0..8),
        cut in any::<usize>(),
    ) {
        ask::<fixed::Sample>(seed, &damage, cut);
        ask::<appendable::Sample>(seed, &damage, cut);
        ask::<mutable::Sample>(seed, &damage, cut);
    }

    #[test]
    fn senseless_bytes_do_no_harm(mut bytes in prop::collection::vec(any::<u8>(), 0..300), header in 0_u8..12) {
        if let Some(start) = bytes.get_mut(..2) {
            start.copy_from_slice(&[0, header]);
        }
        let _ = asks_for_all::<fixed::Sample>().evaluate(&bytes, false);
        let _ = asks_for_all::<appendable::Sample>().evaluate(&bytes, false);
        let _ = asks_for_all::<mutable::Sample>().evaluate(&bytes, true);
    }

    #[test]
    fn senseless_expressions_do_no_harm(text in "\\PC{0,60}") {
        let _ = filter::<fixed::Sample>(&text, &["1"]);
    }

    #[test]
    fn nearly_sensible_expressions_do_no_harm(
        words in prop::collection::vec(
            prop::sample::select(vec![
                "id", "name", "inner", ".", "[", "]", "0", "1", "=", "<", ">", "AND", "OR", "NOT", "(", ")", "BETWEEN",
                "LIKE", "MATCH", "%", "%0", "'", "'%0'", "'[a'", " ", "0x", "1e", "-", "TRUE", "choice", "_d", "list",
            ]),
            0..30,
        ),
    ) {
        let _ = filter::<fixed::Sample>(&words.concat(), &["1"]);
        let _ = filter::<fixed::Sample>(&words.join(" "), &[]);
    }
}
