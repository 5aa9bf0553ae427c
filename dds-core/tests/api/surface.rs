//! The public surface is that of `api.txt`. A change of it is a decision, so it touches that file.
//!
//! The test parses the sources. It lists the names that `lib.rs` exports, their public methods, fields and variants,
//! and the invocations of the macros that define methods. `UPDATE_API=1` writes the file.

use crate::support::World;
use dds_core::qos::{
    AccessScope, DurabilityService, EntityFactory, History, Liveliness, LivelinessKind, Presentation, PublisherQos,
    ReaderDataLifecycle, Reliability, ResourceLimits, SubscriberQos, TypeConsistency, TypeConsistencyKind,
    WriterDataLifecycle,
};
use dds_core::{DdsType, Duration};
use quote::ToTokens;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::{Attribute, Fields, File, ImplItem, Item, TraitItem, UseTree, Visibility};

/// Limit of exported types, traits and constants with the default features.
const ITEMS_MAX: usize = 170;

/// Limit of those with all features.
const ALL_ITEMS_MAX: usize = 213;

/// Modules and names that exist with a feature only.
const OF_FEATURES: [&str; 4] = ["dynamic::", "security::", "sim::", "error::ProfileProblem"];

/// Most names outside of modules.
const ROOT_MAX: usize = 26;

/// Types that stay as they are, so that programs may match or construct them without a remainder.
const CLOSED: [&str; 38] = [
    // Wrappers of one value.
    "Bounded",
    "Char16",
    "MemberId",
    "OrDefault",
    "RosWString",
    "SequenceNumber",
    "Trimmed",
    "VendorId",
    // Pairs of two parts.
    "Sample",
    "Encoded",
    "Raw",
    "SampleIdentity",
    // An endpoint is a writer or a reader.
    "EndpointQos",
    // The standards number them.
    "Guid",
    "Locator",
    "InstanceState",
    "SampleState",
    "ViewState",
    "AccessScope",
    "DataRepresentation",
    "DestinationOrder",
    "Durability",
    "History",
    "LivelinessKind",
    "Ownership",
    "Reliability",
    "TypeConsistencyKind",
    "Encoding",
    "Extensibility",
    "TryConstruct",
    // Programs build them from one of their constants, and the rest follows by `..`.
    "Conditions",
    "Burst",
    "Interference",
    // Topics have them as members. A reader of an older version would refuse others.
    "LatencyBucket",
    "LatencyKind",
    "SecurityEventProperty",
    "SecurityEventTime",
    "SecuritySeverity",
];

/// Macros that define public methods or types, which this test does not expand.
const MACROS: [&str; 6] = ["endpoint_methods", "entity_methods", "qos_setters", "setters", "choice_setters", "family"];

#[derive(DdsType)]
struct Log {
    text: String,
}

/// Name of an item, and the crates that may define it.
type Exports = BTreeMap<String, (String, bool)>;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).to_owned()
}

fn parsed(path: &Path) -> File {
    syn::parse_file(&std::fs::read_to_string(path).unwrap()).unwrap_or_else(|error| panic!("{path:?}: {error}"))
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

fn is_hidden(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("doc") && attribute.meta.to_token_stream().to_string().contains("hidden")
    })
}

/// Names at the ends of a `use` tree, with the first segment of their path.
fn leaves(tree: &UseTree, first: Option<&str>, found: &mut Vec<(String, bool)>) {
    match tree {
        UseTree::Path(path) => {
            let name = path.ident.to_string();
            leaves(&path.tree, Some(first.unwrap_or(&name)), found);
        }
        UseTree::Group(group) => group.items.iter().for_each(|item| leaves(item, first, found)),
        UseTree::Name(name) => found.push((name.ident.to_string(), first.is_some_and(|first| first != "dds_rtps"))),
        UseTree::Rename(rename) => found.push((rename.rename.to_string(), true)),
        UseTree::Glob(_) => panic!("a glob exports names without a choice"),
    }
}

/// Adds the exports of the items of a module.
fn exports(items: &[Item], module: &str, file: &Path, all: &mut Exports) {
    for item in items {
        let mut names = Vec::new();
        match item {
            Item::Use(used) if is_public(&used.vis) && !is_hidden(&used.attrs) => leaves(&used.tree, None, &mut names),
            Item::Mod(inner) if is_public(&inner.vis) && !is_hidden(&inner.attrs) => {
                let name = inner.ident.to_string();
                names.push((name.clone(), true));
                match &inner.content {
                    Some((_, items)) => exports(items, &format!("{module}{name}::"), file, all),
                    None => {
                        let path = file.with_file_name(&name).join("mod.rs");
                        exports(&parsed(&path).items, &format!("{module}{name}::"), &path, all);
                    }
                }
            }
            _ => {}
        }
        for (name, is_own) in names {
            all.insert(format!("{module}{name}"), (name, is_own));
        }
    }
}

