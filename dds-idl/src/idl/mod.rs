//! The front end for IDL 4.2.
//!
//! In: files. Out: a resolved [`Specification`], or the errors.
//!
//! | file | content |
//! |---|---|
//! | `preprocessor` | includes, macros, conditionals, pragmas |
//! | `token`, `symbol`, `literal` | tokens, interned texts, values of literals |
//! | `scope` | names and scopes |
//! | `parser` | the grammar; resolves names and evaluates constants at once, because IDL defines before it uses |
//! | `expression` | constant expressions, and their conversion to a type |
//! | `annotation` | annotations: which exist, where they apply, and their arguments |

mod annotation;
mod expression;
mod literal;
mod parser;
mod preprocessor;
mod scope;
mod symbol;
mod token;

#[cfg(test)]
mod tests;

#[cfg(feature = "xml")]
use crate::model::FileId;
use crate::model::{AutoIdKind, Diagnostic, Diagnostics, Extensibility, IncorrectSource, SourceMap, Specification};
use preprocessor::Preprocessor;
use std::io;
use std::path::{Path, PathBuf};
use symbol::SymbolTable;

/// Options of the front end.
#[derive(Debug, Clone)]
pub struct Options {
    /// Folders for `#include`, searched in this order.
    pub include_dirs: Vec<PathBuf>,
    /// Macros: names and values.
    pub defines: Vec<(String, String)>,
    /// Extensibility of types without an annotation. The default is `Appendable`, as in XTYPES 1.3, 7.2.2.4.4.1.
    ///
    /// Fast DDS, OpenDDS and RTI Connext have the same default. Cyclone DDS and ROS have `Final`.
    ///
    /// A bitmask without an annotation is always final, and an enum is final if the default is `Mutable`. These are the
    /// rules of Cyclone DDS, whose hashes are then equal.
    pub default_extensibility: Extensibility,
    /// Whether types without `@nested`, `@default_nested` and `@topic` are nested. The default is `false`.
    pub default_nested: bool,
    /// Rule for member ids of types without `@autoid`. The default is `Sequential`.
    pub default_auto_id: AutoIdKind,
    /// First member id of unions without `@id`. The default is 1, because 0 is the discriminator.
    ///
    /// Cyclone DDS up to 11.0 counts from 0. In a mutable union, 0 is an error.
    pub first_union_id: u32,
    /// Whether names that differ only in case are different. The default is `false`, as in IDL 4.2, 7.2.3.
    pub case_sensitive: bool,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            include_dirs: Vec::new(),
            defines: Vec::new(),
            default_extensibility: Extensibility::Appendable,
            default_nested: false,
            default_auto_id: AutoIdKind::Sequential,
            first_union_id: 1,
            case_sensitive: false,
        }
    }
}

/// Reads IDL files as one specification. A file that another file includes is read once.
///
/// # Errors
/// A file cannot be read, or the text is not correct. All errors of the preprocessor are reported together, and
/// otherwise all errors of the definitions.
pub fn parse_files<P: AsRef<Path>>(paths: &[P], options: &Options) -> Result<Specification, IncorrectSource> {
    parse_sources(SourceMap::default(), options, None, |preprocessor| preprocessor.add_files(paths))
}

/// Reads an IDL file with everything that it includes.
///
/// # Errors
/// A file cannot be read, or the text is not correct. All errors of the preprocessor are reported together, and
/// otherwise all errors of the definitions.
pub fn parse_file(path: impl AsRef<Path>, options: &Options) -> Result<Specification, IncorrectSource> {
    parse_files(&[path], options)
}

/// Reads IDL from memory. `name` is the path for messages, and `#include`s are relative to its folder.
///
/// # Errors
/// The text is not correct. All errors of the preprocessor are reported together, and otherwise all errors of the
/// definitions.
///
/// # Examples
///
/// ```
/// use dds_idl::idl::{Options, parse_text};
///
/// let robot = parse_text("robot.idl", "module robot { struct Pose { double x, y; }; };", &Options::default())?;
/// assert!(robot.find("robot::Pose").is_some());
///
/// let error = parse_text("robot.idl", "struct Pose {\n  duble x;\n};", &Options::default()).unwrap_err();
/// let text = error.to_string();
/// assert!(text.contains("robot.idl:2:3"), "{text}");
/// assert!(text.contains("did you mean `double`?"), "{text}");
/// # Ok::<(), dds_idl::model::IncorrectSource>(())
/// ```
pub fn parse_text(name: impl AsRef<Path>, text: &str, options: &Options) -> Result<Specification, IncorrectSource> {
    let bytes = text.as_bytes();
    parse_sources(SourceMap::default(), options, None, |preprocessor| preprocessor.add_bytes(name.as_ref(), bytes))
}

/// A file that an `#include` names.
pub(crate) enum IncludedFile {
    /// The file has this path.
    At(PathBuf),
    /// The file does not exist, and this is its text.
    Text(String),
}

/// Finds a file that no folder of the options has, by the name in the `#include`.
pub(crate) type IncludeFinder<'f> = dyn FnMut(&str) -> Option<io::Result<IncludedFile>> + 'f;

/// Reads IDL files as one specification, whose sources begin with other files.
pub(crate) fn parse_files_after(
    sources: SourceMap,
    paths: &[&Path],
    options: &Options,
    find: &mut IncludeFinder<'_>,
) -> Result<Specification, IncorrectSource> {
    parse_sources(sources, options, Some(find), |preprocessor| preprocessor.add_files(paths))
}

/// Reads IDL that another front end has translated from files. The offsets of each text are those of its file.
#[cfg(feature = "xml")]
pub(crate) fn parse_translated(
    sources: SourceMap,
    pieces: &[(FileId, String)],
    options: &Options,
) -> Result<Specification, IncorrectSource> {
    parse_sources(sources, options, None, |preprocessor| {
        for (file, text) in pieces {
            preprocessor.add_translated(*file, text);
        }
    })
}

fn parse_sources(
    mut sources: SourceMap,
    options: &Options,
    find: Option<&mut IncludeFinder<'_>>,
    read: impl FnOnce(&mut Preprocessor<'_>),
) -> Result<Specification, IncorrectSource> {
    let find = find.map(|find| find as &mut IncludeFinder<'_>);
    let mut symbols = SymbolTable::new();
    let mut diagnostics = Diagnostics::default();
    let mut preprocessor = Preprocessor::new(options, find, &mut sources, &mut symbols, &mut diagnostics);
    read(&mut preprocessor);
    let input = preprocessor.finish();
    if diagnostics.has_errors() {
        // Without an included file or a macro, most later errors would mislead.
        return Err(IncorrectSource { sources, diagnostics });
    }
    let mut specification = Specification::default();
    (specification.sources, specification.diagnostics) = (sources, diagnostics);
    let specification = parser::parse(options, symbols, input, specification);
    if specification.diagnostics.has_errors() {
        let Specification { sources, diagnostics, .. } = specification;
        return Err(IncorrectSource { sources, diagnostics });
    }
    Ok(specification)
}

impl Preprocessor<'_> {
    fn add_files<P: AsRef<Path>>(&mut self, paths: &[P]) {
        for path in paths {
            let path = path.as_ref();
            if let Err(error) = self.add_file(path) {
                self.report_unreadable(path, &error);
            }
        }
    }

    fn report_unreadable(&mut self, path: &Path, error: &io::Error) {
        let span = self.empty_file(path);
        self.report(Diagnostic::error(format!("cannot read `{}`: {error}", path.display()), span));
    }
}
