//! Scopes, and the names in them (IDL 4.2, 7.5).

use super::symbol::Symbol;
use crate::model::{DefinitionId, Span};
use std::collections::{HashMap, HashSet};

/// A module, interface, struct, union or enum as a place of names. The first scope is the global one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct ScopeId(u32);

/// The object that a name stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NamedEntity {
    Definition(DefinitionId),
    /// The enum, and the index of the enumerator.
    Enumerator(DefinitionId, usize),
    /// The position of a flag of a bitmask.
    Flag(u8),
    /// A member, an operation, an attribute or a parameter: no other name refers to it.
    Local(&'static str),
}

/// A name in a scope.
#[derive(Debug, Clone, Copy)]
pub(super) struct ScopeEntry {
    /// The spelling of the definition.
    pub(super) symbol: Symbol,
    pub(super) span: Span,
    pub(super) entity: NamedEntity,
}

/// All scopes of a specification. One table holds the names of all of them, with their lowercase spelling.
#[derive(Debug)]
pub(super) struct NameTable {
    entries: HashMap<(ScopeId, Symbol), ScopeEntry, foldhash::fast::RandomState>,
    /// Modules whose names differ from another one only in case, with their own spelling.
    twins: HashMap<(ScopeId, Symbol), ScopeEntry>,
    parents: Vec<Option<ScopeId>>,
    /// Scopes of base interfaces and base structs.
    bases: HashMap<ScopeId, Vec<ScopeId>>,
    scopes: HashMap<DefinitionId, ScopeId, foldhash::fast::RandomState>,
}

impl ScopeId {
    pub(super) const GLOBAL: Self = Self(0);
}

impl NameTable {
    pub(super) fn new() -> Self {
        Self {
            entries: HashMap::default(),
            twins: HashMap::new(),
            parents: vec![None],
            bases: HashMap::new(),
            scopes: HashMap::default(),
        }
    }

    /// Returns the scope of a definition, or creates it.
    pub(super) fn scope_of(&mut self, definition: DefinitionId, parent: ScopeId) -> ScopeId {
        if let Some(scope) = self.scopes.get(&definition) {
            return *scope;
        }
        let scope = ScopeId(u32::try_from(self.parents.len()).unwrap_or(u32::MAX));
        self.parents.push(Some(parent));
        self.scopes.insert(definition, scope);
        scope
    }

    pub(super) fn existing_scope(&self, definition: DefinitionId) -> Option<ScopeId> {
        self.scopes.get(&definition).copied()
    }

    pub(super) fn add_base(&mut self, scope: ScopeId, base: DefinitionId) {
        if let Some(base) = self.existing_scope(base) {
            self.bases.entry(scope).or_default().push(base);
        }
    }

    /// Adds a name. If the name exists already, nothing changes, and the result is the existing entry.
    pub(super) fn define(&mut self, scope: ScopeId, folded: Symbol, entry: ScopeEntry) -> Result<(), ScopeEntry> {
        match self.entries.entry((scope, folded)) {
            std::collections::hash_map::Entry::Occupied(existing) => Err(*existing.get()),
            std::collections::hash_map::Entry::Vacant(vacant) => {
                vacant.insert(entry);
                Ok(())
            }
        }
    }

    pub(super) fn replace(&mut self, scope: ScopeId, folded: Symbol, entry: ScopeEntry) {
        self.entries.insert((scope, folded), entry);
    }

    /// Adds a module although another one has the same name in another case.
    pub(super) fn define_twin(&mut self, scope: ScopeId, entry: ScopeEntry) {
        self.twins.insert((scope, entry.symbol), entry);
    }

    /// Returns the entry with exactly this spelling.
    pub(super) fn own_exact(&self, scope: ScopeId, symbol: Symbol, folded: Symbol) -> Option<ScopeEntry> {
        let twin = self.twins.get(&(scope, symbol)).copied();
        twin.or_else(|| self.own(scope, folded).filter(|entry| entry.symbol == symbol))
    }

    pub(super) fn own(&self, scope: ScopeId, folded: Symbol) -> Option<ScopeEntry> {
        self.entries.get(&(scope, folded)).copied()
    }

    /// Searches a name in a scope and in its bases.
    pub(super) fn inside(&self, scope: ScopeId, symbol: Symbol, folded: Symbol) -> Option<ScopeEntry> {
        if let Some(twin) = self.twins.get(&(scope, symbol)) {
            return Some(*twin);
        }
        if let Some(entry) = self.entries.get(&(scope, folded)) {
            return Some(*entry);
        }
        self.inherited(scope, folded)
    }

    /// Searches a name in the bases of a scope.
    pub(super) fn inherited(&self, scope: ScopeId, folded: Symbol) -> Option<ScopeEntry> {
        let mut waiting = self.bases.get(&scope)?.clone();
        let mut seen = HashSet::new();
        while let Some(base) = waiting.pop() {
            if !seen.insert(base) {
                continue;
            }
            if let Some(entry) = self.entries.get(&(base, folded)) {
                return Some(*entry);
            }
            waiting.extend(self.bases.get(&base).into_iter().flatten());
        }
        None
    }

    /// Searches a name in a scope and in all scopes around it.
    ///
    /// A name that differs only in case is the result if no scope has the exact name.
    pub(super) fn visible(&self, scope: ScopeId, symbol: Symbol, folded: Symbol) -> Option<ScopeEntry> {
        let mut current = Some(scope);
        let mut similar = None;
        while let Some(scope) = current {
            if let Some(entry) = self.inside(scope, symbol, folded) {
                if entry.symbol == symbol {
                    return Some(entry);
                }
                similar = similar.or(Some(entry));
            }
            current = self.parents.get(scope.0 as usize).copied().flatten();
        }
        similar
    }

    /// All definitions and enumerators, for suggestions.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let entries = self.entries.values().filter(|entry| !matches!(entry.entity, NamedEntity::Local(_)));
        entries.map(|entry| entry.symbol)
    }
}
