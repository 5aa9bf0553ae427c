//! Annotations: their text, their meaning and the places where they apply (IDL 4.2, 8.3; XTYPES 1.3, 7.3.1.2).

use super::expression::{ExpressionPlace, convert, evaluate, evaluate_integer};
use super::parser::{Parser, Reported};
use super::scope::NamedEntity;
use super::symbol::{Symbol, keyword};
use super::token::TokenKind;
use crate::model::{
    Annotation, AnnotationArgument, AnnotationKind, Annotations, AutoIdKind, BasicType, ConstantValue,
    DataRepresentations, DataType, Diagnostic, Extensibility, Span, TryConstruct,
};
use std::sync::Arc;

/// An annotation before its target is known. Its arguments are evaluated later, because `@default` needs a type.
#[derive(Debug, Clone)]
pub(super) struct RawAnnotation {
    name: Arc<str>,
    name_span: Span,
    span: Span,
    arguments: Vec<RawArgument>,
    /// Whether the annotation stands in a comment: `//@key`.
    is_comment: bool,
}

#[derive(Debug, Clone)]
struct RawArgument {
    name: Option<Symbol>,
    /// Index of the first token of the value.
    start: usize,
    /// Index behind the last token of the value.
    end: usize,
    span: Span,
}

/// Most annotations of one definition, and most arguments of one annotation. Real ones have about ten.
pub(super) const ANNOTATIONS_MAX: usize = 256;

/// Annotations of a line with several names, as in `@key long a, b[2];`.
///
/// The values of an annotation depend on the type, but not on the lengths of an array.
pub(super) struct LineAnnotations<'r> {
    raw: &'r [RawAnnotation],
    target: AnnotationTarget,
    /// For a name without dimensions.
    plain: Option<Annotations>,
    /// For an array.
    array: Option<Annotations>,
}

impl<'r> LineAnnotations<'r> {
    pub(super) fn new(raw: &'r [RawAnnotation], target: AnnotationTarget) -> Self {
        Self { raw, target, plain: None, array: None }
    }

    /// The annotations of one name with its complete type. They are evaluated once.
    pub(super) fn resolve(
        &mut self,
        parser: &mut Parser<'_>,
        ty: &DataType,
        span: Span,
    ) -> Result<Annotations, Reported> {
        let slot = if matches!(ty, DataType::Array { .. }) { &mut self.array } else { &mut self.plain };
        if let Some(known) = slot {
            parser.count_copies(size(known), span)?;
            return Ok(known.clone());
        }
        let annotations = resolve(parser, self.raw, self.target, Some(ty));
        *slot = Some(annotations.clone());
        Ok(annotations)
    }
}

/// Number of annotations and arguments.
pub(super) fn size(annotations: &Annotations) -> usize {
    annotations.iter().fold(0, |sum, annotation| sum + 1 + argument_count(&annotation.kind))
}

fn argument_count(kind: &AnnotationKind) -> usize {
    if let AnnotationKind::Custom { arguments, .. } = kind { arguments.len() } else { 0 }
}

/// The place of an annotation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnnotationTarget {
    Module,
    Struct,
    Union,
    Enum,
    Bitmask,
    Bitset,
    Typedef,
    Constant,
    Exception,
    Interface,
    Member,
    UnionMember,
    Enumerator,
    BitValue,
    Bitfield,
    Discriminator,
    Element,
    Operation,
    Parameter,
    Attribute,
    Other,
}

/// Standard annotations, with the targets that give them a meaning.
const STANDARD: &[(&str, &[AnnotationTarget])] = {
    use AnnotationTarget::{
        Attribute, BitValue, Bitfield, Bitmask, Bitset, Discriminator, Element, Enum, Enumerator, Exception, Interface,
        Member, Module, Operation, Parameter, Struct, Typedef, Union, UnionMember,
    };
    const MEMBERS: &[AnnotationTarget] = &[Member, UnionMember];
    const TYPES: &[AnnotationTarget] = &[Struct, Union, Enum, Bitmask, Bitset, Typedef, Exception];
    const VALUES: &[AnnotationTarget] =
        &[Member, UnionMember, Typedef, Bitfield, Discriminator, Element, Parameter, Attribute];
    &[
        ("id", MEMBERS),
        ("hashid", MEMBERS),
        ("autoid", &[Module, Struct, Union, Exception]),
        // The discriminator says whether a member of a union is present (XTypes 1.3, table 21).
        ("optional", &[Member]),
        ("position", &[BitValue]),
        ("value", &[Enumerator]),
        ("extensibility", TYPES),
        ("final", TYPES),
        ("appendable", TYPES),
        ("mutable", TYPES),
        ("key", &[Member, Discriminator]),
        ("must_understand", MEMBERS),
        ("default_literal", &[Enumerator]),
        ("default", VALUES),
        ("range", VALUES),
        ("min", VALUES),
        ("max", VALUES),
        ("unit", VALUES),
        ("bit_bound", &[Enum, Bitmask]),
        ("external", &[Member, UnionMember, Element]),
        ("nested", TYPES),
        ("default_nested", &[Module]),
        ("topic", &[Struct, Union]),
        ("data_representation", &[Module, Struct, Union]),
        ("try_construct", &[Member, UnionMember, Element, Discriminator, Struct, Union, Enum, Bitmask]),
        ("ignore_literal_names", &[Enum]),
        ("non_serialized", MEMBERS),
        ("verbatim", &[]),
        ("service", &[Interface]),
        ("oneway", &[Operation]),
        ("ami", &[Interface, Operation]),
    ]
};

