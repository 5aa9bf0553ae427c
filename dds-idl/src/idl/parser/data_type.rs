//! Types, and the declarators behind them.

use super::{Parser, Reported, definition, not_data};
use crate::idl::annotation::{self, AnnotationTarget};
use crate::idl::expression::{ExpressionPlace, evaluate_integer};
use crate::idl::scope::NamedEntity;
use crate::idl::symbol::{Symbol, keyword};
use crate::idl::token::TokenKind;
use crate::model::{BasicType, DataType, DefinitionId, DefinitionKind, Diagnostic, ElementType, NotData, Span};

/// Largest bound of a string, sequence or map.
const BOUND_MAX: i128 = u32::MAX as i128;

/// Reads a type. `void` is not a type here.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let token = parser.token();
    if token.kind == TokenKind::Scope || token.kind == TokenKind::Identifier && !token.symbol.is_keyword() {
        return named(parser);
    }
    if token.kind != TokenKind::Identifier {
        return Err(parser.unexpected("a type"));
    }
    let basic = |parser: &mut Parser<'_>, basic: BasicType| {
        parser.bump();
        Ok((DataType::Basic(basic), token.span))
    };
    match token.symbol {
        keyword::BOOLEAN => basic(parser, BasicType::Bool),
        keyword::OCTET => basic(parser, BasicType::Octet),
        keyword::CHAR => basic(parser, BasicType::Char),
        keyword::WCHAR => basic(parser, BasicType::WChar),
        keyword::INT8 => basic(parser, BasicType::Int8),
        keyword::UINT8 => basic(parser, BasicType::UInt8),
        keyword::INT16 | keyword::SHORT => basic(parser, BasicType::Int16),
        keyword::UINT16 => basic(parser, BasicType::UInt16),
        keyword::INT32 => basic(parser, BasicType::Int32),
        keyword::UINT32 => basic(parser, BasicType::UInt32),
        keyword::INT64 => basic(parser, BasicType::Int64),
        keyword::UINT64 => basic(parser, BasicType::UInt64),
        keyword::FLOAT => basic(parser, BasicType::Float32),
        keyword::DOUBLE => basic(parser, BasicType::Float64),
        keyword::LONG => {
            parser.bump();
            let (second, span) = (parser.token(), token.span.to(parser.token().span));
            if parser.eat_keyword(keyword::LONG) {
                Ok((DataType::Basic(BasicType::Int64), span))
            } else if parser.eat_keyword(keyword::DOUBLE) {
                Ok((DataType::Basic(BasicType::Float128), token.span.to(second.span)))
            } else {
                Ok((DataType::Basic(BasicType::Int32), token.span))
            }
        }
        keyword::UNSIGNED => unsigned(parser),
        keyword::STRING | keyword::WSTRING => string(parser),
        keyword::SEQUENCE => sequence(parser),
        keyword::MAP => map(parser),
        keyword::FIXED => fixed(parser),
        keyword::ANY => opaque(parser, "any"),
        keyword::OBJECT => opaque(parser, "Object"),
        keyword::VALUEBASE => opaque(parser, "ValueBase"),
        keyword::STRUCT | keyword::UNION | keyword::ENUM => inline(parser),
        keyword::VOID => {
            parser.bump();
            Err(parser.report(Diagnostic::error("`void` is only the result of an operation", token.span)))
        }
        _ => Err(parser.unexpected("a type")),
    }
}

fn opaque(parser: &mut Parser<'_>, name: &str) -> Result<(DataType, Span), Reported> {
    let span = parser.bump().span;
    Ok((DataType::Opaque(name.into()), span))
}

fn unsigned(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let start = parser.bump().span;
    let span = start.to(parser.token().span);
    if parser.eat_keyword(keyword::SHORT) {
        return Ok((DataType::Basic(BasicType::UInt16), span));
    }
    if !parser.eat_keyword(keyword::LONG) {
        return Err(parser.unexpected("`short` or `long` after `unsigned`"));
    }
    let end = parser.token().span;
    if parser.eat_keyword(keyword::LONG) {
        return Ok((DataType::Basic(BasicType::UInt64), start.to(end)));
    }
    Ok((DataType::Basic(BasicType::UInt32), span))
}

