//! Structs, exceptions and unions.

use super::{Parser, Reported, data_type, definition, documentation};
use crate::idl::annotation::{self, AnnotationTarget, ID_MAX, LineAnnotations, RawAnnotation};
use crate::idl::expression::{ExpressionPlace, evaluate, evaluate_as};
use crate::idl::scope::NamedEntity;
use crate::idl::symbol::{Symbol, keyword};
use crate::idl::token::TokenKind;
use crate::model::{
    AutoIdKind, BasicType, ConstantValue, DataType, DefinitionId, DefinitionKind, Diagnostic, Extensibility,
    MemberDefinition, Span, StructDefinition, UnionBranch, UnionDefinition, UnionDiscriminator,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Longest chain of bases. Each member is searched in all of them.
const BASES_MAX: usize = 64;

/// The ids of members so far.
struct MemberIds {
    rule: AutoIdKind,
    next: u32,
    seen: SeenIds,
    bases: Vec<DefinitionId>,
}

/// The member with each id.
pub(super) type SeenIds = HashMap<u32, (Arc<str>, Span)>;

impl MemberIds {
    fn new(rule: AutoIdKind, first: u32) -> Self {
        Self { rule, next: first, seen: HashMap::new(), bases: Vec::new() }
    }

    /// Sets the id of a member by its annotations or by the rule of the type.
    fn assign(&mut self, parser: &mut Parser<'_>, member: &mut MemberDefinition) {
        let id = match (member.annotations.id(), member.annotations.hash_id()) {
            (Some(id), _) => id,
            (None, Some(text)) => {
                crate::model::member_id_hash(text.filter(|text| !text.is_empty()).unwrap_or(&member.name))
            }
            (None, None) if self.rule == AutoIdKind::Hash => crate::model::member_id_hash(&member.name),
            (None, None) => self.next,
        };
        if id > ID_MAX {
            parser.report(Diagnostic::error(format!("the member id {id} is larger than {ID_MAX}"), member.span));
        }
        member.id = id;
        self.next = id.saturating_add(1);
        let own = self.seen.insert(id, (Arc::clone(&member.name), member.span));
        let inherited = || self.bases.iter().find_map(|base| parser.struct_ids.get(base)?.get(&id).cloned());
        if let Some((other, span)) = own.or_else(inherited) {
            let message = format!("the members `{other}` and `{}` have the id {id}", member.name);
            let diagnostic = Diagnostic::error(message, member.span).label(span, "first use of the id");
            parser.report(diagnostic.help("give one of them another `@id`"));
        }
    }
}

/// Reads a struct, an exception, or a forward declaration of a struct. The keyword is read already.
pub(super) fn read_struct(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
    is_exception: bool,
) -> Result<DefinitionId, Reported> {
    let what = if is_exception { "an exception" } else { "a struct" };
    let (symbol, span) = parser.identifier(what)?;
    if parser.kind() == TokenKind::Semicolon && !is_exception {
        return parser.declare_forward(symbol, span, what);
    }
    let base = if parser.eat(TokenKind::Colon) { Some(base(parser)?) } else { None };
    let target = if is_exception { AnnotationTarget::Exception } else { AnnotationTarget::Struct };
    let mut annotations = annotation::resolve(parser, raw, target, None);
    let id = parser.start_definition(symbol, span, what)?;
    parser.expect(TokenKind::OpenBrace, &format!("after the name of {what}"))?;
    parser.enter(span)?;
    let mut ids = MemberIds::new(parser.auto_id(&annotations), 0);
    if let Some((base, base_span)) = base {
        inherit(parser, base, base_span, &mut ids);
    }
    let members = parser.inside(id, |parser| {
        if let Some((base, _)) = base {
            parser.names.add_base(parser.scope, base);
        }
        members(parser, &mut ids)
    });
    parser.leave();
    parser.struct_ids.insert(id, ids.seen);
    parser.expect(TokenKind::CloseBrace, "after the members")?;
    parser.end_definition(&mut doc, &mut annotations);
    // A struct and its base have the same extensibility, so that of the base is the default.
    let inherited = base.and_then(|(base, _)| match &parser.specification.definition(base).kind {
        DefinitionKind::Struct(base) => Some(base.extensibility),
        _ => None,
    });
    let own = annotations.extensibility().or(inherited);
    let definition = StructDefinition {
        extensibility: own.unwrap_or(parser.options.default_extensibility),
        is_nested: parser.is_nested(&annotations),
        auto_id: parser.auto_id(&annotations),
        base: base.map(|(base, _)| base),
        members,
    };
    let kind = if is_exception { DefinitionKind::Exception(definition) } else { DefinitionKind::Struct(definition) };
    parser.complete(id, span, doc, annotations, kind);
    Ok(id)
}

fn base(parser: &mut Parser<'_>) -> Result<(DefinitionId, Span), Reported> {
    let (entry, span) = parser.scoped_name("struct")?;
    let NamedEntity::Definition(id) = entry.entity else {
        let message = format!("`{}` is not a struct", parser.text(entry.symbol));
        return Err(parser.report(Diagnostic::error(message, span)));
    };
    let resolved = match parser.specification.resolve(&DataType::Named(id)) {
        DataType::Named(id) => *id,
        _ => id,
    };
    if !matches!(parser.specification.definition(resolved).kind, DefinitionKind::Struct(_)) {
        let definition = parser.specification.definition(resolved);
        let message = format!("the base `{}` is {}, not a struct", definition.name, definition.kind.description());
        return Err(parser.report(Diagnostic::error(message, span).label(definition.span, "defined here")));
    }
    Ok((resolved, span))
}

/// Notes the bases, whose ids the members must not have, and the next id.
fn inherit(parser: &mut Parser<'_>, base: DefinitionId, span: Span, ids: &mut MemberIds) {
    let mut current = Some(base);
    let mut has_next = false;
    while let Some(id) = current {
        let DefinitionKind::Struct(definition) = &parser.specification.definition(id).kind else { break };
        if let Some(member) = definition.members.last()
            && !has_next
        {
            has_next = true;
            ids.next = member.id.saturating_add(1);
        }
        ids.bases.push(id);
        current = definition.base;
        if ids.bases.len() > BASES_MAX {
            parser.report(Diagnostic::error(format!("more than {BASES_MAX} bases"), span));
            return;
        }
    }
}

fn members(parser: &mut Parser<'_>, ids: &mut MemberIds) -> Vec<MemberDefinition> {
    let mut found = Vec::new();
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        if parser.kind() == TokenKind::Semicolon {
            let span = parser.bump().span;
            parser.report(Diagnostic::warning("a `;` without a member is not standard IDL", span).help("remove it"));
            continue;
        }
        if member(parser, ids, &mut found).is_err() {
            parser.recover();
        }
    }
    found
}

