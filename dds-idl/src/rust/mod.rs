//! The back end for Rust: structs and enums with `#[derive(DdsType)]`.
//!
//! In: a resolved [`Specification`]. Out: formatted code, the same for the same input.
//!
//! | in IDL | in Rust |
//! |---|---|
//! | `module`, `interface` with types in it | module |
//! | `struct`, `union`, `enum` | struct, enum with data, enum |
//! | `bitmask`, `bitset` | struct with `#[dds(bitmask)]` or `#[dds(bitset)]` |
//! | `typedef`, `const` | type alias, constant |
//! | base of a struct | first field, `base` |
//!
//! Names get the spelling of Rust. The name in IDL stays as an attribute where it differs. A default branch of a union,
//! and one with several labels, also stores its discriminator.
//!
//! A type that contains itself gets a `Box`. A `@default` is the value of `Default` too. Comments, units and ranges
//! become documentation.
//!
//! | file | content |
//! |---|---|
//! | `case`, `names` | spelling, modules, collisions, keywords |
//! | `traits` | which types can have `Eq`, `Hash`, `Default` and the traits of serde |
//! | `data_type` | types and values |
//! | `key` | types in keys |
//! | `kept` | what the code keeps of the IDL |
//! | `structure`, `union`, `item` | the items |
//! | `ros` | interfaces of ROS 2, with the traits of `dds-ros2` |
//! | `layout` | formatting and documentation |

mod case;
mod data_type;
mod item;
pub(crate) mod kept;
mod key;
mod layout;
mod names;
mod ros;
mod structure;
mod traits;
mod union;

use crate::model::{DataType, Definition, DefinitionId, DefinitionKind, Diagnostic, Diagnostics, Specification};
use data_type::{RustTypeText, TypeSpelling};
use key::KeyFacts;
use names::RustNames;
pub use ros::{generate_ros, generate_ros_package};
use traits::TypeFacts;

/// Options of the generated code.
#[derive(Debug, Clone)]
pub struct RustOptions {
    /// Path of the crate with the module `cdr`. The default is `::dds_core`.
    pub crate_path: String,
    /// Path of the derive macro; `None` for `DdsType` of [`Self::crate_path`].
    pub derive_path: Option<String>,
    /// Whether types get `Serialize` and `Deserialize` where possible. Your crate then depends on `serde`.
    ///
    /// These parts of a type prevent it: `wchar`, `wstring`, `long double`, an array of more than 32 elements, and a
    /// bound inside of a collection.
    pub serde: bool,
    /// Path of the traits and common messages of ROS 2, for interface files of ROS.
    ///
    /// The default is `::dds_ros2::msgs`. With `None`, their code is types of plain DDS, as from IDL.
    pub ros_path: Option<String>,
}

/// What all functions of this back end share.
struct RustGenerator<'a> {
    specification: &'a Specification,
    options: &'a RustOptions,
    names: RustNames,
    facts: TypeFacts,
    keys: KeyFacts,
}

impl Default for RustOptions {
    fn default() -> Self {
        Self {
            crate_path: DEFAULT_CRATE.to_owned(),
            derive_path: None,
            serde: false,
            ros_path: Some(ros::DEFAULT_ROS_PATH.to_owned()),
        }
    }
}

const DEFAULT_CRATE: &str = "::dds_core";

/// Lints that names, comments and structure of the IDL may cause. The attribute stands at each item of the root,
/// because an included file cannot have inner attributes.
const ALLOW: &str = "#[allow(dead_code, missing_docs, clippy::all, rustdoc::all, reason = \"generated\")]\n";

/// Returns Rust code for all data types and constants.
///
/// # Errors
/// The specification contains something that the derive macro cannot express:
///
/// - `octet` and `uint8` in one collection,
/// - a map or an optional member in a key, or a value that may change when it is received (`@try_construct`),
/// - a key that contains itself,
/// - a base of another extensibility.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
/// use dds_idl::rust::{RustOptions, generate};
///
/// let text = "module robot { @final struct Pose { @key long id; double x, y; }; };";
/// let specification = parse_text("robot.idl", text, &Options::default())?;
/// let code = generate(&specification, &RustOptions::default()).expect("the derive has all of this");
/// assert!(code.contains("pub struct Pose {"));
/// assert!(code.contains("#[dds(name = \"robot::Pose\", final)]"));
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn generate(specification: &Specification, options: &RustOptions) -> Result<String, Diagnostics> {
    let generator = RustGenerator {
        specification,
        options,
        names: RustNames::of(specification),
        facts: TypeFacts::of(specification),
        keys: KeyFacts::of(specification),
    };
    let mut errors = Diagnostics::default();
    let code = generator.module(specification.roots(), &[], &mut errors);
    if errors.has_errors() {
        return Err(errors);
    }
    Ok(format!("{}{}", generator.header(), layout::separated(&code)))
}

impl<'a> RustGenerator<'a> {
    /// The path of the module `cdr`.
    fn cdr(&self) -> String {
        format!("{}::cdr", self.options.crate_path)
    }

