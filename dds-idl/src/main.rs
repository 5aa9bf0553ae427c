//! The program `dds-idl`: checks type definitions, writes Rust code, and prints IDL and hashes.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "output is the purpose of the program")]

use clap::{Args, Parser, Subcommand, ValueEnum};
use dds_cdr::xtypes::{TypeConsistency, TypeDifference, TypeGraph};
use dds_idl::description::{DescriptionForm, TypeVersion, changes, compatibility, type_graph};
use dds_idl::idl::{self, Options};
use dds_idl::model::{DefinitionKind, Diagnostics, Extensibility, IncorrectSource, SourceMap, Specification};
use dds_idl::packages::{RosPackages, is_interface_path};
use dds_idl::ros::{LoadedInterfaces, RosNaming};
use dds_idl::rust::{RustOptions, generate, generate_ros};
use dds_idl::service::add_service_types;
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Types of DDS topics from IDL 4.2 and ROS interface files.
#[derive(Debug, Parser)]
#[command(name = "dds-idl", version)]
struct Arguments {
    #[command(subcommand)]
    command: ProgramCommand,
}

#[derive(Debug, Subcommand)]
enum ProgramCommand {
    /// Print errors and warnings. The exit status is 0 if no file has an error.
    Check(InputOptions),
    /// Write Rust code for all types of the files.
    Gen(GenerationOptions),
    /// Print the types as IDL or XML that reads back as the same types, or a JSON Schema.
    Print(PrintOptions),
    /// Print the hashes of TypeObjects of IDL files, and the type hashes (RIHS01) of ROS interface files.
    Hash(HashOptions),
    /// Judge whether readers and writers with the types of two files match. The exit status is 1 if they do not.
    Compatibility(VersionOptions),
    /// Print the changes between two versions of types, and whether old and new programs still talk.
    Diff(VersionOptions),
}

#[derive(Debug, Args)]
struct GenerationOptions {
    #[command(flatten)]
    input: InputOptions,
    /// File for the code; without it, standard output.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write nothing, and fail if the file differs.
    #[arg(long, requires = "output")]
    check: bool,
    /// Derive the traits of serde where possible.
    #[arg(long)]
    serde: bool,
    /// Path of the crate with the module `cdr`.
    #[arg(long = "crate", value_name = "PATH", default_value = "::dds_core")]
    crate_path: String,
    /// Path of the derive macro; without it, `DdsType` of the crate.
    #[arg(long = "derive", value_name = "PATH")]
    derive_path: Option<String>,
    /// Path of the traits and common messages of ROS, for interface files of ROS.
    #[arg(long = "ros", value_name = "PATH", default_value = "::dds_ros2::msgs")]
    ros_path: String,
    /// Write types of plain DDS for interface files of ROS.
    #[arg(long, conflicts_with = "ros_path")]
    plain: bool,
}

#[derive(Debug, Args)]
struct PrintOptions {
    #[command(flatten)]
    input: InputOptions,
    /// Format of the output.
    #[arg(long, value_enum, default_value = "idl")]
    format: PrintFormat,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum PrintFormat {
    Idl,
    Xml,
    JsonSchema,
}

#[derive(Debug, Args)]
struct HashOptions {
    #[command(flatten)]
    input: InputOptions,
    /// Hashes that a program with the code of `gen` announces: without typedefs, units and ranges.
    #[arg(long)]
    rust: bool,
    /// Print the bytes of the TypeObjects as well.
    #[arg(long)]
    objects: bool,
}

#[derive(Debug, Args)]
struct VersionOptions {
    /// The two files: the old version, and the new version.
    #[command(flatten)]
    input: InputOptions,
    /// Scoped name of the type; without it, all topic types of both files.
    #[arg(long = "type", value_name = "NAME")]
    type_name: Option<String>,
    /// Types as programs with the code of `gen` announce them: without typedefs.
    #[arg(long)]
    rust: bool,
}

#[derive(Debug, Args)]
struct InputOptions {
    /// Files: `.idl`, `.xml`, `.msg`, `.srv` or `.action`; or folders of ROS packages.
    ///
    /// `gen` and `print` read files of IDL or of ROS as one text, and only one `.xml`. The others read each on its own.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Folder for `#include`, or folder with packages of ROS.
    #[arg(short = 'I', value_name = "DIR")]
    include: Vec<PathBuf>,
    /// Macro; without a value, 1.
    #[arg(short = 'D', value_name = "NAME[=VALUE]")]
    define: Vec<String>,
    /// Extensibility of types without an annotation.
    #[arg(long, value_enum, default_value = "appendable")]
    extensibility: DefaultExtensibility,
    /// Accept names that differ only in case.
    #[arg(long)]
    case_sensitive: bool,
    /// Print one line for each error and warning.
    #[arg(long)]
    short: bool,
    /// Print no warnings.
    #[arg(short, long)]
    quiet: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum DefaultExtensibility {
    Final,
    Appendable,
    Mutable,
}

impl InputOptions {
    fn options(&self) -> Options {
        let define = |text: &String| {
            let (name, value) = text.split_once('=').unwrap_or((text, "1"));
            (name.to_owned(), value.to_owned())
        };
        Options {
            include_dirs: self.include.clone(),
            defines: self.define.iter().map(define).collect(),
            default_extensibility: match self.extensibility {
                DefaultExtensibility::Final => Extensibility::Final,
                DefaultExtensibility::Appendable => Extensibility::Appendable,
                DefaultExtensibility::Mutable => Extensibility::Mutable,
            },
            case_sensitive: self.case_sensitive,
            ..Options::default()
        }
    }

