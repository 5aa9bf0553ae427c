//! Modules, constants, typedefs, declared annotations, and definitions that are not data.

use super::{NESTING_MAX, Parser, Reported, data_type, documentation, enumeration, interface, pragma, structure};
use crate::idl::annotation::{self, ANNOTATIONS_MAX, AnnotationTarget, LineAnnotations, RawAnnotation};
use crate::idl::expression::{ExpressionPlace, evaluate_as};
use crate::idl::scope::NamedEntity;
use crate::idl::symbol::{Symbol, SymbolTable, keyword};
use crate::idl::token::TokenKind;
use crate::model::{
    AnnotationDefinition, AnnotationMember, Annotations, ConstantDefinition, ConstantValue, DataType, Definition,
    DefinitionId, DefinitionKind, Diagnostic, Module, NotData, Span, StructDefinition, TypedefDefinition,
};
use std::sync::Arc;

/// Reads definitions up to a `}` or the end of the file.
pub(super) fn read_until_brace(parser: &mut Parser<'_>) {
    loop {
        pragma::collect(parser);
        match parser.kind() {
            TokenKind::EndOfFile | TokenKind::CloseBrace => return,
            TokenKind::Semicolon => {
                parser.bump();
            }
            _ => {
                if read(parser).is_err() {
                    parser.close_started();
                    parser.recover();
                }
            }
        }
    }
}

/// Reads one definition with its `;`.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<(), Reported> {
    let doc = documentation::before(parser);
    if annotation::is_declaration(parser) {
        return annotation_declaration(parser, doc);
    }
    let raw = annotation::read(parser)?;
    if annotation::is_declaration(parser) {
        return annotation_declaration(parser, doc);
    }
    let token = parser.token();
    if token.kind != TokenKind::Identifier {
        return Err(parser.unexpected("a definition"));
    }
    match token.symbol {
        keyword::MODULE => module(parser, &raw, doc),
        keyword::CONST => constant(parser, &raw, doc),
        keyword::TYPEDEF => typedef(parser, &raw, doc),
        keyword::STRUCT | keyword::UNION | keyword::ENUM | keyword::BITMASK | keyword::BITSET | keyword::EXCEPTION => {
            constructed(parser, &raw, doc).map(|_| ())
        }
        keyword::INTERFACE | keyword::LOCAL | keyword::ABSTRACT => interface::read(parser, &raw, doc),
        keyword::VALUETYPE | keyword::CUSTOM => not_data(parser, doc, NotData::ValueType),
        keyword::EVENTTYPE => not_data(parser, doc, NotData::EventType),
        keyword::COMPONENT => not_data(parser, doc, NotData::Component),
        keyword::HOME => not_data(parser, doc, NotData::Home),
        keyword::PORTTYPE => not_data(parser, doc, NotData::PortType),
        keyword::CONNECTOR => not_data(parser, doc, NotData::Connector),
        keyword::NATIVE => native(parser, doc),
        keyword::IMPORT | keyword::TYPEID | keyword::TYPEPREFIX => {
            while !matches!(parser.kind(), TokenKind::Semicolon | TokenKind::EndOfFile) {
                parser.bump();
            }
            parser.expect(TokenKind::Semicolon, "after the declaration").map(|_| ())
        }
        _ => Err(unknown_definition(parser)),
    }
}

fn unknown_definition(parser: &mut Parser<'_>) -> Reported {
    let token = parser.token();
    let text = parser.text(token.symbol).to_owned();
    let message = format!("expected a definition, found `{text}`");
    let starts = ["module", "const", "typedef", "struct", "union", "enum", "bitmask", "bitset", "interface"];
    let mut diagnostic = Diagnostic::error(message, token.span).did_you_mean(&text, starts);
    let is_type = SymbolTable::keywords().contains(&text.as_str()) || !parser.is_unknown(token.symbol);
    if diagnostic.help.is_none() && is_type {
        diagnostic = diagnostic.help("members stand in a struct, and constants begin with `const`");
    }
    parser.report(diagnostic)
}

fn semicolon(parser: &mut Parser<'_>, what: &str) -> Result<(), Reported> {
    parser.expect(TokenKind::Semicolon, &format!("after {what}")).map(|_| ())
}

/// Reads a struct, union, enum, bitmask, bitset or exception with its `;`.
fn constructed(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let what = format!("the {}", parser.text(parser.token().symbol));
    let id = constructed_without_end(parser, raw, doc)?;
    semicolon(parser, &what)?;
    let mut definition = parser.specification.definition(id).annotations.clone();
    let mut doc = parser.specification.definition(id).doc.clone();
    let count = definition.iter().count();
    documentation::after(parser, &mut doc, &mut definition);
    if definition.iter().count() > count {
        parser.change_annotations(id, definition);
    }
    parser.specification.definition_mut(id).doc = doc;
    Ok(id)
}

