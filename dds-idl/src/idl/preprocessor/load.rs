//! Reads files, and searches included ones.

use super::Preprocessor;
use crate::idl::IncludedFile;
use crate::model::{Diagnostic, FileId, SourceFile, Span};
use crate::ros::shipped_idl;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Largest file in bytes. Offsets have 32 bits, and no real specification is larger.
const FILE_BYTES_MAX: u64 = 64 << 20;

/// Reads a file of limited size.
pub(super) fn read(path: &Path) -> Result<Vec<u8>, io::Error> {
    let mut bytes = Vec::new();
    let length = fs::File::open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if length as u64 > FILE_BYTES_MAX {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, format!("the limit is {FILE_BYTES_MAX} bytes")));
    }
    Ok(bytes)
}

/// The path that tells files apart.
pub(super) fn identity(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

/// Decodes a text and adds it to the sources.
pub(super) fn add_source(this: &mut Preprocessor<'_>, path: &Path, bytes: &[u8], included_at: Option<Span>) -> FileId {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => this.sources.add(path, text, included_at),
        Err(error) => {
            // Older editors write comments in Latin-1. Each of its bytes is the character with the same code.
            let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
            let before: usize = bytes.iter().take(error.valid_up_to()).map(|byte| char::from(*byte).len_utf8()).sum();
            let file = this.sources.add(path, text, included_at);
            let start = u32::try_from(before).unwrap_or(u32::MAX);
            let span = Span::new(file, start, start.saturating_add(2));
            this.diagnostics.push(
                Diagnostic::warning("the file is not UTF-8", span)
                    .primary("the first other byte")
                    .note("the file is read as Latin-1"),
            );
            file
        }
    }
}

/// The target of an `#include`.
pub(super) enum IncludeTarget {
    /// A file.
    File(PathBuf),
    /// A text that stands for a file, with its path for messages.
    Text(PathBuf, String),
    /// Such a text that was read before. It is not cheap to create.
    KnownText,
    /// A file with an error.
    Unreadable(io::Error),
}

/// Searches an included file: beside the file with the `#include`, in the folders of the options, by the caller, and in
/// this crate. Otherwise returns the folders.
pub(super) fn find(this: &mut Preprocessor<'_>, name: &str, is_quoted: bool) -> Result<IncludeTarget, Vec<PathBuf>> {
    // Some files are written on Windows.
    let name = name.replace('\\', "/");
    let own = this.open_files.last().and_then(|(file, _)| this.sources.file(*file));
    // A built-in file, such as `<orb.idl>`, is in no folder.
    let own = own.map(SourceFile::path).filter(|path| !path.as_os_str().as_encoded_bytes().starts_with(b"<"));
    let own = own.and_then(Path::parent).map(Path::to_owned);
    let mut folders: Vec<PathBuf> = this.options.include_dirs.clone();
    if let Some(own) = own {
        let at = if is_quoted { 0 } else { folders.len() };
        folders.insert(at, own);
    }
    for folder in &folders {
        let path = folder.join(&name);
        if path.is_file() {
            return Ok(IncludeTarget::File(path));
        }
    }
    let path = PathBuf::from(format!("<{name}>"));
    if this.files.contains_key(&path) {
        return Ok(IncludeTarget::KnownText);
    }
    match this.find.as_mut().and_then(|find| find(&name)) {
        Some(Ok(IncludedFile::At(path))) => Ok(IncludeTarget::File(path)),
        Some(Ok(IncludedFile::Text(text))) => Ok(IncludeTarget::Text(path, text)),
        Some(Err(error)) => Ok(IncludeTarget::Unreadable(error)),
        None => match tao_file(&name).or_else(|| shipped_idl(&name)) {
            Some(text) => Ok(IncludeTarget::Text(path, text)),
            None => Err(folders),
        },
    }
}

/// The types of CORBA in files of TAO, which OpenDDS installs: `tao/LongSeq.pidl` and the like.
const TAO_SEQUENCES: [(&str, &str); 17] = [
    ("Boolean", "boolean"),
    ("Char", "char"),
    ("Double", "double"),
    ("Float", "float"),
    ("Int8", "int8"),
    ("LongDouble", "long double"),
    ("LongLong", "long long"),
    ("Long", "long"),
    ("Octet", "octet"),
    ("Short", "short"),
    ("String", "string"),
    ("UInt8", "uint8"),
    ("ULongLong", "unsigned long long"),
    ("ULong", "unsigned long"),
    ("UShort", "unsigned short"),
    ("WChar", "wchar"),
    ("WString", "wstring"),
];

/// Types of `<orb.idl>` that interfaces use (CORBA 3.4, part 1, annex A).
const CORBA_TYPES: &str = "module CORBA {
    native TypeCode; native NVList;
    typedef string Identifier; typedef string RepositoryId; typedef string ScopedName;
    typedef unsigned long PolicyType; typedef unsigned long Flags; typedef unsigned long ServiceOption;
    interface Current { }; interface Policy { }; typedef sequence<Policy> PolicyList;
    interface InterfaceDef { }; interface DomainManager { };
};
";

/// Times of CORBA (Enhanced View of Time 2.0, 1.3.2).
const TIME_TYPES: &str = "module TimeBase {
    typedef unsigned long long TimeT; typedef TimeT InaccuracyT; typedef short TdfT;
    struct UtcT { TimeT time; unsigned long inacclo; unsigned short inacchi; TdfT tdf; };
    struct IntervalT { TimeT lower_bound; TimeT upper_bound; };
};
";

/// The text of a file of TAO or of OpenDDS's configuration, for machines without them.
fn tao_file(name: &str) -> Option<String> {
    let sequence = |(name, ty): &(&str, &str)| format!("module CORBA {{ typedef sequence<{ty}> {name}Seq; }};\n");
    match name {
        // The standard gives this file, and TAO has it in its own folder.
        "orb.idl" | "tao/orb.idl" | "tao/orb_types.pidl" => {
            let includes = TAO_SEQUENCES.iter().map(|(name, _)| format!("#include <tao/{name}Seq.pidl>\n"));
            return Some(includes.chain([CORBA_TYPES.to_owned()]).collect());
        }
        "TimeBase.idl" | "orbsvcs/TimeBase.idl" | "tao/TimeBase.pidl" => return Some(TIME_TYPES.to_owned()),
        // The configuration of a usual build is empty.
        "dds/OpenDDSConfig.h" | "OpenDDSConfigWrapper.h" => return Some("\n".to_owned()),
        "tao/Version.h" => return Some("#define TAO_MAJOR_VERSION 2\n#define TAO_MINOR_VERSION 5\n".to_owned()),
        _ => {}
    }
    let name = name.strip_prefix("tao/")?.strip_suffix("Seq.pidl")?;
    TAO_SEQUENCES.iter().find(|(known, _)| *known == name).map(sequence)
}

/// The file names in a folder, for suggestions.
pub(super) fn names_in(folder: &Path) -> Vec<String> {
    /// Enough for suggestions; a larger folder takes long to read.
    const NAMES_MAX: usize = 1000;
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<String> =
        entries.take(NAMES_MAX).filter_map(|entry| entry.ok()?.file_name().into_string().ok()).collect();
    names.sort();
    names
}
