//! Tokens, names and messages of the parser.

use super::{NESTING_MAX, Parser, Reported};
use crate::idl::scope::{NamedEntity, ScopeEntry, ScopeId};
use crate::idl::symbol::{Symbol, SymbolTable};
use crate::idl::token::{Token, TokenKind};
use crate::model::{ConstantValue, DataType, DefinitionId, DefinitionKind, Diagnostic, NotData, Span};
use std::sync::Arc;

impl Parser<'_> {
    /// The token at the cursor. At the end, the end of the file.
    pub(in crate::idl) fn token(&self) -> Token {
        self.token_after(0)
    }

    pub(in crate::idl) fn token_after(&self, count: usize) -> Token {
        let tokens = &self.input.tokens;
        let token = tokens.get(self.at + count).or(tokens.last());
        *token.expect("the preprocessor adds the end of the file")
    }

    pub(in crate::idl) fn kind(&self) -> TokenKind {
        self.token().kind
    }

    /// Takes the token at the cursor.
    pub(in crate::idl) fn bump(&mut self) -> Token {
        let token = self.token();
        if token.kind != TokenKind::EndOfFile {
            self.at += 1;
        }
        token
    }

    /// Takes the token at the cursor if it has this kind.
    pub(in crate::idl) fn eat(&mut self, kind: TokenKind) -> bool {
        let is_next = self.kind() == kind;
        if is_next {
            self.bump();
        }
        is_next
    }

    /// Whether the token at the cursor is this keyword.
    pub(in crate::idl) fn is_at(&self, keyword: Symbol) -> bool {
        let token = self.token();
        token.kind == TokenKind::Identifier && token.symbol == keyword
    }

    pub(in crate::idl) fn eat_keyword(&mut self, keyword: Symbol) -> bool {
        let is_next = self.is_at(keyword);
        if is_next {
            self.bump();
        }
        is_next
    }

    /// Takes a token of this kind, or reports an error.
    pub(in crate::idl) fn expect(&mut self, kind: TokenKind, context: &str) -> Result<Token, Reported> {
        if self.kind() == kind {
            return Ok(self.bump());
        }
        let found = self.found();
        let message = format!("expected {} {context}, found {found}", kind.description());
        // A missing token belongs behind the token before it, often at the end of the line above.
        let before = self.at.checked_sub(1).and_then(|at| self.input.tokens.get(at)).map(|token| token.span);
        let here = self.token().span;
        let diagnostic = match before {
            Some(before) if self.token().starts_line && before.file == here.file && kind != TokenKind::Identifier => {
                let end = Span::new(before.file, before.end.saturating_sub(1), before.end);
                Diagnostic::error(message, end).primary(format!("add {} here", kind.description()))
            }
            _ => Diagnostic::error(message, here),
        };
        Err(self.report(diagnostic))
    }

    /// The token at the cursor for messages.
    pub(in crate::idl) fn found(&self) -> String {
        let token = self.token();
        let text = self.text(token.symbol);
        if text.is_empty() { token.kind.description() } else { format!("`{text}`") }
    }

    /// Reports that something else was expected at the cursor.
    pub(in crate::idl) fn unexpected(&mut self, expected: &str) -> Reported {
        let token = self.token();
        let message = match token.kind {
            TokenKind::OpenQuote => "this text has no closing quote in its line".to_owned(),
            TokenKind::Unknown => {
                let text = self.text(token.symbol).escape_debug().to_string();
                format!("expected {expected}, found the character `{text}`")
            }
            _ => format!("expected {expected}, found {}", self.found()),
        };
        self.report(Diagnostic::error(message, token.span))
    }

    pub(in crate::idl) fn text(&self, symbol: Symbol) -> &str {
        self.symbols.text(symbol)
    }

    /// Adds a diagnostic. After too many errors, the parser stops at once.
    pub(in crate::idl) fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.specification.diagnostics.push(diagnostic);
        if self.specification.diagnostics.is_full() {
            self.at = self.input.tokens.len();
        }
        Reported
    }

    /// Adds an error after which the parser stops, because a limit is exceeded.
    pub(in crate::idl) fn stop(&mut self, diagnostic: Diagnostic) -> Reported {
        let reported = self.report(diagnostic);
        self.at = self.input.tokens.len();
        reported
    }

    /// Reports text that only some vendors accept.
    pub(in crate::idl) fn vendor_warning(&mut self, text: &str, vendor: &str, span: Span, help: &str) {
        let message = format!("{text} is not standard IDL");
        let diagnostic = Diagnostic::warning(message, span).note(format!("accepted for {vendor}")).help(help);
        self.report(diagnostic);
    }

    /// Enters a level of nesting. [`Self::leave`] must follow, unless this fails.
    pub(in crate::idl) fn enter(&mut self, span: Span) -> Result<(), Reported> {
        if self.depth >= NESTING_MAX {
            return Err(self.stop(Diagnostic::error(format!("more than {NESTING_MAX} levels of nesting"), span)));
        }
        self.depth += 1;
        Ok(())
    }

    pub(in crate::idl) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Takes an identifier for a definition. Keywords are accepted with a warning.
    pub(in crate::idl) fn identifier(&mut self, what: &str) -> Result<(Symbol, Span), Reported> {
        let token = self.token();
        if token.kind != TokenKind::Identifier {
            return Err(self.unexpected(&format!("the name of {what}")));
        }
        self.bump();
        let text = self.symbols.shared(token.symbol);
        if let Some(plain) = text.strip_prefix('_').filter(|plain| !plain.is_empty()) {
            // `_` escapes a name that is a keyword. The name itself has no `_`.
            return Ok((self.symbols.intern(plain), token.span));
        }
        if token.symbol.is_keyword() || self.is_keyword_by_case(token.symbol) {
            let keyword = self.symbols.keyword_of(token.symbol).unwrap_or("");
            let what = if keyword == &*text {
                format!("the keyword `{text}` as a name")
            } else {
                format!("the name `{text}`, which differs from the keyword `{keyword}` only in case,")
            };
            self.vendor_warning(&what, "Fast DDS and ROS", token.span, &format!("write `_{text}`"));
        }
        Ok((token.symbol, token.span))
    }

    fn is_keyword_by_case(&self, symbol: Symbol) -> bool {
        let folded = self.symbols.folded(symbol);
        // Four keywords contain capitals. Their lowercase has an own symbol.
        folded.is_keyword() || self.mixed_keywords.contains(&folded)
    }

    pub(in crate::idl) fn folded(&self, symbol: Symbol) -> Symbol {
        if self.options.case_sensitive { symbol } else { self.symbols.folded(symbol) }
    }

    /// Adds a name to a scope, or reports a collision.
    pub(in crate::idl) fn define(
        &mut self,
        scope: ScopeId,
        symbol: Symbol,
        span: Span,
        entity: NamedEntity,
    ) -> Result<(), Reported> {
        let folded = self.folded(symbol);
        if scope == self.scope {
            self.warn_of_name_of_scope(symbol, span);
        }
        let Err(other) = self.names.define(scope, folded, ScopeEntry { symbol, span, entity }) else { return Ok(()) };
        let name = self.text(symbol).to_owned();
        let diagnostic = if other.symbol == symbol {
            Diagnostic::error(format!("`{name}` is defined twice"), span)
        } else {
            differs_only_in_case(&name, self.text(other.symbol), span)
        };
        Err(self.report(diagnostic.label(other.span, "first definition")))
    }

    /// Warns of a definition with the name of the module or type around it (IDL 4.2, 7.5.2).
    fn warn_of_name_of_scope(&mut self, symbol: Symbol, span: Span) {
        let name = self.text(symbol);
        let outer = self.parents().next().map(|id| &self.specification.definition(id).name);
        if outer.is_some_and(|outer| **outer == *name) {
            let what = format!("the name `{name}` of the definition around it");
            self.vendor_warning(&what, "Fast DDS", span, "give one of the two another name");
        }
    }

    /// Whether a type and an enumerator of the scope differ only in case. Each use has the spelling of one of them.
    pub(super) fn warns_of_enumerator(&mut self, scope: ScopeId, symbol: Symbol, span: Span, is_type: bool) -> bool {
        let Some(other) = self.names.own(scope, self.folded(symbol)) else { return false };
        let is_pair = match other.entity {
            NamedEntity::Enumerator(..) => is_type,
            NamedEntity::Definition(id) => !is_type && is_type_name(&self.specification.definition(id).kind),
            NamedEntity::Flag(_) | NamedEntity::Local(_) => false,
        };
        let folded = self.folded(symbol);
        if !is_pair || self.names.own_exact(scope, symbol, folded).is_some() {
            return false;
        }
        let (own, other) = (self.text(symbol), self.text(other.symbol));
        let (ty, enumerator) = if is_type { (own, other) } else { (other, own) };
        let what = format!("the enumerator `{enumerator}`, which differs from the type `{ty}` only in case,");
        self.vendor_warning(&what, "RTI Connext", span, "rename one of them");
        true
    }

    /// Whether no visible definition has this name.
    pub(in crate::idl) fn is_unknown(&self, symbol: Symbol) -> bool {
        self.visible(symbol).is_none()
    }

    /// Whether a visible module lacks a name.
    pub(in crate::idl) fn is_outside(&self, module: Symbol, name: Symbol) -> bool {
        let Some(NamedEntity::Definition(id)) = self.visible(module).map(|entry| entry.entity) else { return false };
        let scope = self.names.existing_scope(id);
        scope.is_some_and(|scope| self.names.inside(scope, name, self.folded(name)).is_none())
    }

    /// Reads `A::B` or `::A::B`, and resolves it. `what` is the kind of definition for messages.
    pub(in crate::idl) fn scoped_name(&mut self, what: &str) -> Result<(ScopeEntry, Span), Reported> {
        let start = self.token().span;
        let mut scope = self.eat(TokenKind::Scope).then_some(ScopeId::GLOBAL);
        loop {
            let token = self.token();
            if token.kind != TokenKind::Identifier {
                return Err(self.unexpected("a name"));
            }
            self.bump();
            let symbol = self.plain_symbol(token.symbol);
            let folded = self.folded(symbol);
            let found = match scope {
                None => self.names.visible(self.scope, symbol, folded),
                Some(scope) => self.names.inside(scope, symbol, folded),
            };
            let Some(entry) = found else {
                self.skip_name();
                return Err(self.report_unknown(what, symbol, token.span));
            };
            if entry.symbol != symbol {
                let (own, other) = (self.text(symbol).to_owned(), self.text(entry.symbol).to_owned());
                let diagnostic =
                    Diagnostic::error(format!("`{own}` is spelled `{other}` in its definition"), token.span);
                self.skip_name();
                return Err(self.report(diagnostic.label(entry.span, "defined here")));
            }
            let span = start.to(token.span);
            if !self.eat(TokenKind::Scope) {
                return Ok((entry, span));
            }
            scope = match entry.entity {
                NamedEntity::Definition(id) => self.names.existing_scope(id),
                NamedEntity::Enumerator(..) | NamedEntity::Flag(_) | NamedEntity::Local(_) => None,
            };
            if scope.is_none() {
                let message = format!("`{}` contains no names", self.text(symbol));
                let rest = self.skip_name();
                if self.is_template_module(entry.entity) {
                    return Ok((entry, span.to(rest)));
                }
                return Err(self.report(Diagnostic::error(message, token.span).label(entry.span, "defined here")));
            }
        }
    }

    /// Whether the content of a definition is skipped. A name in it stands for the definition, which is not data.
    fn is_template_module(&self, entity: NamedEntity) -> bool {
        let NamedEntity::Definition(id) = entity else { return false };
        matches!(self.specification.definition(id).kind, DefinitionKind::NotData(NotData::TemplateModule))
    }

    /// Skips the rest of a scoped name, and returns the place of its end.
    fn skip_name(&mut self) -> Span {
        let mut end = self.token().span;
        while matches!(self.kind(), TokenKind::Scope | TokenKind::Identifier) {
            end = self.bump().span;
            if self.kind() != TokenKind::Scope {
                break;
            }
        }
        end
    }

    /// The symbol without the `_` of an escaped name.
    fn plain_symbol(&mut self, symbol: Symbol) -> Symbol {
        let text = self.symbols.shared(symbol);
        match text.strip_prefix('_').filter(|plain| !plain.is_empty()) {
            Some(plain) => self.symbols.intern(plain),
            None => symbol,
        }
    }

    fn report_unknown(&mut self, what: &str, symbol: Symbol, span: Span) -> Reported {
        let name = self.symbols.shared(symbol);
        let mut diagnostic = Diagnostic::error(format!("cannot find {what} `{name}`"), span);
        let written = self.specification.sources.text(span);
        if written.starts_with("__") {
            let help = format!("if `{written}` is a macro of another compiler, define it: `-D {written}=VALUE`");
            diagnostic = diagnostic.help(help);
        } else if let Some(known) = known_type_of_c(&name) {
            diagnostic = diagnostic.help(format!("write `{known}`"));
        } else if self.specification.diagnostics.may_suggest() {
            let mut names: Vec<&str> = self.names.symbols().map(|symbol| self.symbols.text(symbol)).collect();
            names.sort_unstable();
            names.dedup();
            // The name itself exists in another scope, where this text does not look.
            names.retain(|known| *known != &*name);
            names.extend(SymbolTable::keywords());
            diagnostic = diagnostic.did_you_mean(&name, names);
        }
        self.report(diagnostic)
    }

    /// The enum or bitmask behind a type.
    pub(in crate::idl) fn named_values_of(&self, ty: &DataType) -> Option<DefinitionId> {
        let DataType::Named(id) = self.specification.resolve(ty) else { return None };
        let kind = &self.specification.definition(*id).kind;
        matches!(kind, DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_)).then_some(*id)
    }

    /// The value of an enumerator or a flag in its own scope.
    pub(in crate::idl) fn named_value(&self, id: DefinitionId, symbol: Symbol) -> Option<ConstantValue> {
        let scope = self.names.existing_scope(id)?;
        match self.names.own(scope, self.folded(symbol))?.entity {
            NamedEntity::Enumerator(id, index) => Some(ConstantValue::Enumerator(id, index)),
            NamedEntity::Flag(position) => Some(ConstantValue::Integer(1_i128 << position.min(63))),
            NamedEntity::Definition(_) | NamedEntity::Local(_) => None,
        }
    }

    pub(in crate::idl) fn enumerator_value(&self, id: DefinitionId, index: usize) -> i32 {
        match &self.specification.definition(id).kind {
            DefinitionKind::Enum(found) => found.enumerators.get(index).map_or(0, |enumerator| enumerator.value),
            _ => 0,
        }
    }

    /// A value for messages.
    pub(in crate::idl) fn describe(&self, value: &ConstantValue) -> String {
        match value {
            ConstantValue::Enumerator(id, _) => {
                format!("an enumerator of `{}`", self.specification.definition(*id).scoped_name)
            }
            other => crate::idl::expression::description(other).to_owned(),
        }
    }

    /// Whether the text of an expression begins with `~`.
    pub(in crate::idl) fn is_complement(&self, span: Span) -> bool {
        self.specification.sources.text(span).trim_start_matches('(').starts_with('~')
    }

    /// The scoped name of a definition in the current scope.
    pub(in crate::idl) fn scoped(&self, name: &str) -> Arc<str> {
        match self.parent {
            Some(parent) => format!("{}::{name}", self.specification.definition(parent).scoped_name).into(),
            None => name.into(),
        }
    }

    /// Skips to the end of a definition with an error: behind its `;`, or before the `}` of its parent.
    pub(in crate::idl) fn recover(&mut self) {
        let mut depth = 0_usize;
        loop {
            match self.kind() {
                TokenKind::EndOfFile => return,
                TokenKind::Semicolon if depth == 0 => {
                    self.bump();
                    return;
                }
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth == 0 => return,
                TokenKind::CloseBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.bump();
                        self.eat(TokenKind::Semicolon);
                        return;
                    }
                }
                _ => {}
            }
            self.bump();
        }
    }
}