fn constructed_without_end(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let token = parser.bump();
    match token.symbol {
        keyword::STRUCT => structure::read_struct(parser, raw, doc, false),
        keyword::EXCEPTION => structure::read_struct(parser, raw, doc, true),
        keyword::UNION => structure::read_union(parser, raw, doc),
        keyword::ENUM => enumeration::read_enum(parser, raw, doc),
        keyword::BITMASK => enumeration::read_bitmask(parser, raw, doc),
        _ => enumeration::read_bitset(parser, raw, doc),
    }
}

/// Reads a struct, union or enum in the place of a type.
pub(super) fn inline_type(parser: &mut Parser<'_>) -> Result<DefinitionId, Reported> {
    constructed_without_end(parser, &[], None)
}

fn module(parser: &mut Parser<'_>, raw: &[RawAnnotation], doc: Option<Arc<str>>) -> Result<(), Reported> {
    parser.bump();
    // Only the name of a template has a scope: `module ::A<X> B;`.
    let has_scope = parser.kind() == TokenKind::Scope;
    if has_scope {
        parser.bump();
    }
    let (symbol, span) = parser.identifier("a module")?;
    let annotations = annotation::resolve(parser, raw, AnnotationTarget::Module, None);
    if parser.kind() == TokenKind::Less || parser.kind() == TokenKind::Scope {
        return template_module(parser, (symbol, span), doc);
    }
    let brace = parser.position();
    if has_scope {
        parser.expect(TokenKind::Less, "after the name of a template of modules")?;
    }
    parser.expect(TokenKind::OpenBrace, "after the name of the module")?;
    let folded = parser.folded(symbol);
    let existing = parser.names.own_exact(parser.scope, symbol, folded);
    let id = match existing.map(|entry| entry.entity) {
        Some(NamedEntity::Definition(id))
            if matches!(parser.specification.definition(id).kind, DefinitionKind::Module(_)) =>
        {
            for annotation in &annotations {
                let kind = annotation.kind.clone();
                parser.specification.definition_mut(id).annotations.push(annotation.span, kind);
            }
            id
        }
        _ => {
            let kind = DefinitionKind::Module(Module::default());
            let Ok(id) = parser.add_definition((symbol, span), doc, annotations.clone(), kind) else {
                if parser.is_stopped() {
                    return Err(Reported);
                }
                // The name is taken, which is reported. Without its module, the content would cause more errors.
                parser.set_position(brace);
                return skip_body(parser, "the module");
            };
            id
        }
    };
    parser.enter(span)?;
    let outer = (parser.default_nested, parser.default_auto_id);
    parser.default_nested = annotations.default_nested().or(outer.0);
    parser.default_auto_id = annotations.auto_id().or(outer.1);
    parser.inside(id, read_until_brace);
    (parser.default_nested, parser.default_auto_id) = outer;
    parser.leave();
    if parser.kind() == TokenKind::EndOfFile {
        let end = parser.token().span;
        let diagnostic = Diagnostic::error("the module has no `}`", end).label(span, "the module starts here");
        return Err(parser.report(diagnostic));
    }
    parser.bump();
    semicolon(parser, "the module")
}

/// Skips `module A<typename T> { … };`, or its use `module A<X> B;` (IDL 4.2, 7.4.12). It is for components, and no
/// profile of DDS has it.
fn template_module(
    parser: &mut Parser<'_>,
    (symbol, span): (Symbol, Span),
    doc: Option<Arc<str>>,
) -> Result<(), Reported> {
    let mut last = (symbol, span);
    while !matches!(parser.kind(), TokenKind::OpenBrace | TokenKind::Semicolon | TokenKind::EndOfFile) {
        let token = parser.bump();
        if token.kind == TokenKind::Identifier {
            last = (token.symbol, token.span);
        }
    }
    // The name of a use stands behind the arguments.
    let (symbol, span) = if parser.kind() == TokenKind::Semicolon { last } else { (symbol, span) };
    skip_body(parser, "the template module")?;
    let message = format!("`{}` is a template module, which has no types", parser.text(symbol));
    let warning = Diagnostic::warning(message, span).note("the definition is skipped");
    parser.report(warning.help("write a module with the types instead of the parameters"));
    let kind = DefinitionKind::NotData(NotData::TemplateModule);
    parser.add_definition((symbol, span), doc, Annotations::default(), kind).map(|_| ())
}

