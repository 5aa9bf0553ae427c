//! Random expressions on random values: the filter on encoded bytes agrees with a naive evaluation of the value.

use super::sample::{FLOATS, Fields, INTEGERS, Seen, TEXTS, appendable, fixed, mutable, small, word};
use super::split_mix::SplitMix64;
use super::{ENCODINGS, Filter, ORDERS, payload};
use crate::cdr::{Decode, Encode, TypeInfo, decode_payload};
use proptest::prelude::*;

/// A random expression, as text and as a naive evaluation.
struct RandomExpression<T> {
    text: String,
    meaning: Box<dyn Fn(&T) -> bool>,
}

fn pick<'a>(dice: &mut SplitMix64, names: &[&'a str]) -> &'a str {
    names[(dice.draw() % names.len() as u64) as usize]
}

/// A literal, in the expression or as a parameter.
fn literal(dice: &mut SplitMix64, parameters: &mut Vec<String>, value: &Seen) -> String {
    let text = match value {
        Seen::Integer(number) if dice.draw() % 4 == 0 && *number >= 0 => format!("0x{number:x}"),
        Seen::Integer(number) => number.to_string(),
        Seen::Float(number) => format!("{number:?}"),
        Seen::Text(text) => format!("'{text}'"),
        Seen::Absent => unreachable!(),
    };
    if parameters.len() == 100 || dice.draw() % 3 != 0 {
        return text;
    }
    parameters.push(text);
    let number = parameters.len() - 1;
    if dice.draw() % 2 == 0 { format!("%{number}") } else { format!("'%{number}'") }
}

fn compared(one: &Seen, other: &Seen) -> Option<std::cmp::Ordering> {
    match (one, other) {
        (Seen::Integer(one), Seen::Integer(other)) => Some(one.cmp(other)),
        (Seen::Integer(one), Seen::Float(other)) => (*one as f64).partial_cmp(other),
        (Seen::Float(one), Seen::Integer(other)) => one.partial_cmp(&(*other as f64)),
        (Seen::Float(one), Seen::Float(other)) => one.partial_cmp(other),
        (Seen::Text(one), Seen::Text(other)) => Some(one.cmp(other)),
        _ => panic!("{one:?} {other:?}"),
    }
}

fn holds(relation: &str, one: &Seen, other: &Seen) -> bool {
    if *one == Seen::Absent || *other == Seen::Absent {
        return false;
    }
    let order = compared(one, other);
    match relation {
        "=" => order.is_some_and(|order| order.is_eq()),
        "<>" | "!=" => !order.is_some_and(|order| order.is_eq()),
        "<" => order.is_some_and(|order| order.is_lt()),
        "<=" => order.is_some_and(|order| order.is_le()),
        ">" => order.is_some_and(|order| order.is_gt()),
        _ => order.is_some_and(|order| order.is_ge()),
    }
}

/// `LIKE` by its definition.
fn is_like(text: &[char], pattern: &[char]) -> bool {
    match (pattern.split_first(), text.split_first()) {
        (None, _) => text.is_empty(),
        (Some(('%', rest)), _) => (0..=text.len()).any(|skipped| is_like(&text[skipped..], rest)),
        (Some(('_', rest)), Some((_, text))) => is_like(text, rest),
        (Some((wanted, rest)), Some((first, text))) => wanted == first && is_like(text, rest),
        (Some(_), None) => false,
    }
}