/// Annotations of a vendor or of an older version, with their standard names.
const OLD_NAMES: &[(&str, &str, &str)] = &[
    ("Shared", "external", "RTI Connext"),
    ("shared", "external", "RTI Connext"),
    ("BitBound", "bit_bound", "RTI Connext"),
    ("MustUnderstand", "must_understand", "RTI Connext"),
    ("must_Understand", "must_understand", "RTI Connext"),
    ("ID", "id", "RTI Connext and Fast DDS"),
    ("Id", "id", "RTI Connext and Fast DDS"),
    ("Key", "key", "RTI Connext and Fast DDS"),
    ("Optional", "optional", "RTI Connext and Fast DDS"),
    ("Extensibility", "extensibility", "RTI Connext"),
    ("Nested", "nested", "RTI Connext"),
    ("Value", "value", "RTI Connext"),
    ("Topic", "topic", "RTI Connext"),
    ("Verbatim", "verbatim", "RTI Connext"),
    ("Default", "default", "Fast DDS"),
    ("Unit", "unit", "Fast DDS"),
    ("Min", "min", "Fast DDS"),
    ("Max", "max", "Fast DDS"),
    ("Range", "range", "Fast DDS"),
    ("Position", "position", "Fast DDS"),
    ("allowed_data_representation", "data_representation", "RTI Connext"),
];

/// Reads the annotations at the cursor.
pub(super) fn read(parser: &mut Parser<'_>) -> Result<Vec<RawAnnotation>, Reported> {
    let mut found = Vec::new();
    while parser.kind() == TokenKind::At && !is_declaration(parser) {
        if found.len() >= ANNOTATIONS_MAX {
            let message = format!("a definition has at most {ANNOTATIONS_MAX} annotations");
            return Err(parser.stop(Diagnostic::error(message, parser.token().span)));
        }
        found.push(read_one(parser)?);
    }
    Ok(found)
}

/// Whether the cursor is at `@annotation NAME {`.
pub(super) fn is_declaration(parser: &Parser<'_>) -> bool {
    parser.kind() == TokenKind::At
        && parser.text(parser.token_after(1).symbol) == "annotation"
        && parser.token_after(2).kind == TokenKind::Identifier
        && parser.token_after(3).kind == TokenKind::OpenBrace
}

fn read_one(parser: &mut Parser<'_>) -> Result<RawAnnotation, Reported> {
    let start = parser.bump().span;
    let mut name = String::new();
    let mut name_span = start;
    parser.eat(TokenKind::Scope);
    loop {
        let token = parser.token();
        if token.kind != TokenKind::Identifier {
            return Err(parser.unexpected("the name of an annotation"));
        }
        parser.bump();
        name.push_str(parser.text(token.symbol));
        name_span = name_span.to(token.span);
        // Behind a space, `::` begins the type of the member: `@key ::robot::Id id;`.
        if !parser.token().is_joined || !parser.eat(TokenKind::Scope) {
            break;
        }
        name.push_str("::");
    }
    let mut span = name_span;
    let mut arguments = Vec::new();
    if parser.eat(TokenKind::OpenParenthesis) {
        while parser.kind() != TokenKind::CloseParenthesis {
            if arguments.len() >= ANNOTATIONS_MAX {
                let message = format!("an annotation has at most {ANNOTATIONS_MAX} arguments");
                return Err(parser.stop(Diagnostic::error(message, parser.token().span)));
            }
            arguments.push(argument(parser)?);
            if !parser.eat(TokenKind::Comma) {
                break;
            }
        }
        span = start.to(parser.expect(TokenKind::CloseParenthesis, "after the arguments of the annotation")?.span);
    }
    Ok(RawAnnotation { name: name.into(), name_span, span, arguments, is_comment: false })
}

