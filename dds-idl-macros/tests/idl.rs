//! Types of the macro: from text, and from a file.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

use dds_cdr::cdr::{Encoding, TypeInfo, decode_payload, encode_payload};

dds_idl_macros::idl! {
    #![crate_path = "::dds_cdr", derive_path = "::dds_macros::DdsType"]

    module robot {
        const long JOINTS = 3;
        enum Kind { FREE, @default_literal HELD };
        /// An arm that "holds" things.
        @mutable struct Arm {
            @key long id; // the arm
            sequence<double, JOINTS> angles;
            string<16> name;
            Kind kind;
            char letter;
        };
        @final union Command switch (long) { case 1: double angle; case 2: case 3: string text; default: octet raw[4]; };
    };
}

mod of_file {
    dds_idl_macros::idl!(
        #![crate_path = "::dds_cdr", derive_path = "::dds_macros::DdsType"]
        "tests/shapes.idl"
    );
}

mod case {
    dds_idl_macros::idl! {
        #![crate_path = "::dds_cdr", derive_path = "::dds_macros::DdsType", case_sensitive]
        struct A { long x; short X; };
    }
}

#[test]
fn names_that_differ_only_in_case_are_two_names() {
    let value = case::A { x: 1, x2: 2 };
    let mut payload = Vec::new();
    encode_payload(&value, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(decode_payload::<case::A>(&payload).unwrap().x2, 2);
}

#[test]
fn types_of_text_come_back() {
    let arm = robot::Arm { id: 3, angles: vec![0.5], name: "left".into(), letter: 'x', ..Default::default() };
    assert_eq!((arm.kind, robot::JOINTS), (robot::Kind::Held, 3));
    let mut payload = Vec::new();
    encode_payload(&arm, Encoding::Xcdr2, &mut payload).unwrap();
    assert_eq!(decode_payload::<robot::Arm>(&payload).unwrap(), arm);
    assert_eq!(robot::Command::TYPE_NAME, "robot::Command");
}

#[test]
fn types_of_a_file_and_its_include_exist() {
    let square = of_file::Square { corner: of_file::Point { x: 1, y: 2 }, size: 3 };
    assert_eq!(square.corner.x, 1);
}

#[test]
fn errors_stand_at_the_token() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("tests/ui/*.rs");
}
