//! The types that the page "Types" shows.

#![allow(dead_code, reason = "only the descriptions of the types matter")]

use dds_core::DdsType;
use std::collections::BTreeMap;

#[derive(DdsType)]
#[dds(appendable, name = "example::Everything")]
struct Everything {
    #[dds(key)]
    id: RobotId,
    flag: bool,
    small: i8,
    unsigned: u8,
    #[dds(octet)]
    octet: u8,
    short: i16,
    long: i32,
    long_long: i64,
    float: f32,
    double: f64,
    letter: char,
    text: String,
    #[dds(bound = 64)]
    short_text: String,
    values: Vec<f32>,
    #[dds(bound = 16)]
    few_values: Vec<f32>,
    matrix: [[f64; 3]; 3],
    maybe: Option<u32>,
    table: BTreeMap<String, f64>,
    boxed: Box<Point>,
    mode: Mode,
    shape: Shape,
}

#[derive(DdsType)]
struct RobotId(u32);

#[derive(DdsType)]
#[dds(nested)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(DdsType)]
#[dds(nested)]
enum Mode {
    Idle,
    Driving = 10,
}

#[derive(DdsType)]
#[dds(nested)]
enum Shape {
    Circle(f64),
    Rectangle([f64; 2]),
}

/// Returns the IDL of [`Everything`], and the Rust code above.
pub(crate) fn idl_and_rust() -> (String, String) {
    let idl = dds_core::dynamic::DynamicType::of::<Everything>().unwrap().to_string();
    let (_, code) = include_str!("shown_types.rs").split_once("\n\nuse ").unwrap();
    let (code, _) = code.split_once("\n/// Returns").unwrap();
    (idl, format!("use {code}"))
}
