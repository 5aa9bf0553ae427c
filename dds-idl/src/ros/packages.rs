//! Finds interface files by name: in folders, in ament prefixes, and in the set that the crate ships.

use super::bundled;
use super::derived_dependencies;
use super::parse::{ROS_FILE_LEN_MAX, parse_interface};
use super::{InterfaceKind, InterfaceName, InterfaceNameError, RosBaseType, RosInterface, RosTypes};
use crate::model::{Diagnostic, Diagnostics, SourceMap, Span};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::{env, fmt, fs, io};

/// Most interfaces of a set. All packages of a large robot have about 2000.
pub const ROS_INTERFACES_MAX: usize = 20_000;

/// Longest `package.xml` that is read, in bytes.
const MANIFEST_LEN_MAX: usize = 1 << 20;

/// Most levels of folders from `msg` or from the package on, in which interface files stand.
const SUBFOLDER_DEPTH_MAX: usize = 4;

/// Folders of a package whose files are no interfaces of it: `colcon` writes the first three, and
/// `ros1` has files of ROS 1.
const OTHER_FOLDERS: [&str; 6] = ["build", "install", "log", "ros1", "test", "tests"];

/// Places of ROS packages.
///
/// A package is searched in the order of the calls, and at last in the set that the crate ships: the packages of
/// `common_interfaces` and `rcl_interfaces`, and those that they need.
///
/// ```
/// use dds_idl::ros::RosPackages;
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

/// Interfaces with their files and diagnostics.
#[derive(Debug, Clone, Default)]
pub struct LoadedInterfaces {
    /// The names that the caller of [`RosPackages::load`] gave.
    pub requested: Vec<InterfaceName>,
    /// The interfaces, and all interfaces that they need.
    pub types: RosTypes,
    /// The files.
    pub sources: SourceMap,
    /// Errors and warnings. If there are errors, `types` is not complete.
    pub diagnostics: Diagnostics,
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

    /// Loads interfaces, and all interfaces that they need.
    ///
    /// If a package has two files for a name, in different subfolders, the name is an error with both paths. A file
    /// of [`add_file`](Self::add_file) has its name alone.
    #[must_use]
    pub fn load(&self, names: &[InterfaceName]) -> LoadedInterfaces {
        let mut loader = InterfaceLoader {
            packages: self,
            loaded: LoadedInterfaces::default(),
            open: VecDeque::new(),
            requested: BTreeSet::new(),
            own_headers: BTreeMap::new(),
            files: BTreeMap::new(),
            is_full: false,
        };
        for name in names {
            let name = name.interface();
            loader.request(name.clone(), None);
            loader.loaded.requested.push(name);
        }
        loader.run();
        loader.loaded
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
        bundled::names().filter(|name| name.package() == package).collect()
    }

    /// Returns the names of all packages that have interfaces, sorted.
    #[must_use]
    pub fn package_names(&self) -> Vec<String> {
        let mut names: BTreeSet<String> = bundled::names().map(|name| name.package().to_owned()).collect();
        for place in &self.places {
            match place {
                PackagePlace::Package { name, .. } => {
                    names.insert(name.clone());
                }
                PackagePlace::Packages(folder) => {
                    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
                        let package = entry.file_name().to_str().map(str::to_owned);
                        let has_interfaces = || {
                            let has_kind = |kind: InterfaceKind| {
                                entry.path().join(kind.as_str()).is_dir() || !files_of(&entry.path(), kind).is_empty()
                            };
                            InterfaceKind::ALL.into_iter().any(has_kind)
                        };
                        names.extend(package.filter(|_| has_interfaces()));
                    }
                }
            }
        }
        names.into_iter().collect()
    }

    /// The path and the text of an interface file. `None` if no place has it.
    fn read(&self, name: &InterfaceName, files: &mut FilesByFolder) -> Option<io::Result<(PathBuf, String)>> {
        if let Some(path) = self.files.get(name) {
            return Some(read_text(path, ROS_FILE_LEN_MAX).map(|text| (path.clone(), text)));
        }
        for place in &self.places {
            let Some(folder) = place.folder_of(name.package()) else { continue };
            let file_name = format!("{}.{}", name.name(), name.kind());
            let own_folder = folder.join(name.kind().as_str());
            let direct = own_folder.join(&file_name);
            let found = files.entry(own_folder).or_insert_with(|| files_of(&folder, name.kind()));
            let path = match found.get(OsStr::new(&file_name)).map(Vec::as_slice) {
                Some([path]) => path.clone(),
                Some([one, other, ..]) => {
                    let message = format!("`{}` and `{}` have this name", one.display(), other.display());
                    return Some(Err(io::Error::other(message)));
                }
                // A folder has no text, but an error of its own.
                Some([]) | None if direct.exists() => direct,
                Some([]) | None => continue,
            };
            // The parser refuses a longer file. Reading it would only take memory.
            return Some(read_text(&path, ROS_FILE_LEN_MAX).map(|text| (path, text)));
        }
        let text = bundled::text(name)?;
        let path = format!("{}/{}/{}.{}", name.package(), name.kind(), name.name(), name.kind());
        Some(Ok((path.into(), text.to_owned())))
    }
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

