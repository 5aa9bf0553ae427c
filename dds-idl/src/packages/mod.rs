//! Finds interfaces of ROS by name: in folders, in ament prefixes, and in the set that the crate ships.
//!
//! A package has an interface as `.msg`, `.srv` or `.action`, or as `.idl` alone. ROS installs both, of equal content.
//!
//! | file | content |
//! |---|---|
//! | `files` | the interface files in the folder of a package |
//! | `load` | reads interfaces with all that they need |

mod files;
mod load;

pub use load::ROS_INTERFACES_MAX;

use crate::idl::IncludedFile;
use crate::ros::{
    InterfaceKind, InterfaceName, InterfaceNameError, ROS_FILE_LEN_MAX, converted, shipped_names, shipped_text,
};
use files::{
    FilesByFolder, IDL, SUBFOLDER_DEPTH_MAX, files_of, has_manifest, names_in, not_regular, package_name,
    package_name_of_parent, read_text,
};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

/// Places of ROS packages.
///
/// A package is searched in the order of the calls, and at last in the set that the crate ships: the packages of
/// `common_interfaces` and `rcl_interfaces`, and those that they need.
///
/// ```
/// use dds_idl::packages::RosPackages;
///
/// let name = "std_msgs/msg/String".parse()?;
/// let loaded = RosPackages::default().load(std::slice::from_ref(&name));
/// let hash = loaded.types.type_hash(&name).unwrap();
/// assert_eq!(hash.to_string(), "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18");
/// # Ok::<(), dds_idl::ros::InterfaceNameError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RosPackages {
    places: Vec<PackagePlace>,
    /// The files of [`add_file`](Self::add_file). A package that is found first may have another file of the name.
    files: BTreeMap<InterfaceName, PathBuf>,
}

#[derive(Debug, Clone)]
enum PackagePlace {
    /// The folder of one package.
    Package { name: String, folder: PathBuf },
    /// A folder whose subfolders are packages, such as `PREFIX/share`.
    Packages(PathBuf),
}

/// Returns whether a path may be that of an interface file or of a package: a folder, or a file with such an extension.
#[must_use]
pub fn is_interface_path(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    path.is_dir() || extension.and_then(InterfaceKind::from_folder).is_some()
}

/// A file is not an interface of a package.
#[derive(Debug)]
pub enum InterfacePathError {
    /// The extension is not `msg`, `srv` or `action`.
    Extension(PathBuf),
    /// The path has no folder for the package.
    Package(PathBuf),
    /// The path does not give a valid name.
    Name(PathBuf, InterfaceNameError),
    /// The folder of a package has no interface.
    Empty(PathBuf),
    /// An earlier file, the second path, has the same name.
    Twice(PathBuf, PathBuf),
}

impl fmt::Display for InterfacePathError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Extension(path) => {
                write!(f, "`{}`: expected the extension `.msg`, `.srv` or `.action`", path.display())
            }
            Self::Package(path) => {
                let path = path.display();
                write!(
                    f,
                    "`{path}`: expected a package: a folder with `package.xml` or with files such as `msg/Name.msg`"
                )
            }
            Self::Name(path, error) => write!(f, "`{}`: {error}", path.display()),
            Self::Empty(path) => {
                write!(f, "`{}`: expected interface files in `msg`, `srv` or `action`", path.display())
            }
            Self::Twice(path, first) => {
                write!(f, "`{}`: the file `{}` has this name", path.display(), first.display())
            }
        }
    }
}

impl std::error::Error for InterfacePathError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Name(_, error) => Some(error),
            Self::Extension(_) | Self::Package(_) | Self::Empty(_) | Self::Twice(..) => None,
        }
    }
}

impl RosPackages {
    /// Adds the folder of one package. The package has the name in `package.xml`, or the name of the folder.
    ///
    /// # Errors
    ///
    /// The folder has no valid package name.
    pub fn package(mut self, folder: impl Into<PathBuf>) -> Result<Self, InterfacePathError> {
        let folder = folder.into();
        let name = package_name(&folder).ok_or_else(|| InterfacePathError::Package(folder.clone()))?;
        self.places.push(PackagePlace::Package { name, folder });
        Ok(self)
    }

    /// Adds a folder whose subfolders are packages.
    #[must_use]
    pub fn search_path(mut self, folder: impl Into<PathBuf>) -> Self {
        self.places.push(PackagePlace::Packages(folder.into()));
        self
    }

    /// Adds an ament prefix, such as `/opt/ros/jazzy`: the packages in its folder `share`.
    #[must_use]
    pub fn ament_prefix(self, prefix: impl AsRef<Path>) -> Self {
        self.search_path(prefix.as_ref().join("share"))
    }