/// Reads `value` or `name = value`, and skips the tokens of the value.
fn argument(parser: &mut Parser<'_>) -> Result<RawArgument, Reported> {
    let first = parser.token();
    let is_named = first.kind == TokenKind::Identifier && parser.token_after(1).kind == TokenKind::Equal;
    if is_named {
        parser.bump();
        parser.bump();
    }
    let (start, value) = (parser.position(), parser.token().span);
    let mut span = if is_named { first.span } else { value };
    let mut depth = 0_usize;
    loop {
        match parser.kind() {
            TokenKind::OpenParenthesis => depth += 1,
            TokenKind::CloseParenthesis | TokenKind::Comma if depth == 0 => break,
            TokenKind::CloseParenthesis => depth -= 1,
            // The line of an open quote has no further tokens.
            TokenKind::EndOfFile
            | TokenKind::Semicolon
            | TokenKind::OpenBrace
            | TokenKind::CloseBrace
            | TokenKind::OpenQuote => {
                return Err(parser.unexpected("`)` after the arguments of the annotation"));
            }
            _ => {}
        }
        span = span.to(parser.bump().span);
    }
    let end = parser.position();
    if start == end {
        return Err(parser.unexpected("the value of an argument"));
    }
    Ok(RawArgument { name: is_named.then_some(first.symbol), start, end, span })
}

/// Reads an annotation in a comment, as in `//@key` or `//@ID 5`.
pub(super) fn from_comment(text: &str, span: Span) -> Option<(&'static str, RawAnnotation, Option<String>)> {
    let text = text.strip_prefix("//@")?;
    let (name, rest) = text.split_once(|c: char| c.is_whitespace() || c == '(').unwrap_or((text, ""));
    let standard = match name.trim() {
        "key" | "Key" => "key",
        "ID" | "id" => "id",
        "Optional" | "optional" => "optional",
        "Extensibility" | "extensibility" => "extensibility",
        "top-level" => "nested",
        "nested" | "Nested" => "nested",
        "Shared" | "shared" | "external" => "external",
        "must_understand" | "MustUnderstand" => "must_understand",
        "final" => "final",
        "appendable" => "appendable",
        "mutable" => "mutable",
        _ => return None,
    };
    let rest = rest.trim().trim_end_matches(')').trim();
    let value = if rest.is_empty() { None } else { Some(rest.to_owned()) };
    // RTI Connext says which types are topics, and the standard says which are not.
    let value = match (name.trim(), value.as_deref()) {
        ("top-level", Some("false" | "FALSE")) => None,
        ("top-level", _) => Some("FALSE".to_owned()),
        _ => value,
    };
    let raw = RawAnnotation { name: standard.into(), name_span: span, span, arguments: Vec::new(), is_comment: true };
    Some((standard, raw, value))
}

/// Adds an annotation of a comment to those of a definition.
pub(super) fn apply_comment(parser: &mut Parser<'_>, text: &str, span: Span, annotations: &mut Annotations) {
    let Some((name, raw, value)) = from_comment(text, span) else { return };
    let flag = !value.as_deref().is_some_and(|value| value.eq_ignore_ascii_case("false"));
    let kind = match name {
        "key" => AnnotationKind::Key(flag),
        "optional" => AnnotationKind::Optional(flag),
        "nested" => AnnotationKind::Nested(flag),
        "external" => AnnotationKind::External(flag),
        "must_understand" => AnnotationKind::MustUnderstand(flag),
        "final" => AnnotationKind::Extensibility(Extensibility::Final),
        "appendable" => AnnotationKind::Extensibility(Extensibility::Appendable),
        "mutable" => AnnotationKind::Extensibility(Extensibility::Mutable),
        "extensibility" => match extensibility_of(value.as_deref().unwrap_or("")) {
            Some(kind) => AnnotationKind::Extensibility(kind),
            None => {
                parser.report(Diagnostic::error("expected FINAL, APPENDABLE (EXTENSIBLE) or MUTABLE", span));
                return;
            }
        },
        _ => match value.as_deref().and_then(super::literal::integer).and_then(|id| u32::try_from(id).ok()) {
            Some(id) if id <= ID_MAX => AnnotationKind::Id(id),
            _ => {
                parser.report(Diagnostic::error(format!("expected a member id from 0 to {ID_MAX}"), span));
                return;
            }
        },
    };
    parser.vendor_warning("an annotation in a comment", "RTI Connext and Fast DDS", span, &format!("write `@{name}`"));
    debug_assert!(raw.is_comment, "the annotation stands in a comment");
    annotations.push(span, kind);
}

/// Largest member id: XTYPES 1.3, 7.2.2.4.4.4.4.
pub(super) const ID_MAX: u32 = 0x0fff_ffff;