/// The type behind a name that a vendor has without a definition, and the vendor.
///
/// Other names of C or Rust are errors with a suggestion: no IDL compiler has them.
fn type_of_vendor(name: &str) -> Option<(BasicType, &'static str)> {
    Some(match name {
        "int8_t" => (BasicType::Int8, "HDDS"),
        "uint8_t" => (BasicType::UInt8, "HDDS"),
        "int16_t" => (BasicType::Int16, "HDDS"),
        "uint16_t" => (BasicType::UInt16, "HDDS"),
        "int32_t" => (BasicType::Int32, "HDDS"),
        "uint32_t" => (BasicType::UInt32, "HDDS"),
        "int64_t" => (BasicType::Int64, "HDDS"),
        "uint64_t" => (BasicType::UInt64, "HDDS"),
        "u8" => (BasicType::UInt8, "Dust DDS"),
        _ => return None,
    })
}

/// Reads `Sequence<` or `String`. The standard has these keywords in lowercase alone (IDL 4.2, 7.2.4).
///
/// Other keywords have no such form: `Long` has 32 bits in IDL, and 64 in Java.
fn capital_keyword(parser: &mut Parser<'_>) -> Option<Result<(DataType, Span), Reported>> {
    let token = parser.token();
    if token.kind != TokenKind::Identifier || !parser.is_unknown(token.symbol) {
        return None;
    }
    match (parser.text(token.symbol), parser.token_after(1).kind) {
        ("Sequence", TokenKind::Less) => {
            parser.vendor_warning("the keyword `Sequence`", "OpenSplice", token.span, "write `sequence`");
            Some(sequence(parser))
        }
        ("String", next) if next != TokenKind::Scope => {
            parser.vendor_warning(
                "the keyword `String`",
                "the TACSIT data exchange of the OMG",
                token.span,
                "write `string`",
            );
            Some(string(parser))
        }
        _ => None,
    }
}

/// Reads a name that no definition has, but a vendor.
fn undefined_name(parser: &mut Parser<'_>) -> Option<(DataType, Span)> {
    let token = parser.token();
    if token.kind != TokenKind::Identifier {
        return None;
    }
    if parser.token_after(1).kind == TokenKind::Scope {
        return unknown_type_of_corba(parser);
    }
    if !parser.is_unknown(token.symbol) {
        return None;
    }
    let name = parser.text(token.symbol).to_owned();
    if name == "TypeCode" && is_in_corba(parser) {
        parser.bump();
        parser.vendor_warning("the type `TypeCode`", "omniORB", token.span, "write `CORBA::TypeCode`");
        return Some((DataType::Opaque("CORBA::TypeCode".into()), token.span));
    }
    let (basic, vendor) = type_of_vendor(&name)?;
    parser.bump();
    let help = format!("write `{}`", basic.idl_name());
    parser.vendor_warning(&format!("the type `{name}`"), vendor, token.span, &help);
    Some((DataType::Basic(basic), token.span))
}

fn is_in_corba(parser: &Parser<'_>) -> bool {
    parser.parent.is_some_and(|id| {
        let scope = &parser.specification.definition(id).scoped_name;
        scope.split("::").next() == Some("CORBA")
    })
}

/// Reads `CORBA::NAME` in a text without `#include <orb.idl>`. Compilers of CORBA have its types built in, and no type
/// of DDS is among them.
pub(super) fn unknown_type_of_corba(parser: &mut Parser<'_>) -> Option<(DataType, Span)> {
    let start = parser.token();
    if parser.text(start.symbol) != "CORBA" || !(parser.is_unknown(start.symbol) || is_missing_in_corba(parser)) {
        return None;
    }
    let (mut span, mut name) = (start.span, String::new());
    while matches!(parser.kind(), TokenKind::Identifier | TokenKind::Scope) {
        let is_name = parser.kind() == TokenKind::Identifier;
        let token = parser.bump();
        span = span.to(token.span);
        name.push_str(if is_name { parser.text(token.symbol) } else { "::" });
        if is_name && parser.kind() != TokenKind::Scope {
            break;
        }
    }
    Some((DataType::Opaque(name.into()), span))
}

