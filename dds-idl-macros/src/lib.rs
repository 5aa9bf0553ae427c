//! The macro [`idl!`](macro@idl): types of DDS topics, written as IDL.
//!
//! `layout` writes the tokens as text again, `options` reads the attribute of the macro, and `dds-idl` does the rest.

mod layout;
mod options;

use dds_idl::idl::{Options, parse_file, parse_text};
use dds_idl::model::{Diagnostic, Diagnostics, IncorrectSource, Severity, SourceMap, Specification};
use dds_idl::packages::{RosPackages, is_interface_path};
use dds_idl::ros::RosNaming;
use dds_idl::rust::{RustOptions, generate, generate_ros};
use dds_idl::service::add_service_types;
use layout::IdlText;
use options::MacroOptions;
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use std::path::{Path, PathBuf};

/// Defines the types of IDL 4.2 text, of an IDL file, or of interface files of ROS.
///
/// ```
/// dds_idl_macros::idl! {
///     #![crate_path = "::dds_cdr", derive_path = "::dds_macros::DdsType"]
///
///     module robot {
///         /// A place and a direction.
///         @final struct Pose { @key long id; double x, y; @default(TRUE) boolean is_valid; };
///     };
/// }
///
/// let pose = robot::Pose { id: 1, ..Default::default() };
/// assert!(pose.is_valid);
/// ```
///
/// A string literal as the only token is the path of a file, relative to the package: `idl!("idl/robot.idl")`. The
/// compiler runs the macro again if the file or an included one changes.
///
/// The path may name an `.msg`, `.srv` or `.action` file, or the folder of a ROS package: `idl!("my_robot_msgs")`. Then
/// the program depends on `dds-ros2`. Other packages stand beside the file, in the folders of `include_dir` or of
/// `AMENT_PREFIX_PATH`. The common packages need no folder. A new file in the folder counts from the next change on.
///
/// The attribute at the start has the options of `dds_idl::rust::RustOptions`: `crate_path`, `derive_path`, `ros_path`
/// and `serde`. `plain` defines types of ROS for DDS alone. `include_dir` adds a folder for `#include` or with packages
/// of ROS. `case_sensitive` accepts names that differ only in case.
///
/// Without the attribute, the code belongs to a program that depends on `dds-core` or `dds-ros2`.
///
/// Rust splits the text into tokens before this macro sees it. Therefore text in the macro has no wide literals such as
/// `L"x"` and no preprocessor; a file has both.
///
/// # Errors
///
/// A compile error stands at the token that is wrong. For a file, the error at the path contains the line.
#[proc_macro]
pub fn idl(input: TokenStream) -> TokenStream {
    let tokens: Vec<TokenTree> = input.into_iter().collect();
    let (options, tokens) = match options::split(tokens) {
        Ok(found) => found,
        Err((message, span)) => return compile_error(&message, span),
    };
    if let [TokenTree::Literal(path)] = tokens.as_slice()
        && let Some(path_text) = options::text_of(path)
    {
        return of_file(&path_text, path.span(), &options);
    }
    of_tokens(tokens, &options)
}

fn of_tokens(tokens: Vec<TokenTree>, options: &MacroOptions) -> TokenStream {
    let text = IdlText::of(tokens);
    let idl = Options { case_sensitive: options.case_sensitive, ..Options::default() };
    let mut specification = match parse_text("idl!", &text.text, &idl) {
        Ok(specification) => specification,
        Err(IncorrectSource { diagnostics, .. }) => return errors_at_tokens(&diagnostics, &text),
    };
    match add_service_types(&mut specification).and_then(|()| generate(&specification, &options.rust)) {
        Ok(code) => parsed(&code),
        Err(errors) => errors_at_tokens(&errors, &text),
    }
}

fn of_file(path: &str, span: Span, options: &MacroOptions) -> TokenStream {
    let folder = std::env::var_os("CARGO_MANIFEST_DIR").map(PathBuf::from).unwrap_or_default();
    let path = folder.join(path);
    let code =
        if is_interface_path(&path) { ros_code(&path, &folder, options) } else { idl_code(&path, &folder, options) };
    match code {
        Ok(code) => parsed(&code),
        Err(message) => compile_error(&message, span),
    }
}

