//! The rules of ROS 2 for names. The limits are those of `rmw` (`validate_full_topic_name.h`, `validate_node_name.h`).

use std::fmt;

/// Longest topic name in DDS is 255 bytes, and the longest prefix with its suffix takes 8.
const FULL_MAX: usize = 247;
const NAMESPACE_MAX: usize = 245;
const NODE_MAX: usize = 255;

/// The kind of a name, which decides its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NameKind {
    /// A topic.
    Topic,
    /// A service.
    Service,
    /// A node, without its namespace.
    Node,
    /// A namespace.
    Namespace,
    /// An enclave.
    Enclave,
}

impl fmt::Display for NameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Topic => "topic name",
            Self::Service => "service name",
            Self::Node => "node name",
            Self::Namespace => "namespace",
            Self::Enclave => "enclave",
        })
    }
}

/// A broken rule of a name.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameProblem {
    /// The name is empty.
    Empty,
    /// A fully qualified name, a namespace or an enclave begins with `/`.
    NotAbsolute,
    /// The name ends with `/`.
    TrailingSlash,
    /// Two `/` follow each other.
    RepeatedSlash,
    /// A part begins with a digit.
    LeadingDigit,
    /// A character is not allowed here.
    Character(char),
    /// `~` stands only at the start, before `/` or the end.
    Tilde,
    /// A `{` has no `}`, or a `}` no `{`.
    Brace,
    /// `{…}` names no substitution.
    Substitution(String),
    /// The name has more bytes than `max`.
    TooLong {
        /// The limit in bytes.
        max: usize,
    },
}

impl fmt::Display for NameProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("it must not be empty"),
            Self::NotAbsolute => f.write_str("it must begin with '/'"),
            Self::TrailingSlash => f.write_str("it must not end with '/'"),
            Self::RepeatedSlash => f.write_str("it must not contain '//'"),
            Self::LeadingDigit => f.write_str("no part may begin with a digit"),
            Self::Character(character) => {
                write!(f, "{character:?} is not allowed; expected letters of ASCII, digits, '_'")
            }
            Self::Tilde => f.write_str("'~' is allowed only as the first part: '~' or '~/name'"),
            Self::Brace => f.write_str("'{' and '}' must form pairs"),
            Self::Substitution(name) => {
                write!(f, "unknown substitution '{{{name}}}'; expected {{node}}, {{ns}} or {{namespace}}")
            }
            Self::TooLong { max } => write!(f, "it must not exceed {max} bytes"),
        }
    }
}

/// An invalid name of ROS 2.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NameError {
    /// The kind of the name.
    pub kind: NameKind,
    /// The name.
    pub name: String,
    /// Byte offset of the problem in the name.
    pub position: usize,
    /// The broken rule.
    pub problem: NameProblem,
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, name, position, problem } = self;
        write!(f, "invalid {kind} {name:?} at byte {position}: {problem}")
    }
}

impl std::error::Error for NameError {}

type Check = Result<(), (usize, NameProblem)>;

fn named(name: &str, kind: NameKind, check: Check) -> Result<(), NameError> {
    check.map_err(|(position, problem)| NameError { kind, name: name.to_owned(), position, problem })
}

/// Checks a name before its expansion.
pub(crate) fn check_written(name: &str, kind: NameKind) -> Result<(), NameError> {
    named(name, kind, written(name))
}

/// Checks a fully qualified name.
pub(crate) fn check_full(name: &str, kind: NameKind) -> Result<(), NameError> {
    named(name, kind, absolute(name, FULL_MAX))
}

/// Checks the name of a node.
pub(crate) fn check_node(name: &str) -> Result<(), NameError> {
    let check = if name.is_empty() { Err((0, NameProblem::Empty)) } else { token(name, 0) };
    named(name, NameKind::Node, check.and_then(|()| length(name, NODE_MAX)))
}

/// Checks a namespace, or an enclave. `/` alone is one.
pub(crate) fn check_namespace(name: &str, kind: NameKind) -> Result<(), NameError> {
    if name == "/" {
        return Ok(());
    }
    named(name, kind, absolute(name, NAMESPACE_MAX))
}

fn written(name: &str) -> Check {
    if name.is_empty() {
        return Err((0, NameProblem::Empty));
    }
    if name.len() > 1 && name.ends_with('/') || name == "/" {
        return Err((name.len() - 1, NameProblem::TrailingSlash));
    }
    let mut at = 0;
    for part in name.split('/') {
        match part {
            "~" if at == 0 => {}
            "" if at == 0 => {}
            "" => return Err((at, NameProblem::RepeatedSlash)),
            _ => substituted_token(part, at)?,
        }
        at += part.len() + 1;
    }
    Ok(())
}