/// Whether the cursor is at `CORBA::TypeCode` or the like, and the module of the text lacks it. `orb.idl` of omniORB
/// does, because these types are built into its compiler.
fn is_missing_in_corba(parser: &Parser<'_>) -> bool {
    const BUILT_IN: [&str; 5] = ["TypeCode", "NVList", "Environment", "InterfaceDef", "ServiceOption"];
    let name = parser.token_after(2);
    name.kind == TokenKind::Identifier
        && BUILT_IN.contains(&parser.text(name.symbol))
        && parser.is_outside(parser.token().symbol, name.symbol)
}

/// A type by its name.
fn named(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    if let Some(found) = capital_keyword(parser) {
        return found;
    }
    if let Some(found) = undefined_name(parser) {
        return Ok(found);
    }
    let (entry, span) = parser.scoped_name("type")?;
    let (name, kind) = match entry.entity {
        NamedEntity::Definition(id) => {
            let definition = parser.specification.definition(id);
            let is_type = !matches!(
                definition.kind,
                DefinitionKind::Module(_)
                    | DefinitionKind::Constant(_)
                    | DefinitionKind::Annotation(_)
                    | DefinitionKind::Exception(_)
            );
            if is_type {
                return Ok((DataType::Named(id), span));
            }
            (definition.name.to_string(), definition.kind.description())
        }
        NamedEntity::Enumerator(..) => (parser.text(entry.symbol).to_owned(), "an enumerator"),
        NamedEntity::Flag(_) => (parser.text(entry.symbol).to_owned(), "a flag"),
        NamedEntity::Local(what) => (parser.text(entry.symbol).to_owned(), what),
    };
    let message = format!("`{name}` is {kind}, not a type");
    Err(parser.report(Diagnostic::error(message, span).label(entry.span, "defined here")))
}

fn bound(parser: &mut Parser<'_>, what: &str) -> Result<u32, Reported> {
    let (value, _) = evaluate_integer(parser, ExpressionPlace::Template, (1, BOUND_MAX), what)?;
    Ok(u32::try_from(value).unwrap_or(u32::MAX))
}

fn string(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let token = parser.bump();
    let mut span = token.span;
    let bound = if parser.eat(TokenKind::Less) {
        let bound = bound(parser, "the bound")?;
        span = span.to(parser.expect(TokenKind::Greater, "after the bound")?.span);
        Some(bound)
    } else {
        None
    };
    let ty = if token.symbol == keyword::WSTRING { DataType::WString { bound } } else { DataType::String { bound } };
    Ok((ty, span))
}

fn sequence(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let start = parser.bump().span;
    parser.expect(TokenKind::Less, "after `sequence`")?;
    parser.enter(start)?;
    let element = element(parser);
    parser.leave();
    let element = element?;
    let bound = if parser.eat(TokenKind::Comma) { Some(bound(parser, "the bound")?) } else { None };
    let end = parser.expect(TokenKind::Greater, "after the element of the sequence")?.span;
    Ok((DataType::Sequence { element: Box::new(element), bound }, start.to(end)))
}

fn map(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let start = parser.bump().span;
    parser.expect(TokenKind::Less, "after `map`")?;
    parser.enter(start)?;
    let key_span = parser.token().span;
    let parts = element(parser).and_then(|key| {
        parser.expect(TokenKind::Comma, "after the key of the map")?;
        Ok((key, element(parser)?))
    });
    parser.leave();
    let (key, element) = parts?;
    let is_key = match parser.specification.resolve(&key.ty) {
        DataType::Basic(basic) => !matches!(basic, BasicType::Float32 | BasicType::Float64 | BasicType::Float128),
        DataType::String { .. } | DataType::WString { .. } => true,
        DataType::Named(id) => matches!(parser.specification.definition(*id).kind, DefinitionKind::Enum(_)),
        _ => false,
    };
    if !is_key {
        let name = parser.specification.type_name(&key.ty);
        let message = format!("`{name}` cannot be the key of a map");
        parser.report(
            Diagnostic::error(message, key_span)
                .note("keys are integers, booleans, characters, enums or strings (XTypes 1.3, 7.2.2.4.3)"),
        );
    }
    let bound = if parser.eat(TokenKind::Comma) { Some(bound(parser, "the bound")?) } else { None };
    let end = parser.expect(TokenKind::Greater, "after the value of the map")?.span;
    Ok((DataType::Map { key: Box::new(key), element: Box::new(element), bound }, start.to(end)))
}