/// All source files of a crate.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "tests") {
                sources(&path, found);
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Tokens as text, without the spaces around punctuation.
fn text(tokens: &impl ToTokens) -> String {
    let mut text = tokens.to_token_stream().to_string();
    for (from, to) in [
        (" ::", "::"),
        (":: ", "::"),
        (" <", "<"),
        ("< ", "<"),
        (" >", ">"),
        ("& ", "&"),
        (" (", "("),
        ("( ", "("),
        (" )", ")"),
        (" ,", ","),
        (" :", ":"),
        (",)", ")"),
        (" ;", ";"),
        ("- >", "->"),
        ("->", " -> "),
        ("  ", " "),
    ] {
        text = text.replace(from, to);
    }
    text
}

fn fields(owner: &str, fields: &Fields, lines: &mut BTreeSet<String>) {
    for field in fields {
        if let (Some(name), true) = (&field.ident, is_public(&field.vis)) {
            lines.insert(format!("{owner}.{name}: {}", text(&field.ty)));
        }
    }
}

/// Adds the lines of the items of one file.
fn describe(items: &[Item], names: &BTreeSet<&str>, lines: &mut BTreeSet<String>) {
    for item in items {
        match item {
            Item::Struct(data) if names.contains(&*data.ident.to_string()) => {
                fields(&data.ident.to_string(), &data.fields, lines);
            }
            Item::Enum(choice) if names.contains(&*choice.ident.to_string()) => {
                for variant in &choice.variants {
                    lines.insert(format!("{}::{}", choice.ident, variant.ident));
                }
            }
            Item::Trait(of) if names.contains(&*of.ident.to_string()) => {
                for member in &of.items {
                    if let TraitItem::Fn(method) = member {
                        if !is_hidden(&method.attrs) {
                            lines.insert(format!("{}: {}", of.ident, text(&method.sig)));
                        }
                    }
                }
            }
            Item::Impl(methods) if methods.trait_.is_none() => {
                let syn::Type::Path(of) = &*methods.self_ty else { continue };
                let name = of.path.segments.last().unwrap().ident.to_string();
                if !names.contains(&*name) {
                    continue;
                }
                for member in &methods.items {
                    match member {
                        ImplItem::Fn(method) if is_public(&method.vis) && !is_hidden(&method.attrs) => {
                            lines.insert(format!("{name}: {}", text(&method.sig)));
                        }
                        ImplItem::Const(value) if is_public(&value.vis) && !is_hidden(&value.attrs) => {
                            lines.insert(format!("{name}: const {}: {}", value.ident, text(&value.ty)));
                        }
                        _ => {}
                    }
                }
            }
            Item::Macro(call)
                if call.mac.path.segments.last().is_some_and(|name| MACROS.iter().any(|known| name.ident == known)) =>
            {
                lines.insert(format!("macro {}: {}", text(&call.mac.path), text(&call.mac.tokens)));
            }
            Item::Macro(definition) => {
                let Some(name) = definition.ident.as_ref().filter(|name| MACROS.iter().any(|known| name == known))
                else {
                    continue;
                };
                let body = text(&definition.mac.tokens);
                for method in body.split("pub fn ").skip(1) {
                    let signature = method.split(" {").next().unwrap_or_default();
                    lines.insert(format!("macro {name} defines: fn {signature}"));
                }
            }
            _ => {}
        }
    }
}

fn surface() -> (Exports, String) {
    let file = root().join("src/lib.rs");
    let mut all = Exports::new();
    exports(&parsed(&file).items, "", &file, &mut all);
    let mut lines = BTreeSet::new();
    for (folders, is_own) in [(&["src"][..], true), (&["../dds-rtps/src", "../dds-cdr/src"], false)] {
        let names = all.values().filter(|(_, own)| *own == is_own).map(|(name, _)| &**name).collect();
        for folder in folders {
            let mut files = Vec::new();
            sources(&root().join(folder), &mut files);
            for path in files {
                describe(&parsed(&path).items, &names, &mut lines);
            }
        }
    }
    let items = all.keys().map(|path| format!("{path}\n")).collect::<String>();
    let members = lines.into_iter().map(|line| line + "\n").collect::<String>();
    (all, format!("# Items\n{items}\n# Methods, fields, variants, and macros that define them\n{members}"))
}

