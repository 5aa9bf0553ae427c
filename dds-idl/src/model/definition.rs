//! Definitions: everything with a scoped name.

use super::{Annotations, AutoIdKind, ConstantValue, DataType, DefinitionId, Extensibility, Span, TryConstruct};
use std::sync::Arc;

/// A definition with its name and place.
#[derive(Debug, Clone)]
pub struct Definition {
    /// Scoped name without a leading `::`, such as `robot::arm::Pose`.
    pub scoped_name: Arc<str>,
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// Enclosing definition: a module, an interface, or a struct for a type that stands inside of it.
    pub parent: Option<DefinitionId>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments before the definition, and of one behind it in the same line.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// The content.
    pub kind: DefinitionKind,
}

/// Content of a definition.
#[derive(Debug, Clone)]
pub enum DefinitionKind {
    /// `module`.
    Module(Module),
    /// `const`.
    Constant(ConstantDefinition),
    /// `struct`.
    Struct(StructDefinition),
    /// `union`.
    Union(UnionDefinition),
    /// `enum`.
    Enum(EnumDefinition),
    /// `bitmask`.
    Bitmask(BitmaskDefinition),
    /// `bitset`.
    Bitset(BitsetDefinition),
    /// `typedef`. Each declarator is a definition.
    Typedef(TypedefDefinition),
    /// `exception`: not data, but a type of a service.
    Exception(StructDefinition),
    /// `interface`: not data.
    Interface(InterfaceDefinition),
    /// `@annotation`: the declaration of an annotation.
    Annotation(AnnotationDefinition),
    /// A definition that a front end reads, but that no DDS topic can have as its type.
    NotData(NotData),
}

/// Kind of a definition that is not data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NotData {
    /// A struct or union that the text declares, but does not define.
    Undefined,
    /// `valuetype`.
    ValueType,
    /// `eventtype`.
    EventType,
    /// `component`.
    Component,
    /// `home`.
    Home,
    /// `porttype`.
    PortType,
    /// `connector`.
    Connector,
    /// `native`.
    Native,
    /// `module NAME<…>`, or a use of it.
    TemplateModule,
    /// A struct or union with a member that is not data.
    Struct,
}

/// A module. All parts of a reopened module are one module.
#[derive(Debug, Clone, Default)]
pub struct Module {
    /// Definitions in the order of declaration.
    pub definitions: Vec<DefinitionId>,
}

/// A constant.
#[derive(Debug, Clone)]
pub struct ConstantDefinition {
    /// The type. The value is in its range.
    pub ty: DataType,
    /// The value.
    pub value: ConstantValue,
}

/// A struct or an exception.
#[derive(Debug, Clone)]
pub struct StructDefinition {
    /// Extensibility: annotation, or default of the front end.
    pub extensibility: Extensibility,
    /// Whether the type is not the type of a topic.
    pub is_nested: bool,
    /// Rule for the ids of the members.
    pub auto_id: AutoIdKind,
    /// Base struct. A typedef of a struct is resolved.
    pub base: Option<DefinitionId>,
    /// Members without those of the base.
    pub members: Vec<MemberDefinition>,
}

/// A member of a struct, or the value of a union's branch.
#[derive(Debug, Clone)]
pub struct MemberDefinition {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// The type, with the dimensions of the declarator.
    pub ty: DataType,
    /// Member id: `@id`, `@hashid`, or by the rule of the type.
    pub id: u32,
}

/// A union.
#[derive(Debug, Clone)]
pub struct UnionDefinition {
    /// Extensibility: annotation, or default of the front end.
    pub extensibility: Extensibility,
    /// Whether the type is not the type of a topic.
    pub is_nested: bool,
    /// Rule for the ids of the members.
    pub auto_id: AutoIdKind,
    /// The discriminator.
    pub discriminator: UnionDiscriminator,
    /// The branches. No label appears twice.
    pub branches: Vec<UnionBranch>,
}

/// The discriminator of a union.
#[derive(Debug, Clone)]
pub struct UnionDiscriminator {
    /// A primitive type, an enum, a bitmask, or a typedef of one of them.
    pub ty: DataType,
    /// The type in the text.
    pub span: Span,
    /// Annotations, such as `@key`.
    pub annotations: Annotations,
}

