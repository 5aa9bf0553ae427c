//! Applied annotations of IDL 4.2 (8.3), XTYPES 1.3 (7.3.1.2) and the user.

use super::{ConstantValue, Extensibility, Span, TryConstruct};
use std::ops::BitOr;
use std::sync::Arc;

/// The annotations of one definition, member or element, in the order of the text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Annotations(Vec<Annotation>);

/// An applied annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct Annotation {
    /// The annotation in the text.
    pub span: Span,
    /// Meaning and arguments.
    pub kind: AnnotationKind,
}

/// Meaning of an annotation. A front end checks the arguments.
#[derive(Debug, Clone, PartialEq)]
pub enum AnnotationKind {
    /// `@id`: id of the member.
    Id(u32),
    /// `@hashid`: the id is the hash of a text, or of the member's name.
    HashId(Option<Arc<str>>),
    /// `@autoid`: ids of members without `@id`.
    AutoId(AutoIdKind),
    /// `@optional`.
    Optional(bool),
    /// `@position`: position of a bit.
    Position(u16),
    /// `@value`: value of an enumerator.
    Value(ConstantValue),
    /// `@final`, `@appendable`, `@mutable`, `@extensibility`.
    Extensibility(Extensibility),
    /// `@key`.
    Key(bool),
    /// `@must_understand`.
    MustUnderstand(bool),
    /// `@default_literal`: default of an enum.
    DefaultLiteral,
    /// `@default`: default of a member.
    Default(ConstantValue),
    /// `@range`.
    Range {
        /// Smallest value.
        min: ConstantValue,
        /// Largest value.
        max: ConstantValue,
    },
    /// `@min`.
    Min(ConstantValue),
    /// `@max`.
    Max(ConstantValue),
    /// `@unit`.
    Unit(Arc<str>),
    /// `@bit_bound`.
    BitBound(u16),
    /// `@external`.
    External(bool),
    /// `@nested`: the type is not the type of a topic.
    Nested(bool),
    /// `@default_nested`: types of the module are nested.
    DefaultNested(bool),
    /// `@topic`: the type is the type of a topic.
    Topic {
        /// Name of the topic.
        name: Option<Arc<str>>,
        /// Platform that this applies to.
        platform: Option<Arc<str>>,
    },
    /// `@data_representation`.
    DataRepresentation(DataRepresentations),
    /// `@try_construct`.
    TryConstruct(TryConstruct),
    /// `@ignore_literal_names`.
    IgnoreLiteralNames(bool),
    /// `@non_serialized`.
    NonSerialized(bool),
    /// `@verbatim`: text for generated code.
    Verbatim {
        /// Language of the generated code, or `*`.
        language: Arc<str>,
        /// Position of the text, such as `BEFORE_DECLARATION`.
        placement: Arc<str>,
        /// The text.
        text: Arc<str>,
    },
    /// `@service`: the interface is a service.
    Service {
        /// Platform, or `*`.
        platform: Arc<str>,
    },
    /// `@oneway`: the operation has no reply.
    OneWay(bool),
    /// `@ami`: the interface has asynchronous operations.
    Ami(bool),
    /// An annotation of the user or of a vendor.
    Custom {
        /// Scoped name without a leading `::`.
        name: Arc<str>,
        /// Arguments. Parameters that are not given, but declared with a default, are included.
        arguments: Vec<AnnotationArgument>,
    },
}

/// An argument of a user-defined annotation.
#[derive(Debug, Clone, PartialEq)]
pub struct AnnotationArgument {
    /// Name of the parameter; `value` for the only parameter.
    pub name: Arc<str>,
    /// The value.
    pub value: ConstantValue,
}

/// The rule for ids of members without `@id`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum AutoIdKind {
    /// The id of the member before, plus 1.
    #[default]
    Sequential,
    /// The hash of the member's name.
    Hash,
}

/// A set of data representations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DataRepresentations(pub u32);

impl DataRepresentations {
    /// XCDR version 1.
    pub const XCDR1: Self = Self(1);
    /// XML.
    pub const XML: Self = Self(1 << 1);
    /// XCDR version 2.
    pub const XCDR2: Self = Self(1 << 2);