/// The element of a collection with its annotations.
fn element(parser: &mut Parser<'_>) -> Result<ElementType, Reported> {
    let raw = annotation::read(parser)?;
    let (ty, _) = read(parser)?;
    if let DataType::Named(id) = &ty {
        use_early(parser, *id);
    }
    let annotations = annotation::resolve(parser, &raw, AnnotationTarget::Element, Some(&ty));
    Ok(ElementType { ty, annotations })
}

fn fixed(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let start = parser.bump().span;
    if !parser.eat(TokenKind::Less) {
        // The type of a constant: its value gives the digits.
        return Ok((DataType::Fixed { digits: 31, scale: 0 }, start));
    }
    let (digits, _) = evaluate_integer(parser, ExpressionPlace::Template, (1, 31), "the number of digits")?;
    let scale = if parser.eat(TokenKind::Comma) {
        evaluate_integer(parser, ExpressionPlace::Template, (0, digits), "the scale")?.0
    } else {
        0
    };
    let end = parser.expect(TokenKind::Greater, "after the scale")?.span;
    let (digits, scale) = (u8::try_from(digits).unwrap_or(31), u8::try_from(scale).unwrap_or(0));
    Ok((DataType::Fixed { digits, scale }, start.to(end)))
}

/// A struct, union or enum that is defined where it is used, as in IDL 3.
fn inline(parser: &mut Parser<'_>) -> Result<(DataType, Span), Reported> {
    let start = parser.token().span;
    parser.enter(start)?;
    let id = definition::inline_type(parser);
    parser.leave();
    let id = id?;
    parser.vendor_warning(
        "a type inside of another definition",
        "OpenDDS and RTI Connext",
        start,
        "define the type before, and use its name",
    );
    Ok((DataType::Named(id), start))
}

/// Notes the use of a type that is declared, but not defined yet.
fn use_early(parser: &mut Parser<'_>, id: DefinitionId) {
    if matches!(parser.specification.definition(id).kind, DefinitionKind::NotData(NotData::Undefined)) {
        parser.used_early.insert(id);
    }
}

/// Reads a name and its dimensions, and returns the complete type.
pub(super) fn declarator(
    parser: &mut Parser<'_>,
    what: &str,
    ty: &DataType,
) -> Result<(Symbol, Span, DataType), Reported> {
    if parser.kind() == TokenKind::Star {
        let span = parser.token().span;
        return Err(
            parser.report(Diagnostic::error("IDL has no pointers", span).help("write `@external` before the member"))
        );
    }
    let (symbol, span) = parser.identifier(what)?;
    parser.count_copies(size(ty), span)?;
    // Annotations between the name and the dimensions belong to the elements.
    let raw = annotation::read(parser)?;
    let mut dimensions = Vec::new();
    let mut count: u64 = 1;
    while parser.kind() == TokenKind::OpenBracket {
        let open = parser.bump().span;
        if parser.kind() == TokenKind::CloseBracket {
            let help = format!("write `sequence<{}>` for any number of elements", parser.specification.type_name(ty));
            return Err(parser.report(Diagnostic::error("an array needs a length", open).help(help)));
        }
        let (length, place) = evaluate_integer(parser, ExpressionPlace::Other, (1, BOUND_MAX), "the length")?;
        parser.expect(TokenKind::CloseBracket, "after the length")?;
        count = count.saturating_mul(u64::try_from(length).unwrap_or(u64::MAX));
        if count > u64::from(u32::MAX) {
            return Err(parser.report(Diagnostic::error("the array has more than 2^32 - 1 elements", place)));
        }
        dimensions.push(u32::try_from(length).unwrap_or(u32::MAX));
    }
    if dimensions.is_empty() {
        if !raw.is_empty() {
            return Err(parser.unexpected("`[` after the annotation"));
        }
        return Ok((symbol, span, ty.clone()));
    }
    let annotations = annotation::resolve(parser, &raw, AnnotationTarget::Element, Some(ty));
    let ty = DataType::Array { element: Box::new(ElementType { ty: ty.clone(), annotations }), dimensions };
    Ok((symbol, span, ty))
}