    /// Adds several ament prefixes, joined as in `PATH`.
    #[must_use]
    pub fn ament_path(mut self, prefixes: impl AsRef<OsStr>) -> Self {
        for prefix in env::split_paths(&prefixes) {
            // An empty entry would be the current folder.
            if !prefix.as_os_str().is_empty() {
                self = self.ament_prefix(prefix);
            }
        }
        self
    }

    /// Adds the prefixes in the environment variable `AMENT_PREFIX_PATH`, which `setup.bash` of ROS sets.
    #[must_use]
    pub fn ament_environment(self) -> Self {
        self.ament_path(env::var_os("AMENT_PREFIX_PATH").unwrap_or_default())
    }

    /// Adds an interface file or the folder of a package, and returns the names of the interfaces.
    ///
    /// # Errors
    ///
    /// As [`add_file`](Self::add_file) and [`add_package`](Self::add_package).
    pub fn add(&mut self, path: &Path) -> Result<Vec<InterfaceName>, InterfacePathError> {
        if path.is_dir() { self.add_package(path) } else { Ok(vec![self.add_file(path)?]) }
    }

    /// Adds the package of an interface file, and returns the name of the interface.
    ///
    /// The file stands in the folder `msg`, `srv` or `action` of the package, or in a subfolder of it.
    /// `PACKAGE/msg/parts/Name.msg` is `PACKAGE/msg/Name`. A package with `package.xml` may have the file in any
    /// folder: `PACKAGE/parts/msg/Name.msg` is `PACKAGE/msg/Name` too. Another file of this name, in another folder
    /// or in a package that is found first, is not read.
    ///
    /// # Errors
    ///
    /// No folder above the file is a package, or an earlier file has the same name.
    pub fn add_file(&mut self, path: &Path) -> Result<InterfaceName, InterfacePathError> {
        let kind = path.extension().and_then(|extension| InterfaceKind::from_folder(extension.to_str()?));
        let kind = kind.ok_or_else(|| InterfacePathError::Extension(path.to_owned()))?;
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let folders = || absolute.ancestors().skip(1).take(SUBFOLDER_DEPTH_MAX);
        let with_manifest = folders().find(|folder| has_manifest(folder)).filter(|folder| {
            let file_name = absolute.file_name().unwrap_or_default();
            files_of(folder, kind).get(file_name).is_some_and(|paths| paths.contains(&absolute))
        });
        let in_subfolder = || {
            folders().find(|folder| {
                folder.file_name().is_some_and(|name| name == kind.as_str()) && package_name_of_parent(folder).is_some()
            })
        };
        let folder = with_manifest.or_else(|| in_subfolder().and_then(Path::parent));
        let package = folder.and_then(|folder| Some((folder, package_name(folder)?)));
        let (folder, package) = package.ok_or_else(|| InterfacePathError::Package(path.to_owned()))?;
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let name = InterfaceName::new(&package, kind, stem);
        let name = name.map_err(|error| InterfacePathError::Name(path.to_owned(), error))?;
        if absolute.exists() {
            let first = self.files.entry(name.clone()).or_insert_with(|| absolute.clone());
            if *first != absolute {
                return Err(InterfacePathError::Twice(path.to_owned(), first.clone()));
            }
        }
        self.places.push(PackagePlace::Package { name: package, folder: folder.to_owned() });
        Ok(name)
    }

    /// Adds the folder of one package, and returns the names of its interfaces, sorted.
    ///
    /// # Errors
    ///
    /// The folder has no valid package name, or no interface.
    pub fn add_package(&mut self, folder: &Path) -> Result<Vec<InterfaceName>, InterfacePathError> {
        // `.` has no name of its own.
        let absolute = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        let name = package_name(&absolute).ok_or_else(|| InterfacePathError::Package(folder.to_owned()))?;
        let names = names_in(&name, folder);
        if names.is_empty() {
            return Err(InterfacePathError::Empty(folder.to_owned()));
        }
        self.places.push(PackagePlace::Package { name, folder: folder.to_owned() });
        Ok(names)
    }

    /// Returns the names of all interfaces of a package, sorted. Empty if there is no such package.
    #[must_use]
    pub fn interfaces_of(&self, package: &str) -> Vec<InterfaceName> {
        for place in &self.places {
            let names = place.folder_of(package).map(|folder| names_in(package, &folder)).unwrap_or_default();
            if !names.is_empty() {
                return names;
            }
        }
        shipped_names().filter(|name| name.package() == package).collect()
    }

