//! Any text as IDL, or as XML types: the front ends return types or errors, and render every diagnostic.
//!
//! Correct types then pass through the back ends.

#![no_main]

use dds_idl::description::{DescriptionForm, dynamic_type, type_graph};
use dds_idl::idl::{Options, parse_text};
use dds_idl::model::Specification;
use dds_idl::print::{to_idl, to_xml};
use dds_idl::rust::{RustOptions, generate};
use dds_idl::xml::parse_xml;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    // A path without a folder, so that no include finds a file.
    let (path, options) = ("/nonexistent/fuzz.idl", Options::default());
    let result =
        if text.starts_with('<') { parse_xml(path, text, &options) } else { parse_text(path, text, &options) };
    match result {
        Ok(found) => {
            let _ = found.diagnostics.render(&found.sources, false);
            describe(&found);
        }
        Err(error) => assert!(error.diagnostics.has_errors() && !error.to_string().is_empty()),
    }
});

fn describe(specification: &Specification) {
    let _ = to_idl(specification);
    let _ = to_xml(specification);
    let _ = generate(specification, &RustOptions::default());
    for (id, definition) in specification.definitions().take(64) {
        assert!(!definition.scoped_name.is_empty());
        if !definition.is_data_type() {
            continue;
        }
        for form in [DescriptionForm::Standard, DescriptionForm::Rust] {
            if let Ok(graph) = type_graph(specification, id, form) {
                assert!(!graph.types().is_empty());
            }
        }
        let _ = dynamic_type(specification, id);
    }
}
