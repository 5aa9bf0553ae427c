//! The resolved types of one specification, independent of the text that they come from.
//!
//! A front end adds [`Definition`]s to a [`Specification`]. All names are resolved, all constant expressions are
//! evaluated, and all rules of the language hold. A back end reads the definitions. Types refer to each other by
//! [`DefinitionId`], so a type may contain itself.
//!
//! | file | content |
//! |---|---|
//! | `specification` | all definitions, in the order of declaration |
//! | `definition` | modules, constants, structs, unions, enums, bitmasks, bitsets, typedefs, interfaces |
//! | `data_type` | types of members and elements |
//! | `annotation` | applied annotations: typed, or user-defined |
//! | `constant_value` | values of constants |
//! | `source` | files, spans, and the lines and columns of spans |
//! | `diagnostic` | errors and warnings, and their rendering |

mod annotation;
mod constant_value;
mod data_type;
mod definition;
mod diagnostic;
mod source;
mod specification;

pub use annotation::{Annotation, AnnotationArgument, AnnotationKind, Annotations, AutoIdKind, DataRepresentations};
pub use constant_value::{ConstantValue, FixedPoint};
pub use data_type::{BasicType, DataType, ElementType};
pub use dds_cdr::cdr::{Extensibility, TryConstruct};
pub use definition::{
    AnnotationDefinition, AnnotationMember, AttributeDefinition, BitValue, BitmaskDefinition, BitsetDefinition,
    BitsetField, ConstantDefinition, Definition, DefinitionKind, EnumDefinition, Enumerator, InterfaceDefinition,
    MemberDefinition, Module, NotData, OperationDefinition, OperationParameter, ParameterDirection, StructDefinition,
    TypedefDefinition, UnionBranch, UnionDefinition, UnionDiscriminator,
};
pub use diagnostic::{Diagnostic, Diagnostics, IncorrectSource, Severity, SpanLabel};
pub use source::{FileId, SourceFile, SourceMap, Span, TextPosition};
pub use specification::{DefinitionId, Specification};

/// The member id that is the hash of a name: XTYPES 1.3, 7.3.1.2.1.1.
#[must_use]
pub fn member_id_hash(name: &str) -> u32 {
    let [a, b, c, d, ..] = md5::compute(name).0;
    u32::from_le_bytes([a, b, c, d]) & 0x0fff_ffff
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn member_id_hash_is_that_of_the_standard() {
        // The example in XTYPES 1.3, 7.3.1.2.1.1.
        assert_eq!(member_id_hash("color"), 0x0fa5_dd70);
        assert_eq!(member_id_hash("shapesize"), 0x0477_90da);
    }
}
