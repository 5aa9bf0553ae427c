//! Elements of XML types as IDL.

use super::canvas::{Canvas, Piece};
use super::member::{self, Translated, attribute, is_true, name_of};
use roxmltree::{Document, Node};

/// Deepest nesting of modules. The front end for IDL has the same limit.
const LEVELS_MAX: usize = 200;

/// Returns the IDL of all types of a document, in pieces between its includes.
pub(super) fn translate(document: &Document<'_>) -> Translated<Vec<Piece>> {
    let mut canvas = Canvas::new(document.input_text());
    let mut has_types = false;
    for node in document.descendants() {
        // RTI Connext reads a `type_library` too.
        if node.has_tag_name_of("types") || node.has_tag_name_of("type_library") {
            has_types = true;
            children(&mut canvas, node, 0)?;
        }
    }
    if !has_types {
        return Err(("expected an element `types`".to_owned(), 0));
    }
    Ok(canvas.finish())
}

/// Local names, with or without a namespace.
trait LocalName {
    fn has_tag_name_of(&self, name: &str) -> bool;
}

impl LocalName for Node<'_, '_> {
    fn has_tag_name_of(&self, name: &str) -> bool {
        self.is_element() && self.tag_name().name() == name
    }
}

fn children(canvas: &mut Canvas<'_>, parent: Node<'_, '_>, level: usize) -> Translated<()> {
    if level > LEVELS_MAX {
        return Err((format!("more than {LEVELS_MAX} levels of elements"), parent.range().start));
    }
    for node in parent.children() {
        if node.is_element() {
            element(canvas, node, level)?;
        }
    }
    Ok(())
}

fn element(canvas: &mut Canvas<'_>, node: Node<'_, '_>, level: usize) -> Translated<()> {
    let start = node.range().start;
    match node.tag_name().name() {
        // Fast DDS has a `type` around each of them.
        "type" => children(canvas, node, level + 1),
        "module" => {
            canvas.put(start, &format!("module {} {{", name_of(node)?));
            children(canvas, node, level + 1)?;
            close(canvas, node)
        }
        "struct" | "sparse_struct" => structure(canvas, node),
        "union" => union(canvas, node),
        "enum" => enumeration(canvas, node),
        "bitmask" => bitmask(canvas, node),
        // XTypes 1.0 had bitmasks of this name.
        "bitset" if node.children().any(|child| child.has_tag_name_of("flag")) => bitmask(canvas, node),
        "bitset" => bitset(canvas, node),
        "typedef" => {
            let (ty, declarator) = member::declaration(node)?;
            let applied = member::applied_annotations(node)?;
            canvas.put(start, &format!("{applied}typedef {ty} {declarator};"));
            Ok(())
        }
        "const" => {
            let (ty, declarator) = member::declaration(node)?;
            let value = member::value(node, "value")?;
            let value = value.ok_or_else(|| ("a `const` has an attribute `value`".to_owned(), start))?;
            canvas.put(start, &format!("const {ty} {declarator} = {value};"));
            Ok(())
        }
        "forward_dcl" | "forwardDcl" => {
            let kind = attribute(node, &["kind"]).unwrap_or("struct");
            if kind != "struct" && kind != "union" {
                return Err((format!("expected `struct` or `union`, not `{kind}`"), start));
            }
            canvas.put(start, &format!("{kind} {};", name_of(node)?));
            Ok(())
        }
        "valuetype" => valuetype(canvas, node),
        "annotation" => annotation(canvas, node),
        "include" => {
            let file = attribute(node, &["file"]).unwrap_or_default();
            if file.is_empty() {
                return Err(("an `<include>` has an attribute `file`".to_owned(), start));
            }
            if !canvas.include(start, file) {
                return Err(("the document has too many `<include>` elements".to_owned(), start));
            }
            Ok(())
        }
        // A directive copies text to generated code of one language. An annotation of a module has no effect on data.
        "directive" | "annotate" => Ok(()),
        other => Err((format!("`<{other}>` is not supported among types"), start)),
    }
}

