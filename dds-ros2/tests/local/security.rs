//! The environment variables of SROS 2, with the example programs.

use crate::builder;
use crate::examples::{Running, example};
use dds_security::keystore::{Fleet, FleetOptions};
use dds_security::pki::Validity;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const ENCLAVES: [&str; 2] = ["/lab/talker", "/lab/listener"];

/// A keystore in a folder of its own. Dropping it removes the folder.
struct Keystore(PathBuf);

impl Keystore {
    fn new(tag: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("dds-ros2-{tag}-{}", std::process::id()));
        let validity = Validity { not_before: 1_700_000_000, not_after: 4_000_000_000 };
        let identities = ENCLAVES.map(str::to_owned).to_vec();
        Fleet::create(&folder, &FleetOptions { identities, ..FleetOptions::new(validity) }).unwrap();
        Self(folder)
    }
}

impl Drop for Keystore {
    fn drop(&mut self) {
        // The folder of a test that failed early may be incomplete.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// An example with security, in an enclave.
fn secured(name: &str, tag: &str, keystore: &Path, strategy: &str, enclave: &str) -> Command {
    let mut command = example(name, tag);
    command.args(["--ros-args", "--enclave", enclave]).env("ROS_SECURITY_ENABLE", "true");
    command.env("ROS_SECURITY_STRATEGY", strategy).env("ROS_SECURITY_KEYSTORE", keystore);
    command
}

#[test]
fn nodes_of_a_keystore_talk_and_open_participants_see_nothing() {
    let keystore = Keystore::new("keystore");
    let open = builder("secured").build().unwrap();
    let [talker, listener] = ENCLAVES;
    let listener = &mut secured("listener", "secured", &keystore.0, "Enforce", listener);
    let mut listener = Running::of(listener);
    let _talker = Running::of(&mut secured("talker", "secured", &keystore.0, "Enforce", talker));
    let heard = listener.first_line();
    assert!(heard.starts_with("I heard: [Hello World: "), "{heard}");
    assert_eq!(open.graph().nodes(), []);
    assert!(open.graph().topics().is_empty());
}

#[test]
fn enforced_security_without_an_identity_is_an_error_that_names_the_next_step() {
    let keystore = Keystore::new("enforced");
    let missing = keystore.0.join("none");
    for (folder, enclave) in [(&keystore.0, "/lab/stranger"), (&missing, "/lab/talker")] {
        let mut command = secured("talker", "enforced", folder, "Enforce", enclave);
        let output = command.stderr(Stdio::piped()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success(), "{text}");
        let next = format!("dds security init {} --identity {enclave}", folder.display());
        assert!(
            text.contains("ROS_SECURITY_STRATEGY=Enforce needs the identity of enclave") && text.contains(&next),
            "{text}"
        );
    }
    let mut command = secured("talker", "enforced", Path::new(""), "Enforce", "/lab/talker");
    let text = command.stderr(Stdio::piped()).output().unwrap().stderr;
    assert!(String::from_utf8_lossy(&text).contains("set ROS_SECURITY_KEYSTORE to the folder of a keystore"));
}

#[test]
fn permissive_security_without_an_identity_leaves_the_node_open() {
    let keystore = Keystore::new("permissive");
    let mut listener = Running::start("listener", "permissive");
    let _talker = Running::of(&mut secured("talker", "permissive", &keystore.0, "Permissive", "/lab/stranger"));
    let heard = listener.first_line();
    assert!(heard.starts_with("I heard: [Hello World: "), "{heard}");
}
