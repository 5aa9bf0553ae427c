//! Whether programs with two versions of a type still talk (XTYPES 1.3, 7.2.4.4 and 7.6.3.4).

use super::{DescriptionForm, type_graph};
use crate::model::{DefinitionId, Diagnostic, Diagnostics, Specification};
use dds_cdr::xtypes::{Minimal, Mismatch, TypeConsistency, TypeDifference, TypeStore, check_assignable};
use std::fmt;

/// The judgment of readers about writers of two versions of a type, in both directions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TypeCompatibility {
    /// Why a reader of the new type rejects a writer of the old one; `None` if it accepts it.
    pub new_reader: Option<TypeDifference>,
    /// Why a reader of the old type rejects a writer of the new one; `None` if it accepts it.
    pub old_reader: Option<TypeDifference>,
}

impl TypeCompatibility {
    /// Returns whether readers and writers of both versions match each other.
    #[must_use]
    pub fn is_mutual(&self) -> bool {
        self.new_reader.is_none() && self.old_reader.is_none()
    }
}

/// Judges two versions of a type as readers with this policy do.
///
/// Endpoints use the same rules, so the result is what a program will see.
///
/// # Errors
/// A version has no TypeObject.
///
/// # Examples
///
/// ```
/// use dds_cdr::xtypes::TypeConsistency;
/// use dds_idl::description::{DescriptionForm, TypeVersion, compatibility};
/// use dds_idl::idl::{Options, parse_text};
///
/// let old = parse_text("old.idl", "@appendable struct Pose { double x; };", &Options::default())?;
/// let new = parse_text("new.idl", "@appendable struct Pose { double x; double y; };", &Options::default())?;
/// let version = |specification| TypeVersion::find(specification, "Pose").expect("both define it");
/// let policy = TypeConsistency::default();
/// let found = compatibility(version(&old), version(&new), DescriptionForm::Standard, &policy);
/// assert!(found.expect("poses are data").is_mutual());
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn compatibility(
    old: TypeVersion<'_>,
    new: TypeVersion<'_>,
    form: DescriptionForm,
    policy: &TypeConsistency,
) -> Result<TypeCompatibility, IndescribableVersion> {
    let mut store = TypeStore::default();
    let mut ids = Vec::with_capacity(2);
    for (version, is_old) in [(old, true), (new, false)] {
        let graph = type_graph(version.specification, version.id, form)
            .map_err(|diagnostics| IndescribableVersion { is_old, diagnostics })?;
        store.add_own(&graph);
        ids.extend(graph.types().first().map(|ty| ty.minimal_id.clone()));
    }
    let [old_id, new_id] = ids.as_slice() else {
        debug_assert!(false, "a graph contains its root");
        return Err(IndescribableVersion { is_old: true, diagnostics: Diagnostics::default() });
    };
    let judge = |reader, writer, version: TypeVersion<'_>, is_old| match check_assignable::<Minimal>(
        &store, reader, writer, policy,
    ) {
        Ok(()) => Ok(None),
        Err(Mismatch::Differs(difference)) => Ok(Some(difference)),
        Err(Mismatch::Unknown(id)) => {
            debug_assert!(false, "the graph of a type contains its dependencies");
            let mut errors = Diagnostics::default();
            let span = version.specification.definition(version.id).span;
            errors.push(Diagnostic::error(format!("the type {id} has no description"), span));
            Err(IndescribableVersion { is_old, diagnostics: errors })
        }
    };
    let (new_reader, old_reader) = (judge(new_id, old_id, new, false)?, judge(old_id, new_id, old, true)?);
    Ok(TypeCompatibility { new_reader, old_reader })
}

/// A version of a type that TypeObjects cannot describe.
#[derive(Debug, Clone)]
pub struct IndescribableVersion {
    /// Whether it is the old version.
    pub is_old: bool,
    /// The reasons. Their spans belong to the specification of this version.
    pub diagnostics: Diagnostics,
}

impl fmt::Display for IndescribableVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = if self.is_old { "old" } else { "new" };
        write!(f, "the {version} version of the type has no TypeObject")?;
        match self.diagnostics.iter().next() {
            Some(first) => write!(f, ": {}", first.message),
            None => Ok(()),
        }
    }
}

impl std::error::Error for IndescribableVersion {}

/// A type of a specification.
#[derive(Debug, Clone, Copy)]
pub struct TypeVersion<'a> {
    /// The specification.
    pub specification: &'a Specification,
    /// The type in it.
    pub id: DefinitionId,
}

impl<'a> TypeVersion<'a> {
    /// Returns the type with this scoped name.
    #[must_use]
    pub fn find(specification: &'a Specification, scoped_name: &str) -> Option<Self> {
        let id = specification.find(scoped_name)?;
        if specification.definition(id).is_data_type() { Some(Self { specification, id }) } else { None }
    }
}
