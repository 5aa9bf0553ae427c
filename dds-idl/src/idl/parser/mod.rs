//! The grammar of IDL 4.2. Each definition is resolved when it is read.
//!
//! | file | content |
//! |---|---|
//! | `cursor` | tokens, names, messages, recovery after an error |
//! | `definition` | modules, constants, typedefs, declared annotations, definitions that are not data |
//! | `data_type` | types and declarators |
//! | `structure` | structs, exceptions and unions |
//! | `enumeration` | enums, bitmasks and bitsets |
//! | `interface` | interfaces |
//! | `documentation` | comments of definitions |
//! | `pragma` | keys by `#pragma keylist` |

mod cursor;
mod data_type;
mod definition;
mod documentation;
mod enumeration;
mod interface;
mod not_data;
mod pragma;
mod structure;

use super::Options;
use super::preprocessor::{CREATED_BYTES_MAX, Preprocessed};
use super::scope::{NameTable, NamedEntity, ScopeEntry, ScopeId};
use super::symbol::{Symbol, SymbolTable, keyword};
use super::token::{Token, TokenKind};
use crate::model::{
    AnnotationMember, Annotations, Definition, DefinitionId, DefinitionKind, Diagnostic, Extensibility, NotData, Span,
    Specification,
};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Deepest nesting of modules, types and expressions. Each level needs stack space; real files have about ten.
pub(super) const NESTING_MAX: usize = 200;

/// Most annotations, arguments of annotations, and parts of types. Each name of a line has all of those of the line.
pub(super) const COPIES_MAX: usize = 2_000_000;

/// An error that was reported already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reported;

pub(super) struct Parser<'a> {
    pub(super) options: &'a Options,
    pub(super) specification: Specification,
    pub(super) symbols: SymbolTable,
    pub(super) names: NameTable,
    input: Preprocessed,
    /// Index of the next token.
    at: usize,
    /// Index of the next pragma.
    next_pragma: usize,
    pragmas: Vec<pragma::ScopedPragma>,
    pub(super) scope: ScopeId,
    /// The definition of the scope.
    parent: Option<DefinitionId>,
    /// `@default_nested` of the innermost module.
    default_nested: Option<bool>,
    /// `@autoid` of the innermost module.
    default_auto_id: Option<crate::model::AutoIdKind>,
    depth: usize,
    /// Size of the values of all strings.
    pub(super) string_bytes: usize,
    /// Annotations, arguments and parts of types so far, each counted for every definition that has it.
    copies: usize,
    /// Lowercase spellings of keywords with capitals.
    mixed_keywords: [Symbol; 4],
    /// Levels of collections and typedefs in each typedef.
    typedef_depths: HashMap<DefinitionId, usize>,
    /// Parameters of declared annotations. Each use shares them.
    annotation_members: HashMap<DefinitionId, Arc<[AnnotationMember]>>,
    /// Ids of the members of each struct, without those of its bases.
    struct_ids: HashMap<DefinitionId, structure::SeenIds>,
    /// Types that are used before their definition.
    used_early: HashSet<DefinitionId>,
    /// Interfaces with a forward declaration. Other files may define them.
    declared_interfaces: HashSet<DefinitionId>,
    /// The kind of each type with a forward declaration.
    declared_kinds: HashMap<DefinitionId, &'static str>,
    /// Types that are being read.
    started: Vec<DefinitionId>,
    /// Members that are not data.
    without_data: Vec<not_data::MemberWithoutData>,
}

/// Reads all tokens. Errors are in the diagnostics of the result.
pub(super) fn parse(
    options: &Options,
    symbols: SymbolTable,
    input: Preprocessed,
    specification: Specification,
) -> Specification {
    let mixed_keywords =
        [keyword::TRUE, keyword::FALSE, keyword::OBJECT, keyword::VALUEBASE].map(|keyword| symbols.folded(keyword));
    let mut parser = Parser {
        options,
        specification,
        symbols,
        names: NameTable::new(),
        input,
        at: 0,
        next_pragma: 0,
        pragmas: Vec::new(),
        scope: ScopeId::GLOBAL,
        parent: None,
        default_nested: None,
        default_auto_id: None,
        depth: 0,
        string_bytes: 0,
        copies: 0,
        mixed_keywords,
        typedef_depths: HashMap::new(),
        struct_ids: HashMap::new(),
        annotation_members: HashMap::new(),
        used_early: HashSet::new(),
        declared_interfaces: HashSet::new(),
        declared_kinds: HashMap::new(),
        started: Vec::new(),
        without_data: Vec::new(),
    };
    parser.definitions();
    pragma::apply(&mut parser);
    not_data::judge(&mut parser);
    parser.check_declared();
    parser.specification
}

