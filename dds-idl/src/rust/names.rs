//! Modules and names of all items.

use super::case;
use crate::model::{DefinitionId, DefinitionKind, EnumDefinition, Specification};
use std::collections::{HashMap, HashSet};

/// Place and name of an item.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct RustItemPath {
    /// The modules from the root of the generated file.
    pub(super) modules: Vec<String>,
    /// The name in the last module.
    pub(super) ident: String,
}

/// Places and names of all items, each unique in its module.
#[derive(Debug, Default)]
pub(super) struct RustNames {
    items: HashMap<DefinitionId, RustItemPath>,
    variants: HashMap<DefinitionId, Vec<String>>,
    taken: HashSet<RustItemPath>,
}

/// Identifiers of one struct or enum.
#[derive(Debug, Default)]
pub(super) struct LocalNames(HashSet<String>);

impl RustNames {
    pub(super) fn of(specification: &Specification) -> Self {
        let mut names = Self::default();
        names.assign(specification, specification.roots(), &[], "");
        names
    }

    /// Returns the place of an item; `None` for a definition without an item.
    pub(super) fn item(&self, id: DefinitionId) -> Option<&RustItemPath> {
        self.items.get(&id)
    }

    /// Returns the names of the variants of an enum.
    pub(super) fn variants(&self, id: DefinitionId) -> &[String] {
        self.variants.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Returns whether a module has an item of this name, which hides that of the prelude.
    pub(super) fn hides(&self, modules: &[String], ident: &str) -> bool {
        self.taken.contains(&RustItemPath { modules: modules.to_vec(), ident: ident.to_owned() })
    }

    /// Returns the path of an item as code of another module names it.
    pub(super) fn path_from(&self, modules: &[String], id: DefinitionId) -> String {
        let Some(item) = self.item(id) else {
            debug_assert!(false, "each data type has an item");
            return String::new();
        };
        let common = modules.iter().zip(&item.modules).take_while(|(one, two)| one == two).count();
        let mut path = "super::".repeat(modules.len() - common);
        for module in item.modules.iter().skip(common) {
            path.push_str(module);
            path.push_str("::");
        }
        path.push_str(&item.ident);
        path
    }

    /// Names the definitions of a module. Those whose names are idiomatic already keep them.
    fn assign(&mut self, specification: &Specification, ids: &[DefinitionId], modules: &[String], prefix: &str) {
        let mut late = Vec::new();
        for &id in ids {
            let name = &specification.definition(id).name;
            let ident = ident_of(specification, id, prefix);
            if case::without_escape(&ident) != &**name || !self.take(id, modules, &ident) {
                late.push((id, ident));
            }
        }
        for (id, ident) in late {
            let mut number = 2;
            let mut unique = ident.clone();
            while !self.take(id, modules, &unique) {
                unique = format!("{ident}{number}");
                number += 1;
            }
        }
        for &id in ids {
            self.assign_inside(specification, id, modules);
        }
    }

    fn assign_inside(&mut self, specification: &Specification, id: DefinitionId, modules: &[String]) {
        let children = specification.children(id);
        let definition = specification.definition(id);
        if let DefinitionKind::Enum(definition) = &definition.kind {
            let own_name = specification.definition(id).name.as_ref();
            self.variants.insert(id, variant_names(own_name, definition));
        }
        let ident = self.item(id).map(|item| item.ident.clone()).unwrap_or_default();
        match definition.kind {
            DefinitionKind::Module(_) | DefinitionKind::Interface(_) => {
                let mut inner = modules.to_vec();
                inner.push(ident);
                self.assign(specification, &children, &inner, "");
            }
            // The types of an annotation's parameters are not data.
            DefinitionKind::Annotation(_) => {}
            // A type inside of a struct stands beside it.
            _ => self.assign(specification, &children, modules, &ident),
        }
    }

    fn take(&mut self, id: DefinitionId, modules: &[String], ident: &str) -> bool {
        let path = RustItemPath { modules: modules.to_vec(), ident: ident.to_owned() };
        if !self.taken.insert(path.clone()) {
            return false;
        }
        self.items.insert(id, path);
        true
    }
}

impl LocalNames {
    /// Returns the name, with a number if it is taken.
    pub(super) fn unique(&mut self, ident: String) -> String {
        let mut unique = ident.clone();
        let mut number = 2;
        while !self.0.insert(unique.clone()) {
            unique = format!("{}{number}", case::without_escape(&ident));
            number += 1;
        }
        unique
    }
}

fn ident_of(specification: &Specification, id: DefinitionId, prefix: &str) -> String {
    let definition = specification.definition(id);
    match definition.kind {
        DefinitionKind::Module(_) | DefinitionKind::Interface(_) => case::module_name(&definition.name),
        DefinitionKind::Constant(_) => case::constant_name(&definition.name),
        _ => format!("{prefix}{}", case::type_name(&definition.name)),
    }
}

/// The variants of an enum. A prefix that repeats the name of the enum is left out, as in `COLOR_RED`.
fn variant_names(name: &str, definition: &EnumDefinition) -> Vec<String> {
    let prefix = format!("{}_", case::constant_name(name));
    let rest = |text: &str| -> Option<String> {
        let rest = text.strip_prefix(&prefix)?;
        let starts_with_letter = rest.starts_with(|first: char| first.is_ascii_alphabetic());
        if starts_with_letter { Some(rest.to_owned()) } else { None }
    };
    let stripped: Option<Vec<String>> = definition.enumerators.iter().map(|literal| rest(&literal.name)).collect();
    let texts = stripped.unwrap_or_else(|| definition.enumerators.iter().map(|found| found.name.to_string()).collect());
    let mut names = LocalNames::default();
    texts.iter().map(|text| names.unique(case::upper_camel(text))).collect()
}
