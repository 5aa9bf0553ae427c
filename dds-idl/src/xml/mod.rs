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
//! | `canvas` | text with the offsets of the document |
//! | `include` | documents that include others |
//!
//! An `<annotation>` declares an annotation, and `<annotate name="A">` inside of an element applies it. A `<valuetype>`
//! is a struct with the same members.
//!
//! Not supported, and refused with an error: a `<valuetype>` with a `typeModifier`, and constants of `wchar`.

mod canvas;
mod include;
mod member;
mod translate;

use crate::idl::{Options, parse_translated};
use crate::model::{Diagnostic, IncorrectSource, Specification};
use include::XmlReader;
use std::path::Path;

/// Reads XML types from a file, with the documents that it includes.
///
/// An `<include file="b.xml"/>` among the types is searched beside its document, and then in
/// [`Options::include_dirs`]. A document that is included twice is read once.
///
/// # Errors
/// A file cannot be read, is not XML, or its types are not correct.
pub fn parse_file(path: impl AsRef<Path>, options: &Options) -> Result<Specification, IncorrectSource> {
    let path = path.as_ref();
    let mut reader = XmlReader::new(options);
    let read = reader.read_root(path);
    specification(reader, read, options)
}

/// Reads XML types from text. `path` stands in messages, and an `<include>` is relative to its folder.
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
    let mut reader = XmlReader::new(options);
    let read = reader.read_text(path.as_ref(), text);
    specification(reader, read, options)
}

fn specification(
    reader: XmlReader<'_>,
    read: Result<(), Diagnostic>,
    options: &Options,
) -> Result<Specification, IncorrectSource> {
    let (sources, pieces) = reader.finish();
    match read {
        Ok(()) => parse_translated(sources, &pieces, options),
        Err(diagnostic) => {
            let mut error = IncorrectSource { sources, ..IncorrectSource::default() };
            error.diagnostics.push(diagnostic);
            Err(error)
        }
    }
}
