//! The front end for XML types (feature `xml`): XTYPES 1.3, 7.3.2, DDS-XML 1.0, and the `<types>` of RTI Connext and
//! Fast DDS.
//!
//! In: a document with `<types>` at any place. Out: a resolved [`Specification`].
//!
//! XML types say the same as IDL, so `translate` writes each element as IDL, at the offset of the element. Therefore
//! only the front end for IDL checks the rules, and its errors name the line of the XML.
//!
//! | file | content |
//! |---|---|
//! | `translate` | elements as IDL |
//! | `member` | members, their types and annotations |
//! | `canvas` | text with the lines of the document |
//!
//! Not supported, and refused with an error: `<include>`, `<annotation>`, `<valuetype>`, and constants of `wchar`.

mod canvas;
mod member;
mod translate;

use crate::idl::{Options, parse_text};
use crate::model::{Diagnostic, IncorrectSource, SourceMap, Span, Specification};
use roxmltree::{Document, ParsingOptions};
use std::path::Path;
use std::sync::Arc;

/// Most elements and attributes of a document. A file of 1 MB has about 20 000 elements.
const NODES_MAX: u32 = 1 << 20;

/// Reads XML types from a file.
///
/// # Errors
/// The file cannot be read, is not XML, or its types are not correct.
pub fn parse_file(path: impl AsRef<Path>, options: &Options) -> Result<Specification, IncorrectSource> {
    let path = path.as_ref();
    match std::fs::read_to_string(path) {
        Ok(text) => parse_xml(path, &text, options),
        Err(error) => Err(refused(path, "", 0, format!("cannot read `{}`: {error}", path.display()))),
    }
}

/// Reads XML types from text. `path` stands in messages.
///
/// # Errors
/// The text is not XML, or its types are not correct.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::Options;
/// use dds_idl::xml::parse_xml;
///
/// let text = r#"<types><struct name="Pose" extensibility="final">
///     <member name="id" type="int32" key="true"/>
///     <member name="x" type="float64"/>
/// </struct></types>"#;
/// let specification = parse_xml("pose.xml", text, &Options::default())?;
/// assert!(specification.find("Pose").is_some());
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn parse_xml(path: impl AsRef<Path>, text: &str, options: &Options) -> Result<Specification, IncorrectSource> {
    let path = path.as_ref();
    // Documents with a DTD are refused, so entities cannot grow the text.
    let parsing = ParsingOptions { allow_dtd: false, nodes_limit: NODES_MAX, ..ParsingOptions::default() };
    let document = match Document::parse_with_options(text, parsing) {
        Ok(document) => document,
        Err(error) => {
            let offset = offset_of(text, error.pos());
            return Err(refused(path, text, offset, format!("not XML: {error}")));
        }
    };
    let idl = match translate::translate(&document) {
        Ok(idl) => idl,
        Err((message, offset)) => return Err(refused(path, text, offset, message)),
    };
    let shared: Arc<str> = text.into();
    match parse_text(path, &idl, options) {
        Ok(mut specification) => {
            specification.sources.replace_root(shared);
            Ok(specification)
        }
        Err(mut error) => {
            error.sources.replace_root(shared);
            Err(error)
        }
    }
}

fn offset_of(text: &str, position: roxmltree::TextPos) -> usize {
    let lines = usize::try_from(position.row).unwrap_or(usize::MAX).saturating_sub(1);
    let line = text.split_inclusive('\n').take(lines).map(str::len).sum::<usize>();
    line + usize::try_from(position.col).unwrap_or(usize::MAX).saturating_sub(1)
}

fn refused(path: &Path, text: &str, offset: usize, message: String) -> IncorrectSource {
    let mut sources = SourceMap::default();
    let file = sources.add(path, text, None);
    let offset = u32::try_from(offset.min(text.len())).unwrap_or(u32::MAX);
    let mut error = IncorrectSource { sources, ..IncorrectSource::default() };
    error.diagnostics.push(Diagnostic::error(message, Span::new(file, offset, offset)));
    error
}
