//! Untrusted samples and expressions.

use super::super::LEN_MAX;
use super::super::compile::STEPS_MAX;
use super::super::pattern::{ALTERNATIVES_MAX, CHARACTERS_MAX, PATTERNS_MAX, POSITIONS_MAX, RANGES_MAX};
use super::sample::{Fields, INTEGERS, TEXTS, appendable, fixed, mutable};
use super::split_mix::SplitMix64;
use super::{ENCODINGS, ExpressionErrorKind, Filter, ORDERS, filter, payload};
use crate::cdr::{Encode, TypeInfo};
use proptest::prelude::*;

/// A filter that evaluates every field.
fn filter_of_all_fields<T: TypeInfo>() -> Filter {
    let numbers = INTEGERS.iter().map(|name| format!("{name} = 99"));
    let texts = TEXTS.iter().map(|name| format!("{name} LIKE '%x_'"));
    filter::<T>(&numbers.chain(texts).collect::<Vec<_>>().join(" OR "), &[]).unwrap()
}

fn evaluate_damaged<T: Fields + Encode + TypeInfo>(seed: u64, damage: &[(usize, u8)], cut: usize) {
    let (filter, sample) = (filter_of_all_fields::<T>(), T::random(&mut SplitMix64::new(seed)));
    for (encoding, order) in ENCODINGS.iter().flat_map(|encoding| ORDERS.map(|order| (*encoding, order))) {
        let mut bytes = payload(&sample, encoding, order);
        for (at, value) in damage {
            let at = at % bytes.len();
            bytes[at] = *value;
        }
        for bytes in [&bytes[..], &bytes[..cut % (bytes.len() + 1)]] {
            let _ = filter.evaluate(bytes, false);
            let _ = filter.evaluate(bytes, true);
            assert!(filter.evaluate(bytes, false).is_ok() || filter.passes(bytes), "a malformed sample passes");
        }
    }
}

