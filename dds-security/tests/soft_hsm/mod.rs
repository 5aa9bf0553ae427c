//! Tokens of SoftHSM, a PKCS #11 library of Debian that keeps keys in files.

#[allow(clippy::duplicate_mod, reason = "tests of dds-core include this file, and have the other one too")]
#[path = "../../../dds-rtps/src/transport/skip.rs"]
mod skip;

use std::path::PathBuf;
use std::process::Command;

/// Where Debian and Fedora have the library.
const MODULES: [&str; 3] =
    ["/usr/lib/softhsm/libsofthsm2.so", "/usr/lib64/pkcs11/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so"];

/// Names the folder of the tokens in the process of a test.
const FOLDER: &str = "DDS_TEST_TOKENS";

pub(crate) const PIN: &str = "1234";

/// The tokens of one test, in a folder of their own.
pub(crate) struct SoftHsm {
    pub(crate) module: &'static str,
    pub(crate) folder: PathBuf,
}

/// Runs a test in a process of its own. The library reads the place of its tokens from the environment, once.
pub(crate) fn with_soft_hsm(test: &str, body: impl FnOnce(&SoftHsm)) {
    let Some(module) = MODULES.into_iter().find(|path| std::path::Path::new(path).exists()) else {
        return skip::skip("softhsm2");
    };
    if let Ok(folder) = std::env::var(FOLDER) {
        let hsm = SoftHsm { module, folder: folder.into() };
        body(&hsm);
        return std::fs::write(hsm.folder.join("done"), "").unwrap();
    }
    let name = format!("dds-tokens-{}-{}", std::process::id(), test.replace("::", "-"));
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir_all(folder.join("tokens")).unwrap();
    let settings = folder.join("softhsm2.conf");
    let tokens = folder.join("tokens").display().to_string();
    std::fs::write(&settings, format!("directories.tokendir = {tokens}\nlog.level = ERROR\n")).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]).env("SOFTHSM2_CONF", settings).env(FOLDER, &folder);
    let status = command.status().unwrap();
    // A wrong name would run no test.
    let has_run = folder.join("done").exists();
    std::fs::remove_dir_all(&folder).unwrap();
    assert!(status.success() && has_run, "the process of the test has failed");
}

impl SoftHsm {
    /// Makes a token.
    pub(crate) fn add_token(&self, label: &str) {
        util(&["--init-token", "--free", "--label", label, "--so-pin", "5678", "--pin", PIN]);
    }

    /// Moves a key in PKCS #8 into a token.
    pub(crate) fn import(&self, key: &str, token: &str, object: &str, id: &str) {
        let file = self.folder.join("import.pem");
        std::fs::write(&file, key).unwrap();
        let path = file.display().to_string();
        util(&["--import", &path, "--token", token, "--label", object, "--id", id, "--pin", PIN]);
        std::fs::remove_file(file).unwrap();
    }

    /// The URI of a key with the PIN.
    pub(crate) fn uri(&self, key: &str) -> String {
        format!("pkcs11:{key}?module-path={}&pin-value={PIN}", self.module)
    }
}

fn util(arguments: &[&str]) {
    let output = Command::new("softhsm2-util").args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}