/// Closes the braces of an element at its end tag.
fn close(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    let range = node.range();
    let end_tag = node.tag_name().name().len() + "</>".len();
    canvas.put(range.end.saturating_sub(end_tag).max(range.start), "};");
    Ok(())
}

fn type_annotations(node: Node<'_, '_>) -> Translated<String> {
    let mut text = member::applied_annotations(node)?;
    let start = node.range().start;
    if let Some(extensibility) = attribute(node, &["extensibility"]) {
        match extensibility.to_ascii_lowercase().as_str() {
            "final" => text.push_str("@final "),
            "appendable" | "extensible" => text.push_str("@appendable "),
            "mutable" => text.push_str("@mutable "),
            other => return Err((format!("`{other}` is not an extensibility"), start)),
        }
    }
    match attribute(node, &["autoid", "autoId"]).map(str::to_ascii_lowercase).as_deref() {
        Some("hash") => text.push_str("@autoid(HASH) "),
        Some("sequential") => text.push_str("@autoid(SEQUENTIAL) "),
        Some(other) => {
            return Err((format!("`{other}` is not a rule for ids: expected `hash` or `sequential`"), start));
        }
        None => {}
    }
    let is_top_level = attribute(node, &["topLevel"]);
    let is_nested = attribute(node, &["nested"]).map(is_true).or_else(|| is_top_level.map(|value| !is_true(value)));
    match is_nested {
        Some(true) => text.push_str("@nested "),
        Some(false) => text.push_str("@nested(FALSE) "),
        None => {}
    }
    if let Some(bits) = attribute(node, &["bitBound", "bit_bound"]) {
        text.push_str(&format!("@bit_bound({}) ", member::expression(node, bits)?));
    }
    Ok(text)
}

/// A valuetype is a struct whose state members are its data. Its operations would be code.
fn valuetype(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    match attribute(node, &["typeModifier"]) {
        None | Some("none") => structure(canvas, node),
        Some(modifier) => {
            let message = format!("a valuetype with the modifier `{modifier}` is not data of a topic");
            Err((message, node.range().start))
        }
    }
}

/// The declaration of an annotation.
fn annotation(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    canvas.put(node.range().start, &format!("@annotation {} {{", name_of(node)?));
    for child in node.children().filter(Node::is_element) {
        let start = child.range().start;
        if child.tag_name().name() != "member" {
            return Err((format!("expected `<member>`, not `<{}>`", child.tag_name().name()), start));
        }
        let (ty, declarator) = member::declaration(child)?;
        let default = match member::value(child, "default")? {
            Some(value) => format!(" default {value}"),
            None => String::new(),
        };
        canvas.put(start, &format!("{ty} {declarator}{default};"));
    }
    close(canvas, node)
}

fn structure(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    // A valuetype of RTI Connext has a `baseClass`.
    let base = match attribute(node, &["baseType", "base_type", "baseClass"]) {
        Some(base) if !base.is_empty() => format!(" : {}", member::type_name(node, base)?),
        _ => String::new(),
    };
    let head = format!("{}struct {}{base} {{", type_annotations(node)?, name_of(node)?);
    canvas.put(node.range().start, &head);
    for child in node.children().filter(Node::is_element) {
        match child.tag_name().name() {
            "member" => canvas.put(child.range().start, &format!("{};", member::member(child)?)),
            "annotate" => {}
            other => return Err((format!("expected `<member>`, not `<{other}>`"), child.range().start)),
        }
    }
    close(canvas, node)
}