/// A branch of a union.
#[derive(Debug, Clone)]
pub struct UnionBranch {
    /// Values of the discriminator. `TRUE` is 1, a character is its code, an enumerator is its value.
    pub labels: Vec<i64>,
    /// Whether the branch has the label `default`.
    pub is_default: bool,
    /// The value.
    pub member: MemberDefinition,
}

/// An enum.
#[derive(Debug, Clone)]
pub struct EnumDefinition {
    /// Extensibility: annotation, or default of the front end.
    pub extensibility: Extensibility,
    /// Number of bits of the values: 1 to 32.
    pub bit_bound: u8,
    /// Enumerators in the order of the text. Names and values are unique.
    pub enumerators: Vec<Enumerator>,
}

/// A value of an enum.
#[derive(Debug, Clone)]
pub struct Enumerator {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// The value: `@value`, or the value before plus 1.
    pub value: i32,
}

/// A bitmask.
#[derive(Debug, Clone)]
pub struct BitmaskDefinition {
    /// Extensibility: annotation, or default of the front end.
    pub extensibility: Extensibility,
    /// Number of bits: 1 to 64.
    pub bit_bound: u8,
    /// Flags in the order of the text. Positions are unique.
    pub flags: Vec<BitValue>,
}

/// A flag of a bitmask.
#[derive(Debug, Clone)]
pub struct BitValue {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// Position of the bit, from 0.
    pub position: u8,
}

/// A bitset.
#[derive(Debug, Clone, Default)]
pub struct BitsetDefinition {
    /// Base bitset. Its fields come first.
    pub base: Option<DefinitionId>,
    /// Fields without those of the base, from the least significant bit.
    pub fields: Vec<BitsetField>,
}

/// A field of a bitset.
#[derive(Debug, Clone)]
pub struct BitsetField {
    /// Name; `None` for padding.
    pub name: Option<Arc<str>>,
    /// The identifier, or the `bitfield` of padding.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// Position of the first bit, behind the fields of the base.
    pub position: u8,
    /// Number of bits: 1 to 64.
    pub bit_count: u8,
    /// Type of the value, if the text gives it.
    pub ty: Option<DataType>,
}

/// A typedef.
#[derive(Debug, Clone)]
pub struct TypedefDefinition {
    /// The type, with the dimensions of the declarator.
    pub ty: DataType,
}

/// An interface.
#[derive(Debug, Clone, Default)]
pub struct InterfaceDefinition {
    /// Base interfaces.
    pub bases: Vec<DefinitionId>,
    /// Types, constants and exceptions inside of the interface.
    pub definitions: Vec<DefinitionId>,
    /// Operations without those of the bases.
    pub operations: Vec<OperationDefinition>,
    /// Attributes without those of the bases.
    pub attributes: Vec<AttributeDefinition>,
}

/// An operation of an interface.
#[derive(Debug, Clone)]
pub struct OperationDefinition {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// Whether the operation has no reply: `oneway` or `@oneway`.
    pub is_one_way: bool,
    /// Type of the result; `None` for `void`.
    pub result: Option<DataType>,
    /// Parameters.
    pub parameters: Vec<OperationParameter>,
    /// Exceptions.
    pub raises: Vec<DefinitionId>,
}

/// A parameter of an operation.
#[derive(Debug, Clone)]
pub struct OperationParameter {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Annotations.
    pub annotations: Annotations,
    /// Direction.
    pub direction: ParameterDirection,
    /// The type.
    pub ty: DataType,
}

/// Direction of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ParameterDirection {
    /// `in`: from client to server.
    In,
    /// `out`: from server to client.
    Out,
    /// `inout`: both ways.
    InOut,
}

/// An attribute of an interface.
#[derive(Debug, Clone)]
pub struct AttributeDefinition {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// Text of the comments.
    pub doc: Option<Arc<str>>,
    /// Annotations.
    pub annotations: Annotations,
    /// Whether clients cannot set it.
    pub is_read_only: bool,
    /// The type.
    pub ty: DataType,
    /// Exceptions of reading it.
    pub get_raises: Vec<DefinitionId>,
    /// Exceptions of setting it.
    pub set_raises: Vec<DefinitionId>,
}

/// The declaration of an annotation.
#[derive(Debug, Clone, Default)]
pub struct AnnotationDefinition {
    /// Parameters.
    pub members: Vec<AnnotationMember>,
}