    fn packages(&self) -> RosPackages {
        let mut packages = RosPackages::default();
        for folder in &self.include {
            packages = packages.search_path(folder);
        }
        packages.ament_environment()
    }

    /// Prints errors and warnings, and returns whether there is no error.
    fn report(&self, sources: &SourceMap, diagnostics: &Diagnostics) -> bool {
        for diagnostic in diagnostics {
            if self.quiet && diagnostic.severity != dds_idl::model::Severity::Error {
                continue;
            }
            if self.short {
                eprintln!("{}", diagnostic.one_line(sources));
            } else {
                eprintln!("{}\n", diagnostic.render(sources, std::io::stderr().is_terminal()));
            }
        }
        let (errors, warnings) = (diagnostics.error_count(), diagnostics.warning_count());
        if errors + warnings > diagnostics.iter().count() {
            eprintln!("{errors} errors and {warnings} warnings in all");
        }
        errors == 0
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let is_right = match &arguments.command {
        ProgramCommand::Compatibility(options) => return judge_versions(options, false),
        ProgramCommand::Diff(options) => return judge_versions(options, true),
        ProgramCommand::Check(input) => for_each_file(input, |path| check(input, path)),
        ProgramCommand::Gen(options) => write_code(options),
        ProgramCommand::Print(options) => print(options),
        ProgramCommand::Hash(options) => for_each_file(&options.input, |path| hash(options, path)),
    };
    if is_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// Calls `run` with each file, and returns whether all succeed.
fn for_each_file(input: &InputOptions, run: impl Fn(&Path) -> bool) -> bool {
    let mut is_right = true;
    for path in &input.files {
        is_right &= run(path);
    }
    is_right
}

#[cfg(feature = "xml")]
fn is_xml(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "xml")
}

fn check(input: &InputOptions, path: &Path) -> bool {
    match read(input, path) {
        Ok(found) => input.report(&found.sources, &found.diagnostics),
        Err(error) => input.report(&error.sources, &error.diagnostics),
    }
}

fn read(input: &InputOptions, path: &Path) -> Result<Specification, Box<IncorrectSource>> {
    #[cfg(feature = "xml")]
    if is_xml(path) {
        return dds_idl::xml::parse_file(path, &input.options()).map_err(Box::new);
    }
    if !is_interface_path(path) {
        return idl::parse_file(path, &input.options()).map_err(Box::new);
    }
    read_ros(input, &[path.to_owned()])
}

fn read_ros(input: &InputOptions, paths: &[PathBuf]) -> Result<Specification, Box<IncorrectSource>> {
    load_ros(input, paths)?.into_specification(RosNaming::Dds).map_err(Box::new)
}

fn load_ros(input: &InputOptions, paths: &[PathBuf]) -> Result<LoadedInterfaces, Box<IncorrectSource>> {
    let mut packages = input.packages();
    let mut names = Vec::new();
    for path in paths {
        names.extend(packages.add(path).map_err(|error| Box::new(incorrect_path(path, &error)))?);
    }
    Ok(packages.load(&names))
}

/// Reads all files as one specification.
fn read_together(input: &InputOptions) -> Result<Specification, Box<IncorrectSource>> {
    if input.files.iter().all(|path| is_interface_path(path)) {
        return read_ros(input, &input.files);
    }
    #[cfg(feature = "xml")]
    if let [path] = input.files.as_slice()
        && is_xml(path)
    {
        return read(input, path);
    }
    for path in &input.files {
        #[cfg(feature = "xml")]
        if is_xml(path) {
            let message = "each XML file gives code on its own";
            return Err(Box::new(incorrect_path(path, &std::io::Error::other(message))));
        }
        if is_interface_path(path) {
            let message = "files of IDL and of ROS give code separately";
            return Err(Box::new(incorrect_path(path, &std::io::Error::other(message))));
        }
    }
    idl::parse_files(&input.files, &input.options()).map_err(Box::new)
}

fn print(options: &PrintOptions) -> bool {
    let input = &options.input;
    let specification = match read_together(input) {
        Ok(specification) => specification,
        Err(error) => return input.report(&error.sources, &error.diagnostics),
    };
    input.report(&specification.sources, &specification.diagnostics);
    match options.format {
        PrintFormat::Idl => print!("{}", dds_idl::print::to_idl(&specification)),
        PrintFormat::Xml => match dds_idl::print::to_xml(&specification) {
            Ok(xml) => {
                input.report(&specification.sources, &xml.warnings);
                print!("{}", xml.text);
            }
            Err(errors) => return input.report(&specification.sources, &errors),
        },
        PrintFormat::JsonSchema => print!("{}", dds_idl::print::to_json_schema(&specification)),
    }
    true
}

fn write_code(options: &GenerationOptions) -> bool {
    let input = &options.input;
    let rust = RustOptions {
        crate_path: options.crate_path.clone(),
        derive_path: options.derive_path.clone(),
        serde: options.serde,
        ros_path: (!options.plain).then(|| options.ros_path.clone()),
    };
    let code = if !options.plain && input.files.iter().all(|path| is_interface_path(path)) {
        ros_code(input, &rust)
    } else {
        idl_code(input, &rust)
    };
    let Some(code) = code else { return false };
    let Some(path) = &options.output else {
        print!("{code}");
        return true;
    };
    let is_equal = std::fs::read_to_string(path).is_ok_and(|text| text == code);
    if is_equal {
        return true;
    }
    if options.check {
        eprintln!("{}: differs from the code of its types; `dds-idl gen` without `--check` writes it", path.display());
        return false;
    }
    match std::fs::write(path, code) {
        Ok(()) => true,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            false
        }
    }
}

/// Returns the code of the files, unless there are errors. Prints errors and warnings.
fn idl_code(input: &InputOptions, rust: &RustOptions) -> Option<String> {
    let mut specification = match read_together(input) {
        Ok(specification) => specification,
        Err(error) => {
            input.report(&error.sources, &error.diagnostics);
            return None;
        }
    };
    input.report(&specification.sources, &specification.diagnostics);
    match add_service_types(&mut specification).and_then(|()| generate(&specification, rust)) {
        Ok(code) => Some(code),
        Err(errors) => {
            input.report(&specification.sources, &errors);
            None
        }
    }
}

/// As `idl_code`, for interface files of ROS as messages of `dds-ros2`.
fn ros_code(input: &InputOptions, rust: &RustOptions) -> Option<String> {
    let loaded = match load_ros(input, &input.files) {
        Ok(loaded) => loaded,
        Err(error) => {
            input.report(&error.sources, &error.diagnostics);
            return None;
        }
    };
    match generate_ros(&loaded, rust) {
        Ok(code) => {
            input.report(&loaded.sources, &loaded.diagnostics);
            Some(code)
        }
        Err(errors) => {
            input.report(&loaded.sources, &errors);
            None
        }
    }
}

/// An error about the path of a file.
fn incorrect_path(path: &Path, error: &dyn std::error::Error) -> IncorrectSource {
    let mut found = IncorrectSource::default();
    let file = found.sources.add(path, "", None);
    let span = dds_idl::model::Span::new(file, 0, 0);
    found.diagnostics.push(dds_idl::model::Diagnostic::error(error.to_string(), span));
    found
}

fn hash(options: &HashOptions, path: &Path) -> bool {
    let input = &options.input;
    if !is_interface_path(path) {
        return hash_objects(options, path);
    }
    let mut packages = input.packages();
    let names = match packages.add(path) {
        Ok(names) => names,
        Err(error) => {
            let error = incorrect_path(path, &error);
            return input.report(&error.sources, &error.diagnostics);
        }
    };
    let loaded = packages.load(&names);
    let mut is_right = input.report(&loaded.sources, &loaded.diagnostics);
    for name in &names {
        match loaded.types.type_hash(name) {
            Some(hash) if is_right => println!("{hash} {name}"),
            _ => is_right = false,
        }
    }
    is_right
}

/// Most types that all hashes cover together. Each one covers all types inside of a type.
const HASHED_TYPES_MAX: usize = 1_000_000;

/// Prints a line for each type that the file itself defines: both hashes and the name.
fn hash_objects(options: &HashOptions, path: &Path) -> bool {
    let input = &options.input;
    let specification = match read(input, path) {
        Ok(specification) => specification,
        Err(error) => return input.report(&error.sources, &error.diagnostics),
    };
    input.report(&specification.sources, &specification.diagnostics);
    let form = if options.rust { DescriptionForm::Rust } else { DescriptionForm::Standard };
    let (mut is_right, mut rest) = (true, HASHED_TYPES_MAX);
    for (id, definition) in specification.definitions() {
        let is_alias = options.rust && matches!(definition.kind, DefinitionKind::Typedef(_));
        if !definition.is_data_type() || is_alias || !specification.sources.is_root(definition.span) {
            continue;
        }
        match type_graph(&specification, id, form) {
            Ok(graph) if graph.types().len() <= rest => {
                rest -= graph.types().len();
                print_hashes(&graph, &definition.scoped_name, options.objects);
            }
            Ok(_) => {
                eprintln!("{}: the hashes cover more than {HASHED_TYPES_MAX} types together", path.display());
                return false;
            }
            Err(errors) => is_right &= input.report(&specification.sources, &errors),
        }
    }
    is_right
}

fn print_hashes(graph: &TypeGraph, name: &str, has_objects: bool) {
    let Some(ty) = graph.types().first() else {
        debug_assert!(false, "a graph contains its root");
        return;
    };
    println!("complete {} minimal {} {name}", ty.complete_id, ty.minimal_id);
    if !has_objects {
        return;
    }
    for (form, object) in [("complete", &ty.complete), ("minimal", &ty.minimal)] {
        // The graph has encoded each object for its hash.
        for byte in object.to_bytes().unwrap_or_default() {
            print!("{byte:02x}");
        }
        println!(" {form} {name}");
    }
}

/// Exit status if a file has an error: neither compatible nor incompatible.
const STATUS_INCORRECT: u8 = 2;

/// Prints a judgment for each pair of types. The status is 0 if all match in both directions.
fn judge_versions(options: &VersionOptions, has_changes: bool) -> ExitCode {
    let input = &options.input;
    let [old_path, new_path] = input.files.as_slice() else {
        eprintln!("expected two files: the old version and the new version");
        return ExitCode::from(STATUS_INCORRECT);
    };
    let (Some(old), Some(new)) = (read_and_report(input, old_path), read_and_report(input, new_path)) else {
        return ExitCode::from(STATUS_INCORRECT);
    };
    if has_changes {
        for change in changes(&old, &new) {
            println!("{change}");
        }
    }
    let names = match &options.type_name {
        Some(name) => vec![name.clone()],
        None => common_topic_types(&old, &new),
    };
    if names.is_empty() {
        eprintln!("no topic type with the same name in both files");
        return ExitCode::from(STATUS_INCORRECT);
    }
    let mut status = ExitCode::SUCCESS;
    for name in names {
        match judge(options, (&old, &new), &name) {
            Some(true) => {}
            Some(false) => status = ExitCode::FAILURE,
            None => return ExitCode::from(STATUS_INCORRECT),
        }
    }
    status
}

fn read_and_report(input: &InputOptions, path: &Path) -> Option<Specification> {
    match read(input, path) {
        Ok(specification) => {
            input.report(&specification.sources, &specification.diagnostics);
            Some(specification)
        }
        Err(error) => {
            input.report(&error.sources, &error.diagnostics);
            None
        }
    }
}

fn common_topic_types(old: &Specification, new: &Specification) -> Vec<String> {
    let mut names = Vec::new();
    for (_, definition) in old.definitions() {
        let other = new.find(&definition.scoped_name).map(|id| new.definition(id));
        if definition.is_topic_type() && other.is_some_and(|other| other.is_topic_type()) {
            names.push(definition.scoped_name.to_string());
        }
    }
    names
}

/// Prints the judgment of both directions; `None` after an error.
fn judge(options: &VersionOptions, (old, new): (&Specification, &Specification), name: &str) -> Option<bool> {
    let (Some(old_type), Some(new_type)) = (TypeVersion::find(old, name), TypeVersion::find(new, name)) else {
        eprintln!("{name}: expected a data type of both files");
        return None;
    };
    let form = if options.rust { DescriptionForm::Rust } else { DescriptionForm::Standard };
    match compatibility(old_type, new_type, form, &TypeConsistency::default()) {
        Ok(found) => {
            print_direction(name, "old writer, new reader", found.new_reader.as_ref());
            print_direction(name, "new writer, old reader", found.old_reader.as_ref());
            Some(found.is_mutual())
        }
        Err(error) => {
            options.input.report(if error.is_old { &old.sources } else { &new.sources }, &error.diagnostics);
            None
        }
    }
}

fn print_direction(name: &str, direction: &str, difference: Option<&TypeDifference>) {
    match difference {
        None => println!("{name}: {direction}: match"),
        Some(difference) => println!("{name}: {direction}: no match: {difference}"),
    }
}
