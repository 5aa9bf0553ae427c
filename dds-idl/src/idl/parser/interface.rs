//! Interfaces with their operations and attributes.

use super::cursor::differs_only_in_case;
use super::{Parser, Reported, data_type, definition, documentation};
use crate::idl::annotation::{self, AnnotationTarget, LineAnnotations, RawAnnotation};
use crate::idl::scope::NamedEntity;
use crate::idl::symbol::keyword;
use crate::idl::token::TokenKind;
use crate::model::{
    AttributeDefinition, DataType, DefinitionId, DefinitionKind, Diagnostic, InterfaceDefinition, NotData,
    OperationDefinition, OperationParameter, ParameterDirection,
};
use std::sync::Arc;

/// Reads an interface with its `;`, or its forward declaration. The cursor is at the first keyword.
pub(super) fn read(parser: &mut Parser<'_>, raw: &[RawAnnotation], mut doc: Option<Arc<str>>) -> Result<(), Reported> {
    while parser.eat_keyword(keyword::LOCAL) || parser.eat_keyword(keyword::ABSTRACT) {}
    if parser.is_at(keyword::VALUETYPE) || parser.is_at(keyword::EVENTTYPE) {
        return definition::value_type(parser, doc);
    }
    if !parser.eat_keyword(keyword::INTERFACE) {
        return Err(parser.unexpected("`interface`"));
    }
    let (symbol, span) = parser.identifier("an interface")?;
    if parser.eat(TokenKind::Semicolon) {
        let id = parser.declare_forward(symbol, span, "an interface")?;
        parser.declared_interfaces.insert(id);
        return Ok(());
    }
    let bases = if parser.eat(TokenKind::Colon) { names(parser, "interface")? } else { Vec::new() };
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Interface, None);
    let id = parser.start_definition(symbol, span, "an interface")?;
    parser.expect(TokenKind::OpenBrace, "after the name of the interface")?;
    parser.started.retain(|started| *started != id);
    // The types inside of the interface are added to it while it is read.
    parser.specification.definition_mut(id).kind =
        DefinitionKind::Interface(InterfaceDefinition { bases: bases.clone(), ..InterfaceDefinition::default() });
    parser.enter(span)?;
    let (operations, attributes) = parser.inside(id, |parser| {
        for base in &bases {
            parser.names.add_base(parser.scope, *base);
        }
        body(parser)
    });
    parser.leave();
    parser.expect(TokenKind::CloseBrace, "after the operations")?;
    parser.expect(TokenKind::Semicolon, "after the interface")?;
    documentation::after(parser, &mut doc, &mut annotations);
    let found = std::mem::replace(
        &mut parser.specification.definition_mut(id).kind,
        DefinitionKind::NotData(NotData::Undefined),
    );
    let definitions = if let DefinitionKind::Interface(found) = found { found.definitions } else { Vec::new() };
    let kind = DefinitionKind::Interface(InterfaceDefinition { bases, definitions, operations, attributes });
    parser.complete(id, span, doc, annotations, kind);
    Ok(())
}

/// Names of interfaces or exceptions, separated by commas.
fn names(parser: &mut Parser<'_>, what: &str) -> Result<Vec<DefinitionId>, Reported> {
    let mut found = Vec::new();
    loop {
        if data_type::unknown_type_of_corba(parser).is_some() {
            if !parser.eat(TokenKind::Comma) {
                return Ok(found);
            }
            continue;
        }
        let (entry, span) = parser.scoped_name(what)?;
        let id = match entry.entity {
            NamedEntity::Definition(id) => Some(resolved(parser, id)),
            NamedEntity::Enumerator(..) | NamedEntity::Flag(_) | NamedEntity::Local(_) => None,
        };
        let is_right = id.is_some_and(|id| match &parser.specification.definition(id).kind {
            DefinitionKind::Interface(_) => what == "interface",
            DefinitionKind::Exception(_) => what == "exception",
            // An exception has no other declaration, but a native type may stand for one of the language.
            // The exception may be one of a template module, whose content is skipped.
            DefinitionKind::NotData(NotData::Native | NotData::TemplateModule) => true,
            DefinitionKind::NotData(_) => what == "interface",
            _ => false,
        });
        match id {
            Some(id) if is_right => found.push(id),
            _ => {
                let message = format!("`{}` is not an {what}", parser.text(entry.symbol));
                return Err(parser.report(Diagnostic::error(message, span).label(entry.span, "defined here")));
            }
        }
        if !parser.eat(TokenKind::Comma) {
            return Ok(found);
        }
    }
}