/// A parameter of a declared annotation.
#[derive(Debug, Clone)]
pub struct AnnotationMember {
    /// The identifier in the text, without the `_` of an escaped name.
    pub name: Arc<str>,
    /// The identifier.
    pub span: Span,
    /// The type; `None` for `any`.
    pub ty: Option<DataType>,
    /// Value if the application of the annotation gives none.
    pub default: Option<ConstantValue>,
}

impl Definition {
    /// Returns whether the definition is a type that samples can contain.
    #[must_use]
    pub fn is_data_type(&self) -> bool {
        match self.kind {
            DefinitionKind::Struct(_)
            | DefinitionKind::Union(_)
            | DefinitionKind::Enum(_)
            | DefinitionKind::Bitmask(_)
            | DefinitionKind::Bitset(_)
            | DefinitionKind::Typedef(_) => true,
            DefinitionKind::Module(_)
            | DefinitionKind::Constant(_)
            | DefinitionKind::Exception(_)
            | DefinitionKind::Interface(_)
            | DefinitionKind::Annotation(_)
            | DefinitionKind::NotData(_) => false,
        }
    }

    /// Returns whether the definition is a struct or union that is not nested: the type of a topic.
    #[must_use]
    pub fn is_topic_type(&self) -> bool {
        match &self.kind {
            DefinitionKind::Struct(definition) => !definition.is_nested,
            DefinitionKind::Union(definition) => !definition.is_nested,
            _ => false,
        }
    }
}

impl DefinitionKind {
    /// Name of the kind with its article, for messages.
    #[must_use]
    pub fn description(&self) -> &'static str {
        match self {
            Self::Module(_) => "a module",
            Self::Constant(_) => "a constant",
            Self::Struct(_) => "a struct",
            Self::Union(_) => "a union",
            Self::Enum(_) => "an enum",
            Self::Bitmask(_) => "a bitmask",
            Self::Bitset(_) => "a bitset",
            Self::Typedef(_) => "a typedef",
            Self::Exception(_) => "an exception",
            Self::Interface(_) => "an interface",
            Self::Annotation(_) => "an annotation",
            Self::NotData(kind) => kind.description(),
        }
    }
}

impl NotData {
    /// Name of the kind with its article, for messages.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Undefined => "a type without a definition",
            Self::ValueType => "a valuetype",
            Self::EventType => "an eventtype",
            Self::Component => "a component",
            Self::Home => "a home",
            Self::TemplateModule => "a template module",
            Self::PortType => "a porttype",
            Self::Connector => "a connector",
            Self::Native => "a native type",
            Self::Struct => "a type with members that are not data",
        }
    }
}

impl MemberDefinition {
    /// Creates a member without annotations.
    #[must_use]
    pub fn new(name: impl Into<Arc<str>>, span: Span, ty: DataType, id: u32) -> Self {
        Self { name: name.into(), span, doc: None, annotations: Annotations::default(), ty, id }
    }

    /// Returns `@key`.
    #[must_use]
    pub fn is_key(&self) -> bool {
        self.annotations.is_key()
    }

    /// Returns `@optional`.
    #[must_use]
    pub fn is_optional(&self) -> bool {
        self.annotations.is_optional()
    }

    /// Returns `@must_understand`, without regard to `@key`.
    #[must_use]
    pub fn must_understand(&self) -> bool {
        self.annotations.must_understand()
    }

    /// Returns `@external`.
    #[must_use]
    pub fn is_external(&self) -> bool {
        self.annotations.is_external()
    }

    /// Returns `@try_construct`.
    #[must_use]
    pub fn try_construct(&self) -> TryConstruct {
        self.annotations.try_construct()
    }

    /// Returns `@default`.
    #[must_use]
    pub fn default_value(&self) -> Option<&ConstantValue> {
        self.annotations.default_value()
    }
}

impl EnumDefinition {
    /// Returns the index of the default: `@default_literal`, or the first enumerator.
    #[must_use]
    pub fn default_index(&self) -> usize {
        self.enumerators.iter().position(|enumerator| enumerator.annotations.is_default_literal()).unwrap_or(0)
    }
}

impl Default for StructDefinition {
    fn default() -> Self {
        Self {
            extensibility: Extensibility::Appendable,
            is_nested: false,
            auto_id: AutoIdKind::Sequential,
            base: None,
            members: Vec::new(),
        }
    }
}
