//! One test for each rule of evaluation.

use super::sample::{Color, Fields, fixed, mutable};
use super::split_mix::SplitMix64;
use super::{ENCODINGS, Encoding, ExpressionErrorKind, filter, passes, payload};
use crate::cdr::{ByteOrder, F128, Keyed, TypeInfo, decode_payload, encode_key_payload};
use dds_macros::DdsType;

fn sample() -> fixed::Sample {
    fixed::Sample {
        id: 7,
        ratio: 0.1,
        exact: 0.1,
        flag: true,
        letter: 'x',
        color: Color::Blue,
        maybe: None,
        big: u64::MAX,
        name: "it's".to_owned(),
        ..fixed::Sample::random(&mut SplitMix64::new(1))
    }
}

#[test]
fn literal_takes_the_kind_of_its_field() {
    for expression in [
        "id = 7",
        "id = 0x7",
        "id = +7",
        "id=7.0",
        "-7 < id",
        "ratio = 0.1",
        "exact = 0.1",
        "exact = 1e-1",
        "exact = .1",
        "flag = TRUE",
        "flag = true",
        "flag = 1",
        "flag = 'True'",
        "letter = 'x'",
        "color = 'Blue'",
        "color = 7",
        "big = 18446744073709551615",
        "big > 18446744073709549568.0",
        "big < 18446744073709551616",
        "name = 'it''s'",
        "wide_letter = 'x'",
        "id <> 1 and not id = 8",
        "(id=7)or(id=8)",
        "color > 'Green'",
        "  id\n=\t7  ",
        "",
        "id BETWEEN 7 AND 7 AND NOT id NOT BETWEEN 6 AND 8",
    ] {
        assert!(passes(&sample(), expression, &[]), "{expression}");
    }
    for expression in ["id = 7.5", "big = 18446744073709551614", "flag = FALSE", "color = 'Red'", "letter = 'X'"] {
        assert!(!passes(&sample(), expression, &[]), "{expression}");
    }
}

#[test]
fn parameters_replace_literals() {
    for (expression, parameters) in [
        ("id = %0", &["7"][..]),
        ("id = '%0'", &["0x7"]),
        ("color = %1 AND id = %0", &["7", "'Blue'"]),
        ("color = %0", &["Blue"]),
        ("name = %0", &["it's"]),
        ("name = %0", &["\"it's\""]),
        ("name LIKE %0", &["it%"]),
        ("flag = %0", &["TRUE"]),
        ("ratio = %0", &["0.1"]),
        ("id BETWEEN %0 AND %1", &["7", "8"]),
    ] {
        assert!(passes(&sample(), expression, parameters), "{expression}");
    }
    // In a quoted pattern, `%0` consists of ordinary characters.
    assert!(!passes(&sample(), "name LIKE '%0'", &[]));
    assert!(passes(&fixed::Sample { name: "10".to_owned(), ..sample() }, "name LIKE '%0'", &[]));
}

/// RTI Connext requires quotes around strings in parameters. In an expression the parser removes the quotes.
#[test]
fn quotes_inside_literal_are_characters() {
    let named = |name: &str| fixed::Sample { name: name.to_owned(), ..sample() };
    for (name, expression) in [
        ("\"R2\"", "name = '\"R2\"'"),
        ("'x'", "name = '''x'''"),
        ("\"\"", "name LIKE '\"%\"'"),
        ("'x'", "name MATCH '''x'''"),
    ] {
        assert!(passes(&named(name), expression, &[]), "{name} {expression}");
        let bare = name.trim_matches(['"', '\'']);
        assert!(!passes(&named(bare), expression, &[]), "{bare} {expression}");
    }
    for parameter in ["R2", "'R2'", "\"R2\""] {
        assert!(passes(&named("R2"), "name = %0 AND name LIKE %0 AND name MATCH %0", &[parameter]), "{parameter}");
    }
    assert!(passes(&named("\"R2\""), "name = %0 AND name LIKE %0", &["'\"R2\"'"]));
}

#[derive(DdsType, Debug, Clone)]
#[dds(crate = "crate")]
struct Words {
    order: u8,
    r#match: String,
    by: u8,
    nested: Reserved,
}

#[derive(DdsType, Debug, Clone)]
#[dds(crate = "crate")]
#[allow(non_snake_case, reason = "types of other languages may have such names")]
struct Reserved {
    and: u8,
    Or: u8,
    not: u8,
    BETWEEN: u8,
    like: String,
    r#true: bool,
    order: u8,
    Match: String,
}

