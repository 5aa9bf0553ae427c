//! Rust code in a build script.

use crate::idl::{self, Options};
use crate::model::{Diagnostics, IncorrectSource, Severity, SourceMap, Specification};
use crate::packages::{InterfacePathError, RosPackages, is_interface_path};
use crate::ros::{InterfaceName, RosNaming};
use crate::rust::{RustOptions, generate, generate_ros};
use crate::service::add_service_types;
use std::fmt;
use std::path::{Path, PathBuf};

/// Writes Rust code for IDL files or interface files of ROS in a build script.
///
/// The code is one file in `OUT_DIR`. Cargo runs the build script again if a file changes, also an included one.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), dds_idl::BuildError> {
///     dds_idl::Builder::new().compile(&["idl/robot.idl"])
/// }
/// ```
///
/// The program includes the file that has the name of the first file or folder:
///
/// ```ignore
/// include!(concat!(env!("OUT_DIR"), "/robot.rs"));
/// ```
///
/// It also reads ROS interface files, or the folder of a ROS package. Their code is for `dds-ros2`, unless
/// [`RustOptions::ros_path`] is `None`:
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), dds_idl::BuildError> {
///     dds_idl::Builder::new().compile(&["../my_robot_msgs"])
/// }
/// ```
///
/// The program then includes `my_robot_msgs.rs`, and has the type `my_robot_msgs::msg::Status`.
#[derive(Debug, Clone, Default)]
pub struct Builder {
    idl: Options,
    rust: RustOptions,
    out_dir: Option<PathBuf>,
    file_name: Option<PathBuf>,
}

/// The reason why a build script has no code.
pub enum BuildError {
    /// The text of a file is not correct, or has no Rust code.
    Incorrect(Box<IncorrectSource>),
    /// A file or a folder is not an interface or a package of ROS.
    NotRos(InterfacePathError),
    /// Files of IDL and of ROS stand side by side. Compile them separately.
    Mixed(PathBuf),
    /// The file cannot be written.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// `OUT_DIR` is not set, and [`Builder::out_dir`] was not called.
    NoOutDir,
    /// No file was given.
    NoFile,
}

impl Builder {
    /// Creates a builder with the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a folder for `#include`, or a folder with packages of ROS.
    #[must_use]
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.idl.include_dirs.push(folder.into());
        self
    }

    /// Replaces the options of the IDL, also those of [`Self::include_dir`] and [`Self::case_sensitive`].
    #[must_use]
    pub fn idl_options(mut self, options: Options) -> Self {
        self.idl = options;
        self
    }

    /// Accepts names that differ only in case: [`Options::case_sensitive`].
    #[must_use]
    pub fn case_sensitive(mut self, is_wanted: bool) -> Self {
        self.idl.case_sensitive = is_wanted;
        self
    }

    /// Replaces the options of the code.
    #[must_use]
    pub fn rust_options(mut self, options: RustOptions) -> Self {
        self.rust = options;
        self
    }

    /// Derives the traits of serde where possible: [`RustOptions::serde`].
    #[must_use]
    pub fn serde(mut self, is_wanted: bool) -> Self {
        self.rust.serde = is_wanted;
        self
    }

    /// Sets the folder of the code. The default is `OUT_DIR`.
    #[must_use]
    pub fn out_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.out_dir = Some(folder.into());
        self
    }

    /// Sets the name of the file with the code.
    ///
    /// The default is the name of the first file or folder, with the extension `rs`.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<PathBuf>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Reads the files together, and writes their code as one file.
    ///
    /// The files are of IDL, or a single `.xml` file with XML types (feature `xml`), or all of ROS: interface files and
    /// folders of packages.
    ///
    /// A file of ROS may need types of other packages. The packages of the files come first. Then come the folders of
    /// [`Self::include_dir`] and of `AMENT_PREFIX_PATH`, and at last the common packages.
    ///
    /// It prints the instructions and warnings for Cargo to the standard output.
    ///
    /// # Errors
    /// A file is not correct or has no Rust code, or the code cannot be written.
    #[allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]
    pub fn compile<P: AsRef<Path>>(&self, files: &[P]) -> Result<(), BuildError> {
        let first = files.first().ok_or(BuildError::NoFile)?.as_ref();
        for file in files {
            println!("cargo::rerun-if-changed={}", file.as_ref().display());
            if is_interface_path(file.as_ref()) != is_interface_path(first) {
                return Err(BuildError::Mixed(file.as_ref().to_owned()));
            }
        }
        let code = if is_interface_path(first) { self.ros_code(files)? } else { self.idl_code(files)? };
        self.write(first, &code)
    }

    #[allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]
    fn idl_code<P: AsRef<Path>>(&self, files: &[P]) -> Result<String, BuildError> {
        let parsed = self.parse(files);
        for (_, file) in parsed.as_ref().map_or_else(|error| &error.sources, |found| &found.sources).files() {
            println!("cargo::rerun-if-changed={}", file.path().display());
        }
        let specification = parsed.map_err(|error| BuildError::Incorrect(Box::new(error)))?;
        self.code_of(specification)
    }

    #[allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]
    fn ros_code<P: AsRef<Path>>(&self, files: &[P]) -> Result<String, BuildError> {
        let mut packages = RosPackages::default();
        let mut names: Vec<InterfaceName> = Vec::new();
        for file in files {
            names.extend(packages.add(file.as_ref()).map_err(BuildError::NotRos)?);
        }
        // The packages of the files come first.
        for folder in &self.idl.include_dirs {
            packages = packages.search_path(folder);
        }
        println!("cargo::rerun-if-env-changed=AMENT_PREFIX_PATH");
        let loaded = packages.ament_environment().load(&names);
        for (_, file) in loaded.sources.files() {
            // Cargo would always run the script again for a common message: it has no file.
            if file.path().is_file() {
                println!("cargo::rerun-if-changed={}", file.path().display());
            }
        }
        if self.rust.ros_path.is_none() {
            let specification = loaded.into_specification(RosNaming::Dds);
            return self.code_of(specification.map_err(|error| BuildError::Incorrect(Box::new(error)))?);
        }
        match generate_ros(&loaded, &self.rust) {
            Ok(code) => {
                print_warnings(&loaded.diagnostics, &loaded.sources);
                Ok(code)
            }
            Err(diagnostics) => {
                Err(BuildError::Incorrect(Box::new(IncorrectSource { sources: loaded.sources, diagnostics })))
            }
        }
    }

    fn code_of(&self, mut specification: Specification) -> Result<String, BuildError> {
        print_warnings(&specification.diagnostics, &specification.sources);
        let code = add_service_types(&mut specification).and_then(|()| generate(&specification, &self.rust));
        code.map_err(|diagnostics| {
            BuildError::Incorrect(Box::new(IncorrectSource { sources: specification.sources, diagnostics }))
        })
    }

    fn write(&self, first: &Path, code: &str) -> Result<(), BuildError> {
        let folder = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or(BuildError::NoOutDir)?,
        };
        let name = match &self.file_name {
            Some(name) => name.clone(),
            None => {
                // `.` has no name of its own.
                let absolute = std::path::absolute(first).unwrap_or_else(|_| first.to_owned());
                absolute.file_stem().map(PathBuf::from).unwrap_or_default().with_extension("rs")
            }
        };
        let path = folder.join(name);
        // An equal file keeps its time, and the program that includes it is not compiled again.
        if std::fs::read_to_string(&path).is_ok_and(|text| text == code) {
            return Ok(());
        }
        std::fs::write(&path, code).map_err(|error| BuildError::Unwritable { path, error })
    }

    #[cfg(feature = "xml")]
    fn parse<P: AsRef<Path>>(&self, files: &[P]) -> Result<Specification, IncorrectSource> {
        match files {
            [file] if file.as_ref().extension().is_some_and(|extension| extension == "xml") => {
                crate::xml::parse_file(file, &self.idl)
            }
            _ => idl::parse_files(files, &self.idl),
        }
    }

    #[cfg(not(feature = "xml"))]
    fn parse<P: AsRef<Path>>(&self, files: &[P]) -> Result<Specification, IncorrectSource> {
        idl::parse_files(files, &self.idl)
    }
}

#[allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]
fn print_warnings(diagnostics: &Diagnostics, sources: &SourceMap) {
    for warning in diagnostics {
        if warning.severity == Severity::Warning {
            println!("cargo::warning={}", warning.one_line(sources));
        }
    }
}

/// The text of `Display`: a build script prints the `Debug` form of its error.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incorrect(source) => write!(f, "incorrect types\n\n{source}"),
            Self::NotRos(error) => write!(f, "{error}"),
            Self::Mixed(path) => {
                write!(f, "`{}`: files of IDL and of ROS give code separately; call `compile` for each", path.display())
            }
            Self::Unwritable { path, error } => write!(f, "cannot write `{}`: {error}", path.display()),
            Self::NoOutDir => f.write_str("`OUT_DIR` is not set: this is not a build script"),
            Self::NoFile => f.write_str("expected at least one file"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Incorrect(source) => Some(source),
            Self::Unwritable { error, .. } => Some(error),
            Self::NotRos(error) => Some(error),
            Self::NoOutDir | Self::NoFile | Self::Mixed(_) => None,
        }
    }
}
