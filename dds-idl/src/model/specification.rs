//! All definitions of one specification.

use super::{BitsetDefinition, BitsetField, DataType, Definition, DefinitionKind, Diagnostics, ElementType, SourceMap};
use std::collections::HashMap;
use std::sync::Arc;

/// A definition of a [`Specification`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DefinitionId(u32);

/// Resolved definitions, their sources, and warnings.
#[derive(Debug, Clone, Default)]
pub struct Specification {
    /// The files.
    pub sources: SourceMap,
    /// Warnings and notes of the front end. A specification with errors does not exist.
    pub diagnostics: Diagnostics,
    definitions: Vec<Definition>,
    by_name: HashMap<Arc<str>, DefinitionId>,
    roots: Vec<DefinitionId>,
    /// Types inside of structs and unions.
    nested: HashMap<DefinitionId, Vec<DefinitionId>>,
}

impl Specification {
    /// Adds a definition behind the definitions of its parent, and returns its id.
    ///
    /// The name is new, and the parent is part of this specification.
    pub fn add(&mut self, definition: Definition) -> DefinitionId {
        let id = self.declare(definition);
        self.list(id);
        id
    }

    /// Adds a definition that its parent does not list yet: a forward declaration.
    pub(crate) fn declare(&mut self, definition: Definition) -> DefinitionId {
        let id = DefinitionId(u32::try_from(self.definitions.len()).unwrap_or(u32::MAX));
        self.by_name.insert(Arc::clone(&definition.scoped_name), id);
        self.definitions.push(definition);
        id
    }

    /// Adds a declared definition behind the definitions of its parent.
    pub(crate) fn list(&mut self, id: DefinitionId) {
        let parent = self.definition(id).parent;
        let Some(parent) = parent else {
            self.roots.push(id);
            return;
        };
        match &mut self.definition_mut(parent).kind {
            DefinitionKind::Module(module) => module.definitions.push(id),
            DefinitionKind::Interface(interface) => interface.definitions.push(id),
            _ => self.nested.entry(parent).or_default().push(id),
        }
    }

    /// Returns a definition.
    ///
    /// # Panics
    /// The id belongs to another specification.
    #[must_use]
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        self.definitions.get(id.0 as usize).expect("ids are created by `add`, and definitions are never removed")
    }

    /// Returns a definition that a front end completes, such as a struct after its forward declaration.
    ///
    /// # Panics
    /// The id belongs to another specification.
    pub fn definition_mut(&mut self, id: DefinitionId) -> &mut Definition {
        self.definitions.get_mut(id.0 as usize).expect("ids are created by `add`, and definitions are never removed")
    }

    /// Returns all definitions: a parent is before its children, and a struct may stand at its forward declaration.
    ///
    /// The order of [`Self::roots`] and [`Self::children`] is that of the definitions in the text.
    pub fn definitions(&self) -> impl Iterator<Item = (DefinitionId, &Definition)> {
        (0..).map(DefinitionId).zip(&self.definitions)
    }

    /// Returns the definitions outside of all modules, in the order of declaration.
    #[must_use]
    pub fn roots(&self) -> &[DefinitionId] {
        &self.roots
    }

    /// Returns the definitions inside of a definition, in the order of declaration.
    #[must_use]
    pub fn children(&self, id: DefinitionId) -> Vec<DefinitionId> {
        match &self.definition(id).kind {
            DefinitionKind::Module(module) => module.definitions.clone(),
            DefinitionKind::Interface(interface) => interface.definitions.clone(),
            _ => self.nested.get(&id).cloned().unwrap_or_default(),
        }
    }

    /// Returns the definition with a scoped name, with or without a leading `::`.
    #[must_use]
    pub fn find(&self, scoped_name: &str) -> Option<DefinitionId> {
        self.by_name.get(scoped_name.strip_prefix("::").unwrap_or(scoped_name)).copied()
    }

    /// Returns the scoped names of all definitions, for suggestions.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.definitions.iter().map(|definition| &*definition.scoped_name)
    }

    /// Returns the type behind all typedefs. The dimensions of a typedef's array stay part of the result.
    #[must_use]
    pub fn resolve<'a>(&'a self, ty: &'a DataType) -> &'a DataType {
        let mut ty = ty;
        // A typedef names an earlier definition, so the loop ends.
        while let DataType::Named(id) = ty
            && let DefinitionKind::Typedef(typedef) = &self.definition(*id).kind
        {
            ty = &typedef.ty;
        }
        ty
    }

    /// Returns the definition of a struct, union, enum, bitmask or bitset behind all typedefs.
    #[must_use]
    pub fn resolve_named(&self, ty: &DataType) -> Option<&Definition> {
        if let DataType::Named(id) = self.resolve(ty) { Some(self.definition(*id)) } else { None }
    }

    /// Returns the fields of a bitset with its padding, those of its bases first.
    #[must_use]
    pub fn bitset_fields<'a>(&'a self, definition: &'a BitsetDefinition) -> Vec<&'a BitsetField> {
        let (mut chain, mut current) = (vec![definition], definition);
        // A base is an earlier definition, so the loop ends.
        while let Some(base) = current.base
            && let DefinitionKind::Bitset(found) = &self.definition(base).kind
        {
            chain.push(found);
            current = found;
        }
        chain.into_iter().rev().flat_map(|bitset| &bitset.fields).collect()
    }

    /// Calls `visit` with each named type in a type: elements and keys included, typedefs not resolved.
    pub fn for_each_named(ty: &DataType, visit: &mut impl FnMut(DefinitionId)) {
        match ty {
            DataType::Named(id) => visit(*id),
            DataType::Sequence { element, .. } | DataType::Array { element, .. } => {
                Self::for_each_named(&element.ty, visit);
            }
            DataType::Map { key, element, .. } => {
                Self::for_each_named(&key.ty, visit);
                Self::for_each_named(&element.ty, visit);
            }
            DataType::Basic(_)
            | DataType::String { .. }
            | DataType::WString { .. }
            | DataType::Fixed { .. }
            | DataType::Opaque(_) => {}
        }
    }

    /// Returns the spelling of a type in IDL, with absolute names and with dimensions behind the element.
    #[must_use]
    pub fn type_name(&self, ty: &DataType) -> String {
        let bound = |bound: &Option<u32>| bound.map(|bound| format!(", {bound}")).unwrap_or_default();
        let element = |element: &ElementType| self.type_name(&element.ty);
        match ty {
            DataType::Basic(basic) => basic.idl_name().to_owned(),
            DataType::String { bound: None } => "string".to_owned(),
            DataType::String { bound: Some(bound) } => format!("string<{bound}>"),
            DataType::WString { bound: None } => "wstring".to_owned(),
            DataType::WString { bound: Some(bound) } => format!("wstring<{bound}>"),
            DataType::Sequence { element: ty, bound: max } => format!("sequence<{}{}>", element(ty), bound(max)),
            DataType::Map { key, element: ty, bound: max } => {
                format!("map<{}, {}{}>", element(key), element(ty), bound(max))
            }
            DataType::Array { element: ty, dimensions } => {
                let lengths: String = dimensions.iter().map(|length| format!("[{length}]")).collect();
                format!("{}{lengths}", element(ty))
            }
            DataType::Named(id) => self.definition(*id).scoped_name.to_string(),
            DataType::Fixed { digits, scale } => format!("fixed<{digits}, {scale}>"),
            DataType::Opaque(name) => name.to_string(),
        }
    }
}
