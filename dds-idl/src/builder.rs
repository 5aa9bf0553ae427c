//! Rust code in a build script.

use crate::idl::{self, Options};
use crate::model::{IncorrectSource, Severity, SourceMap, Specification};
use crate::rust::{RustOptions, generate};
use crate::service::add_service_types;
use std::fmt;
use std::path::{Path, PathBuf};

/// Writes Rust code for IDL files in a build script.
///
/// The code is one file in `OUT_DIR`. Cargo runs the build script again if an IDL file changes, also an included one.
///
/// ```no_run
/// // build.rs
/// fn main() -> Result<(), dds_idl::BuildError> {
///     dds_idl::Builder::new().compile(&["idl/robot.idl"])
/// }
/// ```
///
/// The program includes the file that has the name of the first IDL file:
///
/// ```ignore
/// include!(concat!(env!("OUT_DIR"), "/robot.rs"));
/// ```
#[derive(Debug, Clone, Default)]
pub struct Builder {
    idl: Options,
    rust: RustOptions,
    out_dir: Option<PathBuf>,
    file_name: Option<PathBuf>,
}

/// The reason why a build script has no code.
pub enum BuildError {
    /// The IDL is not correct, or has no Rust code.
    Incorrect(Box<IncorrectSource>),
    /// The file cannot be written.
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: std::io::Error,
    },
    /// `OUT_DIR` is not set, and [`Builder::out_dir`] was not called.
    NoOutDir,
    /// No IDL file was given.
    NoFile,
}

impl Builder {
    /// Creates a builder with the default options.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a folder for `#include`.
    #[must_use]
    pub fn include_dir(mut self, folder: impl Into<PathBuf>) -> Self {
        self.idl.include_dirs.push(folder.into());
        self
    }

    /// Replaces the options of the IDL, and with them the folders of [`Self::include_dir`].
    #[must_use]
    pub fn idl_options(mut self, options: Options) -> Self {
        self.idl = options;
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

    /// Sets the name of the file with the code. The default is the name of the first IDL file, with the extension `rs`.
    #[must_use]
    pub fn file_name(mut self, name: impl Into<PathBuf>) -> Self {
        self.file_name = Some(name.into());
        self
    }

    /// Reads the files as one specification, and writes its code. A single `.xml` file contains XML types (feature
    /// `xml`).
    ///
    /// It prints the instructions and warnings for Cargo to the standard output.
    ///
    /// # Errors
    /// The IDL is not correct or has no Rust code, or the file cannot be written.
    #[allow(clippy::print_stdout, reason = "Cargo reads the output of a build script")]
    pub fn compile<P: AsRef<Path>>(&self, files: &[P]) -> Result<(), BuildError> {
        let first = files.first().ok_or(BuildError::NoFile)?.as_ref();
        for file in files {
            println!("cargo::rerun-if-changed={}", file.as_ref().display());
        }
        let parsed = self.parse(files);
        for (_, file) in parsed.as_ref().map_or_else(|error| &error.sources, |found| &found.sources).files() {
            println!("cargo::rerun-if-changed={}", file.path().display());
        }
        let mut specification = parsed.map_err(|error| BuildError::Incorrect(Box::new(error)))?;
        for warning in &specification.diagnostics {
            if warning.severity == Severity::Warning {
                println!("cargo::warning={}", warning.one_line(&specification.sources));
            }
        }
        let code = add_service_types(&mut specification).and_then(|()| generate(&specification, &self.rust));
        let code = code.map_err(|diagnostics| {
            let sources: SourceMap = std::mem::take(&mut specification.sources);
            BuildError::Incorrect(Box::new(IncorrectSource { sources, diagnostics }))
        })?;
        let folder = match &self.out_dir {
            Some(folder) => folder.clone(),
            None => std::env::var_os("OUT_DIR").map(PathBuf::from).ok_or(BuildError::NoOutDir)?,
        };
        let name = self.file_name.clone().unwrap_or_else(|| {
            let stem = first.file_stem().map(PathBuf::from).unwrap_or_default();
            stem.with_extension("rs")
        });
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

/// The text of `Display`: a build script prints the `Debug` form of its error.
impl fmt::Debug for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Incorrect(source) => write!(f, "incorrect IDL\n\n{source}"),
            Self::Unwritable { path, error } => write!(f, "cannot write `{}`: {error}", path.display()),
            Self::NoOutDir => f.write_str("`OUT_DIR` is not set: this is not a build script"),
            Self::NoFile => f.write_str("expected at least one IDL file"),
        }
    }
}

impl std::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Incorrect(source) => Some(source),
            Self::Unwritable { error, .. } => Some(error),
            Self::NoOutDir | Self::NoFile => None,
        }
    }
}
