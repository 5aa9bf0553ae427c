//! Derive macro for the types of DDS topics.
//!
//! `#[derive(DdsType)]` on a struct or on an enum without data writes everything that DDS must know of it. It is
//! re-exported by `dds-core`; see there for programs.
//!
//! Five steps, a file each: the entry (here), the attributes as written (`attr`), the type as a model (`ast`), what can
//! be wrong with it (`check`), the generated code (`expand`). All mistakes are reported at once, each where it is.
#![forbid(unsafe_code)]

mod ast;
mod attr;
mod check;
mod expand;

use proc_macro::TokenStream;

/// Makes a struct the type of a topic, or a struct or enum a part of such types.
///
/// A struct has named fields of these types: `bool`, `i8` to `i64`, `u8` to `u64`, `f32`, `f64`, `char` (one byte on
/// the wire), `String`, `Vec<T>`, arrays, `Option<T>`, `Box<T>` and others that derive `DdsType`. It may borrow:
/// `&'a str`, `&'a [u8]`, `cdr::Run<'a, f32>`. An enum has no data and travels as its number.
///
/// On the type, `#[dds(...)]` may say:
///
/// | attribute | meaning | without it |
/// |---|---|---|
/// | `name = "..."` | the name under which the type is announced | the Rust name |
/// | `extensibility = "..."` | `final`, `appendable`, `mutable`: how the type may grow; also just one of these words | `final` |
/// | `autoid = "..."` | where member ids come from: `sequential`, or `hash` of the member names | `sequential` |
/// | `bit_bound = 8` | an enum has so many bits, 1 to 32, and travels in 1, 2 or 4 bytes | 32 |
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
/// | `bound = 128` | a string or sequence has at most so many bytes or elements; more is an error | no bound |
/// | `optional` | the type is an alias of `Option` | known of types written as `Option<..>` |
/// | `default`, `default = expr` | the value if the sender's type does not have the member, or a mutable struct came without it | zero, empty, first |
/// | `octet` | `u8` means `octet`, not `uint8`: the encoding is the same, but type checks tell them apart | `uint8` |
/// | `must_understand` | a reader that does not know the member must refuse the sample | |
/// | `non_serialized` | the field is nobody else's: it is not sent, and is `Default::default()` in a new value | |
///
/// Every number of an enum must fit into `i32`. Literals may have `name = "..."`.
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