/// Reads one type with all of its declarators.
fn member(parser: &mut Parser<'_>, ids: &mut MemberIds, found: &mut Vec<MemberDefinition>) -> Result<(), Reported> {
    let mut doc = documentation::before(parser);
    let raw = annotation::read(parser)?;
    if parser.is_at(keyword::CONST) {
        let help = "move the constant before the struct";
        parser.vendor_warning(
            "a constant in a struct",
            "COVESA's Vehicle Signal Specification",
            parser.token().span,
            help,
        );
        return definition::constant(parser, &raw, doc);
    }
    let (ty, type_span) = data_type::read(parser)?;
    let first = found.len();
    let mut annotations = LineAnnotations::new(&raw, AnnotationTarget::Member);
    loop {
        let (symbol, span, complete) = data_type::declarator(parser, "a member", &ty)?;
        let member = new_member(parser, &mut annotations, (symbol, span), complete, None)?;
        let is_indirect = member.is_external() || member.is_optional();
        data_type::check_data(parser, &member.ty, type_span, is_indirect)?;
        if member.is_key() && member.is_optional() {
            let message = format!("the key member `{}` cannot be optional", member.name);
            parser.report(Diagnostic::error(message, member.span));
        }
        found.push(member);
        if !parser.eat(TokenKind::Comma) {
            break;
        }
    }
    parser.expect(TokenKind::Semicolon, "after the member")?;
    let in_comments = documentation::after_line(parser, &mut doc);
    for member in found.iter_mut().skip(first) {
        parser.count_copies(annotation::size(&in_comments), member.span)?;
        member.doc.clone_from(&doc);
        member.annotations.extend(&in_comments);
        ids.assign(parser, member);
    }
    Ok(())
}