/// The definition behind typedefs: the alias of an interface may be a base.
fn resolved(parser: &Parser<'_>, id: DefinitionId) -> DefinitionId {
    match parser.specification.resolve(&DataType::Named(id)) {
        DataType::Named(id) => *id,
        _ => id,
    }
}

fn body(parser: &mut Parser<'_>) -> (Vec<OperationDefinition>, Vec<AttributeDefinition>) {
    let (mut operations, mut attributes) = (Vec::new(), Vec::new());
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        if parser.eat(TokenKind::Semicolon) {
            continue;
        }
        if export(parser, &mut operations, &mut attributes).is_err() {
            parser.recover();
        }
    }
    (operations, attributes)
}

/// Reads a type, a constant, an operation or an attribute.
fn export(
    parser: &mut Parser<'_>,
    operations: &mut Vec<OperationDefinition>,
    attributes: &mut Vec<AttributeDefinition>,
) -> Result<(), Reported> {
    let doc = documentation::before(parser);
    let start = parser.position();
    let raw = annotation::read(parser)?;
    match parser.token().symbol {
        keyword::CONST
        | keyword::TYPEDEF
        | keyword::STRUCT
        | keyword::UNION
        | keyword::ENUM
        | keyword::BITMASK
        | keyword::BITSET
        | keyword::EXCEPTION
        | keyword::NATIVE
        | keyword::TYPEID
        | keyword::TYPEPREFIX
        | keyword::IMPORT => {
            parser.set_position(start);
            definition::read(parser)
        }
        keyword::READONLY | keyword::ATTRIBUTE => attribute(parser, &raw, doc, attributes),
        _ => {
            operations.push(operation(parser, &raw, doc)?);
            Ok(())
        }
    }
}

fn attribute(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    doc: Option<Arc<str>>,
    attributes: &mut Vec<AttributeDefinition>,
) -> Result<(), Reported> {
    let is_read_only = parser.eat_keyword(keyword::READONLY);
    if !parser.eat_keyword(keyword::ATTRIBUTE) {
        return Err(parser.unexpected("`attribute`"));
    }
    let (ty, _) = data_type::read(parser)?;
    let first = attributes.len();
    let mut line = LineAnnotations::new(raw, AnnotationTarget::Attribute);
    loop {
        let (symbol, span) = parser.identifier("an attribute")?;
        parser.define(parser.scope, symbol, span, NamedEntity::Local("an attribute"))?;
        let annotations = line.resolve(parser, &ty, span)?;
        parser.count_copies(data_type::size(&ty), span)?;
        attributes.push(AttributeDefinition {
            name: parser.symbols.shared(symbol),
            span,
            doc: doc.clone(),
            annotations,
            is_read_only,
            ty: ty.clone(),
            get_raises: Vec::new(),
            set_raises: Vec::new(),
        });
        if !parser.eat(TokenKind::Comma) {
            break;
        }
    }
    while let keyword @ (keyword::RAISES | keyword::GETRAISES | keyword::SETRAISES) = parser.token().symbol {
        parser.bump();
        let exceptions = raises(parser)?;
        for attribute in attributes.iter_mut().skip(first) {
            if keyword == keyword::SETRAISES {
                attribute.set_raises.clone_from(&exceptions);
            } else {
                attribute.get_raises.clone_from(&exceptions);
            }
        }
    }
    parser.expect(TokenKind::Semicolon, "after the attribute").map(|_| ())
}

/// Exceptions in parentheses behind their keyword.
fn raises(parser: &mut Parser<'_>) -> Result<Vec<DefinitionId>, Reported> {
    parser.expect(TokenKind::OpenParenthesis, "before the exceptions")?;
    let found = names(parser, "exception")?;
    parser.expect(TokenKind::CloseParenthesis, "after the exceptions")?;
    Ok(found)
}

