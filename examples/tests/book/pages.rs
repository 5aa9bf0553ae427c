//! The table of contents is complete, each Rust snippet is tested, and shown programs are those of the examples.

use crate::markdown::{blocks, links, pages_below, read, workspace};

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

/// `src/lib.rs` includes each page with Rust code as a documentation test, which runs each snippet.
///
/// Other tests run the whole programs, because some of them do not end by themselves.
#[test]
fn rust_snippets_are_documentation_tests() {
    let source = workspace().join("book/src");
    let library = include_str!("../../src/lib.rs");
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
            assert!(library.contains(&format!("\"{name}\"")), "src/lib.rs does not include {name}");
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
    documents.push(root.join("README.md"));
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