/// A type has the members of its bases too, and each member has a name of its own.
fn refuse_name_of_base(parser: &mut Parser<'_>, symbol: Symbol, span: Span) {
    let inherited = parser.names.inherited(parser.scope, parser.folded(symbol));
    if let Some(member) = inherited.filter(|entry| entry.symbol == symbol) {
        let message = format!("the base has a member `{}` already", parser.text(symbol));
        parser.report(Diagnostic::error(message, span).label(member.span, "member of the base"));
    }
}

fn new_member(
    parser: &mut Parser<'_>,
    annotations: &mut LineAnnotations<'_>,
    (symbol, span): (Symbol, Span),
    ty: DataType,
    doc: Option<Arc<str>>,
) -> Result<MemberDefinition, Reported> {
    parser.define(parser.scope, symbol, span, NamedEntity::Local("a member"))?;
    refuse_name_of_base(parser, symbol, span);
    let annotations = annotations.resolve(parser, &ty, span)?;
    let name = parser.symbols.shared(symbol);
    Ok(MemberDefinition { name, span, doc, annotations, ty, id: 0 })
}

/// Reads a union, or its forward declaration. The keyword is read already.
pub(super) fn read_union(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    mut doc: Option<Arc<str>>,
) -> Result<DefinitionId, Reported> {
    let (symbol, span) = parser.identifier("a union")?;
    if parser.kind() == TokenKind::Semicolon {
        return parser.declare_forward(symbol, span, "a union");
    }
    let mut annotations = annotation::resolve(parser, raw, AnnotationTarget::Union, None);
    if !parser.eat_keyword(keyword::SWITCH) {
        return Err(parser.unexpected("`switch` after the name of the union"));
    }
    parser.expect(TokenKind::OpenParenthesis, "after `switch`")?;
    let raw = annotation::read(parser)?;
    // CORBA 2 allows the definition of an enum here. Its names are in the scope of the union.
    let has_enum = parser.kind() == TokenKind::Identifier && parser.token().symbol == keyword::ENUM;
    let (id, discriminator) = if has_enum {
        let id = parser.start_definition(symbol, span, "a union")?;
        (Some(id), parser.inside(id, |parser| discriminator(parser, &raw))?)
    } else {
        (None, discriminator(parser, &raw)?)
    };
    parser.expect(TokenKind::CloseParenthesis, "after the discriminator")?;
    let id = id.map_or_else(|| parser.start_definition(symbol, span, "a union"), Ok)?;
    parser.expect(TokenKind::OpenBrace, "after the discriminator")?;
    parser.enter(span)?;
    let mut ids = MemberIds::new(parser.auto_id(&annotations), parser.options.first_union_id);
    let error_count = parser.specification.diagnostics.error_count();
    let branches = parser.inside(id, |parser| branches(parser, &discriminator, &mut ids));
    parser.leave();
    parser.expect(TokenKind::CloseBrace, "after the branches")?;
    if branches.is_empty() && parser.specification.diagnostics.error_count() == error_count {
        parser.report(Diagnostic::error("a union needs at least one branch", span));
    }
    parser.end_definition(&mut doc, &mut annotations);
    let extensibility = parser.extensibility(&annotations);
    if extensibility == Extensibility::Mutable {
        refuse_id_of_discriminator(parser, &branches);
    }
    let definition = UnionDefinition {
        extensibility,
        is_nested: parser.is_nested(&annotations),
        auto_id: parser.auto_id(&annotations),
        discriminator,
        branches,
    };
    parser.complete(id, span, doc, annotations, DefinitionKind::Union(definition));
    Ok(id)
}