/// Returns the code of an IDL file, or the text of the error.
fn idl_code(path: &Path, folder: &Path, options: &MacroOptions) -> Result<String, String> {
    let include_dirs = options.include_dirs.iter().map(|include_dir| folder.join(include_dir)).collect();
    let idl = Options { include_dirs, case_sensitive: options.case_sensitive, ..Options::default() };
    let specification = parse_file(path, &idl).map_err(|error| error.diagnostics.render(&error.sources, false))?;
    code_of(specification, folder, &options.rust)
}

/// Returns the code of a ROS package, or of one file, or the text of the error.
fn ros_code(path: &Path, folder: &Path, options: &MacroOptions) -> Result<String, String> {
    let mut packages = RosPackages::default();
    let names = packages.add(path).map_err(|error| error.to_string())?;
    for include_dir in &options.include_dirs {
        packages = packages.search_path(folder.join(include_dir));
    }
    let loaded = packages.ament_environment().load(&names);
    if options.rust.ros_path.is_none() {
        let specification = loaded.into_specification(RosNaming::Dds);
        let specification = specification.map_err(|error| error.diagnostics.render(&error.sources, false))?;
        return code_of(specification, folder, &options.rust);
    }
    let code = generate_ros(&loaded, &options.rust).map_err(|errors| errors.render(&loaded.sources, false))?;
    Ok(format!("{code}\n{}", dependencies(&loaded.sources, folder)))
}

fn code_of(mut specification: Specification, folder: &Path, rust: &RustOptions) -> Result<String, String> {
    match add_service_types(&mut specification).and_then(|()| generate(&specification, rust)) {
        Ok(code) => Ok(format!("{code}\n{}", dependencies(&specification.sources, folder))),
        Err(errors) => Err(errors.render(&specification.sources, false)),
    }
}

/// Constants that make the compiler watch the files.
fn dependencies(sources: &SourceMap, folder: &Path) -> String {
    let mut code = String::new();
    for (_, file) in sources.files() {
        let path = folder.join(file.path());
        if path.is_file() {
            code.push_str(&format!("const _: &[u8] = ::core::include_bytes!({:?});\n", path.to_string_lossy()));
        }
    }
    code
}

fn parsed(code: &str) -> TokenStream {
    match code.parse() {
        Ok(tokens) => tokens,
        Err(error) => {
            debug_assert!(false, "the back end checks its code: {error}");
            compile_error(&format!("the generated code is not Rust: {error}"), Span::call_site())
        }
    }
}

fn errors_at_tokens(diagnostics: &Diagnostics, text: &IdlText) -> TokenStream {
    let mut found = TokenStream::new();
    for diagnostic in diagnostics {
        if diagnostic.severity == Severity::Error {
            found.extend(compile_error(&message_of(diagnostic), text.span_at(diagnostic.span())));
        }
    }
    found
}

/// The message with its notes, without the lines of the source, which the compiler prints.
fn message_of(diagnostic: &Diagnostic) -> String {
    let mut message = diagnostic.message.clone();
    for note in diagnostic.notes.iter().chain(&diagnostic.help) {
        message.push('\n');
        message.push_str(note);
    }
    message
}

/// `::core::compile_error! { "message" }` at a token.
fn compile_error(message: &str, span: Span) -> TokenStream {
    let punct = |letter, spacing| {
        let mut punct = Punct::new(letter, spacing);
        punct.set_span(span);
        TokenTree::from(punct)
    };
    let mut literal = Literal::string(message);
    literal.set_span(span);
    let mut group = Group::new(Delimiter::Brace, TokenStream::from(TokenTree::from(literal)));
    group.set_span(span);
    let path = |name| [punct(':', Spacing::Joint), punct(':', Spacing::Alone), Ident::new(name, span).into()];
    let mut tokens: Vec<TokenTree> = path("core").into();
    tokens.extend(path("compile_error"));
    tokens.extend([punct('!', Spacing::Alone), group.into()]);
    tokens.into_iter().collect()
}