#[test]
fn public_surface_equals_its_list() {
    let (_, found) = surface();
    let path = root().join("api.txt");
    if std::env::var_os("UPDATE_API").is_some() {
        std::fs::write(&path, &found).unwrap();
    }
    let known = std::fs::read_to_string(&path).unwrap_or_default();
    let (known, found): (BTreeSet<_>, BTreeSet<_>) = (known.lines().collect(), found.lines().collect());
    let gone: Vec<_> = known.difference(&found).collect();
    let new: Vec<_> = found.difference(&known).collect();
    assert!(
        gone.is_empty() && new.is_empty(),
        "the public surface differs from api.txt; gone: {gone:#?}, new: {new:#?}; UPDATE_API=1 writes the file"
    );
}

/// Other crates of the workspace use these modules. Their documentation promises nothing to programs.
#[test]
fn hidden_modules_promise_no_stability() {
    let file = root().join("src/lib.rs");
    let mut hidden = Vec::new();
    for item in parsed(&file).items {
        let Item::Mod(module) = item else { continue };
        if !is_public(&module.vis) || !is_hidden(&module.attrs) {
            continue;
        }
        let name = module.ident.to_string();
        let attributes = match module.content {
            Some(_) => module.attrs,
            None => {
                let paths = [format!("{name}.rs"), format!("{name}/mod.rs")].map(|path| file.with_file_name(path));
                parsed(paths.iter().find(|path| path.exists()).unwrap()).attrs
            }
        };
        let documentation: String = attributes.iter().map(|attribute| text(&attribute.meta)).collect();
        assert!(documentation.contains("may change in every version"), "{name}: {documentation}");
        hidden.push(name);
    }
    assert_eq!(hidden, ["actor", "audience", "driver", "relay", "__private"]);
}

#[test]
fn each_name_is_exported_once() {
    let (all, _) = surface();
    let is_module = |path: &str| all.keys().any(|other| other.starts_with(&format!("{path}::")));
    let items: Vec<_> = all.keys().filter(|path| !path.starts_with("prelude::") && !is_module(path)).collect();
    let default = items.iter().filter(|path| !OF_FEATURES.iter().any(|of| path.starts_with(of))).count();
    assert!(default <= ITEMS_MAX && items.len() <= ALL_ITEMS_MAX, "{default} and {} items", items.len());
    let mut paths = BTreeMap::<&str, Vec<&str>>::new();
    for (path, (name, _)) in &all {
        if !path.starts_with("prelude::") {
            paths.entry(name).or_default().push(path);
        }
    }
    let doubled: Vec<_> = paths.into_iter().filter(|(_, paths)| paths.len() > 1).collect();
    assert!(doubled.is_empty(), "{doubled:?}");
}

#[test]
fn root_has_few_names() {
    let (all, _) = surface();
    let is_module = |path: &str| all.keys().any(|other| other.starts_with(&format!("{path}::")));
    let names: Vec<_> = all.keys().filter(|path| !path.contains("::") && !is_module(path)).collect();
    assert!(names.len() <= ROOT_MAX, "{} names outside of modules: {names:?}", names.len());
}

/// Returns the names of public types to which a later version cannot add a field or a variant.
fn closed_types(items: &[Item], names: &BTreeSet<&str>) -> Vec<String> {
    let may_grow = |attributes: &[Attribute]| attributes.iter().any(|it| it.path().is_ident("non_exhaustive"));
    let mut found = Vec::new();
    for item in items {
        let (name, attributes, is_open) = match item {
            Item::Struct(data) => {
                let fields: Vec<bool> = data.fields.iter().map(|field| is_public(&field.vis)).collect();
                (&data.ident, &data.attrs, fields.is_empty() || fields.contains(&false))
            }
            Item::Enum(choice) => (&choice.ident, &choice.attrs, false),
            _ => continue,
        };
        if names.contains(&*name.to_string()) && !is_open && !may_grow(attributes) {
            found.push(name.to_string());
        }
    }
    found
}

