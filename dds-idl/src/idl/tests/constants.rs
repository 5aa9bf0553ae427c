//! Constants and their expressions.

use super::{constant, member_types, refuse, warn};
use crate::model::{ConstantValue, DefinitionKind, FixedPoint};

#[test]
fn constants_are_evaluated() {
    let integer = |text: &str| constant(text).as_integer();
    assert_eq!(integer("const long A = 1 + 2 * 3 - 8 / 2 % 3;"), Some(6));
    assert_eq!(integer("const long A = (1 | 6) & ~2 ^ 1 << 3;"), Some(13));
    assert_eq!(integer("const long A = -(-3) + +2;"), Some(5));
    assert_eq!(integer("const uint64 A = 0xee44556600001234 << 3;"), Some(0x7222_AB30_0000_91A0));
    assert_eq!(integer("typedef uint64 T; const T A = (0xee44556600001234 << 3) | 1;"), Some(0x7222_AB30_0000_91A1));
    assert_eq!(integer("const unsigned long A = ~0;"), Some(0xffff_ffff));
    assert_eq!(integer("const uint64 A = 0xFFFFFFFFFFFFFFFF;"), Some(0xffff_ffff_ffff_ffff));
    assert_eq!(integer("const int64 A = -9223372036854775808;"), Some(i64::MIN.into()));
    assert_eq!(integer("const long A = 0x10 >> 2; const long B = A * 010;"), Some(32));
    assert_eq!(constant("const float A = 1.5e3;"), ConstantValue::Float(1500.0));
    assert_eq!(constant("const double A = 1 / 4.0;"), ConstantValue::Float(0.25));
    assert_eq!(constant("const boolean A = TRUE;"), ConstantValue::Bool(true));
    assert_eq!(constant("const char A = '\\x41';"), ConstantValue::Char('A'));
    assert_eq!(constant("const wchar A = L'\\u20ac';"), ConstantValue::WChar('€'));
    assert_eq!(constant("const string A = \"a\" \"b\";"), ConstantValue::String("ab".into()));
    assert_eq!(constant("const wstring A = L\"a\";"), ConstantValue::WString("a".into()));
    assert_eq!(constant("enum E { X, Y }; const E A = E::Y;").as_integer(), None);
    assert!(matches!(constant("const fixed A = 1.25d;"), ConstantValue::Fixed(_)));
}

