//! Any filter expression on any sample: an expression and its negation have opposite results or both fail.
//!
//! The first line is the expression. The second line is its parameters, separated by tabs. The rest is the sample,
//! which is evaluated as two types.

#![no_main]

use dds_macros::DdsType;
use dds_rtps::cdr::{TypeDescription, TypeInfo};
use dds_rtps::filter::Filter;
use libfuzzer_sys::fuzz_target;
use std::collections::BTreeMap;
use std::hint::black_box;

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "dds_rtps")]
enum Color {
    Red,
    Green = 7,
}

#[derive(DdsType, Debug, Clone, Copy)]
#[dds(crate = "dds_rtps", bitset)]
struct Packed {
    #[dds(bits = 3)]
    low: u8,
    #[dds(bits = 7)]
    signed: i16,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested, appendable)]
struct Point {
    x: f32,
    y: f64,
    name: Option<String>,
}

#[derive(DdsType)]
#[dds(crate = "dds_rtps", nested, mutable)]
enum Either {
    Number(i32),
    Text(String),
    #[dds(default)]
    Points(Vec<Point>),
}

macro_rules! sample {
    ($name:ident, $extensibility:literal) => {
        #[derive(DdsType)]
        #[dds(crate = "dds_rtps", extensibility = $extensibility)]
        struct $name {
            #[dds(key)]
            id: u32,
            #[dds(key)]
            name: String,
            flag: bool,
            letter: char,
            tiny: i8,
            large: u64,
            color: Color,
            packed: Packed,
            point: Point,
            corners: [Point; 2],
            grid: [[i16; 3]; 2],
            list: Vec<i64>,
            texts: Vec<String>,
            maybe: Option<f64>,
            either: Either,
            map: BTreeMap<String, u8>,
        }
    };
}

sample!(Framed, "mutable");
sample!(Final, "final");

fuzz_target!(|bytes: &[u8]| {
    let mut lines = bytes.splitn(3, |byte| *byte == b'\n');
    let mut line = || lines.next().unwrap_or_default();
    let (expression, parameters, payload) = (line(), line(), line());
    let Ok(expression) = std::str::from_utf8(expression) else { return };
    let parameters = String::from_utf8_lossy(parameters);
    let parameters: Vec<String> = parameters.split('\t').filter(|text| !text.is_empty()).map(str::to_owned).collect();
    for ty in [Framed::DESCRIPTION, Final::DESCRIPTION] {
        evaluate_as(ty, expression, &parameters, payload);
    }
});

fn evaluate_as(ty: &'static TypeDescription, expression: &str, parameters: &[String], payload: &[u8]) {
    let filter = match Filter::new(ty, expression, parameters) {
        Ok(filter) => filter,
        Err(error) => {
            assert!(error.position() <= expression.len().max(parameters.iter().map(String::len).max().unwrap_or(0)));
            black_box(error.to_string());
            return;
        }
    };
    assert_eq!((filter.expression(), filter.parameters()), (expression, parameters));
    let passes = filter.evaluate(payload, false);
    assert_eq!(filter.passes(payload), *passes.as_ref().unwrap_or(&true));
    black_box((filter.passes_key(payload), filter.passes_key_of(payload, false)));
    // The negation does not compile if it is too long or too deep, or if the expression is blank.
    if let Ok(negated) = Filter::new(ty, &format!("NOT ({expression})"), parameters) {
        match (&passes, negated.evaluate(payload, false)) {
            (Ok(passes), Ok(opposite)) => assert_ne!(*passes, opposite, "{expression}"),
            (passes, opposite) => assert_eq!(passes.is_err(), opposite.is_err(), "{expression}"),
        }
    }
}