    /// Returns whether the set contains all representations of `other`.
    #[must_use]
    pub fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl BitOr for DataRepresentations {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Returns the value of the last annotation of a kind. A later annotation replaces an earlier one.
macro_rules! last {
    ($self:ident, $pattern:pat => $value:expr) => {{
        let mut found = None;
        for annotation in &$self.0 {
            if let $pattern = &annotation.kind {
                found = Some($value);
            }
        }
        found
    }};
}

impl AnnotationKind {
    /// Returns the name in IDL, without the `@`.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Id(_) => "id",
            Self::HashId(_) => "hashid",
            Self::AutoId(_) => "autoid",
            Self::Optional(_) => "optional",
            Self::Position(_) => "position",
            Self::Value(_) => "value",
            Self::Extensibility(_) => "extensibility",
            Self::Key(_) => "key",
            Self::MustUnderstand(_) => "must_understand",
            Self::DefaultLiteral => "default_literal",
            Self::Default(_) => "default",
            Self::Range { .. } => "range",
            Self::Min(_) => "min",
            Self::Max(_) => "max",
            Self::Unit(_) => "unit",
            Self::BitBound(_) => "bit_bound",
            Self::External(_) => "external",
            Self::Nested(_) => "nested",
            Self::DefaultNested(_) => "default_nested",
            Self::Topic { .. } => "topic",
            Self::DataRepresentation(_) => "data_representation",
            Self::TryConstruct(_) => "try_construct",
            Self::IgnoreLiteralNames(_) => "ignore_literal_names",
            Self::NonSerialized(_) => "non_serialized",
            Self::Verbatim { .. } => "verbatim",
            Self::Service { .. } => "service",
            Self::OneWay(_) => "oneway",
            Self::Ami(_) => "ami",
            Self::Custom { name, .. } => name,
        }
    }
}

impl Annotations {
    /// Adds an annotation.
    pub fn push(&mut self, span: Span, kind: AnnotationKind) {
        self.0.push(Annotation { span, kind });
    }

    /// Adds copies of other annotations.
    pub(crate) fn extend(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Returns all annotations in the order of the text.
    pub fn iter(&self) -> std::slice::Iter<'_, Annotation> {
        self.0.iter()
    }

    /// Returns whether there is no annotation.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `@id`.
    #[must_use]
    pub fn id(&self) -> Option<u32> {
        last!(self, AnnotationKind::Id(id) => *id)
    }

    /// Returns `@hashid`. The inner value is `None` if the member's name is hashed.
    #[must_use]
    pub fn hash_id(&self) -> Option<Option<&str>> {
        last!(self, AnnotationKind::HashId(text) => text.as_deref())
    }

    /// Returns `@autoid`.
    #[must_use]
    pub fn auto_id(&self) -> Option<AutoIdKind> {
        last!(self, AnnotationKind::AutoId(rule) => *rule)
    }