/// Whether a definition is a type, or may become one.
pub(super) fn is_type_name(kind: &DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Struct(_)
            | DefinitionKind::Union(_)
            | DefinitionKind::Enum(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_)
            | DefinitionKind::Typedef(_)
            | DefinitionKind::NotData(NotData::Undefined)
    )
}

/// The IDL type for a type of C or Rust that users write by habit.
fn known_type_of_c(name: &str) -> Option<&'static str> {
    Some(match name {
        "bool" | "Bool" | "_Bool" => "boolean",
        "int" | "int32_t" | "i32" => "int32",
        "uint" | "uint32_t" | "u32" => "uint32",
        "int8_t" | "i8" => "int8",
        "uint8_t" | "u8" | "byte" => "uint8",
        "int16_t" | "i16" => "int16",
        "uint16_t" | "u16" => "uint16",
        "int64_t" | "i64" => "int64",
        "uint64_t" | "u64" => "uint64",
        "float32" | "f32" => "float",
        "float64" | "f64" => "double",
        "String" | "str" => "string",
        _ => return None,
    })
}

/// The error for two names in one scope.
pub(super) fn differs_only_in_case(name: &str, other: &str, span: Span) -> Diagnostic {
    let options = "`--case-sensitive`, `Builder::case_sensitive`, or `case_sensitive` in `idl!`";
    Diagnostic::error(format!("`{name}` differs from `{other}` only in case"), span)
        .note("names that differ only in case collide (IDL 4.2, 7.2.3)")
        .help(format!("rename one of them, or accept both: {options}"))
}
