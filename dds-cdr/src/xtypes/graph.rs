//! TypeObjects of local types, created from the descriptions of the derive (XTYPES 1.3, 7.3.4.8 and 7.3.4.9).
//!
//! Where the standard leaves a choice, the bytes equal those of Cyclone DDS:
//! - The flags of the minimal description are not masked.
//! - Enums and bitmasks carry their extensibility.
//! - A key is `must_understand` only if it is declared so.
//! - The first literal of an enum is its default.

use super::definition::Definer;
use super::identifier::{EquivalenceHash, TypeIdentifier};
use super::information::{TypeInformation, TypeWithDependencies, TypeWithSize};
use super::object::TypeObject;
use crate::cdr::{ByteOrder, Encode, EncodeError, Encoder, Encoding, TypeDescription, TypeKind};
use std::fmt;
use std::sync::Arc;

/// A type with all its dependencies, in both descriptions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeGraph {
    information: Arc<TypeInformation>,
    types: Vec<GraphType>,
}

/// One of the types of a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphType {
    /// The identifier of the minimal description.
    pub minimal_id: TypeIdentifier,
    /// The minimal description.
    pub minimal: TypeObject,
    /// The identifier of the complete description.
    pub complete_id: TypeIdentifier,
    /// The complete description.
    pub complete: TypeObject,
}

/// Why TypeObjects cannot describe a type. It is announced without type information, and its name decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Indescribable {
    /// The type is neither a struct nor a union.
    NoTopicType,
    /// A label of a union does not fit into 32 bits.
    Label(i64),
    /// A union has a default case, and another case without a member.
    ///
    /// Peers would apply the default case to the labels of the other one.
    EmptyCase(&'static str),
    /// A dynamic union has a default case, and another case without a member; see [`Self::EmptyCase`].
    EmptyDynamicCase,
    /// The description is longer than `u32::MAX` bytes.
    TooLarge,
    /// A type refers to a type without a description.
    Undefined,
}

impl TypeGraph {
    /// Creates the graph of a type. This takes about ten microseconds for ten members, so keep the result.
    ///
    /// # Errors
    /// TypeObjects cannot describe the type.
    pub fn of(ty: &'static TypeDescription) -> Result<Self, Indescribable> {
        // DDS sends samples of these only, and no TypeObject describes a primitive type.
        if !matches!(ty.kind(), TypeKind::Struct(_) | TypeKind::Union(_)) {
            return Err(Indescribable::NoTopicType);
        }
        let mut definer = Definer::default();
        let root = definer.named(ty)?;
        definer.builder.build(&root)
    }

    /// Creates a graph from descriptions: the type first, then all its dependencies.
    ///
    /// # Errors
    /// `types` is empty, or a type is too large.
    pub fn of_types(types: Vec<GraphType>) -> Result<Self, Indescribable> {
        let information = Arc::new(information(&types)?);
        Ok(Self { information, types })
    }

    /// The type information to announce.
    #[must_use]
    pub fn information(&self) -> &Arc<TypeInformation> {
        &self.information
    }

    /// All types, the outermost first.
    #[must_use]
    pub fn types(&self) -> &[GraphType] {
        &self.types
    }
}

/// The identifiers and sizes of the outermost type and of its dependencies.
fn information(types: &[GraphType]) -> Result<TypeInformation, Indescribable> {
    let (mut minimal, mut complete) = (Vec::with_capacity(types.len()), Vec::with_capacity(types.len()));
    for ty in types {
        minimal.push(with_size(&ty.minimal_id, &ty.minimal)?);
        complete.push(with_size(&ty.complete_id, &ty.complete)?);
    }
    let mut information = TypeInformation {
        minimal: TypeWithDependencies::of(minimal).ok_or(Indescribable::NoTopicType)?,
        complete: TypeWithDependencies::of(complete).ok_or(Indescribable::NoTopicType)?,
    };
    if information.to_bytes()?.len() > INFORMATION_MAX {
        // Discovery data must stay small. Peers can request the dependencies.
        information.minimal.dependencies.clear();
        information.complete.dependencies.clear();
    }
    Ok(information)
}

fn with_size(id: &TypeIdentifier, object: &TypeObject) -> Result<TypeWithSize, Indescribable> {
    let size = u32::try_from(object.to_bytes()?.len()).map_err(|_| Indescribable::TooLarge)?;
    Ok(TypeWithSize { id: id.clone(), size })
}

/// Most bytes of type information that lists all dependencies. Larger information lists none.
const INFORMATION_MAX: usize = 32 << 10;

/// The hash of types that contain each other. In their descriptions the hash itself must be zero.
///
/// # Errors
/// The encoding is longer than `u32::MAX` bytes.
pub(super) fn hash_of_component(objects: &Vec<TypeObject>) -> Result<EquivalenceHash, EncodeError> {
    let mut bytes = Vec::new();
    objects.encode(&mut Encoder::new(&mut bytes, Encoding::Xcdr2, ByteOrder::Little))?;
    Ok(EquivalenceHash::of(&bytes))
}

impl From<EncodeError> for Indescribable {
    fn from(_: EncodeError) -> Self {
        Self::TooLarge
    }
}

impl fmt::Display for Indescribable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTopicType => f.write_str("the type of a topic must be a struct or a union"),
            Self::Label(label) => write!(f, "the union label {label} does not fit into 32 bits"),
            Self::EmptyCase(name) => {
                write!(f, "the case {name} has no member although another case is the default: give it a member")
            }
            Self::EmptyDynamicCase => {
                f.write_str("a case has no member although another case is the default: give it a member")
            }
            Self::TooLarge => f.write_str("the description of the type is longer than 4 GiB"),
            Self::Undefined => f.write_str("the type refers to a type without a description"),
        }
    }
}

impl std::error::Error for Indescribable {}
