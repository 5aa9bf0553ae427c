//! Enums, bitmasks and bitsets.

use super::{Parser, Reported, data_type, documentation};
use crate::idl::annotation::{self, AnnotationTarget, RawAnnotation};
use crate::idl::expression::{ExpressionPlace, evaluate_integer};
use crate::idl::scope::{NamedEntity, ScopeEntry, ScopeId};
use crate::idl::symbol::Symbol;
use crate::idl::token::TokenKind;
use crate::model::{
    AnnotationKind, Annotations, BitValue, BitmaskDefinition, BitsetDefinition, BitsetField, ConstantValue, DataType,
    DefinitionId, DefinitionKind, Diagnostic, EnumDefinition, Enumerator, Extensibility, Span,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Reads an enum. The keyword is read already.
pub(super) fn read_enum(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let (symbol, span) = parser.identifier("an enum")?;
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Enum, None);
    let bit_bound = bit_bound(parser, &annotations, span, 32);
    let id = parser.start_definition(symbol, span, "an enum")?;
    parser.expect(TokenKind::OpenBrace, "after the name of the enum")?;
    let (scope, outer) = (parser.names.scope_of(id, parser.scope), parser.scope);
    let mut enumerators: Vec<Enumerator> = Vec::new();
    let mut values: HashMap<i128, Span> = HashMap::new();
    let mut next: i128 = 0;
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        let (symbol, mut enumerator, value) = enumerator(parser)?;
        let value = value.unwrap_or(next);
        next = value.saturating_add(1);
        let entity = NamedEntity::Enumerator(id, enumerators.len());
        // An error is reported already, and the enumerator is kept for later checks.
        let outer = if is_of_other_enum(parser, symbol, enumerator.span, (outer, id)) { scope } else { outer };
        let _ = define_enumerator(parser, symbol, enumerator.span, [outer, scope], entity);
        if let Some(first) = values.insert(value, enumerator.span) {
            let message = format!("the value {value} appears twice");
            parser.report(Diagnostic::error(message, enumerator.span).label(first, "first use of the value"));
        }
        // Values are signed. `@bit_bound(8)` means -128 to 127.
        let limit = 1_i128 << (bit_bound - 1);
        if value < -limit || value >= limit {
            let message = format!("the value {value} does not fit in {bit_bound} bits");
            parser.report(Diagnostic::error(message, enumerator.span));
        }
        enumerator.value = i32::try_from(value).unwrap_or(i32::MAX);
        let has_comma = parser.kind() == TokenKind::Comma;
        documentation::after(parser, &mut enumerator.doc, &mut enumerator.annotations);
        if parser.eat(TokenKind::Comma) {
            documentation::after(parser, &mut enumerator.doc, &mut enumerator.annotations);
        }
        refuse_second_default(parser, &enumerators, &enumerator);
        enumerators.push(enumerator);
        if !has_comma {
            break;
        }
    }
    parser.expect(TokenKind::CloseBrace, "or `,` after the enumerator")?;
    if enumerators.is_empty() {
        parser.report(Diagnostic::error("an enum needs at least one enumerator", span));
    }
    parser.end_definition(&mut doc, &mut annotations);
    // An enum has no members that `mutable` could identify. Cyclone DDS has this rule for its option too.
    let usual = match parser.options.default_extensibility {
        Extensibility::Mutable => Extensibility::Final,
        usual => usual,
    };
    let extensibility = extensibility(parser, &annotations, "an enum").unwrap_or(usual);
    let definition = EnumDefinition { extensibility, bit_bound, enumerators };
    parser.complete(id, span, doc, annotations, DefinitionKind::Enum(definition));
    Ok(id)
}

/// An enum has one default, so `@default_literal` stands at one enumerator.
fn refuse_second_default(parser: &mut Parser<'_>, before: &[Enumerator], enumerator: &Enumerator) {
    if !enumerator.annotations.is_default_literal() {
        return;
    }
    if let Some(first) = before.iter().find(|first| first.annotations.is_default_literal()) {
        let message = format!("the enum has the default `{}` already", first.name);
        parser.report(Diagnostic::error(message, enumerator.span).label(first.span, "first default"));
    }
}

fn define_enumerator(
    parser: &mut Parser<'_>,
    symbol: Symbol,
    span: Span,
    scopes: [ScopeId; 2],
    entity: NamedEntity,
) -> Result<(), Reported> {
    let [outer, own] = scopes;
    if parser.warns_of_enumerator(outer, symbol, span, false) {
        parser.names.define_twin(outer, ScopeEntry { symbol, span, entity });
    } else if outer != own {
        parser.define(outer, symbol, span, entity)?;
    }
    parser.define(own, symbol, span, entity)
}