/// Resolves annotations of a target. `ty` is the type of a member, for its default and its range.
pub(super) fn resolve(
    parser: &mut Parser<'_>,
    raw: &[RawAnnotation],
    target: AnnotationTarget,
    ty: Option<&DataType>,
) -> Annotations {
    let mut annotations = Annotations::default();
    for annotation in raw {
        if let Ok(kind) = resolve_one(parser, annotation, target, ty) {
            if parser.count_copies(1 + argument_count(&kind), annotation.span).is_err() {
                break;
            }
            annotations.push(annotation.span, kind);
        }
    }
    refuse_contradictions(parser, &annotations);
    annotations
}

/// Reports two extensibilities, and values outside of the range that the same definition gives.
fn refuse_contradictions(parser: &mut Parser<'_>, annotations: &Annotations) {
    let mut extensibility: Option<(Extensibility, Span)> = None;
    let (mut min, mut max, mut default) = (None, None, None);
    for Annotation { kind, span } in annotations {
        match kind {
            AnnotationKind::Extensibility(other) => match extensibility {
                Some((first, first_span)) if first != *other => {
                    let message = "the type has two different extensibilities";
                    parser.report(Diagnostic::error(message, *span).label(first_span, "first extensibility"));
                }
                _ => extensibility = Some((*other, *span)),
            },
            AnnotationKind::Min(value) => min = Some((value, *span)),
            AnnotationKind::Max(value) => max = Some((value, *span)),
            AnnotationKind::Range { min: smallest, max: largest } => {
                (min, max) = (Some((smallest, *span)), Some((largest, *span)));
            }
            AnnotationKind::Default(value) => default = Some((value, *span)),
            _ => {}
        }
    }
    let is_less = |left: Option<(&ConstantValue, Span)>, right: Option<(&ConstantValue, Span)>| {
        left.zip(right).is_some_and(|((left, _), (right, _))| is_less(left, right))
    };
    if let (Some((_, span)), true) = (max, is_less(max, min)) {
        parser.report(Diagnostic::error(EMPTY_RANGE, span));
    } else if let (Some((_, span)), true) = (default, is_less(default, min) || is_less(max, default)) {
        parser.report(Diagnostic::error("the default is outside of the range of the member", span));
    }
}

const EMPTY_RANGE: &str = "the range is empty: `min` is larger than `max`";

/// Whether a number is smaller than another one of the same type.
fn is_less(left: &ConstantValue, right: &ConstantValue) -> bool {
    match (left, right) {
        (ConstantValue::Integer(left), ConstantValue::Integer(right)) => left < right,
        (ConstantValue::Float(left), ConstantValue::Float(right)) => left < right,
        _ => false,
    }
}

fn resolve_one(
    parser: &mut Parser<'_>,
    raw: &RawAnnotation,
    target: AnnotationTarget,
    ty: Option<&DataType>,
) -> Result<AnnotationKind, Reported> {
    let mut name = &*raw.name;
    // A declared annotation of the user has precedence over names of vendors.
    let is_declared = parser.annotation_definition(name).is_some();
    if !is_declared && let Some((_, standard, vendor)) = OLD_NAMES.iter().find(|(old, ..)| *old == name) {
        let message = format!("the annotation `@{name}`");
        parser.vendor_warning(&message, vendor, raw.name_span, &format!("write `@{standard}`"));
        name = standard;
    }
    if let Some((_, targets)) = STANDARD.iter().find(|(standard, _)| *standard == name)
        && !is_declared
    {
        let is_anywhere = targets.is_empty() || target == AnnotationTarget::Other;
        if !is_anywhere && !targets.contains(&target) {
            report_target(parser, raw, name, target)?;
            if is_of_vendor(name, target) {
                return custom(parser, raw);
            }
        }
        return standard(parser, raw, name, ty);
    }
    custom(parser, raw)
}

/// Whether a vendor writes a standard annotation where it has no meaning: Autoware means `@default` by
/// `@value(default=..)`, and Intercom numbers its operations. The argument is then free.
fn is_of_vendor(name: &str, target: AnnotationTarget) -> bool {
    use AnnotationTarget::{Attribute, Interface, Member, Operation, Parameter};
    match name {
        "value" => target == Member,
        "id" => matches!(target, Interface | Operation | Attribute | Parameter),
        _ => false,
    }
}