    /// Returns the names of all packages that have interfaces, sorted.
    #[must_use]
    pub fn package_names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> = shipped_names().map(|name| name.package().to_owned()).collect();
        for place in &self.places {
            match place {
                PackagePlace::Package { name, .. } => {
                    names.insert(name.clone());
                }
                PackagePlace::Packages(folder) => {
                    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                        let has_kind = |kind: InterfaceKind| {
                            entry.path().join(kind.as_str()).is_dir() || !files_of(&entry.path(), kind).is_empty()
                        };
                        if InterfaceKind::ALL.into_iter().any(has_kind) {
                            names.extend(entry.file_name().to_str().map(str::to_owned));
                        }
                    }
                }
            }
        }
        names.into_iter().collect()
    }

    /// Finds the definition of an interface. `None` if no place has it.
    fn find(&self, name: &InterfaceName, files: &mut FilesByFolder) -> Option<io::Result<FoundInterface>> {
        // The parser refuses a longer file. Reading it would only take memory.
        let with_text = |path: PathBuf| -> io::Result<FoundInterface> {
            Ok(FoundInterface::Text(read_text(&path, ROS_FILE_LEN_MAX)?, path))
        };
        if let Some(path) = self.files.get(name) {
            return Some(with_text(path.clone()));
        }
        for place in &self.places {
            let Some(folder) = place.folder_of(name.package()) else { continue };
            let own_folder = folder.join(name.kind().as_str());
            let file_name = |extension: &str| OsString::from(format!("{}.{extension}", name.name()));
            let direct = own_folder.join(file_name(name.kind().as_str()));
            let found = files.entry(own_folder).or_insert_with(|| files_of(&folder, name.kind()));
            let paths = |extension: &str| found.get(&file_name(extension)).map(Vec::as_slice).unwrap_or_default();
            match (paths(name.kind().as_str()), paths(IDL)) {
                ([path], _) => return Some(with_text(path.clone())),
                ([one, other, ..], _) | ([], [one, other, ..]) => {
                    let message = format!("`{}` and `{}` have this name", one.display(), other.display());
                    return Some(Err(io::Error::other(message)));
                }
                ([], [path]) if path.is_file() => return Some(Ok(FoundInterface::Idl(path.clone()))),
                ([], [_]) => return Some(Err(not_regular())),
                // A folder has no text, but an error of its own.
                ([], []) if direct.exists() => return Some(with_text(direct)),
                ([], []) => {}
            }
        }
        let path = format!("{}/{}/{}.{}", name.package(), name.kind(), name.name(), name.kind());
        Some(Ok(FoundInterface::Text(shipped_text(name)?.to_owned(), path.into())))
    }

    /// Finds the interface that an `#include` names: `PACKAGE/msg/Name.idl`. An interface file is read as IDL.
    fn find_included(&self, path: &str, files: &mut FilesByFolder) -> Option<io::Result<IncludedFile>> {
        let name = InterfaceName::from_idl_path(path)?;
        let included = match self.find(&name, files)? {
            Ok(FoundInterface::Idl(path)) => Ok(IncludedFile::At(path)),
            Ok(FoundInterface::Text(text, path)) => match converted(&name, &path, &text) {
                Ok(text) => Ok(IncludedFile::Text(text)),
                Err(message) => Err(io::Error::other(message)),
            },
            Err(error) => Err(error),
        };
        Some(included)
    }

    /// The folders whose subfolders are packages.
    fn folders(&self) -> Vec<PathBuf> {
        let mut folders: Vec<PathBuf> = Vec::new();
        for place in &self.places {
            let folder = match place {
                PackagePlace::Package { folder, .. } => folder.parent(),
                PackagePlace::Packages(folder) => Some(folder.as_path()),
            };
            // Each file of a package is a place of its own.
            match folder {
                Some(folder) if !folders.iter().any(|known| known == folder) => folders.push(folder.to_owned()),
                _ => {}
            }
        }
        folders
    }
}

/// The definition of an interface.
enum FoundInterface {
    /// The text of a `.msg`, `.srv` or `.action` file, and its path.
    Text(String, PathBuf),
    /// The path of an `.idl` file.
    Idl(PathBuf),
}

impl PackagePlace {
    /// The folder of a package, if it is in this place.
    fn folder_of(&self, package: &str) -> Option<PathBuf> {
        match self {
            Self::Package { name, folder } => (name == package).then(|| folder.clone()),
            Self::Packages(folder) => Some(folder.join(package)),
        }
    }
}
