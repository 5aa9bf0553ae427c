//! The interface files in the folder of a package.

use crate::ros::{InterfaceKind, InterfaceName, is_package_name};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Longest `package.xml` that is read, in bytes.
const MANIFEST_LEN_MAX: usize = 1 << 20;

/// Most levels of folders from `msg` or from the package on, in which interface files stand.
pub(super) const SUBFOLDER_DEPTH_MAX: usize = 4;

/// Folders of a package whose files are no interfaces of it: `colcon` writes the first three, and
/// `ros1` has files of ROS 1.
const OTHER_FOLDERS: [&str; 6] = ["build", "install", "log", "ros1", "test", "tests"];

/// The extension of a file that has IDL instead of the text of ROS.
pub(super) const IDL: &str = "idl";

/// The interface files of each package, by its folder `msg`, `srv` or `action` and by file name. A package lists its
/// files once.
pub(super) type FilesByFolder = BTreeMap<PathBuf, BTreeMap<OsString, Vec<PathBuf>>>;

/// The text of a file of limited size. Other bytes are an error with their position.
pub(super) fn read_text(path: &Path, len_max: usize) -> io::Result<String> {
    if !fs::metadata(path)?.is_file() {
        return Err(not_regular());
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(len_max as u64 + 1).read_to_end(&mut bytes)?;
    if bytes.len() > len_max {
        return Err(io::Error::other(format!("the file has more than {len_max} bytes")));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let (line, at) = (valid.iter().filter(|byte| **byte == b'\n').count() + 1, valid.len());
        io::Error::other(format!("{}:{line}: byte {at} is not UTF-8", path.display()))
    })
}

/// The error of a pipe or a device. It can block, and has no end.
pub(super) fn not_regular() -> io::Error {
    io::Error::other("it is not a regular file")
}

/// The names of the interface files in the folder of a package.
pub(super) fn names_in(package: &str, folder: &Path) -> Vec<InterfaceName> {
    let mut names = BTreeSet::new();
    for kind in InterfaceKind::ALL {
        for file in files_of(folder, kind).keys() {
            let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
            // Humble installs `X_Request.msg` beside `X.srv`. The service has its parts already.
            names.extend(InterfaceName::new(package, kind, stem).ok().filter(|name| name.interface() == *name));
        }
    }
    names.into_iter().collect()
}

/// The interface files of a package by file name. `rosidl` leaves folders out of the names of types.
///
/// The folder of the kind comes first. `CMakeLists.txt` of a package may name files in any folder, and that of
/// `autoware_adapi_v1_msgs` does. An installed package has no such list, so all its folders count.
pub(super) fn files_of(package: &Path, kind: InterfaceKind) -> BTreeMap<OsString, Vec<PathBuf>> {
    let is_interface = |path: &Path| is_interface(path.strip_prefix(package).unwrap_or(path), kind);
    let mut files = by_name(files_in(&package.join(kind.as_str()), is_interface, |_| false));
    if has_manifest(package) {
        for (name, paths) in by_name(files_in(package, is_interface, is_other_folder)) {
            files.entry(name).or_insert(paths);
        }
    }
    files
}

/// Whether a file of a package defines an interface of a kind. The extension `idl` does not say which kind: the folder
/// does.
fn is_interface(path: &Path, kind: InterfaceKind) -> bool {
    let extension = path.extension().unwrap_or_default();
    let is_below = || path.iter().any(|folder| folder == kind.as_str());
    extension == kind.as_str() || extension == IDL && is_below()
}

/// Whether the files of a folder are no interfaces of the package around it.
fn is_other_folder(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // The build tools of ROS leave out folders with these files.
    let is_ignored = ["AMENT_IGNORE", "COLCON_IGNORE"].iter().any(|file| folder.join(file).exists());
    name.starts_with('.') || OTHER_FOLDERS.contains(&name) || has_manifest(folder) || is_ignored
}

pub(super) fn has_manifest(folder: &Path) -> bool {
    folder.join("package.xml").is_file()
}

/// The interface files in a folder and its subfolders, sorted.
fn files_in(folder: &Path, is_interface: impl Fn(&Path) -> bool, is_left_out: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            // A link to a folder may lead back to it.
            if entry.file_type().is_ok_and(|ty| ty.is_dir()) {
                if depth + 1 < SUBFOLDER_DEPTH_MAX && !is_left_out(&path) {
                    open.push((path, depth + 1));
                }
            } else if is_interface(&path) {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// The files of each file name.
fn by_name(files: Vec<PathBuf>) -> BTreeMap<OsString, Vec<PathBuf>> {
    let mut paths: BTreeMap<OsString, Vec<PathBuf>> = BTreeMap::new();
    for path in files {
        paths.entry(path.file_name().unwrap_or_default().to_owned()).or_default().push(path);
    }
    paths
}

pub(super) fn package_name_of_parent(folder: &Path) -> Option<String> {
    package_name(folder.parent()?)
}

/// The name in `package.xml`, or the name of the folder.
pub(super) fn package_name(folder: &Path) -> Option<String> {
    let manifest = read_text(&folder.join("package.xml"), MANIFEST_LEN_MAX).unwrap_or_default();
    let element = manifest.split_once("<name>").and_then(|(_, rest)| rest.split_once("</name>"));
    let name = match element {
        Some((name, _)) => name.trim(),
        None => folder.file_name()?.to_str()?,
    };
    is_package_name(name).then(|| name.to_owned())
}