/// Reports a standard annotation in a place without a meaning for it.
fn report_target(
    parser: &mut Parser<'_>,
    raw: &RawAnnotation,
    name: &str,
    target: AnnotationTarget,
) -> Result<(), Reported> {
    let place = match target {
        AnnotationTarget::Module => "a module",
        AnnotationTarget::Struct => "a struct",
        AnnotationTarget::Union => "a union",
        AnnotationTarget::Enum => "an enum",
        AnnotationTarget::Bitmask => "a bitmask",
        AnnotationTarget::Bitset => "a bitset",
        AnnotationTarget::Typedef => "a typedef",
        AnnotationTarget::Constant => "a constant",
        AnnotationTarget::Exception => "an exception",
        AnnotationTarget::Interface => "an interface",
        AnnotationTarget::Member => "a member",
        AnnotationTarget::UnionMember => "a member of a union",
        AnnotationTarget::Enumerator => "an enumerator",
        AnnotationTarget::BitValue => "a flag of a bitmask",
        AnnotationTarget::Bitfield => "a bitfield",
        AnnotationTarget::Discriminator => "a discriminator",
        AnnotationTarget::Element => "an element",
        AnnotationTarget::Operation => "an operation",
        AnnotationTarget::Parameter => "a parameter",
        AnnotationTarget::Attribute => "an attribute",
        AnnotationTarget::Other => "this definition",
    };
    let message = format!("`@{name}` does not apply to {place}");
    // These change the meaning of the type. Others are harmless, and vendors accept them.
    let is_error = matches!(name, "id" | "hashid" | "key" | "value" | "position" | "default_literal" | "optional");
    if is_error && target != AnnotationTarget::Typedef && !is_of_vendor(name, target) {
        let mut error = Diagnostic::error(message, raw.span);
        error = match (name, target) {
            ("value", AnnotationTarget::BitValue) => error.help("write `@position` with the number of the bit"),
            ("optional", AnnotationTarget::UnionMember) => {
                error.help("remove it: the discriminator says whether the member is present")
            }
            _ => error,
        };
        return Err(parser.report(error));
    }
    parser.report(Diagnostic::warning(message, raw.span).note("the annotation has no effect"));
    Ok(())
}

fn standard(
    parser: &mut Parser<'_>,
    raw: &RawAnnotation,
    name: &str,
    ty: Option<&DataType>,
) -> Result<AnnotationKind, Reported> {
    check_arguments(parser, raw, name)?;
    Ok(match name {
        "id" => AnnotationKind::Id(integer(parser, raw, (0, ID_MAX.into()))?),
        "hashid" => AnnotationKind::HashId(optional_text(parser, raw, "value")?),
        "autoid" => AnnotationKind::AutoId(match word(parser, raw, "value").as_deref() {
            None if raw.arguments.is_empty() => AutoIdKind::Hash,
            Some("HASH") => AutoIdKind::Hash,
            Some("SEQUENTIAL") => AutoIdKind::Sequential,
            _ => return Err(wrong_word(parser, raw, &["SEQUENTIAL", "HASH"], "7.3.1.2.1.1")),
        }),
        "optional" => AnnotationKind::Optional(flag(parser, raw)?),
        "position" => AnnotationKind::Position(integer(parser, raw, (0, 63))?),
        "value" => AnnotationKind::Value(any_value(parser, raw, "value", None)?),
        "extensibility" => match word(parser, raw, "value").as_deref().and_then(extensibility_of) {
            Some(kind) => AnnotationKind::Extensibility(kind),
            None => return Err(wrong_word(parser, raw, &["FINAL", "APPENDABLE", "MUTABLE"], "7.2.3")),
        },
        "final" => AnnotationKind::Extensibility(Extensibility::Final),
        "appendable" => AnnotationKind::Extensibility(Extensibility::Appendable),
        "mutable" => AnnotationKind::Extensibility(Extensibility::Mutable),
        "key" => AnnotationKind::Key(flag(parser, raw)?),
        "must_understand" => AnnotationKind::MustUnderstand(flag(parser, raw)?),
        "default_literal" => AnnotationKind::DefaultLiteral,
        "default" => AnnotationKind::Default(any_value(parser, raw, "value", ty)?),
        "range" => range(parser, raw, ty)?,
        "min" => AnnotationKind::Min(any_value(parser, raw, "value", ty)?),
        "max" => AnnotationKind::Max(any_value(parser, raw, "value", ty)?),
        "unit" => AnnotationKind::Unit(text(parser, raw, "value")?),
        "bit_bound" => AnnotationKind::BitBound(integer(parser, raw, (1, 64))?),
        "external" => AnnotationKind::External(flag(parser, raw)?),
        "nested" => AnnotationKind::Nested(flag(parser, raw)?),
        "default_nested" => AnnotationKind::DefaultNested(flag(parser, raw)?),
        "topic" => AnnotationKind::Topic {
            name: optional_text(parser, raw, "name")?,
            platform: optional_text(parser, raw, "platform")?,
        },
        "data_representation" => representation(parser, raw)?,
        "try_construct" => AnnotationKind::TryConstruct(match word(parser, raw, "value").as_deref() {
            None if raw.arguments.is_empty() => TryConstruct::UseDefault,
            Some("DISCARD") => TryConstruct::Discard,
            Some("USE_DEFAULT") => TryConstruct::UseDefault,
            Some("TRIM") => TryConstruct::Trim,
            _ => return Err(wrong_word(parser, raw, &["DISCARD", "USE_DEFAULT", "TRIM"], "7.2.2.7")),
        }),
        "ignore_literal_names" => AnnotationKind::IgnoreLiteralNames(flag(parser, raw)?),
        "non_serialized" => AnnotationKind::NonSerialized(flag(parser, raw)?),
        "verbatim" => AnnotationKind::Verbatim {
            language: optional_text(parser, raw, "language")?.unwrap_or_else(|| "*".into()),
            placement: match word(parser, raw, "placement") {
                Some(placement) => placement.into(),
                None => optional_text(parser, raw, "placement")?.unwrap_or_else(|| "BEFORE_DECLARATION".into()),
            },
            text: text(parser, raw, "text")?,
        },
        "service" => {
            AnnotationKind::Service { platform: optional_text(parser, raw, "platform")?.unwrap_or_else(|| "*".into()) }
        }
        "oneway" => AnnotationKind::OneWay(flag(parser, raw)?),
        "ami" => AnnotationKind::Ami(flag(parser, raw)?),
        _ => return custom(parser, raw),
    })
}

