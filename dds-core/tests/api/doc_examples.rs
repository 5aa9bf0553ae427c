//! Examples in the documentation stay isolated from other participants.
//!
//! They run in parallel, beside other programs. Each example that creates a participant keeps it on its host and uses
//! its own domain tag.

use std::fs;
use std::path::{Path, PathBuf};

/// Returns, for each faulty example, the line that creates a participant without isolation.
fn faults(source: &str) -> Vec<usize> {
    let mut faults = Vec::new();
    // The current example: whether it runs, and its lines so far with their numbers.
    let mut example: Option<(bool, Vec<(usize, &str)>)> = None;
    for (number, line) in (1..).zip(source.lines()) {
        let line = line.trim_start();
        let Some(text) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
        match (text.trim_start().strip_prefix("```"), &mut example) {
            (Some(words), None) => {
                let is_run =
                    !["no_run", "ignore", "text", "toml", "json", "compile_fail"].iter().any(|no| words.contains(no));
                example = Some((is_run, Vec::new()));
            }
            (Some(_), Some((is_run, lines))) => {
                let made = lines.iter().find(|(_, text)| text.contains("DomainParticipant::"));
                let is_apart = lines.iter().any(|(_, text)| text.contains(".domain_tag("))
                    && lines
                        .iter()
                        .any(|(_, text)| text.contains(".scope(Scope::Host)") || text.contains("::Scope::Host)"))
                    && !lines.iter().any(|(_, text)| text.contains("DomainParticipant::new("));
                if let (Some((number, _)), true, false) = (made, *is_run, is_apart) {
                    faults.push(*number);
                }
                example = None;
            }
            (None, Some((_, lines))) => lines.push((number, text)),
            (None, None) => {}
        }
    }
    faults
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    entries
        .flat_map(|path| match path.is_dir() {
            true => sources(&path),
            false => vec![path],
        })
        .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
        .collect()
}

/// Types that a program creates, waits with or receives notifications by. Each type's documentation has an example that
/// runs. Examples of loans, coherent sets and access are with the methods that create them.
const WITH_EXAMPLE: [&str; 39] = [
    "DomainParticipant",
    "DomainParticipantBuilder",
    "Weak",
    "Publisher",
    "PublisherListener",
    "Subscriber",
    "SubscriberListener",
    "Topic",
    "TopicSpec",
    "ContentFilteredTopic",
    "BuiltinTopic",
    "DataWriter",
    "DataWriterBuilder",
    "DataWriterListener",
    "WriteOptions",
    "DataReader",
    "DataReaderBuilder",
    "DataReaderListener",
    "Samples",
    "Select",
    "ReaderLosses",
    "WaitSet",
    "StatusCondition",
    "GuardCondition",
    "ReadCondition",
    "QueryCondition",
    "Waiting",
    "Events",
    "SampleStream",
    "Entity",
    "Error",
    "MatchReport",
    "DomainParticipantQos",
    "PublisherQos",
    "SubscriberQos",
    "TopicQos",
    "DataWriterQos",
    "DataReaderQos",
    "Preset",
];

/// Returns the types of a file that have an example that runs.
fn types_with_example(source: &str) -> Vec<String> {
    let mut types = Vec::new();
    let (mut has_example, mut is_code) = (false, false);
    for line in source.lines().map(str::trim_start) {
        if let Some(words) = line.strip_prefix("///").and_then(|text| text.trim_start().strip_prefix("```")) {
            is_code = !is_code;
            has_example |= is_code && (words.is_empty() || words.starts_with("compile_fail"));
        } else if !line.starts_with("///") && !line.starts_with("#[") {
            let mut words = line.split(|c: char| c != '_' && !c.is_alphanumeric()).filter(|word| !word.is_empty());
            // A type that a macro creates appears by its name alone.
            let name = words.find(|word| !["pub", "struct", "enum", "trait"].contains(word));
            types.extend(name.filter(|_| has_example).map(str::to_owned));
            (has_example, is_code) = (false, false);
        }
    }
    types
}

#[test]
fn created_types_have_examples() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let files = [sources(&root.join("src")), sources(&root.join("../dds-rtps/src/qos"))].concat();
    let with: Vec<String> =
        files.iter().flat_map(|path| types_with_example(&fs::read_to_string(path).expect("text"))).collect();
    let without: Vec<&str> = WITH_EXAMPLE.into_iter().filter(|name| !with.iter().any(|with| with == name)).collect();
    assert!(without.is_empty(), "without an example: {without:?}");
}

#[test]
fn type_without_example_is_found() {
    let source = "/// A.\n/// ```\n/// f();\n/// ```\n#[derive(Debug)]\npub struct A {\n/// B.\n/// ```text\n/// ```\npub struct B;\n/// C.\npub enum C {";
    assert_eq!(types_with_example(source), ["A"]);
}

#[test]
fn each_example_has_its_own_domain_tag() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut examples = 0;
    let mut shared = Vec::new();
    for path in sources(&root) {
        let source = fs::read_to_string(&path).expect("text");
        examples += source.matches(".domain_tag(std::process::id()").count();
        shared.extend(faults(&source).into_iter().map(|line| format!("{}:{line}", path.display())));
    }
    assert!(examples > 30, "{examples} examples: the test looks for something else than they say");
    assert!(shared.is_empty(), "hide a `#   .domain_tag(std::process::id().to_string())` in them:\n{shared:#?}");
}

#[test]
fn example_without_isolation_is_found() {
    let example =
        |fence: &str, line: &str| format!("/// ```{fence}\n/// # fn main() {{\n/// {line}\n/// # }}\n/// ```\n");
    let apart = "DomainParticipant::builder(0).scope(Scope::Host).domain_tag(tag).build();";
    assert_eq!(faults(&example("", apart)), [0; 0]);
    assert_eq!(faults(&example("", &apart.replace(".domain_tag(tag)", ""))), [3]);
    assert_eq!(faults(&example("", &apart.replace(".scope(Scope::Host)", ""))), [3]);
    assert_eq!(faults(&example("", "DomainParticipant::new(0);")), [3]);
    assert_eq!(faults(&example("no_run", "DomainParticipant::new(0);")), [0; 0]);
}

/// Returns the visible lines of examples that import a crate other than this one.
fn imports_of_internal_crates(source: &str) -> Vec<&str> {
    let mut is_code = false;
    let mut found = Vec::new();
    for line in source.lines().map(str::trim_start) {
        let Some(text) = line.strip_prefix("///").map(str::trim_start) else { continue };
        if text.starts_with("```") {
            is_code = !is_code;
        } else if is_code
            && !text.starts_with("# ")
            && ["dds_rtps", "dds_cdr", "dds_macros"].iter().any(|it| text.contains(it))
        {
            found.push(line);
        }
    }
    found
}

/// The documentation of this crate shows these examples, and its users have no other crate of the workspace.
#[test]
fn examples_of_exported_items_import_this_crate() {
    let source = "/// ```\n/// # use dds_cdr::A;\n/// use dds_rtps::B;\n/// ```\n/// dds_cdr\n";
    assert_eq!(imports_of_internal_crates(source), ["/// use dds_rtps::B;"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for folder in ["src", "../dds-macros/src", "../dds-cdr/src/cdr", "../dds-rtps/src/qos", "../dds-rtps/src/types"] {
        for file in sources(&root.join(folder)) {
            let text = fs::read_to_string(&file).expect("a source");
            assert_eq!(imports_of_internal_crates(&text), [""; 0], "{}", file.display());
        }
    }
}