pub(super) fn constant(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
) -> Result<(), Reported> {
    parser.bump();
    let (ty, type_span) = data_type::read(parser)?;
    let can_be_constant = match parser.specification.resolve(&ty) {
        DataType::Basic(_) | DataType::String { .. } | DataType::WString { .. } | DataType::Fixed { .. } => true,
        DataType::Named(id) => {
            matches!(parser.specification.definition(*id).kind, DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_))
        }
        _ => false,
    };
    if !can_be_constant {
        let message = format!("`{}` cannot be the type of a constant", parser.specification.type_name(&ty));
        return Err(parser.report(Diagnostic::error(message, type_span)));
    }
    let (symbol, span) = parser.identifier("a constant")?;
    if parser.kind() == TokenKind::OpenBracket {
        let message = "a constant cannot be an array";
        return Err(parser.report(Diagnostic::error(message, span)));
    }
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Constant, Some(&ty));
    parser.expect(TokenKind::Equal, "after the name of the constant")?;
    let value = evaluate_as(parser, &ty, ExpressionPlace::Other)?.value;
    semicolon(parser, "the constant")?;
    documentation::after(parser, &mut doc, &mut annotations);
    let ty = match (&ty, &value) {
        // `const fixed X = 1.50d;` gives the digits of its type.
        (DataType::Fixed { digits: 31, scale: 0 }, ConstantValue::Fixed(value)) => {
            DataType::Fixed { digits: 31, scale: value.scale }
        }
        _ => ty,
    };
    let kind = DefinitionKind::Constant(ConstantDefinition { ty, value });
    parser.add_definition((symbol, span), doc, annotations, kind).map(|_| ())
}

fn typedef(parser: &mut Parser<'_>, raw: &[RawAnnotation], mut doc: Option<Arc<str>>) -> Result<(), Reported> {
    parser.bump();
    let inner = annotation::read(parser)?;
    let (ty, _) = data_type::read(parser)?;
    let mut added = Vec::new();
    let all: Vec<RawAnnotation> = raw.iter().cloned().chain(inner).collect();
    let mut line = LineAnnotations::new(&all, AnnotationTarget::Typedef);
    loop {
        let (symbol, span, complete) = data_type::declarator(parser, "a typedef", &ty)?;
        if let DataType::Named(id) = &complete {
            parser.note_early_use(*id);
        }
        let annotations = line.resolve(parser, &complete, span)?;
        if is_same_typedef(parser, symbol, &complete) {
            let message = format!("the typedef `{}` a second time", parser.text(symbol));
            parser.vendor_warning(&message, "ROS", span, "remove one of the two typedefs");
            if !parser.eat(TokenKind::Comma) {
                break;
            }
            continue;
        }
        let depth = data_type::depth(parser, &complete) + 1;
        if depth > NESTING_MAX {
            // Readers of the type follow its typedefs, and each level needs stack space.
            let message = format!("more than {NESTING_MAX} levels of nesting: typedefs count");
            return Err(parser.stop(Diagnostic::error(message, span)));
        }
        let kind = DefinitionKind::Typedef(TypedefDefinition { ty: complete });
        let id = parser.add_definition((symbol, span), None, annotations, kind)?;
        parser.typedef_depths.insert(id, depth);
        added.push(id);
        if !parser.eat(TokenKind::Comma) {
            break;
        }
    }
    semicolon(parser, "the typedef")?;
    let in_comments = documentation::after_line(parser, &mut doc);
    for id in added {
        let definition = parser.specification.definition_mut(id);
        definition.doc.clone_from(&doc);
        definition.annotations.extend(&in_comments);
        let span = definition.span;
        parser.count_copies(annotation::size(&in_comments), span)?;
    }
    Ok(())
}

/// Whether the scope contains a typedef of the same name and type. `rosidl` repeats typedefs of arrays.
fn is_same_typedef(parser: &Parser<'_>, symbol: Symbol, ty: &DataType) -> bool {
    let Some(entry) = parser.names.own(parser.scope, parser.folded(symbol)) else { return false };
    let NamedEntity::Definition(id) = entry.entity else { return false };
    let DefinitionKind::Typedef(existing) = &parser.specification.definition(id).kind else { return false };
    entry.symbol == symbol && existing.ty == *ty
}

