//! Derive macro for the types of DDS topics.
//!
//! `#[derive(DdsType)]` on a struct or an enum writes everything that DDS must know of it. It is re-exported by
//! `dds-core`; see there for programs.
//!
//! Five steps, a file each: the entry (here), the attributes as written (`attr`), the type as a model (`ast`, with
//! `union` and `bits`), what can be wrong with it (`check`), the generated code (`expand`). All mistakes are reported at
//! once, each where it is.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod bits;
mod check;
mod expand;
mod union;

use proc_macro::TokenStream;

/// Makes a struct the type of a topic, or a struct or enum a part of such types.
///
/// | in Rust | in IDL |
/// |---|---|
/// | struct with named fields | `struct` |
/// | enum without data | `enum` |
/// | enum with data, or with `#[dds(discriminator = ..)]` | `union` |
/// | `struct Name(u8)` with `#[dds(bitmask)]` | `bitmask` |
/// | struct with `#[dds(bitset)]` | `bitset` |
/// | `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `cdr::F128` | `boolean`, `int8` .. `long double` |
/// | `char` (one byte on the wire), `cdr::Char16` | `char`, `wchar` |
/// | `String`, `cdr::WString` | `string`, `wstring` |
/// | `Vec<T>`, `[T; N]` of any rank, `BTreeMap<K, V>`, `HashMap<K, V>` | `sequence`, array, `map` |
/// | `cdr::Bounded<String, 8>` in one of those | `string<8>`; also of sequences and maps |
/// | `cdr::Trimmed<String, 8>`, `cdr::OrDefault<T>` in one of those | `@try_construct(TRIM) string<8>`, `@try_construct(USE_DEFAULT) T` |
/// | `Option<T>` as a field | `@optional` |
/// | `Box<T>`, `Arc<T>` | what is in it |
///
/// Types may borrow: `&'a str`, `&'a [u8]`, `cdr::Run<'a, f32>`, of which there are those of numbers, `bool`, `cdr::Char16`
/// and `cdr::F128`.
///
/// On the type, `#[dds(...)]` may say:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `name = "..."` | the name under which the type is announced | the Rust name |
/// | `extensibility = "..."` | `final`, `appendable`, `mutable`: how the type may grow; also just one of these words | `final` |
/// | `autoid = "..."` | where member ids come from: `sequential`, or `hash` of the member names | `sequential` |
/// | `bit_bound = 8` | an enum has so many bits, 1 to 32, and travels in 1, 2 or 4 bytes; or a bitmask | 32; those of the number |
/// | `discriminator = u8` | what selects the case of a union: an integer, `octet`, `bool`, `char`, `cdr::Char16`, or an enum | `i32` |
/// | `key` | the discriminator of a union is its key | as part of a key, all of the union is |
/// | `try_construct = "use_default"` | a union whose discriminator selects nothing here, or is a literal that its enum does not have, has its default. A member that the sender selected is passed over where its length is told: in mutable unions, and in appendable ones of XCDR2 | the sample is an error |
/// | `bitmask` | the bits of the number have names | |
/// | `flags(A, B = 7)` | those names, with the index of the bit; each becomes a constant of the type | bits without names |
/// | `bitset` | the fields are numbers of few bits, side by side in one | |
/// | `plain` | the memory of the struct is its encoding: it is `repr(C)`, has only numbers and arrays of them, and derives `FromBytes`, `IntoBytes` and `Immutable` of the crate `zerocopy` 0.8, which refuse padding. It is copied as a whole, and so are sequences of it, where alignment and byte order allow | members are copied one by one |
/// | `nested` | only a part of other types, no topic of its own | a topic can have it |
/// | `view_of = Type` | has the same encoding as `Type`, and the same members; name and attributes must agree | |
/// | `crate = "..."` | where the `cdr` module is found | `::dds_core` |
///
/// On a field:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `key` | the field is part of the key, which tells instances apart | |
/// | `id = 7` | the member id | one more than that of the field before, from 0 |
/// | `hashid`, `hashid = "..."` | the member id is made of the hash of the name, or of another one | |
/// | `name = "..."` | the name of the member to others | the Rust name |
/// | `bound = 128` | a string, sequence or map has at most so many bytes, units or elements; more is an error | no bound |
/// | `optional` | the type is an alias of `Option` | known of types written as `Option<..>` |
/// | `default`, `default = expr` | the value if the sender's type does not have the member, or a mutable struct came without it | zero, empty, first |
/// | `octet` | `u8`, also as element of sequences, arrays and options, means `octet` (`byte` in ROS 2 and Cyclone DDS's Python), not `uint8`: the encoding is the same, but type checks tell them apart (XTYPES 1.3, 7.2.4.4.3). Cyclone DDS up to 0.10 knows no `uint8` in descriptions of types (its issue 1554), takes them for invalid and does not match: for such peers say `octet` | `uint8` |
/// | `must_understand` | a reader that does not know the member must refuse the sample | |
/// | `non_serialized` | the field is nobody else's: it is not sent, and is `Default::default()` in a new value | |
/// | `try_construct = "..."` | what becomes of a value over the bound, or that an enum, union or bitmask does not have, or some part of it: `discard`, the struct is none either, and in the end the sample is an error; `use_default`, or the word alone, the member has its default; `trim`, as much is kept as the bound allows. A key member is always what was sent. Of elements, keys and values of collections their type says it: `cdr::OrDefault`, `cdr::Trimmed` | `discard` |
/// | `external` | the value lies elsewhere (`Box`, `Arc`): said to others, the encoding is the same | |
/// | `base`, `base, key` | the first field is a struct whose members come first, as if they were written here; with its key, if it has one | |
/// | `bits = 3` | of a field of a bitset: how many bits it has | one, of a `bool` |
///
/// On a variant of an enum without data, whose numbers must fit into `i32`: `name = "..."`, and `default` on the one that
/// stands for members that were not sent (else the first).
///
/// On a variant of a union, which has at most one field for a member:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `case = 1`, `case = [1, 2]` | the values of the discriminator that select it; constants and enum literals too | of integers, `Variant = 1`, or one more than that of the variant before, from 0 |
/// | `default` | all other values select it | other values are an error |
/// | `id`, `hashid`, `name`, `bound`, `octet`, `try_construct` | as on a field; ids count from 1. Cyclone DDS up to 11.0 counts from 0 in unions that are not mutable: for its type checks say `id = 0` at the first member | |
/// | `discriminator`, on another field | keeps the value that was received, or is to be sent | the first value of the case is sent; of a default case without one, the first number from 0 on that is free |
///
/// ```
/// use dds_macros::DdsType;
/// use dds_rtps::cdr::{Encoding, Keyed, decode_payload, encode_payload};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(crate = "dds_rtps", appendable)] // `crate` is for programs that do not use `dds-core`
/// struct Reading {
///     #[dds(key, bound = 32)]
///     sensor: String,
///     #[dds(key)]
///     channel: u8,
///     values: Vec<f32>,
///     quality: Option<Quality>,
/// }
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(crate = "dds_rtps")]
/// enum Quality {
///     Good,
///     Bad = 7,
/// }
///
/// /// The same, without a copy of what was received.
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", appendable, view_of = Reading)]
/// struct ReadingView<'a> {
///     #[dds(key, bound = 32)]
///     sensor: &'a str,
///     #[dds(key)]
///     channel: u8,
///     values: dds_rtps::cdr::Run<'a, f32>,
///     quality: Option<Quality>,
/// }
///
/// let reading = Reading { sensor: "s1".into(), channel: 2, values: vec![0.5; 3], quality: Some(Quality::Bad) };
/// assert_eq!(reading.key(), ("s1".to_owned(), 2));
/// let mut payload = Vec::new();
/// encode_payload(&reading, Encoding::Xcdr2, &mut payload)?;
/// let view: ReadingView<'_> = decode_payload(&payload)?;
/// assert_eq!((view.sensor, view.values.iter().sum::<f32>()), ("s1", 1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Unions:
///
/// ```
/// use dds_macros::DdsType;
/// use dds_rtps::cdr::Union;
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", appendable)]
/// enum Value {
///     Number(f64),                     // case 0
///     #[dds(case = [1, 7], bound = 80)]
///     Text(String),                    // sent as 1
///     Nothing,                         // 8: a case without a member
///     #[dds(default)]
///     Other {
///         #[dds(discriminator)]
///         kind: i32,
///         bytes: Vec<u8>,
///     },
/// }
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", discriminator = Unit, nested)]
/// enum Length {
///     #[dds(case = Unit::Meter)]
///     Meters(f64),
///     #[dds(case = Unit::Step)]
///     Steps(u32),
/// }
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(crate = "dds_rtps")]
/// enum Unit {
///     Meter,
///     Step,
/// }
///
/// assert_eq!(Value::Text("t".into()).discriminator(), 1);
/// assert_eq!(Value::Nothing.discriminator(), 8);
/// assert_eq!(Value::Other { kind: 99, bytes: vec![] }.discriminator(), 99);
/// assert_eq!(Length::Steps(3).discriminator(), Unit::Step);
/// ```
///
/// Inheritance, and values that a type cannot hold:
///
/// ```
/// use dds_macros::DdsType;
/// use dds_rtps::cdr::{Encoding, Keyed, OrDefault, decode_payload, encode_payload};
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", appendable)]
/// struct Entity {
///     #[dds(key)]
///     id: u32,
/// }
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", appendable)]
/// struct Robot {
///     #[dds(base, key)]
///     entity: Entity,
///     #[dds(bound = 8, try_construct = "trim")]
///     name: String,
///     gears: Vec<OrDefault<Gear>>,
/// }
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(crate = "dds_rtps")]
/// enum Gear {
///     Neutral,
///     First,
/// }
///
/// /// As another program has it.
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", appendable)]
/// struct Other {
///     #[dds(key)]
///     id: u32,
///     name: String,
///     gears: Vec<OtherGear>,
/// }
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps")]
/// enum OtherGear {
///     First = 1,
///     Second,
/// }
///
/// let other = Other { id: 7, name: "a very long name".into(), gears: vec![OtherGear::First, OtherGear::Second] };
/// let mut payload = Vec::new();
/// encode_payload(&other, Encoding::Xcdr2, &mut payload)?;
/// let robot: Robot = decode_payload(&payload)?;
/// assert_eq!((robot.key(), robot.name.as_str()), (7, "a very l"));
/// assert_eq!(robot.gears, [OrDefault(Gear::First), OrDefault(Gear::Neutral)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Structs that are copied as a whole, one or a sequence of them:
///
/// ```
/// use dds_macros::DdsType;
///
/// #[derive(DdsType, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
/// #[dds(crate = "dds_rtps", nested, plain)]
/// #[repr(C)]
/// struct Point {
///     position: [f32; 3],
///     intensity: u32,
/// }
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps")]
/// struct Cloud {
///     points: Vec<Point>,
/// }
/// ```
///
/// Bits. The number of a bitmask is a field like any other, so the `bitflags` crate can give it all of its methods:
/// `bitflags! { impl Rights: u8 { const READ = 1; } }`, then without `flags`.
///
/// ```
/// use dds_macros::DdsType;
///
/// #[derive(DdsType, Clone, Copy, Debug, PartialEq)]
/// #[dds(crate = "dds_rtps", bitmask, flags(READ, WRITE, ADMIN = 7))]
/// struct Rights(u8);
///
/// #[derive(DdsType)]
/// #[dds(crate = "dds_rtps", bitset)]
/// struct Color {
///     #[dds(bits = 5)]
///     red: u8,
///     #[dds(bits = 6)]
///     green: u8,
///     #[dds(bits = 5)]
///     blue: u8,
/// }
///
/// let rights = Rights::READ | Rights::ADMIN;
/// assert_eq!(rights, Rights(0x81));
/// assert!(rights.contains(&Rights::READ));
/// ```
#[proc_macro_derive(DdsType, attributes(dds))]
pub fn derive_dds_type(input: TokenStream) -> TokenStream {
    let input = syn::parse_macro_input!(input as syn::DeriveInput);
    let mut errors = check::Errors::default();
    let model = ast::Model::of(&input, &mut errors);
    check::check(&model, &mut errors);
    match errors.into_compile_errors() {
        None => expand::expand(&model).into(),
        Some(reports) => {
            // The mistakes are told; that the type therefore lacks its traits is not worth another error at each use.
            let fallback = expand::fallback(&model);
            quote::quote! { #reports #fallback }.into()
        }
    }
}
