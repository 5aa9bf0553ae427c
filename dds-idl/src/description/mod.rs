//! The back end for types as data: TypeObjects with their hashes, and dynamic types (XTYPES 1.3, 7.3.4 and 7.5).
//!
//! In: a resolved [`Specification`]. Out: the [`TypeGraph`] that an endpoint announces, and the [`DynamicType`] for
//! samples whose type the program reads at run time.
//!
//! | file | content |
//! |---|---|
//! | `type_object` | TypeObjects of definitions |
//! | `annotation` | annotations and flags as TypeObjects have them |
//! | `dynamic_type` | dynamic types with the defaults of members |
//! | `compatibility` | whether programs with two versions of a type still talk |
//! | `change` | changes between two versions |
//!
//! User-defined annotations are left out, as in the TypeObjects of Cyclone DDS: no rule of assignability reads them.
//! `@ignore_literal_names`, `@data_representation` and `@default` have no place in a TypeObject.

mod annotation;
mod change;
mod compatibility;
mod dynamic_type;
mod type_object;

pub use change::{TypeChange, TypeChangeKind, changes};
pub use compatibility::{IndescribableVersion, TypeCompatibility, TypeVersion, compatibility};

use crate::model::{DefinitionId, Diagnostic, Diagnostics, Specification};
use dds_cdr::cdr::dynamic::DynamicType;
use dds_cdr::xtypes::TypeGraph;

/// Which TypeObjects a definition has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum DescriptionForm {
    /// What the IDL says: also typedefs, units, ranges, verbatim texts and `@external` elements.
    #[default]
    Standard,
    /// What a program with the code of [`rust::generate`](crate::rust::generate) announces. The code has the types
    /// behind typedefs, and units and ranges only as documentation.
    Rust,
}

/// Returns the TypeObjects of a definition and of all types that it refers to, with their hashes.
///
/// # Errors
/// A part of the type is not data of a DDS topic, or the type is too large.
///
/// # Examples
///
/// ```
/// use dds_idl::description::{DescriptionForm, type_graph};
/// use dds_idl::idl::{Options, parse_text};
///
/// let text = "module robot { @final struct Pose { @key long id; double x, y; }; };";
/// let specification = parse_text("robot.idl", text, &Options::default())?;
/// let id = specification.find("robot::Pose").expect("the text defines it");
/// let graph = type_graph(&specification, id, DescriptionForm::Standard).expect("a pose is data");
/// assert_eq!(graph.types().len(), 1);
/// println!("{:?}", graph.types()[0].complete_id);
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn type_graph(
    specification: &Specification,
    id: DefinitionId,
    form: DescriptionForm,
) -> Result<TypeGraph, Diagnostics> {
    type_object::graph_of(specification, id, form).map_err(|error| alone(*error))
}

/// Returns the dynamic type of a definition, with the defaults of its members.
///
/// # Errors
/// A part of the type is no data of a DDS topic, or the type is too large for dynamic data.
///
/// # Examples
///
/// ```
/// use dds_cdr::cdr::dynamic::DynamicData;
/// use dds_idl::description::dynamic_type;
/// use dds_idl::idl::{Options, parse_text};
///
/// let text = "@final struct Lamp { @key long id; @default(TRUE) boolean is_on; };";
/// let specification = parse_text("lamp.idl", text, &Options::default())?;
/// let id = specification.find("Lamp").expect("the text defines it");
/// let ty = dynamic_type(&specification, id).expect("a lamp is data");
/// assert_eq!(DynamicData::new(&ty).to_string(), "{id: 0, is_on: true}");
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn dynamic_type(specification: &Specification, id: DefinitionId) -> Result<DynamicType, Diagnostics> {
    dynamic_type::of(specification, id).map_err(|error| alone(*error))
}

fn alone(error: Diagnostic) -> Diagnostics {
    let mut errors = Diagnostics::default();
    errors.push(error);
    errors
}