/// Number of types and annotations inside of a type.
pub(super) fn size(ty: &DataType) -> usize {
    let element = |element: &ElementType| 1 + size(&element.ty) + annotation::size(&element.annotations);
    match ty {
        DataType::Sequence { element: ty, .. } => element(ty),
        DataType::Array { element: ty, dimensions } => element(ty) + dimensions.len(),
        DataType::Map { key, element: ty, .. } => element(key) + element(ty),
        DataType::Basic(_)
        | DataType::String { .. }
        | DataType::WString { .. }
        | DataType::Named(_)
        | DataType::Fixed { .. }
        | DataType::Opaque(_) => 0,
    }
}

/// Levels of collections and typedefs in a type.
pub(super) fn depth(parser: &Parser<'_>, ty: &DataType) -> usize {
    match ty {
        DataType::Named(id) => parser.typedef_depths.get(id).copied().unwrap_or(0),
        DataType::Sequence { element, .. } | DataType::Array { element, .. } => 1 + depth(parser, &element.ty),
        DataType::Map { key, element, .. } => 1 + depth(parser, &key.ty).max(depth(parser, &element.ty)),
        DataType::Basic(_)
        | DataType::String { .. }
        | DataType::WString { .. }
        | DataType::Fixed { .. }
        | DataType::Opaque(_) => 0,
    }
}

/// Checks that samples can contain a type. A type that is not data is noted, and judged at the end of the text.
pub(super) fn check_data(
    parser: &mut Parser<'_>,
    ty: &DataType,
    span: Span,
    is_indirect: bool,
) -> Result<(), Reported> {
    match parser.specification.resolve(ty).clone() {
        DataType::Basic(_) | DataType::String { .. } | DataType::WString { .. } => Ok(()),
        DataType::Sequence { element, .. } => check_data(parser, &element.ty, span, true),
        DataType::Array { element, .. } => check_data(parser, &element.ty, span, is_indirect || element.is_external()),
        // The key is data: the map has checked it. A second check here would double the time at each level.
        DataType::Map { element, .. } => check_data(parser, &element.ty, span, true),
        DataType::Fixed { .. } => {
            not_data::note(parser, not_data::built_in("fixed", span));
            Ok(())
        }
        DataType::Opaque(name) => {
            not_data::note(parser, not_data::built_in(&name, span));
            Ok(())
        }
        DataType::Named(id) => {
            let definition = parser.specification.definition(id);
            let (name, place) = (definition.name.to_string(), definition.span);
            match &definition.kind {
                DefinitionKind::NotData(NotData::Undefined) if parser.declared_interfaces.contains(&id) => {
                    not_data::note(parser, not_data::declared_interface(&name, place, span));
                    Ok(())
                }
                DefinitionKind::NotData(NotData::Undefined) if is_indirect => {
                    parser.used_early.insert(id);
                    Ok(())
                }
                DefinitionKind::NotData(NotData::Undefined) => {
                    let is_inside = parser.parents().any(|parent| parent == id);
                    let message = if is_inside {
                        format!("`{name}` contains itself, and would have an infinite size")
                    } else {
                        format!("`{name}` is used before its definition")
                    };
                    let diagnostic = Diagnostic::error(message, span).label(place, "declared here");
                    let help = format!("write `sequence<{name}>`, or `@external` before the member");
                    Err(parser.report(diagnostic.help(help)))
                }
                DefinitionKind::NotData(_) | DefinitionKind::Interface(_) => {
                    not_data::note(parser, not_data::defined(definition, span));
                    Ok(())
                }
                _ => Ok(()),
            }
        }
    }
}