fn union(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    let start = node.range().start;
    let discriminator = node.children().find(|child| child.has_tag_name_of("discriminator"));
    let discriminator = discriminator.ok_or_else(|| ("a union has a `<discriminator>`".to_owned(), start))?;
    let key = if attribute(discriminator, &["key"]).is_some_and(is_true) { "@key " } else { "" };
    let tried = member::try_construct(discriminator)?;
    let ty = member::base_type(discriminator)?;
    canvas.put(start, &format!("{}union {} switch ({key}{tried}{ty}) {{", type_annotations(node)?, name_of(node)?));
    for case in node.children().filter(Node::is_element) {
        match case.tag_name().name() {
            "discriminator" | "annotate" => continue,
            "case" => {}
            other => return Err((format!("expected `<case>`, not `<{other}>`"), case.range().start)),
        }
        for child in case.children().filter(Node::is_element) {
            let start = child.range().start;
            match child.tag_name().name() {
                "caseDiscriminator" => {
                    let label = child.attribute("value").unwrap_or_default();
                    if label.trim() == "default" {
                        canvas.put(start, "default:");
                    } else {
                        canvas.put(start, &format!("case {}:", member::label(child, label, &ty)?));
                    }
                }
                "member" => canvas.put(start, &format!("{};", member::member(child)?)),
                other => return Err((format!("expected `<member>`, not `<{other}>`"), start)),
            }
        }
    }
    close(canvas, node)
}

fn enumeration(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    canvas.put(node.range().start, &format!("{}enum {} {{", type_annotations(node)?, name_of(node)?));
    let mut separator = "";
    for child in node.children().filter(Node::is_element) {
        let start = child.range().start;
        match child.tag_name().name() {
            "enumerator" => {}
            "annotate" => continue,
            other => return Err((format!("expected `<enumerator>`, not `<{other}>`"), start)),
        }
        let applied = member::applied_annotations(child)?;
        let value = match attribute(child, &["value"]) {
            Some(value) => format!("@value({}) ", member::expression(child, value)?),
            None => String::new(),
        };
        let default = if attribute(child, &["defaultLiteral", "default_literal"]).is_some_and(is_true) {
            "@default_literal "
        } else {
            ""
        };
        canvas.put(start, &format!("{separator}{applied}{default}{value}{}", name_of(child)?));
        separator = ", ";
    }
    close(canvas, node)
}

fn bitmask(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    canvas.put(node.range().start, &format!("{}bitmask {} {{", type_annotations(node)?, name_of(node)?));
    let mut separator = "";
    for child in node.children().filter(Node::is_element) {
        let start = child.range().start;
        match child.tag_name().name() {
            // `flag` in XTYPES, `bit_value` in Fast DDS.
            "flag" | "bit_value" | "bitValue" => {}
            "annotate" => continue,
            other => return Err((format!("expected `<flag>`, not `<{other}>`"), start)),
        }
        let applied = member::applied_annotations(child)?;
        let position = match attribute(child, &["position", "value"]) {
            Some(position) => format!("@position({}) ", member::expression(child, position)?),
            None => String::new(),
        };
        canvas.put(start, &format!("{separator}{applied}{position}{}", name_of(child)?));
        separator = ", ";
    }
    close(canvas, node)
}

fn bitset(canvas: &mut Canvas<'_>, node: Node<'_, '_>) -> Translated<()> {
    let base = match attribute(node, &["baseType", "base_type"]) {
        Some(base) if !base.is_empty() => format!(" : {}", member::type_name(node, base)?),
        _ => String::new(),
    };
    let applied = member::applied_annotations(node)?;
    canvas.put(node.range().start, &format!("{applied}bitset {}{base} {{", name_of(node)?));
    for child in node.children().filter(Node::is_element) {
        let start = child.range().start;
        match child.tag_name().name() {
            "bitfield" | "bitField" => {}
            "annotate" => continue,
            other => return Err((format!("expected `<bitfield>`, not `<{other}>`"), start)),
        }
        let applied = member::applied_annotations(child)?;
        let bits = attribute(child, &["bit_bound", "bitBound", "bitCount"]);
        let bits = bits.ok_or_else(|| ("a bitfield has an attribute `bit_bound`".to_owned(), start))?;
        let ty = match attribute(child, &["type"]) {
            Some(_) => format!(", {}", member::base_type(child)?),
            None => String::new(),
        };
        let name = match attribute(child, &["name"]) {
            Some("") | None => String::new(),
            Some(_) => name_of(child)?,
        };
        canvas.put(start, &format!("{applied}bitfield<{}{ty}> {name};", member::expression(child, bits)?));
    }
    close(canvas, node)
}