/// Reads `@annotation NAME { … };`.
fn annotation_declaration(parser: &mut Parser<'_>, doc: Option<Arc<str>>) -> Result<(), Reported> {
    parser.bump();
    parser.bump();
    let token = parser.bump();
    let name = format!("@{}", parser.text(token.symbol));
    let scoped_name = parser.scoped(&name);
    if let Some(other) = parser.specification.find(&scoped_name) {
        let first = parser.specification.definition(other).span;
        let message = format!("the annotation `{name}` is defined twice");
        return Err(parser.report(Diagnostic::error(message, token.span).label(first, "first definition")));
    }
    let id = parser.specification.add(Definition {
        scoped_name,
        name: name.into(),
        parent: parser.parent,
        span: token.span,
        doc,
        annotations: Annotations::default(),
        kind: DefinitionKind::Annotation(AnnotationDefinition::default()),
    });
    parser.expect(TokenKind::OpenBrace, "after the name of the annotation")?;
    parser.enter(token.span)?;
    let members = parser.inside(id, annotation_members);
    parser.leave();
    let members = members?;
    parser.annotation_members.insert(id, members.clone().into());
    parser.specification.definition_mut(id).kind = DefinitionKind::Annotation(AnnotationDefinition { members });
    parser.expect(TokenKind::CloseBrace, "after the parameters")?;
    semicolon(parser, "the annotation")
}

fn annotation_members(parser: &mut Parser<'_>) -> Result<Vec<AnnotationMember>, Reported> {
    let mut members = Vec::new();
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        match parser.token().symbol {
            keyword::CONST => {
                constant(parser, &[], None)?;
                continue;
            }
            keyword::TYPEDEF => {
                typedef(parser, &[], None)?;
                continue;
            }
            keyword::ENUM | keyword::BITMASK => {
                constructed(parser, &[], None)?;
                continue;
            }
            _ => {}
        }
        let ty = if parser.eat_keyword(keyword::ANY) { None } else { Some(data_type::read(parser)?.0) };
        let (symbol, span) = parser.identifier("a parameter")?;
        let mut default = None;
        if parser.eat_keyword(keyword::DEFAULT) {
            let value = match &ty {
                Some(ty) => evaluate_as(parser, ty, ExpressionPlace::Other)?,
                None => crate::idl::expression::evaluate(parser, None, ExpressionPlace::Other)?,
            };
            default = Some(value.value);
        }
        semicolon(parser, "the parameter")?;
        if members.len() >= ANNOTATIONS_MAX {
            let message = format!("an annotation has at most {ANNOTATIONS_MAX} parameters");
            return Err(parser.stop(Diagnostic::error(message, span)));
        }
        members.push(AnnotationMember { name: parser.symbols.shared(symbol), span, ty, default });
    }
    Ok(members)
}

/// Reads the name of a definition that is not data, and skips the rest.
fn not_data(parser: &mut Parser<'_>, doc: Option<Arc<str>>, kind: NotData) -> Result<(), Reported> {
    while matches!(parser.token().symbol, keyword::CUSTOM | keyword::ABSTRACT | keyword::VALUETYPE)
        || parser.token().symbol == keyword::EVENTTYPE
        || matches!(parser.token().symbol, keyword::COMPONENT | keyword::HOME | keyword::PORTTYPE | keyword::CONNECTOR)
    {
        parser.bump();
    }
    let (symbol, span) = parser.identifier(kind.description())?;
    skip_body(parser, kind.description())?;
    // A forward declaration and the definition are one definition.
    if let Some(entry) = parser.names.own(parser.scope, parser.folded(symbol))
        && let NamedEntity::Definition(id) = entry.entity
        && matches!(parser.specification.definition(id).kind, DefinitionKind::NotData(known) if known == kind)
    {
        return Ok(());
    }
    let message = format!("`{}` is {}, which is not data", parser.text(symbol), kind.description());
    parser.report(Diagnostic::warning(message, span).note("the definition is skipped"));
    parser.add_definition((symbol, span), doc, Annotations::default(), DefinitionKind::NotData(kind)).map(|_| ())
}

/// Skips to the `;` behind a body in braces.
fn skip_body(parser: &mut Parser<'_>, what: &str) -> Result<(), Reported> {
    let mut depth = 0_usize;
    loop {
        match parser.kind() {
            TokenKind::EndOfFile => return Err(parser.unexpected(&format!("`}}` of {what}"))),
            TokenKind::Semicolon if depth == 0 => {
                parser.bump();
                return Ok(());
            }
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace if depth == 0 => return Err(parser.unexpected("`;`")),
            TokenKind::CloseBrace => depth -= 1,
            _ => {}
        }
        parser.bump();
    }
}

/// Reads a valuetype or an eventtype behind `abstract`.
pub(super) fn value_type(parser: &mut Parser<'_>, doc: Option<Arc<str>>) -> Result<(), Reported> {
    let kind = if parser.is_at(keyword::VALUETYPE) { NotData::ValueType } else { NotData::EventType };
    not_data(parser, doc, kind)
}

