//! Each relative link of a document leads to a file, and each anchor to a heading.

use crate::markdown::{anchors, links, pages_below, read, workspace};
use std::path::PathBuf;

/// The documents of the workspace: the book, `docs`, and the Markdown files of the packages.
fn documents() -> Vec<PathBuf> {
    let root = workspace();
    let mut found = pages_below(&root.join("book/src"));
    found.extend(pages_below(&root.join("docs")));
    found.extend(pages_below(&root.join(".github")));
    found.extend(pages_below(&root.join("dds-core/examples")));
    for folder in [root.clone()].into_iter().chain(packages()) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

fn packages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(workspace()).unwrap();
    entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("Cargo.toml").exists()).collect()
}

#[test]
fn relative_links_and_anchors_resolve() {
    let mut checked = 0;
    let mut broken = Vec::new();
    for document in documents() {
        let text = read(&document);
        for link in links(&text) {
            if link.contains("://") || link.starts_with("mailto:") {
                continue;
            }
            checked += 1;
            let (path, anchor) = match link.split_once('#') {
                Some((path, anchor)) => (path, Some(anchor)),
                None => (link.as_str(), None),
            };
            let target = match path {
                "" => document.clone(),
                path => document.parent().unwrap().join(path),
            };
            let is_heading = anchor.is_none_or(|anchor| {
                target.is_file() && anchors(&read(&target)).iter().any(|heading| heading == anchor)
            });
            if !target.exists() || !is_heading {
                broken.push(format!("{}: {link}", document.display()));
            }
        }
    }
    assert!(broken.is_empty(), "broken links:\n{}", broken.join("\n"));
    assert!(checked > 50, "{checked} links");
}

/// mdBook publishes only the folder of its pages. Links out of it name the repository by its address.
#[test]
fn book_links_stay_inside_the_book() {
    let source = workspace().join("book/src").canonicalize().unwrap();
    for page in pages_below(&source) {
        for link in links(&read(&page)) {
            let path = link.split('#').next().unwrap_or_default();
            if link.contains("://") || path.is_empty() {
                continue;
            }
            let target = page.parent().unwrap().join(path).canonicalize().unwrap();
            assert!(target.starts_with(&source), "{}: {link} leaves the book", page.display());
        }
    }
}

/// Links to files of the repository, by their address.
#[test]
fn repository_links_name_existing_files() {
    let root = workspace();
    let mut checked = 0;
    for document in documents() {
        for link in links(&read(&document)) {
            for kind in ["blob", "tree"] {
                let start = format!("https://github.com/dds-core/dds/{kind}/main/");
                let Some(path) = link.strip_prefix(&start) else { continue };
                let path = path.split('#').next().unwrap_or_default();
                assert!(root.join(path).exists(), "{}: {link}", document.display());
                checked += 1;
            }
        }
    }
    assert!(checked > 5, "{checked} links");
}