/// The text of a file of limited size. Other bytes are an error with their position.
fn read_text(path: &Path, len_max: usize) -> io::Result<String> {
    // A pipe or a device can block, and has no end.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a regular file"));
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

/// The names of the interface files in the folder of a package.
fn names_in(package: &str, folder: &Path) -> Vec<InterfaceName> {
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
fn files_of(package: &Path, kind: InterfaceKind) -> BTreeMap<OsString, Vec<PathBuf>> {
    let mut files = by_name(files_in(&package.join(kind.as_str()), kind, |_| false));
    if has_manifest(package) {
        for (name, paths) in by_name(files_in(package, kind, is_other_folder)) {
            files.entry(name).or_insert(paths);
        }
    }
    files
}

/// Whether the files of a folder are no interfaces of the package around it.
fn is_other_folder(folder: &Path) -> bool {
    let name = folder.file_name().and_then(OsStr::to_str).unwrap_or_default();
    // The build tools of ROS leave out folders with these files.
    let is_ignored = ["AMENT_IGNORE", "COLCON_IGNORE"].iter().any(|file| folder.join(file).exists());
    name.starts_with('.') || OTHER_FOLDERS.contains(&name) || has_manifest(folder) || is_ignored
}

fn has_manifest(folder: &Path) -> bool {
    folder.join("package.xml").is_file()
}

/// The interface files of a kind, sorted, also those in subfolders.
fn files_in(folder: &Path, kind: InterfaceKind, is_left_out: impl Fn(&Path) -> bool) -> Vec<PathBuf> {
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
            } else if path.extension().is_some_and(|extension| extension == kind.as_str()) {
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

fn package_name_of_parent(folder: &Path) -> Option<String> {
    package_name(folder.parent()?)
}

/// The name in `package.xml`, or the name of the folder.
fn package_name(folder: &Path) -> Option<String> {
    let manifest = read_text(&folder.join("package.xml"), MANIFEST_LEN_MAX).unwrap_or_default();
    let element = manifest.split_once("<name>").and_then(|(_, rest)| rest.split_once("</name>"));
    let name = match element {
        Some((name, _)) => name.trim(),
        None => folder.file_name()?.to_str()?,
    };
    super::name::is_package_name(name).then(|| name.to_owned())
}

/// The interface files of each package, by its folder `msg`, `srv` or `action` and by file name. A package lists its
/// files once.
type FilesByFolder = BTreeMap<PathBuf, BTreeMap<OsString, Vec<PathBuf>>>;

/// Loads interfaces until no reference is open.
struct InterfaceLoader<'p> {
    packages: &'p RosPackages,
    loaded: LoadedInterfaces,
    /// Interfaces to load, each with the first reference to it.
    open: VecDeque<(InterfaceName, Option<Span>)>,
    /// Interfaces that are loaded or open.
    requested: BTreeSet<InterfaceName>,
    /// Whether each package has an own message `Header`.
    own_headers: BTreeMap<String, bool>,
    files: FilesByFolder,
    /// Whether more interfaces are needed than the limit.
    is_full: bool,
}

impl InterfaceLoader<'_> {
    fn run(&mut self) {
        while !self.is_full
            && !self.loaded.diagnostics.is_full()
            && let Some((name, reference)) = self.open.pop_front()
        {
            let Some(mut interface) = self.load(&name, reference) else { continue };
            self.resolve_header(&mut interface);
            for (needed, span) in references(&interface) {
                self.request(needed, span);
            }
            self.loaded.types.insert(interface);
        }
        self.refuse_recursion();
    }

    /// Notes an interface to load, unless it is known. The first one above the limit is an error.
    fn request(&mut self, name: InterfaceName, reference: Option<Span>) {
        if self.is_full || self.requested.contains(&name) {
            return;
        }
        if self.requested.len() >= ROS_INTERFACES_MAX {
            self.is_full = true;
            self.error(format!("more than {ROS_INTERFACES_MAX} interfaces are needed"), reference);
            return;
        }
        self.requested.insert(name.clone());
        self.open.push_back((name, reference));
    }

    fn load(&mut self, name: &InterfaceName, reference: Option<Span>) -> Option<RosInterface> {
        let (path, text) = match self.packages.read(name, &mut self.files) {
            Some(Ok(file)) => file,
            Some(Err(error)) => {
                self.error(format!("cannot read `{name}`: {error}"), reference);
                return None;
            }
            None => {
                self.not_found(name, reference);
                return None;
            }
        };
        let LoadedInterfaces { sources, diagnostics, .. } = &mut self.loaded;
        let file = sources.add(path, text, None);
        parse_interface(name, file, sources, diagnostics)
    }

    fn error(&mut self, message: String, reference: Option<Span>) {
        self.loaded.diagnostics.push(error_at(message, reference));
    }

    fn not_found(&mut self, name: &InterfaceName, reference: Option<Span>) {
        if !self.loaded.diagnostics.may_suggest() {
            self.error(format!("cannot find `{name}`"), reference);
            return;
        }
        let siblings = self.packages.interfaces_of(name.package());
        let error = error_at(format!("cannot find `{name}`"), reference);
        let error = if siblings.is_empty() {
            let packages = self.packages.package_names();
            let note = format!("no folder, ament prefix or shipped set has the package `{}`", name.package());
            error.note(note).did_you_mean(name.package(), packages.iter().map(String::as_str))
        } else {
            error.did_you_mean(name.name(), siblings.iter().map(InterfaceName::name))
        };
        self.loaded.diagnostics.push(error);
    }

    /// `Header` of ROS 1 is `std_msgs/Header` in every package.
    fn resolve_header(&mut self, interface: &mut RosInterface) {
        let own = InterfaceName::known(interface.name().package(), InterfaceKind::Message, "Header");
        if own.package() == "std_msgs" {
            return;
        }
        let packages = self.packages;
        let has_own = || packages.read(&own, &mut self.files).is_some();
        if *self.own_headers.entry(own.package().to_owned()).or_insert_with(has_own) {
            return;
        }
        for structure in interface.sections_mut() {
            for field in &mut structure.fields {
                let is_short = self.loaded.sources.text(field.type_span).starts_with("Header");
                if !is_short || field.ty.base.structure() != Some(&own) {
                    continue;
                }
                field.ty.base =
                    RosBaseType::Structure(InterfaceName::known("std_msgs", InterfaceKind::Message, "Header"));
                let message = "`Header` without a package is a type of ROS 1, read as `std_msgs/Header`";
                let warning = Diagnostic::warning(message, field.type_span).help("write `std_msgs/Header`");
                self.loaded.diagnostics.push(warning);
            }
        }
    }

    /// Refuses structures that contain themselves. `rosidl` cannot generate code for them.
    fn refuse_recursion(&mut self) {
        let types = &self.loaded.types;
        let mut states: BTreeMap<&InterfaceName, VisitState> = BTreeMap::new();
        let mut errors = Vec::new();
        for root in types.names() {
            let mut path = vec![(root, 0)];
            while let Some((name, next)) = path.pop() {
                let Some(structure) = types.described(name) else { continue };
                if next == 0 {
                    if states.contains_key(name) {
                        continue;
                    }
                    states.insert(name, VisitState::Open);
                }
                let Some(field) = structure.fields.get(next) else {
                    states.insert(name, VisitState::Done);
                    continue;
                };
                path.push((name, next + 1));
                let Some(nested) = field.ty.base.structure() else { continue };
                match states.get(nested) {
                    Some(VisitState::Open) => {
                        let message = format!("`{nested}` contains itself");
                        errors.push(Diagnostic::error(message, field.type_span));
                    }
                    Some(VisitState::Done) => {}
                    None => path.push((nested, 0)),
                }
            }
        }
        for error in errors {
            self.loaded.diagnostics.push(error);
        }
    }
}

/// An error at a reference. An interface that the caller requests has no place.
fn error_at(message: String, reference: Option<Span>) -> Diagnostic {
    match reference {
        Some(span) => Diagnostic::error(message, span),
        None => Diagnostic::error_without_place(message),
    }
}

/// Progress of the search for recursion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitState {
    /// On the path from the root.
    Open,
    /// Without recursion.
    Done,
}

/// The interfaces that an interface needs, with the fields that name them.
fn references(interface: &RosInterface) -> Vec<(InterfaceName, Option<Span>)> {
    let mut needed = Vec::new();
    for structure in interface.sections() {
        for field in &structure.fields {
            if let Some(name) = field.ty.base.structure() {
                needed.push((name.interface(), Some(field.type_span)));
            }
        }
    }
    needed.extend(derived_dependencies(interface.name().kind()).into_iter().map(|name| (name, None)));
    needed
}
