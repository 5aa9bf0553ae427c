//! Programs that must not compile, and the errors that their users read.
//!
//! Each file of `tests/refused` begins with the required parts of the compiler's message, one `//! error:` line for
//! each. Full messages differ between compilers and are not compared.

use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const EXPECTED: &str = "//! error: ";

/// Compiles a program with the library of this test.
struct Compiler {
    dependencies: PathBuf,
    library: PathBuf,
}

impl Compiler {
    fn compile(&self, program: &Path) -> Output {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut library = std::ffi::OsString::from("dds_core=");
        library.push(&self.library);
        let mut compiler = Command::new(rustc);
        // The output is a separate file, because the compiler replaces any existing path, even a device.
        let unused = Path::new(env!("CARGO_TARGET_TMPDIR")).join("refused.rmeta");
        compiler.args(["--edition", "2024", "--emit", "metadata", "-o"]).arg(unused);
        compiler.arg("-L").arg(&self.dependencies).arg("--extern").arg(library).arg(program);
        compiler.output().unwrap()
    }

    /// Finds the newest library beside this test with which the accepted program compiles. Libraries of other features
    /// or earlier builds may be in the same folder.
    fn find(accepted: &Path) -> Self {
        let test = std::env::current_exe().unwrap();
        let dependencies = test.parent().unwrap().to_owned();
        let is_library = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_string_lossy();
            name.starts_with("libdds_core-") && name.ends_with(".rlib")
        };
        let entries = std::fs::read_dir(&dependencies).unwrap().map(|entry| entry.unwrap().path());
        let mut libraries: Vec<PathBuf> = entries.filter(is_library).collect();
        libraries.sort_by_key(|path| Reverse(path.metadata().unwrap().modified().unwrap()));
        let mut told = String::new();
        for library in libraries {
            let compiler = Self { dependencies: dependencies.clone(), library };
            let output = compiler.compile(accepted);
            if output.status.success() {
                return compiler;
            }
            told.push_str(&String::from_utf8_lossy(&output.stderr));
        }
        panic!("no library fits the accepted program:\n{told}");
    }
}

#[test]
fn refused_programs_explain_error() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/refused");
    let compiler = Compiler::find(&folder.join("accepted.rs"));
    let mut programs: Vec<PathBuf> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    programs.sort();
    let mut refused = 0;
    for program in programs.iter().filter(|program| !program.ends_with("accepted.rs")) {
        let text = std::fs::read_to_string(program).unwrap();
        let expected: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix(EXPECTED)).collect();
        assert!(!expected.is_empty(), "{} does not say what to expect", program.display());
        let output = compiler.compile(program);
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{} was accepted", program.display());
        for expected in expected {
            assert!(told.contains(expected), "{} was refused without \"{expected}\":\n{told}", program.display());
        }
        refused += 1;
    }
    assert_eq!(refused, 10);
}
