//! Loads interfaces with all that they need.

use super::files::FilesByFolder;
use super::{FoundInterface, RosPackages};
use crate::idl::{Options, parse_files_after};
use crate::model::{Diagnostic, Diagnostics, IncorrectSource, Span};
use crate::ros::{
    InterfaceKind, InterfaceName, LoadedInterfaces, RosBaseType, RosInterface, RosTypes, derived_dependencies,
    parse_interface,
};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

/// Most interfaces of a set. All packages of a large robot have about 2000.
pub const ROS_INTERFACES_MAX: usize = 20_000;

impl RosPackages {
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
            open_idl: Vec::new(),
            of_idl: RosTypes::default(),
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
}

/// Loads interfaces until no reference is open.
struct InterfaceLoader<'p> {
    packages: &'p RosPackages,
    loaded: LoadedInterfaces,
    /// Interfaces to load, each with the first reference to it.
    open: VecDeque<(InterfaceName, Option<Span>)>,
    /// Interfaces to load, each with the first reference to it and its `.idl` file.
    open_idl: Vec<(InterfaceName, Option<Span>, PathBuf)>,
    /// The interfaces in the `.idl` files that were read, and in those that these include.
    of_idl: RosTypes,
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
        self.load_open();
        // An `.idl` file needs files of ROS, which may need other `.idl` files.
        while !self.open_idl.is_empty() {
            self.read_idl();
            self.load_open();
        }
        self.refuse_recursion();
    }

    fn load_open(&mut self) {
        while !self.is_full
            && !self.loaded.diagnostics.is_full()
            && let Some((name, reference)) = self.open.pop_front()
        {
            let Some(interface) = self.load(&name, reference) else { continue };
            for (needed, span) in references(&interface) {
                self.request(needed, span);
            }
            self.loaded.types.insert(interface);
        }
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

    /// Loads an interface, or notes its `.idl` file, or reports an error.
    fn load(&mut self, name: &InterfaceName, reference: Option<Span>) -> Option<RosInterface> {
        match self.packages.find(name, &mut self.files) {
            Some(Ok(FoundInterface::Text(text, path))) => self.parse(name, path, text),
            Some(Ok(FoundInterface::Idl(path))) => {
                let known = self.of_idl.interface(name).cloned();
                if known.is_none() {
                    self.open_idl.push((name.clone(), reference, path));
                }
                known
            }
            Some(Err(error)) => {
                self.error(format!("cannot read `{name}`: {error}"), reference);
                None
            }
            None => {
                // An `.idl` file may define more than the interface of its name.
                let known = self.of_idl.interface(name).cloned();
                if known.is_none() {
                    self.not_found(name, reference);
                }
                known
            }
        }
    }

    fn parse(&mut self, name: &InterfaceName, path: PathBuf, text: String) -> Option<RosInterface> {
        let LoadedInterfaces { sources, diagnostics, .. } = &mut self.loaded;
        let file = sources.add(path, text, None);
        let mut interface = parse_interface(name, file, sources, diagnostics)?;
        self.resolve_header(&mut interface);
        Some(interface)
    }

    /// Reads the noted `.idl` files as one specification. Then `load` finds their interfaces.
    fn read_idl(&mut self) {
        let noted = std::mem::take(&mut self.open_idl);
        // `rosidl` tells names apart by case.
        let options = Options { include_dirs: self.packages.folders(), case_sensitive: true, ..Options::default() };
        let paths: Vec<&Path> = noted.iter().map(|(.., path)| path.as_path()).collect();
        let (packages, files) = (self.packages, &mut self.files);
        let mut find = |name: &str| packages.find_included(name, files);
        let sources = std::mem::take(&mut self.loaded.sources);
        let (sources, diagnostics, found) = match parse_files_after(sources, &paths, &options, &mut find) {
            Ok(mut specification) => {
                let found = RosTypes::from_specification(&specification);
                (std::mem::take(&mut specification.sources), std::mem::take(&mut specification.diagnostics), found)
            }
            Err(IncorrectSource { sources, diagnostics }) => (sources, Diagnostics::default(), Err(diagnostics)),
        };
        self.loaded.sources = sources;
        self.loaded.diagnostics.extend(&diagnostics);
        match found {
            Ok(types) => self.of_idl.append(types),
            Err(errors) => return self.loaded.diagnostics.extend(&errors),
        }
        for (name, reference, path) in noted {
            if self.of_idl.interface(&name).is_some() {
                self.open.push_back((name, reference));
            } else {
                self.error(format!("cannot read `{name}`: `{}` does not define it", path.display()), reference);
            }
        }
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
        let has_own = || packages.find(&own, &mut self.files).is_some();
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