    fn text(&'a self, modules: &'a [String], spelling: TypeSpelling) -> RustTypeText<'a> {
        RustTypeText { generator: self, modules, spelling }
    }

    /// The first line: `@generated` keeps formatters and reviews away.
    fn header(&self) -> String {
        let mut files = Vec::new();
        for (_, file) in self.specification.sources.files() {
            if file.included_at().is_none() {
                files.extend(file.path().file_name().map(|name| name.to_string_lossy().into_owned()));
            }
        }
        let from = if files.is_empty() { String::new() } else { format!(" from {}", files.join(", ")) };
        format!("// @generated by dds-idl{from}\n\n")
    }

    /// The items of a module, each with its layout.
    fn module(&self, ids: &[DefinitionId], modules: &[String], errors: &mut Diagnostics) -> String {
        let mut code = String::new();
        for &id in ids {
            let definition = self.specification.definition(id);
            let is_module = matches!(definition.kind, DefinitionKind::Module(_) | DefinitionKind::Interface(_));
            let item = if is_module {
                self.inner_module(id, definition, modules.len(), errors)
            } else {
                let item = self.item(id, definition, modules, errors);
                layout::item(&item, modules.len()).unwrap_or_else(|error| {
                    debug_assert!(false, "the code is Rust: {error}\n{item}");
                    let message = format!("the generated code is not Rust: {error}");
                    errors.push(Diagnostic::error(message, definition.span));
                    String::new()
                })
            };
            if modules.is_empty() && !item.is_empty() {
                code.push_str(ALLOW);
            }
            code.push_str(&item);
            // Types that stand inside of a struct or a union become its neighbors. An annotation has none.
            if !is_module && !matches!(definition.kind, DefinitionKind::Annotation(_)) {
                code.push_str(&self.module(&self.specification.children(id), modules, errors));
            }
        }
        code
    }

    /// The code of a definition without its layout; empty if it is not data.
    fn item(&self, id: DefinitionId, definition: &Definition, modules: &[String], errors: &mut Diagnostics) -> String {
        match &definition.kind {
            DefinitionKind::Struct(found) => structure::item(self, id, found, errors),
            DefinitionKind::Union(found) => union::item(self, id, found, errors),
            DefinitionKind::Enum(found) => item::enumeration(self, id, found),
            DefinitionKind::Bitmask(found) => item::bitmask(self, id, found, errors),
            DefinitionKind::Bitset(found) => item::bitset(self, id, found, errors),
            DefinitionKind::Typedef(found) if self.is_data(&found.ty) => item::typedef(self, id, found, modules),
            DefinitionKind::Constant(found) => item::constant(self, id, found, modules, errors),
            DefinitionKind::Module(_)
            | DefinitionKind::Interface(_)
            | DefinitionKind::Typedef(_)
            | DefinitionKind::Exception(_)
            | DefinitionKind::Annotation(_)
            | DefinitionKind::NotData(_) => String::new(),
        }
    }

    /// A module with its items, inside of `depth` modules. Without items there is no module.
    fn inner_module(
        &self,
        id: DefinitionId,
        definition: &Definition,
        depth: usize,
        errors: &mut Diagnostics,
    ) -> String {
        let Some(place) = self.names.item(id) else { return String::new() };
        let mut inner = place.modules.clone();
        inner.push(place.ident.clone());
        debug_assert_eq!(inner.len(), depth + 1, "the module {inner:?} is inside of each one before it");
        let items = self.module(&self.specification.children(id), &inner, errors);
        if items.is_empty() {
            return String::new();
        }
        let doc = layout::documentation(definition.doc.as_deref(), &[]);
        let start = layout::lines(&format!("{doc}pub mod {} {{\n", place.ident), depth);
        format!("{start}{items}{}", layout::lines("}\n", depth))
    }

    /// Returns whether a type is data: `fixed` and `any` are not.
    fn is_data(&self, ty: &DataType) -> bool {
        match self.specification.resolve(ty) {
            DataType::Fixed { .. } | DataType::Opaque(_) => false,
            DataType::Sequence { element, .. } | DataType::Array { element, .. } => self.is_data(&element.ty),
            DataType::Map { key, element, .. } => self.is_data(&key.ty) && self.is_data(&element.ty),
            DataType::Named(id) => self.specification.definition(*id).is_data_type(),
            DataType::Basic(_) | DataType::String { .. } | DataType::WString { .. } => true,
        }
    }

    /// The derive attribute. `traits` are those beside `DdsType` and the traits of serde.
    fn derives(&self, traits: &str, is_serde: bool) -> String {
        let serde = if is_serde && self.options.serde { ", ::serde::Serialize, ::serde::Deserialize" } else { "" };
        let derive = self.options.derive_path.clone().unwrap_or(format!("{}::DdsType", self.options.crate_path));
        format!("#[derive({traits}{serde}, {derive})]\n")
    }

    /// The attribute of a type. Its name in IDL is first, and the path of the crate last.
    fn type_attribute(&self, id: DefinitionId, mut words: Vec<String>) -> String {
        let definition = self.specification.definition(id);
        let ident = self.names.item(id).map(|place| place.ident.as_str()).unwrap_or_default();
        if case::without_escape(ident) != &*definition.scoped_name {
            words.insert(0, format!("name = {:?}", definition.scoped_name));
        }
        if self.options.crate_path != DEFAULT_CRATE {
            words.push(format!("crate = {:?}", self.options.crate_path));
        }
        attribute(&words)
    }
}

/// `#[dds(..)]`, or nothing.
fn attribute(words: &[String]) -> String {
    if words.is_empty() { String::new() } else { format!("#[dds({})]\n", words.join(", ")) }
}