fn operation(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    doc: Option<Arc<str>>,
) -> Result<OperationDefinition, Reported> {
    let is_one_way = parser.eat_keyword(keyword::ONEWAY);
    let result = if parser.eat_keyword(keyword::VOID) { None } else { Some(data_type::read(parser)?.0) };
    let (symbol, span) = parser.identifier("an operation")?;
    parser.define(parser.scope, symbol, span, NamedEntity::Local("an operation"))?;
    let annotations = annotation::resolve(parser, raw, AnnotationTarget::Operation, None);
    parser.expect(TokenKind::OpenParenthesis, "after the name of the operation")?;
    let mut parameters: Vec<OperationParameter> = Vec::new();
    while parser.kind() != TokenKind::CloseParenthesis {
        let parameter = parameter(parser, parameters.len())?;
        let is_case_sensitive = parser.options.case_sensitive;
        let is_equal = |other: &&OperationParameter| {
            other.name == parameter.name || !is_case_sensitive && other.name.eq_ignore_ascii_case(&parameter.name)
        };
        if let Some(other) = parameters.iter().find(is_equal) {
            let diagnostic = if other.name == parameter.name {
                Diagnostic::error(format!("the parameter `{}` is defined twice", parameter.name), parameter.span)
            } else {
                differs_only_in_case(&parameter.name, &other.name, parameter.span)
            };
            parser.report(diagnostic.label(other.span, "first definition"));
        }
        if parameters.len() >= PARAMETERS_MAX {
            return Err(parser.report(Diagnostic::error("too many parameters", parameter.span)));
        }
        parameters.push(parameter);
        if !parser.eat(TokenKind::Comma) {
            break;
        }
    }
    parser.expect(TokenKind::CloseParenthesis, "after the parameters")?;
    let raises = if parser.eat_keyword(keyword::RAISES) { raises(parser)? } else { Vec::new() };
    if parser.eat_keyword(keyword::CONTEXT) {
        while !matches!(parser.kind(), TokenKind::Semicolon | TokenKind::EndOfFile) {
            parser.bump();
        }
    }
    parser.expect(TokenKind::Semicolon, "after the operation")?;
    let is_one_way = is_one_way || annotations.is_one_way();
    if is_one_way
        && (result.is_some() || parameters.iter().any(|parameter| parameter.direction != ParameterDirection::In))
    {
        let message = "a oneway operation has no result, and no `out` parameters";
        parser.report(Diagnostic::error(message, span));
    }
    let name = parser.symbols.shared(symbol);
    Ok(OperationDefinition { name, span, doc, annotations, is_one_way, result, parameters, raises })
}

/// More parameters have no use, and each is compared with all others.
const PARAMETERS_MAX: usize = 256;

fn parameter(parser: &mut Parser<'_>, index: usize) -> Result<OperationParameter, Reported> {
    let mut raw = annotation::read(parser)?;
    let direction = match parser.token().symbol {
        keyword::IN => ParameterDirection::In,
        keyword::OUT => ParameterDirection::Out,
        keyword::INOUT => ParameterDirection::InOut,
        _ => {
            let token = parser.token();
            if token.kind != TokenKind::Identifier && token.kind != TokenKind::Scope {
                return Err(parser.unexpected("`in`, `out` or `inout`"));
            }
            let help = "write `in` before the type";
            parser.vendor_warning("a parameter without a direction", "RTI Connext", token.span, help);
            ParameterDirection::In
        }
    };
    if matches!(parser.token().symbol, keyword::IN | keyword::OUT | keyword::INOUT) {
        parser.bump();
    }
    raw.extend(annotation::read(parser)?);
    let (ty, type_span): (DataType, _) = data_type::read(parser)?;
    let annotations = annotation::resolve(parser, &raw, AnnotationTarget::Parameter, Some(&ty));
    if matches!(parser.kind(), TokenKind::Comma | TokenKind::CloseParenthesis) {
        let help = "write a name behind the type";
        parser.vendor_warning("a parameter without a name", "`dds_rtf2_dcps.idl` of the OMG", type_span, help);
        let name = format!("parameter{}", index + 1).into();
        return Ok(OperationParameter { name, span: type_span, annotations, direction, ty });
    }
    let (symbol, span) = parser.identifier("a parameter")?;
    Ok(OperationParameter { name: parser.symbols.shared(symbol), span, annotations, direction, ty })
}
