//! Unions: enums with data.

use super::data_type::{TypeSpelling, basic_name};
use super::names::LocalNames;
use super::structure::{EQUAL, PARTIALLY_EQUAL, default_impl, expected_id, extensibility, member_field, notes};
use super::{RustGenerator, attribute, case, kept, layout};
use crate::model::{
    AutoIdKind, BasicType, DataType, DefinitionId, DefinitionKind, Diagnostics, TryConstruct, UnionBranch,
    UnionDefinition,
};

/// The discriminator of a union.
struct DiscriminatorText<'a> {
    generator: &'a RustGenerator<'a>,
    /// The type behind all typedefs.
    ty: &'a DataType,
    /// The type in the attribute, which may be `octet` or `bitmask<..>`.
    attribute: String,
    /// The type of a field.
    field: String,
}

pub(super) fn item(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    union: &UnionDefinition,
    errors: &mut Diagnostics,
) -> String {
    let specification = generator.specification;
    let Some(place) = generator.names.item(id) else { return String::new() };
    let Some(discriminator) = DiscriminatorText::of(generator, &place.modules, union) else {
        debug_assert!(false, "the parser checks the type of the discriminator");
        return String::new();
    };
    let mut names = LocalNames::default();
    let (mut variants, mut code) = (Vec::new(), String::new());
    let mut next_id = 1;
    for branch in &union.branches {
        let variant = names.unique(case::upper_camel(&branch.member.name));
        let mut field = member_field(generator, id, &branch.member, variant.clone(), errors);
        // The derive has these words for the members of structs only.
        field.words.retain(|word| word != "must_understand" && !word.starts_with("default"));
        if branch.member.id != expected_id(&branch.member, union.auto_id, next_id) {
            field.words.push(format!("id = {}", branch.member.id));
        }
        next_id = branch.member.id.saturating_add(1);
        field.words.extend(discriminator.case_words(branch));
        let doc = layout::documentation(branch.member.doc.as_deref(), &notes(&branch.member.annotations));
        let data = if stores_discriminator(branch) {
            format!(" {{ #[dds(discriminator)] discriminator: {}, value: {} }}", discriminator.field, field.ty)
        } else {
            format!("({})", field.ty)
        };
        code.push_str(&format!("{doc}{}{variant}{data},\n", attribute(&field.words)));
        variants.push(variant);
    }
    let possible = generator.facts.traits(id);
    let derived = if possible.eq { EQUAL } else { PARTIALLY_EQUAL };
    let definition = specification.definition(id);
    let doc = layout::documentation(definition.doc.as_deref(), &[]);
    let derives = generator.derives(derived, possible.serde);
    let attribute = generator.type_attribute(id, type_words(id, union, &discriminator));
    let mut code = format!("{doc}{derives}{attribute}pub enum {} {{\n{code}}}\n", place.ident);
    if possible.default {
        code.push_str(&default_value(generator, id, union, &variants, &discriminator));
    }
    code
}

fn type_words(id: DefinitionId, union: &UnionDefinition, discriminator: &DiscriminatorText<'_>) -> Vec<String> {
    let mut words = vec![extensibility(union.extensibility).to_owned()];
    words.push(format!("discriminator = {}", discriminator.attribute));
    let is_key = union.discriminator.annotations.is_key();
    if is_key {
        words.push("key".to_owned());
    }
    if union.auto_id == AutoIdKind::Hash {
        words.push("autoid = \"hash\"".to_owned());
    }
    if union.is_nested {
        words.push("nested".to_owned());
    }
    if discriminator.generator.keys.contributes_member_keys(id) {
        words.push("member_keys".to_owned());
    }
    if kept::of_discriminator(discriminator.generator.specification, union) == TryConstruct::UseDefault {
        words.push("try_construct = \"use_default\"".to_owned());
    }
    words
}

/// Several discriminators select such a branch, and the value keeps the one that it had.
fn stores_discriminator(branch: &UnionBranch) -> bool {
    branch.is_default || branch.labels.len() > 1
}