#[test]
fn types_that_may_grow_say_so() {
    let (all, _) = surface();
    let mut found = BTreeSet::new();
    for (folders, is_own) in [(&["src"][..], true), (&["../dds-rtps/src", "../dds-cdr/src"], false)] {
        let names = all.values().filter(|(_, own)| *own == is_own).map(|(name, _)| &**name).collect();
        for folder in folders {
            let mut files = Vec::new();
            sources(&root().join(folder), &mut files);
            found.extend(files.iter().flat_map(|path| closed_types(&parsed(path).items, &names)));
        }
    }
    let known = CLOSED.map(str::to_owned).into();
    let (new, gone): (Vec<_>, Vec<_>) = (found.difference(&known).collect(), known.difference(&found).collect());
    assert!(new.is_empty() && gone.is_empty(), "without non_exhaustive: {new:?}; no longer: {gone:?}");
}

/// A signature with a type of another crate before its version 1 ties this crate to that version.
#[test]
fn signatures_name_no_unstable_crate() {
    let (_, text) = surface();
    for name in ["SmallVec", "ArrayVec", "zerocopy", "HashTable", "foldhash", "socket2", "redb", "crossbeam"] {
        let lines: Vec<_> = text.lines().filter(|line| line.contains(name)).collect();
        assert!(lines.is_empty(), "{lines:?}");
    }
}

/// Compiles without the trait `Entity` in scope.
#[test]
fn entities_need_no_trait_for_their_operations() {
    let participant = World::new().participant();
    let topic = participant.topic::<Log>("log", None).unwrap();
    let publisher = participant.publisher(PublisherQos::default()).unwrap();
    let subscriber = participant.subscriber(SubscriberQos::default()).unwrap();
    let (writer, reader) = (publisher.writer(&topic).unwrap(), subscriber.reader(&topic).unwrap());
    assert_ne!(writer.guid(), reader.guid());
    assert!(writer.is_enabled() && !writer.is_closed());
    writer.close();
    reader.close();
    assert!(writer.is_closed() && reader.is_closed());
    publisher.close();
    subscriber.close();
    topic.close();
    assert!(publisher.is_closed() && subscriber.is_closed() && topic.is_closed());
    participant.close();
    assert!(participant.is_closed() && participant.closed().block().is_ok());
}

/// `non_exhaustive` forbids literals of these policies, so each has constructors or setters for all of its fields.
#[test]
fn each_policy_has_constructors() {
    let second = Duration::from_secs(1);
    let limits = ResourceLimits::NONE.max_samples(3).max_instances(2).max_samples_per_instance(1);
    assert_eq!(
        (limits.max_samples, limits.max_instances, limits.max_samples_per_instance),
        (Some(3), Some(2), Some(1))
    );
    let service = DurabilityService::default().keep_last(4).cleanup_delay(second).resource_limits(limits);
    assert_eq!((service.history, service.cleanup_delay), (History::KeepLast { depth: 4 }, second));
    assert_eq!(service.resource_limits, limits);
    for (liveliness, kind) in [
        (Liveliness::automatic(second), LivelinessKind::Automatic),
        (Liveliness::manual_by_participant(second), LivelinessKind::ManualByParticipant),
        (Liveliness::manual_by_topic(second), LivelinessKind::ManualByTopic),
    ] {
        assert_eq!((liveliness.kind, liveliness.lease_duration), (kind, second));
    }
    let together = Presentation::new(AccessScope::Group).coherent_access(true).ordered_access(true);
    assert!(together.access_scope == AccessScope::Group && together.coherent_access && together.ordered_access);
    let lifecycle = ReaderDataLifecycle::default()
        .autopurge_disposed_samples_delay(second)
        .autopurge_nowriter_samples_delay(second);
    assert_eq!(lifecycle.autopurge_disposed_samples_delay, second);
    assert_eq!(lifecycle.autopurge_nowriter_samples_delay, second);
    const {
        assert!(WriterDataLifecycle::DISPOSE.autodispose_unregistered_instances);
        assert!(!WriterDataLifecycle::KEEP.autodispose_unregistered_instances);
        assert!(EntityFactory::AUTOMATIC.autoenable_created_entities);
        assert!(!EntityFactory::MANUAL.autoenable_created_entities);
    }
    let types = TypeConsistency::default()
        .kind(TypeConsistencyKind::DisallowTypeCoercion)
        .ignore_sequence_bounds(false)
        .ignore_string_bounds(false)
        .ignore_member_names(true)
        .prevent_type_widening(true)
        .force_type_validation(true);
    assert_eq!(types.kind, TypeConsistencyKind::DisallowTypeCoercion);
    assert!(!types.ignore_sequence_bounds && !types.ignore_string_bounds && types.ignore_member_names);
    assert!(types.prevent_type_widening && types.force_type_validation);
    assert_eq!(Reliability::reliable(second), Reliability::Reliable { max_blocking_time: second });
}