/// Checks one part, in which `{…}` stands for a token.
fn substituted_token(part: &str, at: usize) -> Check {
    let mut rest = part;
    let mut offset = at;
    let mut is_first = true;
    while let Some(open) = rest.find('{') {
        plain_token(&rest[..open], offset, is_first)?;
        let Some(close) = rest[open..].find('}') else {
            return Err((offset + open, NameProblem::Brace));
        };
        let name = &rest[open + 1..open + close];
        if !["node", "ns", "namespace"].contains(&name) {
            return Err((offset + open, NameProblem::Substitution(name.to_owned())));
        }
        offset += open + close + 1;
        rest = &rest[open + close + 1..];
        is_first = false;
    }
    plain_token(rest, offset, is_first)
}

fn plain_token(text: &str, at: usize, is_first: bool) -> Check {
    for (offset, character) in text.char_indices() {
        match character {
            '~' => return Err((at + offset, NameProblem::Tilde)),
            '}' => return Err((at + offset, NameProblem::Brace)),
            '0'..='9' if offset == 0 && is_first => return Err((at, NameProblem::LeadingDigit)),
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '_' => {}
            other => return Err((at + offset, NameProblem::Character(other))),
        }
    }
    Ok(())
}

fn absolute(name: &str, max: usize) -> Check {
    if name.is_empty() {
        return Err((0, NameProblem::Empty));
    }
    let Some(rest) = name.strip_prefix('/') else {
        return Err((0, NameProblem::NotAbsolute));
    };
    if name.ends_with('/') {
        return Err((name.len() - 1, NameProblem::TrailingSlash));
    }
    let mut at = 1;
    for part in rest.split('/') {
        if part.is_empty() {
            return Err((at, NameProblem::RepeatedSlash));
        }
        token(part, at)?;
        at += part.len() + 1;
    }
    length(name, max)
}

fn token(part: &str, at: usize) -> Check {
    for (offset, character) in part.char_indices() {
        match character {
            '0'..='9' if offset == 0 => return Err((at, NameProblem::LeadingDigit)),
            '0'..='9' | 'A'..='Z' | 'a'..='z' | '_' => {}
            other => return Err((at + offset, NameProblem::Character(other))),
        }
    }
    Ok(())
}

fn length(name: &str, max: usize) -> Check {
    if name.len() > max { Err((max, NameProblem::TooLong { max })) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem_of(name: &str) -> Option<(usize, NameProblem)> {
        check_written(name, NameKind::Topic).err().map(|error| (error.position, error.problem))
    }

    #[test]
    fn valid_names_pass() {
        for name in ["chatter", "/chatter", "~", "~/x", "a/b_1", "/_hidden", "{node}", "x{ns}", "a1"] {
            assert_eq!(problem_of(name), None, "{name}");
        }
    }

    #[test]
    fn each_broken_rule_has_its_position() {
        assert_eq!(problem_of(""), Some((0, NameProblem::Empty)));
        assert_eq!(problem_of("/"), Some((0, NameProblem::TrailingSlash)));
        assert_eq!(problem_of("a/"), Some((1, NameProblem::TrailingSlash)));
        assert_eq!(problem_of("a//b"), Some((2, NameProblem::RepeatedSlash)));
        assert_eq!(problem_of("//b"), Some((1, NameProblem::RepeatedSlash)));
        assert_eq!(problem_of("a/1b"), Some((2, NameProblem::LeadingDigit)));
        assert_eq!(problem_of("a b"), Some((1, NameProblem::Character(' '))));
        assert_eq!(problem_of("/é"), Some((1, NameProblem::Character('é'))));
        assert_eq!(problem_of("~x"), Some((0, NameProblem::Tilde)));
        assert_eq!(problem_of("a/~"), Some((2, NameProblem::Tilde)));
        assert_eq!(problem_of("{node"), Some((0, NameProblem::Brace)));
        assert_eq!(problem_of("node}"), Some((4, NameProblem::Brace)));
        assert_eq!(problem_of("{robot}"), Some((0, NameProblem::Substitution("robot".into()))));
    }

    #[test]
    fn node_names_and_namespaces_have_their_rules() {
        assert!(check_node("talker_1").is_ok());
        assert_eq!(check_node("my/talker").unwrap_err().problem, NameProblem::Character('/'));
        assert_eq!(check_node(&"n".repeat(256)).unwrap_err().problem, NameProblem::TooLong { max: 255 });
        assert!(check_namespace("/", NameKind::Namespace).is_ok());
        assert_eq!(check_namespace("a", NameKind::Namespace).unwrap_err().problem, NameProblem::NotAbsolute);
        let text = check_namespace("/a b", NameKind::Namespace).unwrap_err().to_string();
        assert!(text.starts_with("invalid namespace \"/a b\" at byte 2: ' ' is not allowed"), "{text}");
    }
}