proptest! {
    #[test]
    fn damaged_samples_cause_no_panic(
        seed in any::<u64>(),
        damage in prop::collection::vec((any::<usize>(), any::<u8>()), 0..8),
        cut in any::<usize>(),
    ) {
        evaluate_damaged::<fixed::Sample>(seed, &damage, cut);
        evaluate_damaged::<appendable::Sample>(seed, &damage, cut);
        evaluate_damaged::<mutable::Sample>(seed, &damage, cut);
    }

    #[test]
    fn arbitrary_bytes_cause_no_panic(mut bytes in prop::collection::vec(any::<u8>(), 0..300), header in 0_u8..12) {
        if let Some(start) = bytes.get_mut(..2) {
            start.copy_from_slice(&[0, header]);
        }
        let _ = filter_of_all_fields::<fixed::Sample>().evaluate(&bytes, false);
        let _ = filter_of_all_fields::<appendable::Sample>().evaluate(&bytes, false);
        let _ = filter_of_all_fields::<mutable::Sample>().evaluate(&bytes, true);
    }

    #[test]
    fn arbitrary_text_causes_no_panic(text in "\\PC{0,60}") {
        let _ = filter::<fixed::Sample>(&text, &["1"]);
    }

    #[test]
    fn arbitrary_tokens_cause_no_panic(
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

/// `predicate`, repeated `count` times and joined by OR.
fn repeated(predicate: &str, count: usize) -> String {
    vec![predicate; count].join(" OR ")
}

fn refused(expression: &str, parameters: &[&str]) -> ExpressionErrorKind {
    let Err(error) = filter::<fixed::Sample>(expression, parameters) else { panic!("{expression} was accepted") };
    assert!(!error.next_step().is_empty());
    error.kind().clone()
}

/// Each use of a parameter is compiled separately. A few bytes must not expand to many copies of the parameter.
#[test]
fn repeated_use_of_parameter_is_bounded() {
    let text = "x".repeat(LEN_MAX / 2);
    assert!(filter::<fixed::Sample>(&repeated("name = %0", 1), &[&text[9..]]).is_ok());
    assert!(filter::<fixed::Sample>(&repeated("name = %0", 2), &[&text[36..]]).is_ok());
    let kind = refused(&repeated("name = %0", 3), &[&text]);
    assert!(matches!(kind, ExpressionErrorKind::TooLong { max: LEN_MAX, .. }), "{kind:?}");
}

#[test]
fn patterns_of_an_expression_are_bounded_together() {
    let list = vec!["*a"; ALTERNATIVES_MAX].join(",");
    let times = PATTERNS_MAX / ALTERNATIVES_MAX;
    assert!(filter::<fixed::Sample>(&repeated("name MATCH %0", times), &[&list]).is_ok());
    let beyond = ExpressionErrorKind::PatternsTooLarge { of: "patterns", max: PATTERNS_MAX };
    assert_eq!(refused(&repeated("name MATCH %0", times + 1), &[&list]), beyond);
    assert_eq!(refused(&repeated("name MATCH %0", 900), &[&list]), beyond);
    assert!(filter::<fixed::Sample>(&repeated("name LIKE '%a'", PATTERNS_MAX), &[]).is_ok());
    assert_eq!(refused(&repeated("name LIKE '%a'", PATTERNS_MAX + 1), &[]), beyond);
    let longest = "a".repeat(CHARACTERS_MAX);
    let times = POSITIONS_MAX / CHARACTERS_MAX;
    assert!(filter::<fixed::Sample>(&repeated("name LIKE %0", times), &[&longest]).is_ok());
    let beyond = ExpressionErrorKind::PatternsTooLarge { of: "characters", max: POSITIONS_MAX };
    assert_eq!(refused(&repeated("name LIKE %0", times + 1), &[&longest]), beyond);
    // A character that is not in a set is compared with the whole set.
    let set = format!("[{}]", "a".repeat(RANGES_MAX));
    assert!(filter::<fixed::Sample>("name MATCH %0", &[&set]).is_ok());
    let beyond = ExpressionErrorKind::PatternsTooLarge { of: "characters and ranges in sets", max: RANGES_MAX };
    assert_eq!(refused("name MATCH %0 OR name MATCH '[b]'", &[&set]), beyond);
}

#[test]
fn comparisons_and_operators_are_bounded() {
    let beyond = ExpressionErrorKind::TooManySteps { max: STEPS_MAX };
    assert!(filter::<fixed::Sample>(&repeated("id=1", STEPS_MAX / 2), &[]).is_ok());
    assert_eq!(refused(&repeated("id=1", STEPS_MAX / 2 + 1), &[]), beyond);
    assert_eq!(refused(&repeated("id BETWEEN 1 AND 2", STEPS_MAX / 2 + 1), &[]), beyond);
    assert_eq!(refused(&repeated(&format!("{}id=1", "NOT ".repeat(30)), STEPS_MAX / 31 + 1), &[]), beyond);
}

/// The module documentation states these bounds. Different characters outside of ASCII take the most memory.
#[test]
fn memory_of_untrusted_filter_is_bounded() {
    let memory = |expression: &str, parameters: &[&str]| {
        filter::<fixed::Sample>(expression, parameters).unwrap().program.memory()
    };
    let other = |at: usize| char::from_u32(0x400 + at as u32).unwrap();
    let places = POSITIONS_MAX / PATTERNS_MAX - RANGES_MAX / PATTERNS_MAX;
    let one = (0..places).map(other).collect::<String>() + &"[a]".repeat(RANGES_MAX / PATTERNS_MAX);
    let list = vec![one; ALTERNATIVES_MAX].join(",");
    let patterns = memory("name MATCH %0 OR title MATCH %0", &[&list]);
    assert!((100 * 1024..128 * 1024).contains(&patterns), "{patterns}");
    let steps = memory(&repeated("id BETWEEN 1 AND 2", STEPS_MAX / 2), &[]);
    assert!((32 * 1024..48 * 1024).contains(&steps), "{steps}");
    let text = memory("name = %0", &[&"x".repeat(LEN_MAX - 9)]);
    assert!(text < LEN_MAX + 256, "{text}");
    assert!(memory("name LIKE 'a%'", &[]) < 600, "a simple filter is small");
}