/// Reports unknown and repeated names of arguments.
fn check_arguments(parser: &mut Parser<'_>, raw: &RawAnnotation, name: &str) -> Result<(), Reported> {
    let parameters: &[&str] = match name {
        "range" => &["min", "max"],
        "topic" => &["name", "platform"],
        "verbatim" => &["language", "placement", "text"],
        "service" => &["platform"],
        "data_representation" => &["allowed_kinds", "value"],
        "final" | "appendable" | "mutable" | "default_literal" => &[],
        _ => &["value"],
    };
    for (at, argument) in raw.arguments.iter().enumerate() {
        let problem = match argument.name {
            Some(symbol) => {
                let text = parser.text(symbol);
                let is_repeated = raw.arguments.iter().take(at).any(|other| other.name == Some(symbol));
                if is_repeated {
                    Some(format!("`@{name}` has the argument `{text}` twice"))
                } else if !parameters.contains(&text) {
                    Some(format!("`@{name}` has no parameter `{text}`"))
                } else {
                    None
                }
            }
            None if at >= parameters.len().max(1) || parameters.is_empty() => {
                Some(format!("`@{name}` has {} parameters", parameters.len()))
            }
            None => None,
        };
        if let Some(message) = problem {
            let own = argument.name.map(|symbol| parser.text(symbol).to_owned()).unwrap_or_default();
            let diagnostic = Diagnostic::error(message, argument.span).did_you_mean(&own, parameters.iter().copied());
            return Err(parser.report(diagnostic));
        }
    }
    Ok(())
}

/// The argument with a name. A single argument needs no name, and neither do those in the order of the parameters.
fn find<'r>(parser: &Parser<'_>, raw: &'r RawAnnotation, name: &str) -> Option<&'r RawArgument> {
    let named = raw.arguments.iter().find(|argument| argument.name.is_some_and(|symbol| parser.text(symbol) == name));
    let position = match name {
        "max" if &*raw.name != "max" && raw.arguments.len() > 1 => 1,
        "platform" if &*raw.name == "topic" => 1,
        "placement" => 1,
        "text" if raw.arguments.len() > 1 => raw.arguments.len() - 1,
        _ => 0,
    };
    named.or_else(|| raw.arguments.get(position).filter(|argument| argument.name.is_none()))
}

/// The argument as a single identifier.
fn word(parser: &Parser<'_>, raw: &RawAnnotation, name: &str) -> Option<String> {
    let argument = find(parser, raw, name)?;
    // A qualified name such as `ExtensibilityKind::FINAL` counts as its last part.
    let token = parser.token_at(argument.end.checked_sub(1)?)?;
    (token.kind == TokenKind::Identifier).then(|| parser.text(token.symbol).to_owned())
}

/// Reports an argument that is not an expected word. `clause` of XTypes 1.3 explains them.
fn wrong_word(parser: &mut Parser<'_>, raw: &RawAnnotation, expected: &[&str], clause: &str) -> Reported {
    let span = raw.arguments.first().map_or(raw.span, |argument| argument.span);
    let found = word(parser, raw, "value").unwrap_or_default();
    let message = format!("expected one of {}", expected.join(", "));
    let diagnostic = Diagnostic::error(message, span).did_you_mean(&found, expected.iter().copied());
    parser.report(diagnostic.note(format!("XTypes 1.3, {clause} explains them")))
}