/// DDS 1.4, Annex B: `ORDER BY` ends a query; `MATCH` is an addition of RTI Connext. Both are valid names of fields.
#[test]
fn keywords_are_names_where_names_are_expected() {
    let nested = Reserved {
        and: 1,
        Or: 2,
        not: 3,
        BETWEEN: 4,
        like: "l".to_owned(),
        r#true: true,
        order: 5,
        Match: "m".to_owned(),
    };
    let words = Words { order: 3, r#match: "abc".to_owned(), by: 1, nested };
    for expression in [
        "order = 3",
        "3=order",
        "NOT order = 4 AND (order > by)",
        "order BETWEEN by AND order",
        "match = 'abc'",
        "match MATCH 'a*'",
        "match LIKE 'a%' and match Match '?bc'",
        "by = 1",
        "nested.order > 1 AND nested.Match MATCH 'm'",
        "nested.and = 1 AND nested.Or = 2 OR nested.not = 3",
        "nested . BETWEEN BETWEEN nested.and AND nested.BETWEEN",
        "nested.like LIKE 'l' AND nested.true = TRUE",
    ] {
        assert!(passes(&words, expression, &[]), "{expression}");
    }
    for (expression, position) in [
        ("order = 3 ORDER BY order", 10),
        ("match MATCH 'a*' order\tby match", 17),
        ("(order = 3)ORDER BY by", 11),
        ("ORDER BY order", 0),
        (" order by by", 1),
    ] {
        let error = filter::<Words>(expression, &[]).unwrap_err();
        assert_eq!((error.position(), error.kind()), (position, &ExpressionErrorKind::OrderBy), "{expression}");
    }
    // Keywords of the standard stay reserved where they would change the meaning of an expression.
    for expression in ["and = 1", "not = 1", "order = 3 ORDER", "order = 3 by order", "match MATCH", "order"] {
        let error = filter::<Words>(expression, &[]).unwrap_err();
        assert!(matches!(error.kind(), ExpressionErrorKind::Syntax { .. }), "{expression}: {error}");
    }
}

#[test]
fn comparison_with_absent_value_is_false() {
    let none = fixed::Sample { list: vec![1], choice: fixed::Choice::Number(3), ..sample() };
    for field in ["maybe", "list[1]", "choice.Pair.a"] {
        for rest in ["= 0", "<> 0", "< 5", ">= -5", "BETWEEN -9 AND 9", "NOT BETWEEN 1 AND 2", "<> id"] {
            assert!(!passes(&none, &format!("{field} {rest}"), &[]), "{field} {rest}");
        }
        assert!(passes(&none, &format!("NOT {field} = 0"), &[]));
    }
    assert!(!passes(&none, "choice.Text LIKE '%'", &[]));
    assert!(passes(&none, "choice.Number = 3 AND choice._d = 1", &[]));
    assert!(!passes(&none, "absent.deep.n <> 100", &[]) || none.absent.is_some());
}

#[test]
fn nan_is_unequal_to_every_value() {
    let nan = fixed::Sample { exact: f64::NAN, ..sample() };
    assert!(passes(&nan, "exact <> 1 AND exact <> exact AND NOT exact = exact", &[]));
    assert!(!passes(&nan, "exact < 1 OR exact >= 1 OR exact BETWEEN -1 AND 1", &[]));
}

/// AND binds stronger than OR, and NOT stronger than both.
#[test]
fn operator_precedence_follows_sql() {
    assert!(passes(&sample(), "id = 7 OR id = 8 AND id = 9", &[]));
    assert!(!passes(&sample(), "(id = 7 OR id = 8) AND id = 9", &[]));
    assert!(passes(&sample(), "NOT id = 8 OR id = 7", &[]));
    assert!(!passes(&sample(), "NOT (id = 8 OR id = 7)", &[]));
    assert!(passes(&sample(), "NOT NOT id = 7", &[]));
}

#[derive(DdsType, Debug, Clone)]
#[dds(crate = "crate", extensibility = "appendable")]
struct Older {
    id: u8,
}

#[derive(DdsType, Debug, Clone)]
#[dds(crate = "crate", extensibility = "appendable")]
struct Newer {
    id: u8,
    name: String,
    count: i32,
    color: Color,
    maybe: Option<u8>,
    corners: [u8; 2],
}

/// XTYPES 1.3, 7.2.4.2: members that the sender's type lacks take their defaults.
#[test]
fn missing_members_of_older_type_count_as_default() {
    let bytes = payload(&Older { id: 1 }, Encoding::Xcdr2, ByteOrder::Big);
    for (expression, expected) in [
        ("count = 0 AND name = '' AND color = 'Red' AND corners[1] = 0", true),
        ("maybe = 0", false),
        ("id = 1", true),
        ("count <> 0", false),
    ] {
        assert_eq!(filter::<Newer>(expression, &[]).unwrap().evaluate(&bytes, false), Ok(expected), "{expression}");
    }
}

/// As above, for an enum whose default is not its first literal.
#[test]
fn missing_enum_counts_as_its_default_literal() {
    #[derive(DdsType, Debug, Clone, Copy, PartialEq)]
    #[dds(crate = "crate")]
    enum Mode {
        Off,
        #[dds(default)]
        Idle,
    }
    #[derive(DdsType, Debug, Clone)]
    #[dds(crate = "crate", extensibility = "appendable")]
    struct Robot {
        id: u8,
        mode: Mode,
    }
    let bytes = payload(&Older { id: 1 }, Encoding::Xcdr2, ByteOrder::Big);
    let robot: Robot = decode_payload(&bytes).unwrap();
    assert_eq!(robot.mode, Mode::Idle);
    for (expression, expected) in [("mode = 'Idle'", true), ("mode = 'Off'", false), ("mode = 0", false)] {
        assert_eq!(filter::<Robot>(expression, &[]).unwrap().evaluate(&bytes, false), Ok(expected), "{expression}");
    }
}

fn key_of<T: Keyed + TypeInfo>(value: &T, encoding: Encoding) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode_key_payload::<T>(&value.key(), encoding, &mut bytes).unwrap();
    bytes
}