impl Parser<'_> {
    /// Reads definitions up to the end of the file.
    fn definitions(&mut self) {
        loop {
            definition::read_until_brace(self);
            if self.kind() == TokenKind::EndOfFile {
                return;
            }
            let span = self.bump().span;
            self.report(Diagnostic::error("this `}` has no `{`", span));
            self.eat(TokenKind::Semicolon);
        }
    }

    /// Reports types that are declared and used, but not defined.
    fn check_declared(&mut self) {
        let mut undefined = Vec::new();
        for (id, definition) in self.specification.definitions() {
            if matches!(definition.kind, DefinitionKind::NotData(NotData::Undefined)) {
                undefined.push((id, Arc::clone(&definition.name), definition.span));
            }
        }
        for (id, name, span) in undefined {
            let message = format!("`{name}` is declared, but not defined");
            if self.declared_interfaces.contains(&id) {
                continue;
            }
            if self.used_early.contains(&id) {
                self.report(Diagnostic::error(message, span));
            } else {
                self.report(Diagnostic::warning(message, span));
            }
        }
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn set_position(&mut self, position: usize) {
        self.at = position;
    }

    /// Whether the parser ignores the rest of the input after too many errors.
    pub(super) fn is_stopped(&self) -> bool {
        self.at >= self.input.tokens.len()
    }

    pub(super) fn token_at(&self, position: usize) -> Option<Token> {
        self.input.tokens.get(position).copied()
    }

    /// The text of some tokens with single spaces.
    pub(super) fn text_of_tokens(&mut self, start: usize, end: usize) -> Result<String, Reported> {
        let mut text = String::new();
        for at in start..end.min(self.input.tokens.len()) {
            let Some(token) = self.token_at(at) else { break };
            self.count_string(self.text(token.symbol).len() + 1, token.span)?;
            if !text.is_empty() && !token.is_joined {
                text.push(' ');
            }
            let own = self.symbols.text(token.symbol);
            text.push_str(if own.is_empty() { token.kind.text() } else { own });
        }
        Ok(text)
    }

    /// The parameters of a declared annotation, behind its `}`.
    pub(super) fn annotation_members(&self, id: DefinitionId) -> Option<Arc<[AnnotationMember]>> {
        self.annotation_members.get(&id).cloned()
    }

    /// Counts parts that several definitions of a line have in common. Above the limit, the parser stops.
    pub(super) fn count_copies(&mut self, count: usize, span: Span) -> Result<(), Reported> {
        self.copies = self.copies.saturating_add(count);
        if self.copies <= COPIES_MAX {
            return Ok(());
        }
        let message = format!("the definitions have more than {COPIES_MAX} annotations and parts of types");
        Err(self.stop(Diagnostic::error(message, span)))
    }

    /// Counts the bytes of a string. Above the limit, the parser stops.
    pub(super) fn count_string(&mut self, len: usize, span: Span) -> Result<(), Reported> {
        self.string_bytes = self.string_bytes.saturating_add(len);
        if self.string_bytes <= CREATED_BYTES_MAX {
            return Ok(());
        }
        let message = format!("all strings together have more than {CREATED_BYTES_MAX} bytes");
        Err(self.stop(Diagnostic::error(message, span)))
    }

    pub(super) fn visible(&self, symbol: Symbol) -> Option<ScopeEntry> {
        self.names.visible(self.scope, symbol, self.folded(symbol))
    }

    /// The declaration of an annotation of the user.
    pub(super) fn annotation_definition(&self, name: &str) -> Option<DefinitionId> {
        let mut found = None;
        let mut parent = self.parent;
        while let Some(id) = parent {
            let outer = self.specification.definition(id);
            found = found.or_else(|| self.specification.find(&format!("{}::@{name}", outer.scoped_name)));
            parent = outer.parent;
        }
        found.or_else(|| self.specification.find(&format!("@{name}")))
    }

    /// Runs `read` inside of a definition.
    fn inside<T>(&mut self, id: DefinitionId, read: impl FnOnce(&mut Self) -> T) -> T {
        let scope = self.names.scope_of(id, self.scope);
        let (outer_scope, outer_parent) = (self.scope, self.parent);
        (self.scope, self.parent) = (scope, Some(id));
        let result = read(self);
        (self.scope, self.parent) = (outer_scope, outer_parent);
        result
    }

    /// Adds a definition with a new name to the current scope.
    fn add_definition(
        &mut self,
        (symbol, span): (Symbol, Span),
        doc: Option<Arc<str>>,
        annotations: Annotations,
        kind: DefinitionKind,
    ) -> Result<DefinitionId, Reported> {
        let id = self.declare(symbol, span, doc, annotations, kind)?;
        self.specification.list(id);
        Ok(id)
    }

    /// Adds a definition that its parent lists later.
    fn declare(
        &mut self,
        symbol: Symbol,
        span: Span,
        doc: Option<Arc<str>>,
        annotations: Annotations,
        kind: DefinitionKind,
    ) -> Result<DefinitionId, Reported> {
        let name = self.symbols.shared(symbol);
        let scoped_name = if self.parent.is_some() { self.scoped(&name) } else { Arc::clone(&name) };
        let folded = self.folded(symbol);
        let is_twin = match &kind {
            DefinitionKind::Module(_) => self.warns_of_twin(symbol, span),
            kind => cursor::is_type_name(kind) && self.warns_of_enumerator(self.scope, symbol, span, true),
        };
        if !is_twin && self.names.own(self.scope, folded).is_some() {
            let entity = NamedEntity::Local("a definition");
            self.define(self.scope, symbol, span, entity)?;
        }
        let parent = self.parent;
        let id = self.specification.declare(Definition { scoped_name, name, parent, span, doc, annotations, kind });
        let entity = NamedEntity::Definition(id);
        if is_twin {
            self.names.define_twin(self.scope, ScopeEntry { symbol, span, entity });
        } else {
            self.define(self.scope, symbol, span, entity)?;
        }
        Ok(id)
    }

    /// Whether the scope has a module whose name differs only in case. The DDS specifications have `DDS` and `dds`.
    fn warns_of_twin(&mut self, symbol: Symbol, span: Span) -> bool {
        let Some(other) = self.names.own(self.scope, self.folded(symbol)) else { return false };
        let NamedEntity::Definition(id) = other.entity else { return false };
        if other.symbol == symbol || !matches!(self.specification.definition(id).kind, DefinitionKind::Module(_)) {
            return false;
        }
        let (own, other) = (self.text(symbol), self.text(other.symbol).to_owned());
        let what = format!("the module `{own}`, which differs from `{other}` only in case,");
        self.vendor_warning(&what, "Fast DDS", span, &format!("write `{other}`"));
        true
    }

    /// Starts a struct, union or interface. Its declaration may exist already.
    fn start_definition(&mut self, symbol: Symbol, span: Span, what: &'static str) -> Result<DefinitionId, Reported> {
        if let Some(entry) = self.names.own_exact(self.scope, symbol, self.folded(symbol))
            && let NamedEntity::Definition(id) = entry.entity
            && matches!(self.specification.definition(id).kind, DefinitionKind::NotData(NotData::Undefined))
            && !self.started.contains(&id)
        {
            self.check_declared_kind(id, span, what)?;
            self.started.push(id);
            return Ok(id);
        }
        let kind = DefinitionKind::NotData(NotData::Undefined);
        let id = self.declare(symbol, span, None, Annotations::default(), kind)?;
        self.started.push(id);
        Ok(id)
    }

    fn extensibility(&self, annotations: &Annotations) -> Extensibility {
        annotations.extensibility().unwrap_or(self.options.default_extensibility)
    }

    fn is_nested(&self, annotations: &Annotations) -> bool {
        if annotations.is_topic() && annotations.nested().is_none() {
            return false;
        }
        annotations.nested().or(self.default_nested).unwrap_or(self.options.default_nested)
    }

    fn auto_id(&self, annotations: &Annotations) -> crate::model::AutoIdKind {
        annotations.auto_id().or(self.default_auto_id).unwrap_or(self.options.default_auto_id)
    }
}
