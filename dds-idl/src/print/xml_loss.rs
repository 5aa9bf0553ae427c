//! What XML types cannot say: a warning for each part of a specification that the XML lacks.

use crate::model::{AnnotationKind, Annotations, Definition, DefinitionKind, Diagnostic, Diagnostics, Span};

/// Warns about a definition that is left out.
pub(super) fn report_definition(definition: &Definition, losses: &mut Diagnostics) {
    match &definition.kind {
        DefinitionKind::Interface(_)
        | DefinitionKind::Exception(_)
        | DefinitionKind::Annotation(_)
        | DefinitionKind::NotData(_) => {
            let kind = definition.kind.description();
            let message = format!("XML types have no place for `{}`, {kind}", definition.name);
            losses.push(Diagnostic::warning(message, definition.span));
        }
        DefinitionKind::Module(_) => report(&definition.annotations, definition.span, losses, is_of_module),
        DefinitionKind::Struct(_) | DefinitionKind::Union(_) | DefinitionKind::Enum(_) | DefinitionKind::Bitmask(_) => {
            report(&definition.annotations, definition.span, losses, is_of_type);
        }
        DefinitionKind::Constant(_) | DefinitionKind::Typedef(_) | DefinitionKind::Bitset(_) => {
            report(&definition.annotations, definition.span, losses, |_| false);
        }
    }
}

/// Warns about annotations of a member.
pub(super) fn report_member(annotations: &Annotations, span: Span, losses: &mut Diagnostics) {
    report(annotations, span, losses, is_of_member);
}

/// Warns about annotations of a discriminator.
pub(super) fn report_discriminator(annotations: &Annotations, span: Span, losses: &mut Diagnostics) {
    let is_known = |kind: &AnnotationKind| matches!(kind, AnnotationKind::Key(_) | AnnotationKind::TryConstruct(_));
    report(annotations, span, losses, is_known);
}

/// Warns about annotations of an enumerator, a flag or a bitfield.
pub(super) fn report_value(annotations: &Annotations, span: Span, losses: &mut Diagnostics) {
    let is_known = |kind: &AnnotationKind| {
        matches!(kind, AnnotationKind::Value(_) | AnnotationKind::DefaultLiteral | AnnotationKind::Position(_))
    };
    report(annotations, span, losses, is_known);
}

fn report(annotations: &Annotations, span: Span, losses: &mut Diagnostics, is_known: impl Fn(&AnnotationKind) -> bool) {
    for annotation in annotations {
        if is_known(&annotation.kind) {
            continue;
        }
        let place = if annotation.span == Span::default() { span } else { annotation.span };
        let message = format!("XML types have no place for `@{}`", annotation.kind.name());
        losses.push(Diagnostic::warning(message, place));
    }
}

/// The extensibility, `nested` and `autoid` of each type say what these annotations do.
fn is_of_module(kind: &AnnotationKind) -> bool {
    matches!(kind, AnnotationKind::DefaultNested(_) | AnnotationKind::AutoId(_) | AnnotationKind::Extensibility(_))
}

fn is_of_type(kind: &AnnotationKind) -> bool {
    matches!(
        kind,
        AnnotationKind::Extensibility(_)
            | AnnotationKind::Nested(_)
            | AnnotationKind::AutoId(_)
            | AnnotationKind::BitBound(_)
    )
}

fn is_of_member(kind: &AnnotationKind) -> bool {
    matches!(
        kind,
        AnnotationKind::Id(_)
            | AnnotationKind::HashId(_)
            | AnnotationKind::Optional(_)
            | AnnotationKind::Key(_)
            | AnnotationKind::MustUnderstand(_)
            | AnnotationKind::External(_)
            | AnnotationKind::NonSerialized(_)
            | AnnotationKind::TryConstruct(_)
            | AnnotationKind::Default(_)
            | AnnotationKind::Range { .. }
            | AnnotationKind::Min(_)
            | AnnotationKind::Max(_)
            | AnnotationKind::Unit(_)
    )
}
