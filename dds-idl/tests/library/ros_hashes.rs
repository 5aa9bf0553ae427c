//! Hashes, descriptions and `.idl` files of every interface in the packages of ROS 2 Jazzy and Kilted.

use dds_idl::packages::RosPackages;
use dds_idl::ros::InterfaceName;
use sha2::{Digest, Sha256};
use std::path::Path;

/// A row of the table. A derived type has no files.
struct ReferenceRow {
    name: InterfaceName,
    hash: &'static str,
    description_digest: Option<&'static str>,
    idl_digest: Option<&'static str>,
}

fn reference() -> Vec<ReferenceRow> {
    let mut rows = Vec::new();
    for line in include_str!("../data/type_hashes.txt").lines() {
        if line.starts_with('#') {
            continue;
        }
        let columns: Vec<&str> = line.split(' ').collect();
        let [name, hash, description, idl] = columns[..] else { panic!("{line}") };
        let digest = |column: &'static str| if column == "-" { None } else { Some(column) };
        rows.push(ReferenceRow {
            name: name.parse().unwrap(),
            hash,
            description_digest: digest(description),
            idl_digest: digest(idl),
        });
    }
    rows
}

fn sha256(text: &str) -> String {
    Sha256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_interface_has_hash_and_files_of_ros() {
    let packages = RosPackages::default().search_path(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/share"));
    let rows = reference();
    let names: Vec<InterfaceName> = rows.iter().map(|row| row.name.clone()).collect();
    let loaded = packages.load(&names);
    assert_eq!(loaded.diagnostics.render(&loaded.sources, false), "");
    let (mut descriptions, mut idl_files) = (0, 0);
    for ReferenceRow { name, hash, description_digest, idl_digest } in &rows {
        let described = loaded.types.type_description(name).unwrap_or_else(|| panic!("{name} is missing"));
        assert_eq!(described.hash().to_string(), *hash, "{name}: {}", described.hashed_json());
        if let Some(digest) = description_digest {
            assert_eq!(sha256(&described.to_json()), *digest, "{name}: {}", described.to_json());
            descriptions += 1;
        }
        if let Some(digest) = idl_digest {
            let idl = loaded.types.interface(name).expect("a file defines the type").to_idl();
            assert_eq!(sha256(&idl), *digest, "{name}: {idl}");
            idl_files += 1;
        }
    }
    assert_eq!((rows.len(), descriptions, idl_files), (311, 203, 199));
}

#[test]
fn every_shipped_interface_resolves_without_warnings() {
    let packages = RosPackages::default();
    let names: Vec<InterfaceName> =
        packages.package_names().iter().flat_map(|package| packages.interfaces_of(package)).collect();
    let loaded = packages.load(&names);
    assert_eq!(loaded.diagnostics.render(&loaded.sources, false), "");
    assert_eq!(loaded.types.interfaces().count(), names.len());
    for name in loaded.types.names() {
        assert!(loaded.types.type_hash(name).is_some(), "{name}");
    }
}