/// A mutable union sends its discriminator as member 0. A reader cannot tell a second member 0 from it.
fn refuse_id_of_discriminator(parser: &mut Parser<'_>, branches: &[UnionBranch]) {
    for UnionBranch { member, .. } in branches {
        if member.id == 0 {
            let message = format!("the member `{}` has the id 0, which is that of the discriminator", member.name);
            let diagnostic = Diagnostic::error(message, member.span)
                .note("a mutable union sends its discriminator as member 0 (XTypes 1.3, 7.4.3.5.3)")
                .help("give the member another `@id`, or make the union `@appendable`, which sends no ids")
                .note("OpenDDS accepts the id 0, and reads the first member 0 as the discriminator");
            parser.report(diagnostic);
        }
    }
}

fn discriminator(parser: &mut Parser<'_>, raw: &[RawAnnotation]) -> Result<UnionDiscriminator, Reported> {
    let (ty, span) = data_type::read(parser)?;
    let mut is_bitmask = false;
    let is_discrete = match parser.specification.resolve(&ty) {
        DataType::Basic(basic) => {
            basic.range().is_some() || matches!(basic, BasicType::Bool | BasicType::Char | BasicType::WChar)
        }
        DataType::Named(id) => {
            let kind = &parser.specification.definition(*id).kind;
            is_bitmask = matches!(kind, DefinitionKind::Bitmask(_));
            is_bitmask || matches!(kind, DefinitionKind::Enum(_))
        }
        _ => false,
    };
    if is_bitmask {
        let help = "use an enum or an unsigned integer as the type of the discriminator";
        parser.vendor_warning("a bitmask as a discriminator", "Cyclone DDS", span, help);
    }
    if !is_discrete {
        let message = format!("`{}` cannot be a discriminator", parser.specification.type_name(&ty));
        let diagnostic = Diagnostic::error(message, span);
        return Err(parser
            .report(diagnostic.note(
                "discriminators are integers, booleans, characters, octets or enums (XTypes 1.3, 7.2.2.4.4.3)",
            )));
    }
    let annotations = annotation::resolve(parser, raw, AnnotationTarget::Discriminator, Some(&ty));
    Ok(UnionDiscriminator { ty, span, annotations })
}

fn branches(parser: &mut Parser<'_>, discriminator: &UnionDiscriminator, ids: &mut MemberIds) -> Vec<UnionBranch> {
    let mut found = Vec::new();
    let mut labels: HashMap<i64, Span> = HashMap::new();
    let mut default: Option<Span> = None;
    while !matches!(parser.kind(), TokenKind::CloseBrace | TokenKind::EndOfFile) {
        if parser.kind() == TokenKind::Semicolon {
            let span = parser.bump().span;
            parser.report(Diagnostic::warning("a `;` without a member is not standard IDL", span).help("remove it"));
            continue;
        }
        match branch(parser, discriminator, &mut labels, &mut default) {
            Ok(mut branch) => {
                ids.assign(parser, &mut branch.member);
                found.push(branch);
            }
            Err(Reported) => parser.recover(),
        }
    }
    if let Some(span) = default
        && value_count(parser, &discriminator.ty).is_some_and(|count| labels.len() as u64 >= count)
    {
        // The standard refuses this, but the branch has a use when an enum gets more enumerators.
        let message = "`default` never applies: the labels cover all values";
        parser.report(Diagnostic::warning(message, span).note("accepted for OpenDDS"));
    }
    found
}