#[test]
fn wrong_constant_is_refused() {
    refuse("const octet A = 256;", "1:17: 256 is not in the range of `octet`: 0 to 255");
    refuse("const short A = -32769;", "1:17: -32769 is not in the range of `int16`: -32768 to 32767");
    refuse("const unsigned long A = -1;", "1:25: -1 is not in the range of `uint32`: 0 to 4294967295");
    refuse("const long A = 1 / 0;", "1:20: division by zero");
    refuse("const long A = -2 << 63;", "1:16: the result does not fit in 64 bits (IDL 4.2, 7.4.1.4.3)");
    for ty in ["int64", "int32", "uint32"] {
        let column = 12 + ty.len();
        let expected = format!("1:{column}: the result does not fit in 64 bits (IDL 4.2, 7.4.1.4.3)");
        refuse(&format!("const {ty} A = 0x8000000000000001 << 1;"), &expected);
    }
    refuse("const uint32 A = 0xffffffff << 1;", "1:18: 8589934590 is not in the range of `uint32`: 0 to 4294967295");
    refuse("const long A = 1 << 64;", "1:16: a shift by 64 is not in the range 0 to 63");
    refuse("const uint64 A = 0xFFFFFFFFFFFFFFFF * 2;", "1:18: the result does not fit in 64 bits (IDL 4.2, 7.4.1.4.3)");
    refuse("const long A = 1.5;", "1:16: expected a value of type `int32`, found a floating-point number");
    refuse("const long A = \"1\";", "1:16: expected a value of type `int32`, found a string");
    refuse("const long A = B;", "1:16: cannot find constant `B`");
    refuse("const float A = 1e39;", "1:17: 1000000000000000000000000000000000000000 is not in the range of `float`");
    refuse("const string<2> A = \"abc\";", "1:21: the string has the length 3, and its type has the bound 2");
    refuse("const char A = 'ab';", "1:16: expected one character in quotes");
    refuse("const char A = '\\q';", "1:16: unknown escape sequence `\\q`");
    warn(r#"const string A = "a\(b";"#, r"1:18: `\(` in a string is not standard IDL");
    refuse("const string A = \"a\\0\";", "1:18: a string cannot contain the character NUL (IDL 4.2, 7.2.6.3)");
    refuse("const long A = 09;", "1:16: `09` is not a number");
    refuse("struct S { long a; }; const S A = 1;", "1:29: `S` cannot be the type of a constant");
    refuse("const long A = ;", "1:16: expected a constant expression, found `;`");
    refuse(
        "enum E { X }; enum F { Y }; const E A = Y;",
        "1:41: expected a value of type `E`, found an enumerator of `F`",
    );
    refuse("const long A = 1.5 | 2;", "1:16: `|` needs integers");
    refuse("const long A = -TRUE;", "1:16: `-` needs a number, not a boolean");
}

#[test]
fn fixed_point_constant_without_its_suffix_keeps_its_digits() {
    for (text, digits, scale) in [
        ("const fixed A = -1.25;", -125, 2),
        ("const fixed A = -1.50;", -150, 2),
        ("const fixed A = 12345678901234567890.25;", 1_234_567_890_123_456_789_025, 2),
        ("const fixed A = 0.5 + 1.0;", 15, 1),
        ("const fixed A = 1.5e3;", 1500, 0),
    ] {
        let found = warn(text, "1:17: a fixed-point number without its suffix is not standard IDL");
        let id = found.find("A").unwrap();
        let DefinitionKind::Constant(constant) = &found.definition(id).kind else { panic!("no constant") };
        assert_eq!(constant.value, ConstantValue::Fixed(FixedPoint { digits, scale }), "{text}");
    }
    let message = "a fixed-point number without its suffix has too many digits here";
    refuse("const fixed A = 0.1 + 0.2;", &format!("1:17: {message}"));
    refuse("const fixed A = 12345678901234567890123456789012.5;", &format!("1:17: {message}"));
}

#[test]
fn fixed_point_result_with_too_many_digits_is_refused() {
    let small = format!("0.{}1d", "0".repeat(19));
    refuse(&format!("const fixed A = {small} * {small};"), "1:17: the result has more than 31 digits behind the point");
}

#[test]
fn integer_beyond_64_bits_is_refused() {
    assert_eq!(constant("const unsigned long long A = 18446744073709551615;").as_integer(), Some(u64::MAX.into()));
    refuse("const long long A = 18446744073709551616;", "1:21: `18446744073709551616` does not fit in 64 bits");
    refuse(
        "enum E { @value(18446744073709551615) A };",
        "1:39: the value 18446744073709551615 does not fit in 32 bits",
    );
}

#[test]
fn operator_between_strings_is_refused() {
    assert_eq!(constant("const string A = \"a\" \"b\";"), ConstantValue::String("ab".into()));
    refuse("const string A = \"a\" + \"b\";", "1:18: `+` does not apply to strings");
}

#[test]
fn number_of_c_is_accepted_with_a_warning() {
    let found = warn("const long A = 10L;", "1:16: suffix of the number `10L` is not standard IDL");
    assert_eq!(found.diagnostics.warning_count(), 1);
    warn("const float A = 1.5f;", "1:17: suffix of the number `1.5f` is not standard IDL");
    warn("const boolean A = true;", "1:19: `true` is not standard IDL");
}

#[test]
fn large_constant_is_read_in_linear_time() {
    let text = format!("const string A = \"{}\";\nconst long B = 0{};", "x".repeat(1 << 20), " + 1".repeat(100_000));
    assert_eq!(constant(&text), ConstantValue::Integer(100_000));
}

/// RTI Connext accepts it.
#[test]
fn enumerator_is_an_integer_with_a_warning() {
    let text = "enum Kind { A, @value(7) B }; typedef unsigned short Word; const Word N = B; struct S { long a[N]; };";
    let found = warn(text, "1:75: an enumerator as an integer is not standard IDL");
    assert_eq!(member_types(&found, "S"), ["int32[7]"]);
    refuse("enum Kind { @value(300) A }; const octet N = A;", "1:46: 300 is not in the range of `octet`: 0 to 255");
    refuse(
        "enum Kind { A }; const double N = A;",
        "1:35: expected a value of type `double`, found an enumerator of `Kind`",
    );
}

#[test]
fn numbers_and_characters_of_vendors_are_converted() {
    warn("const boolean A = 1;", "1:19: a number as `boolean` is not standard IDL");
    warn("const char A = 65;", "1:16: a number as `char` is not standard IDL");
    warn("const wchar A = 65;", "1:17: a number as `wchar` is not standard IDL");
    assert_eq!(constant("const wchar A = 65;"), ConstantValue::WChar('A'));
    warn("union U switch (long) { case 'a': long x; };", "1:30: a character as `int32` is not standard IDL");
    refuse("const wchar A = 0xd800;", "1:17: expected a value of type `wchar`, found an integer");
}