    /// Returns `@optional`.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        last!(self, AnnotationKind::Optional(value) => *value).unwrap_or(false)
    }

    /// Returns `@key`.
    #[must_use]
    pub fn is_key(&self) -> bool {
        last!(self, AnnotationKind::Key(value) => *value).unwrap_or(false)
    }

    /// Returns `@must_understand`.
    #[must_use]
    pub fn must_understand(&self) -> bool {
        last!(self, AnnotationKind::MustUnderstand(value) => *value).unwrap_or(false)
    }

    /// Returns `@external`.
    #[must_use]
    pub fn is_external(&self) -> bool {
        last!(self, AnnotationKind::External(value) => *value).unwrap_or(false)
    }

    /// Returns `@non_serialized`.
    #[must_use]
    pub fn is_non_serialized(&self) -> bool {
        last!(self, AnnotationKind::NonSerialized(value) => *value).unwrap_or(false)
    }

    /// Returns `@nested`.
    #[must_use]
    pub fn nested(&self) -> Option<bool> {
        last!(self, AnnotationKind::Nested(value) => *value)
    }

    /// Returns `@default_nested`.
    #[must_use]
    pub fn default_nested(&self) -> Option<bool> {
        last!(self, AnnotationKind::DefaultNested(value) => *value)
    }

    /// Returns whether the type has `@topic`.
    #[must_use]
    pub fn is_topic(&self) -> bool {
        last!(self, AnnotationKind::Topic { .. } => ()).is_some()
    }

    /// Returns the extensibility that the text gives.
    #[must_use]
    pub fn extensibility(&self) -> Option<Extensibility> {
        last!(self, AnnotationKind::Extensibility(value) => *value)
    }

    /// Returns `@bit_bound`.
    #[must_use]
    pub fn bit_bound(&self) -> Option<u16> {
        last!(self, AnnotationKind::BitBound(value) => *value)
    }

    /// Returns `@position`.
    #[must_use]
    pub fn position(&self) -> Option<u16> {
        last!(self, AnnotationKind::Position(value) => *value)
    }

    /// Returns `@value`.
    #[must_use]
    pub fn value(&self) -> Option<&ConstantValue> {
        last!(self, AnnotationKind::Value(value) => value)
    }

    /// Returns `@default`.
    #[must_use]
    pub fn default_value(&self) -> Option<&ConstantValue> {
        last!(self, AnnotationKind::Default(value) => value)
    }

    /// Returns whether the enumerator has `@default_literal`.
    #[must_use]
    pub fn is_default_literal(&self) -> bool {
        last!(self, AnnotationKind::DefaultLiteral => ()).is_some()
    }

    /// Returns `@min`, or the smallest value of `@range`.
    #[must_use]
    pub fn min(&self) -> Option<&ConstantValue> {
        last!(self, AnnotationKind::Min(value) | AnnotationKind::Range { min: value, .. } => value)
    }

    /// Returns `@max`, or the largest value of `@range`.
    #[must_use]
    pub fn max(&self) -> Option<&ConstantValue> {
        last!(self, AnnotationKind::Max(value) | AnnotationKind::Range { max: value, .. } => value)
    }

    /// Returns `@unit`.
    #[must_use]
    pub fn unit(&self) -> Option<&str> {
        last!(self, AnnotationKind::Unit(value) => &**value)
    }

    /// Returns `@try_construct`, or the default `DISCARD`.
    #[must_use]
    pub fn try_construct(&self) -> TryConstruct {
        last!(self, AnnotationKind::TryConstruct(value) => *value).unwrap_or_default()
    }

    /// Returns `@ignore_literal_names`.
    #[must_use]
    pub fn ignores_literal_names(&self) -> bool {
        last!(self, AnnotationKind::IgnoreLiteralNames(value) => *value).unwrap_or(false)
    }

    /// Returns `@data_representation`.
    #[must_use]
    pub fn data_representation(&self) -> Option<DataRepresentations> {
        last!(self, AnnotationKind::DataRepresentation(value) => *value)
    }

    /// Returns `@oneway`.
    #[must_use]
    pub fn is_one_way(&self) -> bool {
        last!(self, AnnotationKind::OneWay(value) => *value).unwrap_or(false)
    }

    /// Returns whether the interface has `@service`.
    #[must_use]
    pub fn is_service(&self) -> bool {
        last!(self, AnnotationKind::Service { .. } => ()).is_some()
    }

    /// Returns whether `@service` applies to DDS: for all platforms, or for `DDS`.
    #[must_use]
    pub fn is_dds_service(&self) -> bool {
        self.0.iter().any(|annotation| match &annotation.kind {
            AnnotationKind::Service { platform } => matches!(&**platform, "*" | "DDS"),
            _ => false,
        })
    }

    /// Returns the annotations of the user and of vendors: their names and arguments.
    pub fn custom(&self) -> impl Iterator<Item = (&str, &[AnnotationArgument])> {
        self.0.iter().filter_map(|annotation| match &annotation.kind {
            AnnotationKind::Custom { name, arguments } => Some((&**name, arguments.as_slice())),
            _ => None,
        })
    }
}

impl FromIterator<Annotation> for Annotations {
    fn from_iter<I: IntoIterator<Item = Annotation>>(annotations: I) -> Self {
        Self(annotations.into_iter().collect())
    }
}

impl<'a> IntoIterator for &'a Annotations {
    type Item = &'a Annotation;
    type IntoIter = std::slice::Iter<'a, Annotation>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_annotation_replaces_an_earlier_one() {
        let mut annotations = Annotations::default();
        annotations.push(Span::default(), AnnotationKind::Key(true));
        annotations.push(Span::default(), AnnotationKind::Id(3));
        annotations.push(Span::default(), AnnotationKind::Key(false));
        assert!(!annotations.is_key());
        assert_eq!(annotations.id(), Some(3));
    }

    #[test]
    fn range_gives_both_bounds() {
        let mut annotations = Annotations::default();
        let (min, max) = (ConstantValue::Integer(-1), ConstantValue::Integer(1));
        annotations.push(Span::default(), AnnotationKind::Range { min: min.clone(), max: max.clone() });
        assert_eq!((annotations.min(), annotations.max()), (Some(&min), Some(&max)));
    }
}