fn predicate<T: Fields + 'static>(dice: &mut SplitMix64, parameters: &mut Vec<String>) -> RandomExpression<T> {
    let of_text = dice.draw() % 3 == 0;
    let numbers = [&INTEGERS[..], &FLOATS[..]].concat();
    let names = if of_text { &TEXTS[..] } else { &numbers };
    let left = pick(dice, names);
    let value = |dice: &mut SplitMix64| match (of_text, dice.draw() % 3) {
        (true, _) => Seen::Text(word(dice)),
        (false, 0) => Seen::Float(small(dice) as f64 / 2.0),
        (false, _) => Seen::Integer(small(dice).into()),
    };
    let relation = pick(dice, &["=", "<>", "!=", "<", "<=", ">", ">="]);
    match dice.draw() % 6 {
        0 => {
            let right = pick(dice, names);
            let meaning = move |sample: &T| holds(relation, &sample.field(left), &sample.field(right));
            RandomExpression { text: format!("{left}{relation}{right}"), meaning: Box::new(meaning) }
        }
        1 => {
            let right = value(dice);
            let text = format!("{} {relation} {left}", literal(dice, parameters, &right));
            RandomExpression { text, meaning: Box::new(move |sample| holds(relation, &right, &sample.field(left))) }
        }
        2 => {
            let (low, high, is_negated) = (value(dice), value(dice), dice.draw() % 2 == 0);
            let not = if is_negated { "Not " } else { "" };
            let low_text = literal(dice, parameters, &low);
            let text = format!("{left} {not}BETWEEN {low_text} and {}", literal(dice, parameters, &high));
            let meaning = move |sample: &T| {
                let value = sample.field(left);
                let is_between = holds(">=", &value, &low) && holds("<=", &value, &high);
                value != Seen::Absent && is_between != is_negated
            };
            RandomExpression { text, meaning: Box::new(meaning) }
        }
        3 if of_text => {
            let pattern: String = (0..dice.draw() % 5).map(|_| pick(dice, &["%", "_", "a", "b", "\u{e4}"])).collect();
            let text = format!("{left} LIKE '{pattern}'");
            let pattern: Vec<char> = pattern.chars().collect();
            let meaning = move |sample: &T| match sample.field(left) {
                Seen::Text(text) => is_like(&text.chars().collect::<Vec<_>>(), &pattern),
                _ => false,
            };
            RandomExpression { text, meaning: Box::new(meaning) }
        }
        _ => {
            let right = value(dice);
            let text = format!("{left} {relation} {}", literal(dice, parameters, &right));
            RandomExpression { text, meaning: Box::new(move |sample| holds(relation, &sample.field(left), &right)) }
        }
    }
}

fn condition<T: Fields + 'static>(
    dice: &mut SplitMix64,
    parameters: &mut Vec<String>,
    depth: u32,
) -> RandomExpression<T> {
    let kind = if depth == 0 { 3 } else { dice.draw() % 5 };
    match kind {
        0 => {
            let inner = condition::<T>(dice, parameters, depth - 1);
            RandomExpression {
                text: format!("NOT ({})", inner.text),
                meaning: Box::new(move |sample| !(inner.meaning)(sample)),
            }
        }
        1 | 2 => {
            let (one, other) =
                (condition::<T>(dice, parameters, depth - 1), condition::<T>(dice, parameters, depth - 1));
            let text = format!("({} {} {})", one.text, if kind == 1 { "AND" } else { "or" }, other.text);
            let meaning = move |sample: &T| match kind {
                1 => (one.meaning)(sample) && (other.meaning)(sample),
                _ => (one.meaning)(sample) || (other.meaning)(sample),
            };
            RandomExpression { text, meaning: Box::new(meaning) }
        }
        _ => predicate(dice, parameters),
    }
}

/// Compares both evaluations of a random expression on random samples.
///
/// Returns the number of samples that passed, and of all samples.
fn check_agreement<T>(seed: u64) -> (usize, usize)
where
    T: Fields + Encode + for<'de> Decode<'de> + TypeInfo + std::fmt::Debug + 'static,
{
    let mut dice = SplitMix64::new(seed);
    let (mut parameters, mut counts) = (Vec::new(), (0, 0));
    let drawn = condition::<T>(&mut dice, &mut parameters, 3);
    let filter = Filter::new(T::DESCRIPTION, &drawn.text, &parameters)
        .unwrap_or_else(|error| panic!("{} {parameters:?}: {error}", drawn.text));
    for _ in 0..4 {
        let sample = T::random(&mut dice);
        for (encoding, order) in ENCODINGS.iter().flat_map(|encoding| ORDERS.map(|order| (*encoding, order))) {
            let bytes = payload(&sample, encoding, order);
            let decoded: T = decode_payload(&bytes).unwrap();
            let expected = (drawn.meaning)(&decoded);
            let result = filter.evaluate(&bytes, false);
            assert_eq!(result, Ok(expected), "{} {parameters:?} {encoding:?} {order:?} {sample:?}", drawn.text);
            counts.0 += usize::from(expected);
            counts.1 += 1;
        }
    }
    counts
}

proptest! {
    #[test]
    fn filter_agrees_with_naive_evaluation(seed in any::<u64>()) {
    check_agreement::<fixed::Sample>(seed);
    check_agreement::<appendable::Sample>(seed);
    check_agreement::<mutable::Sample>(seed);
    }
}

#[test]
fn random_expressions_pass_some_samples_but_not_all() {
    let (mut passed, mut all) = (0, 0);
    for seed in 0..200 {
        let counts = check_agreement::<fixed::Sample>(seed);
        passed += counts.0;
        all += counts.1;
    }
    assert!(passed * 5 > all && (all - passed) * 5 > all, "{passed} of {all}");
}
