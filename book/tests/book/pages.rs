//! The table of contents is complete, each Rust snippet is tested, and shown programs are those of the examples.

use crate::markdown::{blocks, files_below, links, pages_below, read, workspace};
use std::path::PathBuf;

#[test]
fn summary_lists_each_page() {
    let source = workspace().join("book/src");
    let summary = read(&source.join("SUMMARY.md"));
    let listed = links(&summary);
    for page in pages_below(&source) {
        let name = page.strip_prefix(&source).unwrap().to_str().unwrap();
        assert!(name == "SUMMARY.md" || listed.iter().any(|link| link == name), "SUMMARY.md does not list {name}");
    }
    for link in &listed {
        assert!(source.join(link).exists(), "SUMMARY.md lists {link}, which does not exist");
    }
}

/// `lib.rs` includes each page with Rust code as a documentation test, which runs each snippet.
///
/// Other tests run the whole programs, because some of them do not end by themselves.
#[test]
fn rust_snippets_are_documentation_tests() {
    let source = workspace().join("book/src");
    let library = include_str!("../../lib.rs");
    let mut snippets = 0;
    for page in pages_below(&source) {
        let name = page.strip_prefix(&source).unwrap().to_str().unwrap();
        for block in blocks(&read(&page)) {
            assert!(!block.info.is_empty(), "{name}: a code block without a language is Rust code for rustdoc");
            if !block.info.starts_with("rust") {
                continue;
            }
            let is_program = block.before.starts_with("<!-- program: ");
            assert_eq!(block.info, if is_program { "rust,no_run" } else { "rust" }, "{name}: a snippet does not run");
            assert!(library.contains(&format!("\"{name}\"")), "lib.rs does not include {name}");
            snippets += 1;
        }
    }
    assert!(snippets > 5, "{snippets} snippets");
}

/// A block after `<!-- program: PATH -->` has the text of that file from its first `use` on.
///
/// `UPDATE_BOOK=1` writes it.
#[test]
fn shown_programs_are_those_of_the_examples() {
    let root = workspace();
    let mut documents = pages_below(&root.join("book/src"));
    documents.extend(["README.md", "dds-core/README.md"].map(|path| root.join(path)));
    let mut shown = 0;
    for document in documents {
        for block in blocks(&read(&document)) {
            let Some(path) = block.before.strip_prefix("<!-- program: ") else { continue };
            let path = path.trim_end_matches(" -->");
            let file = read(&root.join(path));
            let start = file.find("\nuse ").unwrap() + 1;
            if block.code != file[start..] && std::env::var_os("UPDATE_BOOK").is_some() {
                std::fs::write(&document, read(&document).replacen(&block.code, &file[start..], 1)).unwrap();
                continue;
            }
            assert_eq!(block.code, file[start..], "{} shows another {path}", document.display());
            shown += 1;
        }
    }
    assert!(shown >= 2 || std::env::var_os("UPDATE_BOOK").is_some(), "{shown} programs");
}

#[test]
fn each_example_and_document_is_listed() {
    for (folder, extension) in [("dds-core/examples", "rs"), ("docs", "md")] {
        let folder = workspace().join(folder);
        let list = read(&folder.join("README.md"));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            if name.ends_with(extension) && name != "README.md" {
                assert!(list.contains(&format!("({name})")), "{}: README.md does not list {name}", folder.display());
            }
        }
    }
}

/// Otherwise the documentation tests of a published package would not compile.
#[test]
fn packages_contain_the_documents_of_their_sources() {
    let mut checked = 0;
    for package in packages() {
        let package = package.canonicalize().unwrap();
        for source in files_below(&package.join("src"), "rs") {
            for line in read(&source).lines() {
                let Some(path) = line.trim_start().strip_prefix("#[doc = include_str!(\"") else { continue };
                let document = source.parent().unwrap().join(path.split('"').next().unwrap()).canonicalize().unwrap();
                assert!(document.starts_with(&package), "{}: {}", source.display(), document.display());
                checked += 1;
            }
        }
    }
    assert!(checked >= 4, "{checked} documents");
}

/// The folders of the packages that are published.
fn packages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(workspace()).unwrap();
    let is_published = |folder: &PathBuf| {
        let manifest = folder.join("Cargo.toml");
        manifest.exists() && !read(&manifest).contains("\npublish = false\n")
    };
    entries.map(|entry| entry.unwrap().path()).filter(is_published).collect()
}