/// `Default`: the branch of the default discriminator, or the first one.
fn default_value(
    generator: &RustGenerator<'_>,
    id: DefinitionId,
    union: &UnionDefinition,
    variants: &[String],
    discriminator: &DiscriminatorText<'_>,
) -> String {
    let Some(place) = generator.names.item(id) else { return String::new() };
    let usual = discriminator.default_label();
    let selected = union.branches.iter().position(|branch| branch.labels.contains(&usual));
    let selected = selected.or_else(|| union.branches.iter().position(|branch| branch.is_default)).unwrap_or(0);
    let (Some(branch), Some(variant)) = (union.branches.get(selected), variants.get(selected)) else {
        debug_assert!(false, "a union has a branch");
        return String::new();
    };
    let text = generator.text(&place.modules, TypeSpelling::Alias);
    let is_boxed =
        branch.member.is_external() || generator.facts.needs_box(generator.specification, id, &branch.member.ty);
    let mut value = text.default_value(&branch.member.ty);
    if is_boxed {
        value = format!("{}::new({value})", text.prelude("Box"));
    }
    let label = if branch.is_default || branch.labels.contains(&usual) {
        usual
    } else {
        branch.labels.first().copied().unwrap_or(usual)
    };
    let body = if stores_discriminator(branch) {
        format!("Self::{variant} {{\ndiscriminator: {},\nvalue: {value},\n}}", discriminator.label(label))
    } else {
        format!("Self::{variant}({value})")
    };
    default_impl(&text.prelude("Default"), &place.ident, &body)
}

impl<'a> DiscriminatorText<'a> {
    /// Returns `None` for a type that is no discriminator.
    fn of(generator: &'a RustGenerator<'a>, modules: &[String], union: &'a UnionDefinition) -> Option<Self> {
        let ty = generator.specification.resolve(&union.discriminator.ty);
        let (mut attribute, field) = match ty {
            DataType::Basic(BasicType::WChar) => (None, format!("{}::Char16", generator.cdr())),
            DataType::Basic(basic) => (None, basic_name(*basic).to_owned()),
            DataType::Named(id) => {
                let field = generator.names.path_from(modules, *id);
                match &generator.specification.definition(*id).kind {
                    DefinitionKind::Enum(_) => (None, field),
                    DefinitionKind::Bitmask(_) => (Some(format!("bitmask<{field}>")), field),
                    _ => return None,
                }
            }
            _ => return None,
        };
        if *ty == DataType::Basic(BasicType::Octet) {
            attribute = Some("octet".to_owned());
        }
        let attribute = attribute.unwrap_or_else(|| field.clone());
        Some(Self { generator, ty, attribute, field })
    }

    /// `case = 1`, `case = [1, 2]` and `default`.
    fn case_words(&self, branch: &UnionBranch) -> Vec<String> {
        let labels: Vec<String> = branch.labels.iter().map(|label| self.label(*label)).collect();
        let mut words = Vec::new();
        match labels.as_slice() {
            [] => {}
            [label] => words.push(format!("case = {label}")),
            labels => words.push(format!("case = [{}]", labels.join(", "))),
        }
        if branch.is_default {
            words.push("default".to_owned());
        }
        words
    }

    /// The default of the discriminator.
    fn default_label(&self) -> i64 {
        let DataType::Named(id) = self.ty else { return 0 };
        let DefinitionKind::Enum(definition) = &self.generator.specification.definition(*id).kind else { return 0 };
        definition.enumerators.get(definition.default_index()).map_or(0, |literal| literal.value.into())
    }

    /// A label as an expression, which is also a pattern.
    fn label(&self, label: i64) -> String {
        let code = u32::try_from(label).unwrap_or_default();
        match self.ty {
            DataType::Basic(BasicType::Bool) => (label != 0).to_string(),
            DataType::Basic(BasicType::Char) => format!("{:?}", char::from_u32(code).unwrap_or_default()),
            DataType::Basic(BasicType::WChar) => format!("{}::Char16({code})", self.generator.cdr()),
            DataType::Named(id) => match &self.generator.specification.definition(*id).kind {
                DefinitionKind::Enum(definition) => {
                    let index = definition.enumerators.iter().position(|literal| i64::from(literal.value) == label);
                    let variant = index.and_then(|index| self.generator.names.variants(*id).get(index));
                    debug_assert!(variant.is_some(), "each label is an enumerator");
                    format!("{}::{}", self.field, variant.map(String::as_str).unwrap_or_default())
                }
                DefinitionKind::Bitmask(definition) => {
                    // A label may also be no flag, or several of them.
                    match definition.flags.iter().find(|flag| 1_u64 << flag.position == label.cast_unsigned()) {
                        Some(flag) => format!("{}::{}", self.field, flag.name),
                        None => format!("{}({})", self.field, label.cast_unsigned()),
                    }
                }
                _ => {
                    debug_assert!(false, "a named discriminator is an enum or a bitmask");
                    label.to_string()
                }
            },
            _ => label.to_string(),
        }
    }
}