fn extensibility_of(word: &str) -> Option<Extensibility> {
    Some(match word {
        "FINAL" | "FINAL_EXTENSIBILITY" => Extensibility::Final,
        "APPENDABLE" | "EXTENSIBLE" | "EXTENSIBLE_EXTENSIBILITY" | "APPENDABLE_EXTENSIBILITY" => {
            Extensibility::Appendable
        }
        "MUTABLE" | "MUTABLE_EXTENSIBILITY" => Extensibility::Mutable,
        _ => return None,
    })
}

/// Evaluates an argument. The cursor stays where it is.
fn with_argument<T>(
    parser: &mut Parser<'_>,
    argument: &RawArgument,
    read: impl FnOnce(&mut Parser<'_>) -> Result<T, Reported>,
) -> Result<T, Reported> {
    let position = parser.position();
    parser.set_position(argument.start);
    let result = read(parser);
    let is_complete = parser.position() == argument.end;
    let result = match result {
        Ok(_) if !is_complete => Err(parser.unexpected("`,` or `)` after the argument")),
        other => other,
    };
    if !parser.is_stopped() {
        parser.set_position(position);
    }
    result
}

fn missing(parser: &mut Parser<'_>, raw: &RawAnnotation, name: &str) -> Reported {
    parser.report(Diagnostic::error(format!("`@{}` needs the argument `{name}`", raw.name), raw.span))
}

fn integer<T: TryFrom<i128>>(parser: &mut Parser<'_>, raw: &RawAnnotation, range: (i128, i128)) -> Result<T, Reported> {
    let Some(argument) = find(parser, raw, "value").cloned() else { return Err(missing(parser, raw, "value")) };
    let name = format!("`@{}`", raw.name);
    let (value, span) =
        with_argument(parser, &argument, |parser| evaluate_integer(parser, ExpressionPlace::Other, range, &name))?;
    T::try_from(value).map_err(|_| parser.report(Diagnostic::error(format!("{value} is too large"), span)))
}

/// A boolean argument. Without an argument, the annotation means `TRUE`.
fn flag(parser: &mut Parser<'_>, raw: &RawAnnotation) -> Result<bool, Reported> {
    let Some(argument) = find(parser, raw, "value").cloned() else { return Ok(true) };
    let found = with_argument(parser, &argument, |parser| evaluate(parser, None, ExpressionPlace::Other))?;
    let value = convert(parser, found.value, found.span, &DataType::Basic(BasicType::Bool))?;
    Ok(value.as_bool().unwrap_or(true))
}

fn text(parser: &mut Parser<'_>, raw: &RawAnnotation, name: &str) -> Result<Arc<str>, Reported> {
    match optional_text(parser, raw, name)? {
        Some(text) => Ok(text),
        None => Err(missing(parser, raw, name)),
    }
}

fn optional_text(parser: &mut Parser<'_>, raw: &RawAnnotation, name: &str) -> Result<Option<Arc<str>>, Reported> {
    let Some(argument) = find(parser, raw, name).cloned() else { return Ok(None) };
    let found = with_argument(parser, &argument, |parser| evaluate(parser, None, ExpressionPlace::Other))?;
    match found.value {
        ConstantValue::String(text) => Ok(Some(text)),
        other => {
            let message = format!("expected a string, found {}", parser.describe(&other));
            Err(parser.report(Diagnostic::error(message, argument.span)))
        }
    }
}

/// A value of the type of the target. For collections, of the type of their elements.
fn any_value(
    parser: &mut Parser<'_>,
    raw: &RawAnnotation,
    name: &str,
    ty: Option<&DataType>,
) -> Result<ConstantValue, Reported> {
    let Some(argument) = find(parser, raw, name).cloned() else { return Err(missing(parser, raw, name)) };
    let found = with_argument(parser, &argument, |parser| evaluate(parser, ty, ExpressionPlace::Other))?;
    match ty {
        Some(ty) => convert(parser, found.value, found.span, ty),
        None => Ok(found.value),
    }
}

fn range(parser: &mut Parser<'_>, raw: &RawAnnotation, ty: Option<&DataType>) -> Result<AnnotationKind, Reported> {
    let min = any_value(parser, raw, "min", ty)?;
    let max = any_value(parser, raw, "max", ty)?;
    if is_less(&max, &min) {
        return Err(parser.report(Diagnostic::error(EMPTY_RANGE, raw.span)));
    }
    Ok(AnnotationKind::Range { min, max })
}

/// `XCDR1|XCDR2`, or a number.
fn representation(parser: &mut Parser<'_>, raw: &RawAnnotation) -> Result<AnnotationKind, Reported> {
    let argument = find(parser, raw, "value").or_else(|| find(parser, raw, "allowed_kinds")).cloned();
    let Some(argument) = argument.or_else(|| raw.arguments.first().cloned()) else {
        return Err(missing(parser, raw, "value"));
    };
    let mut set = DataRepresentations::default();
    for at in argument.start..argument.end {
        let Some(token) = parser.token_at(at) else { break };
        let part = match (token.kind, parser.text(token.symbol)) {
            (TokenKind::Identifier, "XCDR" | "XCDR1") => DataRepresentations::XCDR1,
            (TokenKind::Identifier, "XCDR2") => DataRepresentations::XCDR2,
            (TokenKind::Identifier, "XML") => DataRepresentations::XML,
            (TokenKind::Number, number) if super::literal::integer(number).is_some() => {
                let number = super::literal::integer(number).and_then(|number| u32::try_from(number).ok());
                DataRepresentations(number.unwrap_or(0))
            }
            (TokenKind::Pipe | TokenKind::OpenParenthesis | TokenKind::CloseParenthesis, _) => continue,
            _ => {
                let message = "expected XCDR1, XML or XCDR2, joined by `|`";
                return Err(parser.report(Diagnostic::error(message, token.span)));
            }
        };
        set = set | part;
    }
    Ok(AnnotationKind::DataRepresentation(set))
}

/// An annotation of the user, declared or not.
fn custom(parser: &mut Parser<'_>, raw: &RawAnnotation) -> Result<AnnotationKind, Reported> {
    let declared = parser.annotation_definition(&raw.name);
    let members = declared.and_then(|id| parser.annotation_members(id));
    if members.is_none() {
        let names: Vec<&str> = STANDARD.iter().map(|(name, _)| *name).collect();
        let diagnostic = Diagnostic::warning(format!("unknown annotation `@{}`", raw.name), raw.name_span);
        // A standard annotation in a wrong place is reported already.
        let is_standard = names.contains(&&*raw.name);
        let diagnostic = diagnostic.did_you_mean(&raw.name, names);
        if diagnostic.help.is_some() && !is_standard {
            parser.report(diagnostic);
        }
    }
    let mut arguments = Vec::new();
    for argument in &raw.arguments {
        let name: Arc<str> = match argument.name {
            Some(symbol) => parser.text(symbol).into(),
            None => "value".into(),
        };
        let member = members.as_deref().unwrap_or_default().iter().find(|member| member.name == name);
        if members.is_some() && member.is_none() {
            let known: Vec<&str> =
                members.iter().flat_map(|members| members.iter()).map(|member| &*member.name).collect();
            let message = format!("`@{}` has no parameter `{name}`", raw.name);
            let diagnostic = Diagnostic::error(message, argument.span).did_you_mean(&name, known);
            return Err(parser.report(diagnostic));
        }
        let value = match member.and_then(|member| member.ty.as_ref()) {
            Some(ty) => {
                let found =
                    with_argument(parser, argument, |parser| evaluate(parser, Some(ty), ExpressionPlace::Other))?;
                convert(parser, found.value, found.span, ty)?
            }
            None if is_expression(parser, argument) => {
                with_argument(parser, argument, |parser| evaluate(parser, None, ExpressionPlace::Other))?.value
            }
            // The words of an undeclared annotation have no definition.
            None => ConstantValue::String(parser.text_of_tokens(argument.start, argument.end)?.into()),
        };
        arguments.push(AnnotationArgument { name, value });
    }
    for member in members.as_deref().unwrap_or_default() {
        let is_given = arguments.iter().any(|argument| argument.name == member.name);
        match &member.default {
            _ if is_given => {}
            Some(value) => {
                arguments.push(AnnotationArgument { name: Arc::clone(&member.name), value: value.clone() });
            }
            None => {
                let message = format!("`@{}` without the argument `{}`", raw.name, member.name);
                parser.vendor_warning(&message, "Fast DDS", raw.span, "give the argument, or declare a default");
            }
        }
    }
    Ok(AnnotationKind::Custom { name: Arc::clone(&raw.name), arguments })
}

/// Whether all names in an argument are constants, so that it can be evaluated.
fn is_expression(parser: &Parser<'_>, argument: &RawArgument) -> bool {
    (argument.start..argument.end).all(|at| match parser.token_at(at) {
        Some(token) if token.kind == TokenKind::Identifier => {
            token.symbol == keyword::TRUE
                || token.symbol == keyword::FALSE
                || parser.visible(token.symbol).is_some_and(|entry| !matches!(entry.entity, NamedEntity::Local(_)))
        }
        Some(token) => !matches!(token.kind, TokenKind::Unknown | TokenKind::Dot | TokenKind::Scope | TokenKind::Equal),
        None => false,
    })
}
