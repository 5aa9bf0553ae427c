//! The back end for text: IDL and XML, which read back as the same types, and JSON Schema.
//!
//! In: a resolved [`Specification`]. Out: IDL 4.2, XML types, or a schema of the samples as JSON.
//!
//! IDL gives what options of a front end would decide: the extensibility always, and `@nested`, `@autoid` and
//! `@id` where the defaults of the standard differ. Macros, includes and expressions are gone; a comment stands before
//! its definition. Definitions without a content in the model, such as components, are only declared.
//!
//! | file | content |
//! |---|---|
//! | `order` | what a definition needs before it |
//! | `definition` | the definitions |
//! | `value` | names, types, values, annotations and comments |
//! | `xml` | XML types |
//! | `xml_loss` | warnings for what XML types lack |
//! | `json_schema` | JSON Schema |

mod definition;
mod json_schema;
mod order;
mod value;
mod xml;
mod xml_loss;

pub use json_schema::to_json_schema;
pub use xml::{XmlText, to_xml};

use crate::model::{AutoIdKind, DefinitionId, DefinitionKind, Specification};
use std::collections::{HashMap, HashSet};

/// Returns the IDL text of all definitions.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
/// use dds_idl::print::to_idl;
///
/// let text = "module robot { struct Pose { @key long id; double x, y; }; };";
/// let specification = parse_text("robot.idl", text, &Options::default())?;
/// let expected = "\
/// module robot {
///     @appendable
///     struct Pose {
///         @key int32 id;
///         double x;
///         double y;
///     };
/// };
/// ";
/// assert_eq!(to_idl(&specification), expected);
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
#[must_use]
pub fn to_idl(specification: &Specification) -> String {
    let mut printer = IdlPrinter {
        specification,
        text: String::new(),
        open: Vec::new(),
        opened: HashSet::new(),
        written: HashSet::new(),
        declared: HashSet::new(),
        names: value::name_counts(specification),
        shared_enumerators: value::shared_enumerators(specification),
        is_plain: false,
    };
    for id in order::leaves(specification) {
        printer.write_with_needs(id);
    }
    printer.enter(None);
    printer.text
}

struct IdlPrinter<'a> {
    specification: &'a Specification,
    text: String,
    open: Vec<OpenModule>,
    /// Modules whose comment and annotations stand in the text.
    opened: HashSet<DefinitionId>,
    written: HashSet<DefinitionId>,
    declared: HashSet<DefinitionId>,
    /// How often each name is used, in lowercase.
    names: HashMap<String, usize>,
    /// Scopes, and the enumerators that several enums of the scope have.
    shared_enumerators: HashSet<(Option<DefinitionId>, &'a str)>,
    /// Whether the text is in a place where types have no annotations.
    is_plain: bool,
}

/// A module that the text is in, and the defaults for its types.
#[derive(Clone, Copy)]
struct OpenModule {
    id: DefinitionId,
    is_nested: bool,
    auto_id: AutoIdKind,
}

impl IdlPrinter<'_> {
    /// Writes a definition, and before it each definition that it needs.
    fn write_with_needs(&mut self, id: DefinitionId) {
        let mut stack = vec![(id, false)];
        let mut started = HashSet::new();
        while let Some((id, is_ready)) = stack.pop() {
            if self.written.contains(&id) {
                continue;
            }
            let needs = order::needs(self.specification, id);
            if !is_ready && started.insert(id) {
                stack.push((id, true));
                for need in needs.complete {
                    if !self.written.contains(&need) && !started.contains(&need) {
                        stack.push((need, false));
                    }
                }
                continue;
            }
            for need in needs.declared {
                if !self.written.contains(&need) && self.declared.insert(need) {
                    self.enter(self.specification.definition(need).parent);
                    self.declaration(need);
                }
            }
            self.enter(self.specification.definition(id).parent);
            self.definition(id);
            self.written.insert(id);
        }
    }

    /// Closes and opens modules until the text is in a module.
    fn enter(&mut self, module: Option<DefinitionId>) {
        let mut path = Vec::new();
        let mut current = module;
        while let Some(id) = current {
            path.push(id);
            current = self.specification.definition(id).parent;
        }
        path.reverse();
        let common = self.open.iter().zip(&path).take_while(|(open, id)| open.id == **id).count();
        while self.open.len() > common {
            self.open.pop();
            self.line("};");
        }
        for id in path.into_iter().skip(common) {
            let specification = self.specification;
            let definition = specification.definition(id);
            let outer = self.open.last().copied();
            let mut module = OpenModule {
                id,
                is_nested: outer.is_some_and(|outer| outer.is_nested),
                auto_id: outer.map_or(AutoIdKind::Sequential, |outer| outer.auto_id),
            };
            self.separate();
            if self.opened.insert(id) {
                self.comment(definition.doc.as_deref());
                for annotation in &definition.annotations {
                    let text = self.annotation(&annotation.kind);
                    self.line(&text);
                }
                module.is_nested = definition.annotations.default_nested().unwrap_or(module.is_nested);
                module.auto_id = definition.annotations.auto_id().unwrap_or(module.auto_id);
            }
            let name = value::identifier(&definition.name);
            self.line(&format!("module {name} {{"));
            self.open.push(module);
        }
    }

    /// The declaration of a struct or union whose definition follows.
    fn declaration(&mut self, id: DefinitionId) {
        let definition = self.specification.definition(id);
        let keyword = if let DefinitionKind::Union(_) = definition.kind { "union" } else { "struct" };
        self.line(&format!("{keyword} {};", value::identifier(&definition.name)));
    }

    /// Adds a line with the indentation of the open modules.
    fn line(&mut self, line: &str) {
        self.indented(0, line);
    }

    /// Adds a line inside of definitions.
    fn indented(&mut self, depth: usize, line: &str) {
        let spaces = if line.is_empty() { 0 } else { (self.open.len() + depth) * 4 };
        self.text.push_str(&" ".repeat(spaces));
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Adds an empty line behind a definition.
    fn separate(&mut self) {
        if self.text.ends_with(";\n") {
            self.text.push('\n');
        }
    }
}
