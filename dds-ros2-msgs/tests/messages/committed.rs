//! The committed code equals the code that the interface files of `dds-idl` give.
//!
//! `DDS_ROS2_MSGS=write cargo test -p dds-ros2-msgs --test messages committed` writes the files again.

use dds_idl::packages::RosPackages;
use dds_idl::ros::{InterfaceName, LoadedInterfaces};
use dds_idl::rust::generate_ros_package;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// Starts the lines of `Cargo.toml` with one feature for each package.
const FEATURES_START: &str = "# One feature for each package, written by `tests/messages/committed.rs`.\n";
const FEATURES_END: &str = "# End of the packages.\n";

#[test]
fn committed_code_equals_the_interface_files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let is_writing = std::env::var("DDS_ROS2_MSGS").is_ok_and(|value| value == "write");
    let mut different = Vec::new();
    for (path, text) in generate(folder) {
        let path = folder.join(path);
        if fs::read_to_string(&path).is_ok_and(|committed| committed == text) {
            continue;
        }
        if is_writing {
            fs::write(&path, text).unwrap();
        } else {
            different.push(path);
        }
    }
    assert!(different.is_empty(), "{different:?} differ; `DDS_ROS2_MSGS=write` writes them");
}

/// Path and text of each generated file.
fn generate(folder: &Path) -> BTreeMap<String, String> {
    let packages = RosPackages::default();
    let names = packages.package_names();
    let mut files = BTreeMap::new();
    let mut modules = String::from("// Written by `tests/messages/committed.rs`.\n\n");
    let mut features = String::new();
    for package in &names {
        let loaded = packages.load(&packages.interfaces_of(package));
        assert!(!loaded.diagnostics.has_errors(), "{}", loaded.diagnostics.render(&loaded.sources, false));
        files.insert(format!("src/generated/{package}.rs"), package_text(package, &loaded));
        modules.push_str(&format!("#[cfg(feature = \"{package}\")]\n#[rustfmt::skip]\npub mod {package};\n"));
        let needed: Vec<String> = needed_packages(package, &loaded).iter().map(|name| format!("\"{name}\"")).collect();
        features.push_str(&format!("{package} = [{}]\n", needed.join(", ")));
    }
    modules.push_str("\n/// The types of all packages of this build.\n#[rustfmt::skip]\n");
    modules.push_str("pub(crate) const PACKAGES: &[&[crate::RosTypeEntry]] = &[\n");
    for package in &names {
        modules.push_str(&format!("    #[cfg(feature = \"{package}\")]\n    {package}::TYPES,\n"));
    }
    modules.push_str("];\n");
    files.insert("src/generated/mod.rs".to_owned(), modules);
    let all: Vec<String> = names.iter().map(|name| format!("    \"{name}\",\n")).collect();
    features.push_str(&format!("## Every package.\nall = [\n{}]\n", all.concat()));
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let (before, rest) = manifest.split_once(FEATURES_START).unwrap();
    let (_, after) = rest.split_once(FEATURES_END).unwrap();
    files.insert("Cargo.toml".to_owned(), format!("{before}{FEATURES_START}{features}{FEATURES_END}{after}"));
    files
}

fn package_text(package: &str, loaded: &LoadedInterfaces) -> String {
    let license = match package {
        "tf2_msgs" | "unique_identifier_msgs" => "BSD-3-Clause",
        _ => "Apache-2.0",
    };
    let code = generate_ros_package(&loaded.types, package, "crate").unwrap();
    format!(
        "// Written by `tests/messages/committed.rs` from the interface files of `{package}`.\n\
         // SPDX-License-Identifier: {license}\n\n\
         //! Interfaces of the ROS 2 package `{package}`.\n\n\
         #![allow(missing_docs, rustdoc::all, clippy::all, reason = \"the texts are those of the interface files\")]\n\n\
         {code}"
    )
}

/// The packages of the types that the types of a package contain directly.
fn needed_packages(package: &str, loaded: &LoadedInterfaces) -> BTreeSet<String> {
    let mut needed = BTreeSet::new();
    for interface in loaded.types.interfaces().filter(|interface| interface.name().package() == package) {
        for structure in interface.structures() {
            let nested = structure.fields.iter().filter_map(|field| field.ty.base.structure());
            needed.extend(nested.map(InterfaceName::package).filter(|name| *name != package).map(str::to_owned));
        }
    }
    needed
}
