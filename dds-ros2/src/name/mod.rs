//! Names of ROS 2: validation, expansion, remapping, and the names of DDS.
//!
//! Input: names as a program writes them. Output: fully qualified names, and topic and type names of DDS.

mod mangle;
mod remap;
mod validate;

pub use mangle::{Demangled, EntityName, demangle, message_type};
pub(crate) use mangle::{is_malformed_topic, service_type, topic_name};
pub use remap::RemapRule;
pub(crate) use remap::{Remapping, Target};
pub use validate::{NameError, NameKind, NameProblem};
pub(crate) use validate::{check_full, check_namespace, check_node};

/// Expands a name of a topic, service or action to a fully qualified name.
///
/// `~` stands for the node, `{node}`, `{ns}` and `{namespace}` for its parts. A relative name starts in the namespace.
///
/// ```
/// use dds_ros2::name::{NameKind, expand};
///
/// assert_eq!(expand("chatter", NameKind::Topic, "/lab", "talker")?, "/lab/chatter");
/// assert_eq!(expand("~/state", NameKind::Topic, "/lab", "talker")?, "/lab/talker/state");
/// assert_eq!(expand("/{node}/log", NameKind::Topic, "/", "talker")?, "/talker/log");
/// # Ok::<(), dds_ros2::name::NameError>(())
/// ```
///
/// # Errors
/// The name, or the name that results, breaks a rule of ROS 2. The error has the position.
pub fn expand(name: &str, kind: NameKind, namespace: &str, node: &str) -> Result<String, NameError> {
    validate::check_written(name, kind)?;
    let own = if namespace == "/" { format!("/{node}") } else { format!("{namespace}/{node}") };
    let name = name.replace("{node}", node).replace("{namespace}", namespace).replace("{ns}", namespace);
    let full = if let Some(rest) = name.strip_prefix('~') {
        format!("{own}{rest}")
    } else if name.starts_with('/') {
        // A substitution such as `{ns}/x` in the root namespace begins with two slashes.
        name.replacen("//", "/", 1)
    } else if namespace == "/" {
        format!("/{name}")
    } else {
        format!("{namespace}/{name}")
    };
    check_full(&full, kind)?;
    Ok(full)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_private_and_absolute_names_expand() {
        let expanded = |name| expand(name, NameKind::Topic, "/a/b", "n").unwrap();
        assert_eq!(expanded("x"), "/a/b/x");
        assert_eq!(expanded("x/y"), "/a/b/x/y");
        assert_eq!(expanded("/x"), "/x");
        assert_eq!(expanded("~"), "/a/b/n");
        assert_eq!(expanded("~/x"), "/a/b/n/x");
        assert_eq!(expanded("{node}/x"), "/a/b/n/x");
        assert_eq!(expanded("{ns}/x"), "/a/b/x");
        assert_eq!(expand("{namespace}/x", NameKind::Topic, "/", "n").unwrap(), "/x");
        assert_eq!(expand("x", NameKind::Topic, "/", "n").unwrap(), "/x");
    }

    #[test]
    fn long_expansion_is_refused() {
        let error = expand(&"x".repeat(247), NameKind::Topic, "/", "n").unwrap_err();
        assert_eq!(error.problem, NameProblem::TooLong { max: 247 });
    }
}