/// The extensibility that the annotations of a type without members give.
fn extensibility(parser: &mut Parser<'_>, annotations: &Annotations, kind: &str) -> Option<Extensibility> {
    let given = annotations.extensibility();
    if given != Some(Extensibility::Mutable) {
        return given;
    }
    let is_mutable = |found: &AnnotationKind| *found == AnnotationKind::Extensibility(Extensibility::Mutable);
    if let Some(found) = annotations.iter().find(|annotation| is_mutable(&annotation.kind)) {
        // The extensibility of these types changes no byte. The closest one keeps enums extensible.
        let diagnostic = Diagnostic::warning(format!("{kind} cannot be mutable"), found.span)
            .note("its extensibility is final or appendable (XTypes 1.3, 7.2.3)")
            .note("accepted for RTI Connext, as appendable")
            .help("write `@final` or `@appendable`");
        parser.report(diagnostic);
    }
    Some(Extensibility::Appendable)
}

/// The entry of a name that several enums of a scope have: only the name of the enum tells them apart.
const OF_SEVERAL_ENUMS: NamedEntity = NamedEntity::Local("an enumerator of several enums");

/// Whether another enum of the scope has an enumerator of this name. It stays valid inside of both enums.
///
/// A name that differs only in case is not the same, and IDL refuses it.
fn is_of_other_enum(parser: &mut Parser<'_>, symbol: Symbol, span: Span, place: (ScopeId, DefinitionId)) -> bool {
    let (scope, id) = place;
    let folded = parser.folded(symbol);
    let Some(other) = parser.names.own(scope, folded) else { return false };
    let is_other = other.symbol == symbol
        && match other.entity {
            NamedEntity::Enumerator(other, _) => other != id,
            entity => entity == OF_SEVERAL_ENUMS,
        };
    if is_other {
        let what = format!("the enumerator `{}` in a second enum of the scope", parser.text(symbol));
        parser.vendor_warning(&what, "RTI Connext and Fast DDS", span, "give it another name");
        parser.names.replace(scope, folded, ScopeEntry { entity: OF_SEVERAL_ENUMS, ..other });
    }
    is_other
}

/// Reads a name with its annotations, and its value if the text gives one.
fn enumerator(parser: &mut Parser<'_>) -> Result<(Symbol, Enumerator, Option<i128>), Reported> {
    let doc = documentation::before(parser);
    let raw = annotation::read(parser)?;
    let (symbol, span) = parser.identifier("an enumerator")?;
    let annotations = annotation::resolve(parser, &raw, AnnotationTarget::Enumerator, None);
    let mut value = None;
    if parser.kind() == TokenKind::Equal {
        let equal = parser.bump().span;
        let found = value_behind_equal(parser)?;
        let help = format!("write `@value({found})` before the name");
        parser.vendor_warning("`=` in an enum", "RTI Connext and OpenDDS", equal, &help);
        value = Some(found);
    }
    match annotations.value() {
        Some(ConstantValue::Integer(number)) => value = Some(*number),
        Some(ConstantValue::Char(c)) => value = Some(u32::from(*c).into()),
        Some(other) => {
            let message = format!("expected an integer as the value, found {}", parser.describe(other));
            parser.report(Diagnostic::error(message, span));
        }
        None => {}
    }
    let name = parser.symbols.shared(symbol);
    Ok((symbol, Enumerator { name, span, doc, annotations, value: 0 }, value))
}

/// The value of an enumerator. `0xFFFFFFFF` means -1: `LeapTypes.idl` of RTI's examples has it.
fn value_behind_equal(parser: &mut Parser<'_>) -> Result<i128, Reported> {
    let range = (i32::MIN.into(), u32::MAX.into());
    let (value, span) = evaluate_integer(parser, ExpressionPlace::Other, range, "the value")?;
    if value <= i32::MAX.into() {
        return Ok(value);
    }
    let signed = value - (1 << 32);
    let what = format!("the value {value} of an enumerator");
    parser.vendor_warning(&what, "RTI Connext", span, &format!("write `{signed}`: it has the same 32 bits"));
    Ok(signed)
}

/// `@bit_bound`, or the default of 32 bits.
fn bit_bound(parser: &mut Parser<'_>, annotations: &Annotations, span: Span, max: u8) -> u8 {
    let Some(bound) = annotations.bit_bound() else { return 32 };
    match u8::try_from(bound) {
        Ok(bound) if bound <= max => bound,
        _ => {
            parser.report(Diagnostic::error(format!("the bit bound {bound} is larger than {max}"), span));
            max
        }
    }
}