#[test]
fn key_fails_only_filters_on_key_fields() {
    for encoding in ENCODINGS {
        let (fixed, mutable) = (
            fixed::Sample { id: 3, name: "n".to_owned(), ..sample() },
            mutable::Sample { id: 3, name: "n".to_owned(), ..mutable::Sample::random(&mut SplitMix64::new(2)) },
        );
        for (expression, expected) in [
            ("id = 3", true),
            ("id = 4", false),
            ("name = 'n' AND id = 3", true),
            ("name = 'm' OR id = 4", false),
            ("id = 4 AND tail = 1", true),
            ("tail = 1", true),
            ("", true),
        ] {
            let passes = filter::<fixed::Sample>(expression, &[]).unwrap().passes_key(&key_of(&fixed, encoding));
            assert_eq!(passes, expected, "{expression} {encoding:?}");
            let passes = filter::<mutable::Sample>(expression, &[]).unwrap().passes_key(&key_of(&mutable, encoding));
            assert_eq!(passes, expected, "{expression} {encoding:?} mutable");
        }
    }
}

#[derive(DdsType, Debug, Clone)]
#[dds(crate = "crate")]
struct Kinds {
    long: F128,
    flags: Rights,
    packed: Packed,
    deep: [[[u16; 2]; 3]; 4],
    rows: Vec<[Color; 3]>,
    end: u8,
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", bitmask)]
struct Rights(u8);

impl Rights {
    #[allow(dead_code, reason = "the derive reads it")]
    const READ: Self = Self(1);
}

#[derive(DdsType, Debug, Clone, Copy, PartialEq)]
#[dds(crate = "crate", bitset)]
struct Packed {
    #[dds(bits = 3)]
    low: u8,
    #[dds(bits = 12)]
    high: u16,
    #[dds(bits = 5)]
    signed: i8,
    #[dds(bits = 33)]
    wide: i64,
}

#[test]
fn nested_arrays_bitsets_and_enums_are_compared() {
    let mut deep = [[[0; 2]; 3]; 4];
    deep[3][1][0] = 310;
    let kinds = Kinds {
        long: F128::from(1.0),
        flags: Rights(1),
        packed: Packed { low: 5, high: 0xabc, signed: -3, wide: -1 << 32 },
        deep,
        rows: vec![[Color::Red; 3], [Color::Red, Color::Green, Color::Blue]],
        end: 1,
    };
    for expression in [
        "deep[3][1][0] = 310 AND deep[0][0][0] = 0 AND deep[3][2][1] = 0",
        "deep[0x3][1][0] = 310",
        "flags = 0x1",
        "packed.low = 5 AND packed.high = 0xabc",
        "packed.signed = -3 AND packed.signed < packed.low AND packed.signed BETWEEN -4 AND 0",
        "packed.wide = -4294967296 AND packed.wide < packed.signed",
        "rows[1][2] = 'Blue' AND rows[1][1] = 'Green' AND rows[0][2] = 'Red' AND end = 1",
        "NOT rows[2][0] = 'Red'",
    ] {
        assert!(passes(&kinds, expression, &[]), "{expression}");
    }
}

/// More fields than the small array of values holds.
#[test]
fn filter_with_many_fields_is_evaluated() {
    let all = super::sample::INTEGERS.map(|name| format!("({name} = 99 OR {name} <> 99 OR TRUE = flag)")).join(" AND ");
    assert!(passes(&sample(), &all, &[]));
}
