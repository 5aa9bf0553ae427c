//! Derive macro for the types of DDS topics.
//!
//! `#[derive(DdsType)]` on a struct or an enum generates its description, encoding, decoding and key.
//! `dds-core` re-exports it; the documentation there has complete programs.
//!
//! Each step has its own file:
//!
//! 1. `lib`: the entry point.
//! 2. `attr`: parses the attributes.
//! 3. `ast`, `union` and `bits`: build a model of the type.
//! 4. `check`: finds mistakes. All are reported at once, each at its source position.
//! 5. `expand`: generates the code.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod bits;
mod check;
mod converted;
mod expand;
mod union;
mod view;

use proc_macro::TokenStream;

/// Implements the traits of a DDS type for a struct or an enum.
///
/// The type can then be the type of a topic, or part of such a type. More [examples](#examples) follow the tables.
///
/// ```
/// use dds_core::DdsType;
///
/// #[derive(DdsType, Debug)]
/// struct Pose {
///     #[dds(key)] // each robot is an instance of the topic
///     robot: u32,
///     x: f64,
///     note: Option<String>,
/// }
/// ```
///
/// | in Rust | in IDL |
/// |---|---|
/// | struct with named fields | `struct` |
/// | struct of one field without a name (newtype) | the type of the field |
/// | type with `#[dds(into = Wire, from = Wire)]` | `Wire` |
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
/// | `Box<T>`, `Arc<T>`, `NonZero<T>`, `Cow<'a, T>` | the same as `T` |
/// | `Duration`, `SystemTime` of `std::time` | `struct` of `int32 sec` and `uint32 nanosec` |
/// | `Ipv4Addr`, `Ipv6Addr`, `IpAddr` | array of 4 or 16 octets |
/// | `SocketAddr` and its versions | `struct` of the address and a `uint16 port` |
///
/// Features add types of other crates: `uuid`, `chrono`, `jiff`, `glam` and `nalgebra`.
///
/// Types may borrow: `&'a str`, `&'a [u8]`, and `cdr::Run<'a, T>` of numbers, `bool`, `cdr::Char16` or `cdr::F128`.
///
/// Attributes of a type, in `#[dds(...)]`:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `name = "..."` | announced type name | the Rust name |
/// | `extensibility = "..."` | `final`, `appendable` or `mutable`; each also works as an attribute | `final` |
/// | `autoid = "..."` | source of member ids: `sequential`, or `hash` of the names | `sequential` |
/// | `bit_bound = 8` | bits of an enum (1 to 32) or of a bitmask | 32; width of the integer |
/// | `discriminator = u8` | type of a union's discriminator (see below) | `i32` |
/// | `key` | the discriminator of a union is its key | inside a key, the whole union counts |
/// | `try_construct = "use_default"` | a discriminator that selects no case gives the default (see below) | decoding fails |
/// | `bitmask` | the bits of the integer have names | |
/// | `flags(A, B = 7)` | names and positions of bits; each becomes a constant | bits without names |
/// | `bitset` | the fields are integers of a few bits, packed into one | |
/// | `plain` | the memory of the struct is its encoding (see below) | members are copied one by one |
/// | `nested` | the type is only part of other types | a topic can have the type |
/// | `member_keys` | in a key, a type without key members contributes the keys of its members | the whole type counts |
/// | `into = Wire`, `from = Wire` | values are converted to `Wire` and back (see below) | |
/// | `try_from = Wire` | as `from`, and the conversion may refuse a received value | |
/// | `view = Name` | also generates a view with this name (see below) | |
/// | `view_derive(Debug, ..)` | derives of the generated view | |
/// | `view_of = Type` | the type borrows a sample of `Type`; members and attributes must agree | |
/// | `crate = "..."` | path of the crate with the `cdr` module | `::dds_core` |
///
/// An enum takes 1 byte on the wire up to a `bit_bound` of 8, 2 bytes up to 16, and 4 bytes up to 32.
///
/// A discriminator is an integer, `octet`, `bool`, `char`, `cdr::Char16`, an enum or a bitmask: `discriminator =
/// bitmask<Flags>`. The cases of a bitmask are values such as `Flags::A` and `Flags(3)`.
///
/// With `try_construct`, a union takes its default in two cases: the discriminator selects no case, or it is a literal
/// that its enum does not have. The decoder then skips the received member if it knows its length. It does in mutable
/// unions, and in appendable unions of XCDR2.
///
/// A `plain` struct is `repr(C)` and contains only numbers and arrays of them. It derives `FromBytes`, `IntoBytes` and
/// `Immutable` of the crate `zerocopy` 0.8, which reject padding. The struct and sequences of it are copied as a whole
/// if alignment and byte order allow it.
///
/// Attributes of a field:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `key` | the field is part of the key, which identifies the instance | |
/// | `id = 7` | the member id | the preceding id plus one, from 0 |
/// | `hashid`, `hashid = "..."` | the member id is the hash of the member name or of this name | |
/// | `name = "..."` | the member name in the type description | the Rust name |
/// | `bound = 128` | most bytes, units or elements of a string, sequence or map | no bound |
/// | `optional` | the type is an alias of `Option` | detected for `Option<..>` |
/// | `default`, `default = expr` | the value if the sample does not contain the member | zero, empty, first literal |
/// | `octet` | the type description contains `octet` instead of `uint8` (see below) | `uint8` |
/// | `must_understand` | a reader that does not know the member must reject the sample | |
/// | `non_serialized` | the field is not sent; a decoded value has `Default::default()` | |
/// | `try_construct = "..."` | handling of a received value that the type cannot hold (see below) | `discard` |
/// | `external` | the type description marks the member as external (`Box`, `Arc`) | |
/// | `base`, `base, key` | the first field is the base of the struct (see below) | |
/// | `with = module` | the functions of a module convert the field (see below) | |
/// | `view = PointView` | type inside the field in the generated view | the type itself |
/// | `bits = 3` | width of a bitset field | one, for `bool` |
/// | `position = 5` | first bit of a bitset field | the bit behind the field before |
///
/// A value over its `bound` is an error: encoding and decoding fail.
///
/// A member takes its `default` if the sender's type does not have the member, or if a mutable sample omits it.
///
/// `octet` also applies to the elements of sequences, arrays and options. ROS 2 and the Python API of Cyclone DDS call
/// it `byte`. `octet` and `uint8` have the same encoding, but type checks distinguish them (XTYPES 1.3, 7.2.4.4.3).
/// Cyclone DDS up to 0.10 rejects type descriptions with `uint8` as invalid and does not match (its issue 1554). Use
/// `octet` for it.
///
/// `try_construct` applies to a value over its bound, and to a value that an enum, union or bitmask does not have:
///
/// - `discard`: the enclosing struct is discarded too. Decoding the sample fails unless an outer member has a default.
/// - `use_default`, or `try_construct` alone: the member takes its default.
/// - `trim`: the value is cut to the bound.
///
/// A key member only allows `discard`. For elements, keys and values of collections use `cdr::OrDefault` and
/// `cdr::Trimmed`.
///
/// `into` and `from` need `impl From<&Type> for Wire`, and `impl From<Wire> for Type` or `impl TryFrom<Wire> for Type`.
///
/// `with` names a module with a type `Wire` and two functions: `to_wire(&Field) -> Wire` and
/// `from_wire(Wire) -> Option<Field>`. For a field of type `Option<Field>` they convert the value inside.
///
/// A received value that a conversion refuses does not fit its type, so `try_construct` applies to it.
///
/// A newtype can have a `bound` on its field. It is the type of a topic if the type inside is one.
///
/// The members of a `base` come first on the wire and in the description. A base with a key needs `base, key`.
///
/// A variant of an enum without data has a number that fits `i32`. Its attributes are `name = "..."` and `default`. The
/// `default` literal is the value of absent members; without it that is the first literal.
///
/// A variant of a union has at most one field for its member, and these attributes:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `case = 1`, `case = [1, 2]` | discriminators that select the case, also constants and literals | see below |
/// | `default` | all other discriminators select the case | other discriminators are an error |
/// | `id`, `hashid`, `name`, `bound`, `octet`, `try_construct`, `external` | as on a field; ids count from 1 | |
/// | `discriminator`, on another field | stores the discriminator, received or to send | see below |
///
/// Without `case`, an integer discriminator is that of `Variant = 1`, or the preceding one plus one, from 0.
///
/// Without a `discriminator` field, the first discriminator of the case is sent. A default case without one sends the
/// lowest unused number from 0.
///
/// Cyclone DDS up to 11.0 counts ids from 0 in unions that are not mutable. For its type checks, give the first member
/// `id = 0`.
///
/// # Examples
///
/// ```
/// use dds_core::DdsType;
/// use dds_core::cdr::Keyed;
/// # use dds_core::cdr::Encoding;
/// # use dds_core::__private::cdr::{decode_payload, encode_payload};
///
/// #[derive(DdsType, Debug, PartialEq)]
/// #[dds(appendable)]
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
/// enum Quality {
///     Good,
///     Bad = 7,
/// }
///
/// /// The same type, which borrows from the received bytes.
/// #[derive(DdsType)]
/// #[dds(appendable, view_of = Reading)]
/// struct ReadingView<'a> {
///     #[dds(key, bound = 32)]
///     sensor: &'a str,
///     #[dds(key)]
///     channel: u8,
///     values: dds_core::cdr::Run<'a, f32>,
///     quality: Option<Quality>,
/// }
///
/// let reading = Reading { sensor: "s1".into(), channel: 2, values: vec![0.5; 3], quality: Some(Quality::Bad) };
/// assert_eq!(reading.key(), ("s1".to_owned(), 2));
/// # let mut payload = Vec::new();
/// # encode_payload(&reading, Encoding::Xcdr2, &mut payload)?;
/// # let view: ReadingView<'_> = decode_payload(&payload)?;
/// # assert_eq!((view.sensor, view.values.iter().sum::<f32>()), ("s1", 1.5));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Unions:
///
/// ```
/// use dds_core::DdsType;
/// # use dds_core::__private::cdr::Union;
///
/// #[derive(DdsType)]
/// #[dds(appendable)]
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
/// #[dds(discriminator = Unit, nested)]
/// enum Length {
///     #[dds(case = Unit::Meter)]
///     Meters(f64),
///     #[dds(case = Unit::Step)]
///     Steps(u32),
/// }
///
/// #[derive(DdsType, Debug, PartialEq)]
/// enum Unit {
///     Meter,
///     Step,
/// }
///
/// # assert_eq!(Value::Text("t".into()).discriminator(), 1);
/// # assert_eq!(Value::Nothing.discriminator(), 8);
/// # assert_eq!(Value::Other { kind: 99, bytes: vec![] }.discriminator(), 99);
/// # assert_eq!(Length::Steps(3).discriminator(), Unit::Step);
/// ```
///
/// Newtypes, and types of other crates:
///
/// ```
/// use dds_core::DdsType;
///
/// #[derive(DdsType, Debug, Clone, PartialEq)]
/// struct RobotId(u32);
///
/// #[derive(DdsType)]
/// struct Status {
///     #[dds(key)]
///     robot: RobotId,
///     uptime: std::time::Duration,
///     #[dds(with = version)]
///     firmware: version::Version,
/// }
///
/// mod version {
///     /// Stands for a type of another crate.
///     pub struct Version {
///         major: u8,
///         minor: u8,
///     }
///
///     pub type Wire = [u8; 2];
///
///     pub fn to_wire(version: &Version) -> Wire {
///         [version.major, version.minor]
///     }
///
///     pub fn from_wire([major, minor]: Wire) -> Option<Version> {
///         Some(Version { major, minor })
///     }
/// }
/// ```
///
/// A generated view borrows text, bytes and numbers from the sample. Nothing is copied:
///
/// ```
/// use dds_core::DdsType;
/// # use dds_core::cdr::Encoding;
/// # use dds_core::__private::cdr::{decode_payload, encode_payload};
///
/// #[derive(DdsType)]
/// #[dds(appendable, view = ScanView, view_derive(Debug))]
/// struct Scan {
///     #[dds(key)]
///     sensor: String,
///     ranges: Vec<f32>,
///     note: Option<String>,
/// }
///
/// // In a reader: `samples.views::<ScanView<'_>>()`, or `sample.view::<ScanView<'_>>()`.
/// # let scan = Scan { sensor: "front".into(), ranges: vec![0.5; 4], note: None };
/// # let mut payload = Vec::new();
/// # encode_payload(&scan, Encoding::Xcdr2, &mut payload)?;
/// # let view: ScanView<'_> = decode_payload(&payload)?;
/// # assert_eq!((view.sensor, view.ranges.iter().sum::<f32>()), ("front", 2.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// In a view, `String` is `&'a str`, `Vec<u8>` is `&'a [u8]`, and a `Vec` of numbers is `cdr::Run<'a, T>`. This also
/// applies inside of `Vec`, `Option`, `Box` and arrays. Fields with `base`, `with` or a default expression keep their
/// types.
///
/// Inheritance, and received values that the type cannot hold:
///
/// ```
/// use dds_core::DdsType;
/// use dds_core::cdr::OrDefault;
/// # use dds_core::cdr::{Encoding, Keyed};
/// # use dds_core::__private::cdr::{decode_payload, encode_payload};
///
/// #[derive(DdsType)]
/// #[dds(appendable)]
/// struct Entity {
///     #[dds(key)]
///     id: u32,
/// }
///
/// #[derive(DdsType)]
/// #[dds(appendable)]
/// struct Robot {
///     #[dds(base, key)]
///     entity: Entity,
///     #[dds(bound = 8, try_construct = "trim")]
///     name: String,
///     gears: Vec<OrDefault<Gear>>,
/// }
///
/// #[derive(DdsType, Debug, PartialEq)]
/// enum Gear {
///     Neutral,
///     First,
/// }
///
/// /// The same topic type in another program.
/// #[derive(DdsType)]
/// #[dds(appendable)]
/// struct Other {
///     #[dds(key)]
///     id: u32,
///     name: String,
///     gears: Vec<OtherGear>,
/// }
///
/// #[derive(DdsType)]
/// enum OtherGear {
///     First = 1,
///     Second,
/// }
///
/// let other = Other { id: 7, name: "a very long name".into(), gears: vec![OtherGear::First, OtherGear::Second] };
/// # let mut payload = Vec::new();
/// # encode_payload(&other, Encoding::Xcdr2, &mut payload)?;
/// # let robot: Robot = decode_payload(&payload)?;
/// // A reader of `Robot` gets the name "a very l", and the gears `First` and `Neutral`.
/// # assert_eq!((robot.key(), robot.name.as_str()), (7, "a very l"));
/// # assert_eq!(robot.gears, [OrDefault(Gear::First), OrDefault(Gear::Neutral)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Structs and sequences of structs that are copied as a whole:
///
/// ```
/// use dds_core::DdsType;
///
/// #[derive(DdsType, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
/// #[dds(nested, plain)]
/// #[repr(C)]
/// struct Point {
///     position: [f32; 3],
///     intensity: u32,
/// }
///
/// #[derive(DdsType)]
/// struct Cloud {
///     points: Vec<Point>,
/// }
/// ```
///
/// Bitmasks and bitsets:
///
/// ```
/// use dds_core::DdsType;
///
/// #[derive(DdsType, Clone, Copy, Debug, PartialEq)]
/// #[dds(bitmask, flags(READ, WRITE, ADMIN = 7))]
/// struct Rights(u8);
///
/// #[derive(DdsType)]
/// #[dds(bitset)]
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
///
/// The `bitflags` crate can add its methods to a bitmask without `flags`:
/// `bitflags! { impl Rights: u8 { const READ = 1; } }`.
#[proc_macro_derive(DdsType, attributes(dds))]
pub fn derive_dds_type(input: TokenStream) -> TokenStream {
    let original = syn::parse_macro_input!(input as syn::DeriveInput);
    // A view is derived from the fields as the user wrote them, so the original stays unchanged.
    let mut input = original.clone();
    converted::use_wire_types(&mut input);
    let mut errors = check::Errors::default();
    // All mistakes are collected, so that one build reports them all.
    let model = ast::Model::of(&input, &mut errors);
    check::check(&model, &mut errors);
    match errors.into_compile_errors() {
        None => {
            let (own, view) = (expand::expand(&model), view::expand(&original, &model));
            quote::quote!(#own #view).into()
        }
        Some(reports) => {
            // Without these impls each use of the type would report another error.
            let fallback = expand::fallback(&model);
            quote::quote! { #reports #fallback }.into()
        }
    }
}