/// The number of values of a small discriminator type.
fn value_count(parser: &Parser<'_>, ty: &DataType) -> Option<u64> {
    match parser.specification.resolve(ty) {
        DataType::Basic(BasicType::Bool) => Some(2),
        DataType::Basic(BasicType::Octet | BasicType::UInt8 | BasicType::Int8 | BasicType::Char) => Some(256),
        DataType::Named(id) => match &parser.specification.definition(*id).kind {
            DefinitionKind::Enum(found) => Some(found.enumerators.len() as u64),
            _ => None,
        },
        _ => None,
    }
}

fn branch(
    parser: &mut Parser<'_>,
    discriminator: &UnionDiscriminator,
    seen: &mut HashMap<i64, Span>,
    default: &mut Option<Span>,
) -> Result<UnionBranch, Reported> {
    let mut doc = documentation::before(parser);
    // Some files write annotations of the member before its labels.
    let mut raw = annotation::read(parser)?;
    let (mut labels, mut is_default) = (Vec::new(), false);
    loop {
        let start = parser.token().span;
        if parser.eat_keyword(keyword::DEFAULT) {
            if let Some(first) = default.replace(start) {
                parser.report(Diagnostic::error("a union has one `default`", start).label(first, "first `default`"));
            }
            is_default = true;
        } else if parser.eat_keyword(keyword::CASE) {
            let (value, span) = label(parser, &discriminator.ty)?;
            if let Some(first) = seen.insert(value, span) {
                let message = format!("the label {} appears twice", parser.specification.sources.text(span).to_owned());
                parser.report(Diagnostic::error(message, span).label(first, "first use"));
            }
            labels.push(value);
        } else if labels.is_empty() && !is_default {
            return Err(parser.unexpected("`case` or `default`"));
        } else {
            break;
        }
        parser.expect(TokenKind::Colon, "after the label")?;
    }
    doc = doc.or_else(|| documentation::before(parser));
    raw.extend(annotation::read(parser)?);
    let (ty, type_span) = data_type::read(parser)?;
    let (symbol, span, ty) = data_type::declarator(parser, "a member", &ty)?;
    let mut annotations = LineAnnotations::new(&raw, AnnotationTarget::UnionMember);
    let mut member = new_member(parser, &mut annotations, (symbol, span), ty, doc)?;
    data_type::check_data(parser, &member.ty, type_span, member.is_external())?;
    parser.expect(TokenKind::Semicolon, "after the member")?;
    documentation::after(parser, &mut member.doc, &mut member.annotations);
    Ok(UnionBranch { labels, is_default, member })
}

/// The value of a label.
fn label(parser: &mut Parser<'_>, ty: &DataType) -> Result<(i64, Span), Reported> {
    let is_integer = matches!(parser.specification.resolve(ty), DataType::Basic(basic) if basic.range().is_some());
    let found = if is_integer {
        // An enumerator counts as its value: vendors accept it for integers.
        let found = evaluate(parser, Some(ty), ExpressionPlace::Other)?;
        match found.value {
            ConstantValue::Enumerator(id, index) => {
                parser.vendor_warning(
                    "an enumerator as the label of an integer",
                    "Fast DDS and RTI Connext",
                    found.span,
                    "use the enum as the type of the discriminator",
                );
                let value = ConstantValue::Integer(parser.enumerator_value(id, index).into());
                crate::idl::expression::SpannedValue { value, ..found }
            }
            value => {
                let value = crate::idl::expression::convert(parser, value, found.span, ty)?;
                crate::idl::expression::SpannedValue { value, ..found }
            }
        }
    } else {
        evaluate_as(parser, ty, ExpressionPlace::Other)?
    };
    let value = match found.value {
        ConstantValue::Bool(value) => value.into(),
        ConstantValue::Integer(value) => value,
        ConstantValue::Char(value) | ConstantValue::WChar(value) => u32::from(value).into(),
        ConstantValue::Enumerator(id, index) => parser.enumerator_value(id, index).into(),
        _ => 0,
    };
    match i64::try_from(value) {
        Ok(value) => Ok((value, found.span)),
        Err(_) => {
            Err(parser.report(Diagnostic::error(format!("the label {value} is larger than 2^63 - 1"), found.span)))
        }
    }
}