/// Reads a bitmask. The keyword is read already.
pub(super) fn read_bitmask(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let (symbol, span) = parser.identifier("a bitmask")?;
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Bitmask, None);
    let bit_bound = bit_bound(parser, &annotations, span, 64);
    let id = parser.start_definition(symbol, span, "a bitmask")?;
    parser.expect(TokenKind::OpenBrace, "after the name of the bitmask")?;
    let mut flags: Vec<BitValue> = Vec::new();
    let mut positions: HashMap<u16, Span> = HashMap::new();
    let mut next = 0;
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        let mut doc = documentation::before(parser);
        let raw = annotation::read(parser)?;
        let (symbol, span) = parser.identifier("a flag")?;
        let mut annotations = annotation::resolve(parser, &raw, AnnotationTarget::BitValue, None);
        if parser.kind() == TokenKind::Equal {
            refuse_value_of_flag(parser, symbol)?;
        }
        let position = annotations.position().unwrap_or(next);
        next = position + 1;
        if let Some(first) = positions.insert(position, span) {
            let message = format!("the position {position} appears twice");
            parser.report(Diagnostic::error(message, span).label(first, "first use of the position"));
        }
        if position >= bit_bound.into() {
            let message = format!("the position {position} is not in a bitmask of {bit_bound} bits");
            let needed = position + 1;
            parser.report(
                Diagnostic::error(message, span).help(format!("write `@bit_bound({needed})` before the bitmask")),
            );
        }
        let has_comma = parser.kind() == TokenKind::Comma;
        documentation::after(parser, &mut doc, &mut annotations);
        if parser.eat(TokenKind::Comma) {
            documentation::after(parser, &mut doc, &mut annotations);
        }
        let position = u8::try_from(position).unwrap_or(u8::MAX);
        let entity = NamedEntity::Flag(position);
        // An error is reported already, and the flag is kept for later checks.
        let _ = parser.inside(id, |parser| parser.define(parser.scope, symbol, span, entity));
        flags.push(BitValue { name: parser.symbols.shared(symbol), span, doc, annotations, position });
        if !has_comma {
            break;
        }
    }
    parser.expect(TokenKind::CloseBrace, "or `,` after the flag")?;
    if flags.is_empty() {
        parser.report(Diagnostic::error("a bitmask needs at least one flag", span));
    }
    parser.end_definition(&mut doc, &mut annotations);
    // No rule reads the extensibility of a bitmask (XTypes 1.3, 7.2.4.4.3), but the hash of its TypeObject covers it.
    // This default is that of Cyclone DDS, with any option.
    let extensibility = extensibility(parser, &annotations, "a bitmask").unwrap_or(Extensibility::Final);
    let definition = BitmaskDefinition { extensibility, bit_bound, flags };
    parser.complete(id, span, doc, annotations, DefinitionKind::Bitmask(definition));
    Ok(id)
}

/// Reports `A = 4` in a bitmask. Intercom means the value 4, and others the position 4, so it is not accepted.
fn refuse_value_of_flag(parser: &mut Parser<'_>, symbol: Symbol) -> Result<(), Reported> {
    let equal = parser.bump().span;
    let (value, _) = evaluate_integer(parser, ExpressionPlace::Other, (0, u64::MAX.into()), "the value")?;
    let name = parser.text(symbol).to_owned();
    let mut diagnostic =
        Diagnostic::error("a flag of a bitmask has a position, and no value (IDL 4.2, 7.4.13.4.3.3)", equal);
    if value.count_ones() == 1 {
        let bit = value.trailing_zeros();
        diagnostic =
            diagnostic.help(format!("write `@position({bit}) {name}` for the value {value}, as Intercom means it"));
    }
    parser.report(diagnostic);
    Ok(())
}

/// Reads a bitset. The keyword is read already.
pub(super) fn read_bitset(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let (symbol, span) = parser.identifier("a bitset")?;
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Bitset, None);
    let base = if parser.eat(TokenKind::Colon) { Some(bitset_base(parser)?) } else { None };
    let id = parser.start_definition(symbol, span, "a bitset")?;
    parser.expect(TokenKind::OpenBrace, "after the name of the bitset")?;
    let mut next: u32 = base.map_or(0, |base| bit_count(parser, base));
    let fields = parser.inside(id, |parser| {
        let mut fields = Vec::new();
        while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
            if bitfield(parser, &mut next, &mut fields).is_err() {
                parser.recover();
            }
        }
        fields
    });
    parser.expect(TokenKind::CloseBrace, "after the bitfields")?;
    parser.end_definition(&mut doc, &mut annotations);
    parser.complete(id, span, doc, annotations, DefinitionKind::Bitset(BitsetDefinition { base, fields }));
    Ok(id)
}

