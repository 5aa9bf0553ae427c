//! Reads files with bounds, and writes them so that other users never read a key.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::Path;
use zeroize::Zeroizing;

/// Most bytes of a file.
const LEN_MAX: u64 = 1 << 20;

/// Reads a file of at most a megabyte.
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    // A buffer that grows would leave copies of a key behind.
    let len = file.metadata()?.len().min(LEN_MAX) as usize;
    let mut bytes = Vec::with_capacity(len + 64);
    file.take(LEN_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > LEN_MAX {
        return Err(io::Error::new(io::ErrorKind::InvalidData, "the file has more than a megabyte"));
    }
    Ok(bytes)
}

/// Reads a file of at most a megabyte, which may hold a key. The bytes are overwritten when they are dropped.
///
/// # Errors
/// That of the system, or [`InvalidData`](io::ErrorKind::InvalidData) for a longer file.
pub fn read_file(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    read(path).map(Zeroizing::new)
}

/// Reads a text file of at most a megabyte.
pub(super) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path)?).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "the file is no UTF-8"))
}

/// Creates a file that only its owner may read, in one step. Fails if it exists.
pub(super) fn create_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    // An interrupted call may have left it.
    match fs::remove_file(&new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    write_secret(&new, bytes)?;
    // A link never takes the place of a file that exists. Some file systems have no links.
    let created = match fs::hard_link(&new, path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => write_secret(path, bytes),
        linked => linked,
    };
    fs::remove_file(&new)?;
    created
}

fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

/// Writes a file in one step: a reader sees the old or the new content.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let new = path.with_file_name(name);
    let mut file = File::create(&new)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&new, path)
}

/// Creates a folder that only its owner may enter.
pub(super) fn create_secret_folder(path: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Whether other users of the host can read a file.
#[cfg(unix)]
pub(super) fn is_readable_by_others(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o077 != 0)
}

/// Whether other users of the host can read a file. Unknown here.
#[cfg(not(unix))]
pub(super) fn is_readable_by_others(_: &Path) -> bool {
    false
}