fn native(parser: &mut Parser<'_>, doc: Option<Arc<str>>) -> Result<(), Reported> {
    parser.bump();
    let (symbol, span) = parser.identifier("a native type")?;
    semicolon(parser, "the native type")?;
    let kind = DefinitionKind::NotData(NotData::Native);
    parser.add_definition((symbol, span), doc, Annotations::default(), kind).map(|_| ())
}

impl Parser<'_> {
    /// Adds a declaration without a body, unless it exists already.
    pub(super) fn declare_forward(
        &mut self,
        symbol: Symbol,
        span: Span,
        what: &'static str,
    ) -> Result<DefinitionId, Reported> {
        if let Some(entry) = self.names.own_exact(self.scope, symbol, self.folded(symbol))
            && let NamedEntity::Definition(id) = entry.entity
            && matches!(
                self.specification.definition(id).kind,
                DefinitionKind::NotData(NotData::Undefined)
                    | DefinitionKind::Struct(_)
                    | DefinitionKind::Union(_)
                    | DefinitionKind::Interface(_)
            )
        {
            self.check_declared_kind(id, span, what)?;
            return Ok(id);
        }
        let kind = DefinitionKind::NotData(NotData::Undefined);
        let id = self.declare(symbol, span, None, Annotations::default(), kind)?;
        self.declared_kinds.insert(id, what);
        Ok(id)
    }

    /// A declaration and the definition have the same keyword (IDL 4.2, 7.4.1.4.4.4).
    pub(super) fn check_declared_kind(
        &mut self,
        id: DefinitionId,
        span: Span,
        what: &'static str,
    ) -> Result<(), Reported> {
        let definition = self.specification.definition(id);
        let declared = match &definition.kind {
            DefinitionKind::NotData(NotData::Undefined) => self.declared_kinds.get(&id).copied(),
            defined => Some(defined.description()),
        };
        match declared {
            Some(declared) if declared != what => {
                let message = format!("`{}` is {declared}, and here {what}", definition.name);
                let place = definition.span;
                Err(self.report(Diagnostic::error(message, span).label(place, "declared here")))
            }
            _ => Ok(()),
        }
    }

    /// Sets the content of a definition, and adds it to its parent.
    pub(super) fn complete(
        &mut self,
        id: DefinitionId,
        span: Span,
        doc: Option<Arc<str>>,
        annotations: Annotations,
        kind: DefinitionKind,
    ) {
        let definition = self.specification.definition_mut(id);
        definition.span = span;
        definition.doc = doc;
        definition.annotations = annotations;
        definition.kind = kind;
        self.specification.list(id);
        self.started.retain(|started| *started != id);
    }

    /// Takes comments between the `}` and the `;` of a definition.
    pub(super) fn end_definition(&mut self, doc: &mut Option<Arc<str>>, annotations: &mut Annotations) {
        documentation::after(self, doc, annotations);
    }

    /// Completes definitions that an error has interrupted, so that their uses are not reported as well.
    fn close_started(&mut self) {
        for id in std::mem::take(&mut self.started) {
            let definition = self.specification.definition_mut(id);
            if matches!(definition.kind, DefinitionKind::NotData(NotData::Undefined)) {
                definition.kind = DefinitionKind::Struct(StructDefinition::default());
            }
        }
    }

    /// Replaces the annotations of a type by those with comments behind it.
    fn change_annotations(&mut self, id: DefinitionId, annotations: Annotations) {
        let (extensibility, is_nested) = (annotations.extensibility(), self.is_nested(&annotations));
        let definition = self.specification.definition_mut(id);
        definition.annotations = annotations;
        let target = match &mut definition.kind {
            DefinitionKind::Struct(found) => {
                found.is_nested = is_nested;
                &mut found.extensibility
            }
            DefinitionKind::Union(found) => {
                found.is_nested = is_nested;
                &mut found.extensibility
            }
            DefinitionKind::Enum(found) => &mut found.extensibility,
            DefinitionKind::Bitmask(found) => &mut found.extensibility,
            _ => return,
        };
        if let Some(extensibility) = extensibility {
            *target = extensibility;
        }
    }

    /// Notes that a typedef names a type before its definition.
    fn note_early_use(&mut self, id: DefinitionId) {
        if matches!(self.specification.definition(id).kind, DefinitionKind::NotData(NotData::Undefined)) {
            self.used_early.insert(id);
        }
    }

    /// The definitions around the current scope, from the innermost.
    pub(super) fn parents(&self) -> impl Iterator<Item = DefinitionId> {
        std::iter::successors(self.parent, |id| self.specification.definition(*id).parent)
    }
}