fn bitset_base(parser: &mut Parser<'_>) -> Result<DefinitionId, Reported> {
    let (entry, span) = parser.scoped_name("bitset")?;
    if let NamedEntity::Definition(id) = entry.entity
        && let DataType::Named(id) = parser.specification.resolve(&DataType::Named(id))
        && matches!(parser.specification.definition(*id).kind, DefinitionKind::Bitset(_))
    {
        return Ok(*id);
    }
    let message = format!("the base `{}` is not a bitset", parser.text(entry.symbol));
    Err(parser.report(Diagnostic::error(message, span).label(entry.span, "defined here")))
}

/// Number of bits of a bitset with its bases. Each base has fewer bits or none, so the chain needs no limit of its own.
fn bit_count(parser: &Parser<'_>, id: DefinitionId) -> u32 {
    /// A longer chain of empty bitsets has no use.
    const BASES_MAX: usize = 64;
    let mut current = Some(id);
    for _ in 0..BASES_MAX {
        let Some(id) = current else { break };
        let DefinitionKind::Bitset(bitset) = &parser.specification.definition(id).kind else { break };
        if let Some(last) = bitset.fields.last() {
            return u32::from(last.position) + u32::from(last.bit_count);
        }
        current = bitset.base;
    }
    0
}

/// Reads `bitfield<3> a b;`, `bitfield<3, short> a;` or `bitfield<3>;`.
fn bitfield(parser: &mut Parser<'_>, next: &mut u32, fields: &mut Vec<BitsetField>) -> Result<(), Reported> {
    let doc = documentation::before(parser);
    let raw = annotation::read(parser)?;
    let start = parser.token().span;
    if !parser.eat_keyword(crate::idl::symbol::keyword::BITFIELD) {
        return Err(parser.unexpected("`bitfield`"));
    }
    parser.expect(TokenKind::Less, "after `bitfield`")?;
    let (count, count_span) = evaluate_integer(parser, ExpressionPlace::Template, (1, 64), "the number of bits")?;
    let ty = if parser.eat(TokenKind::Comma) { Some(data_type::read(parser)?) } else { None };
    parser.expect(TokenKind::Greater, "after the number of bits")?;
    let count = u8::try_from(count).unwrap_or(64);
    if let Some((ty, span)) = &ty {
        check_field_type(parser, ty, *span, count)?;
    }
    let ty = ty.map(|(ty, _)| ty);
    let first = fields.len();
    loop {
        let is_padding = parser.kind() == TokenKind::Semicolon;
        if is_padding && fields.len() > first {
            break;
        }
        let (name, span) = if is_padding {
            (None, start)
        } else {
            let (symbol, span) = parser.identifier("a bitfield")?;
            parser.define(parser.scope, symbol, span, NamedEntity::Local("a bitfield"))?;
            (Some(parser.symbols.shared(symbol)), span)
        };
        if *next + u32::from(count) > 64 {
            return Err(parser.report(Diagnostic::error("a bitset has at most 64 bits", count_span)));
        }
        let annotations = annotation::resolve(parser, &raw, AnnotationTarget::Bitfield, ty.as_ref());
        let position = u8::try_from(*next).unwrap_or(u8::MAX);
        *next += u32::from(count);
        let (doc, ty) = (doc.clone(), ty.clone());
        fields.push(BitsetField { name, span, doc, annotations, position, bit_count: count, ty });
        // Some files separate the names by commas.
        parser.eat(TokenKind::Comma);
        if is_padding {
            break;
        }
    }
    parser.expect(TokenKind::Semicolon, "after the bitfield")?;
    for field in fields.iter_mut().skip(first) {
        documentation::after(parser, &mut field.doc, &mut field.annotations);
    }
    Ok(())
}

fn check_field_type(parser: &mut Parser<'_>, ty: &DataType, span: Span, count: u8) -> Result<(), Reported> {
    let bits = match parser.specification.resolve(ty) {
        DataType::Basic(crate::model::BasicType::Bool) => Some(1),
        DataType::Basic(basic) => basic.range().map(|(min, max)| 128 - (max - min).leading_zeros()),
        _ => None,
    };
    match bits {
        Some(bits) if u32::from(count) <= bits => Ok(()),
        Some(_) => {
            let message = format!("{count} bits do not fit in `{}`", parser.specification.type_name(ty));
            Err(parser.report(Diagnostic::error(message, span)))
        }
        None => {
            let message = format!("`{}` cannot be the type of a bitfield", parser.specification.type_name(ty));
            Err(parser.report(Diagnostic::error(message, span).note("bitfields are integers, octets or booleans")))
        }
    }
}
