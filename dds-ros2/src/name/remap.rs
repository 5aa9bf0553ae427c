//! Rules that replace names when a node, a topic or a service is created (`rcl/src/rcl/remap.c`).

use super::validate::check_written;
use super::{NameError, NameKind, check_namespace, check_node, expand};
use std::fmt;
use std::str::FromStr;

/// The names that a rule applies to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Target {
    Node,
    Namespace,
    /// Topics and services.
    Names,
    Topics,
    Services,
}

/// A rule that replaces a name: `from:=to`, `__node:=name`, `__ns:=/namespace`.
///
/// A prefix `node:` limits a rule to nodes of this name. `rostopic://` or `rosservice://` before `from` limits it to
/// topics or services.
///
/// ```
/// let rule: dds_ros2::name::RemapRule = "talker:chatter:=/news".parse()?;
/// assert_eq!(rule.to_string(), "talker:chatter:=/news");
/// # Ok::<(), dds_ros2::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemapRule {
    target: Target,
    /// The name of the nodes that the rule applies to. `None`: all.
    node: Option<String>,
    from: String,
    to: String,
}

/// An invalid remapping rule, or a `name:=value` without `:=`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RuleProblem {
    Separator,
    Name(NameError),
}

impl FromStr for RemapRule {
    type Err = crate::Error;

    fn from_str(rule: &str) -> Result<Self, Self::Err> {
        Self::parse(rule).map_err(|problem| match problem {
            RuleProblem::Separator => crate::Error::Argument {
                argument: rule.to_owned(),
                reason: "expected a rule `from:=to`, `node:from:=to`, `__node:=name` or `__ns:=/namespace`".into(),
            },
            RuleProblem::Name(error) => crate::Error::Argument { argument: rule.to_owned(), reason: error.to_string() },
        })
    }
}

impl RemapRule {
    fn parse(rule: &str) -> Result<Self, RuleProblem> {
        let (left, to) = rule.split_once(":=").ok_or(RuleProblem::Separator)?;
        let (node, from) = split_node(left);
        if let Some(node) = node {
            check_node(node).map_err(RuleProblem::Name)?;
        }
        let (target, from) = match from {
            "__node" | "__name" => (Target::Node, from),
            "__ns" => (Target::Namespace, from),
            _ => match from.split_once("://") {
                Some(("rostopic", from)) => (Target::Topics, from),
                Some(("rosservice", from)) => (Target::Services, from),
                Some(_) => return Err(RuleProblem::Separator),
                None => (Target::Names, from),
            },
        };
        match target {
            Target::Node => check_node(to),
            Target::Namespace => check_namespace(to, NameKind::Namespace),
            _ => {
                let kind = if target == Target::Services { NameKind::Service } else { NameKind::Topic };
                check_written(from, kind).and_then(|()| check_written(to, kind))
            }
        }
        .map_err(RuleProblem::Name)?;
        Ok(Self { target, node: node.map(str::to_owned), from: from.to_owned(), to: to.to_owned() })
    }

    fn applies_to(&self, node: &str) -> bool {
        self.node.as_deref().is_none_or(|own| own == node)
    }
}

/// Splits `node:from`. The colon of `rostopic://` is no separator.
fn split_node(left: &str) -> (Option<&str>, &str) {
    match left.split_once(':') {
        Some((node, from)) if !from.starts_with("//") => (Some(node), from),
        _ => (None, left),
    }
}

impl fmt::Display for RemapRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(node) = &self.node {
            write!(f, "{node}:")?;
        }
        let scheme = match self.target {
            Target::Topics => "rostopic://",
            Target::Services => "rosservice://",
            _ => "",
        };
        write!(f, "{scheme}{}:={}", self.from, self.to)
    }
}

/// The rules of a node, in order. The first that matches applies.
#[derive(Debug, Clone, Default)]
pub(crate) struct Remapping {
    rules: Vec<RemapRule>,
}

impl Remapping {
    pub(crate) fn new(rules: impl IntoIterator<Item = RemapRule>) -> Self {
        Self { rules: rules.into_iter().collect() }
    }

    /// Returns the replacement of the name or the namespace of a node.
    pub(crate) fn of_node(&self, target: &Target, node: &str) -> Option<&str> {
        let rule = self.rules.iter().find(|rule| rule.target == *target && rule.applies_to(node))?;
        Some(&rule.to)
    }

    /// Returns the fully qualified name that replaces the fully qualified name `full`.
    pub(crate) fn resolve(
        &self,
        full: String,
        kind: NameKind,
        namespace: &str,
        node: &str,
    ) -> Result<String, NameError> {
        for rule in &self.rules {
            let is_of_kind = match rule.target {
                Target::Names => true,
                Target::Topics => kind == NameKind::Topic,
                Target::Services => kind == NameKind::Service,
                Target::Node | Target::Namespace => false,
            };
            if is_of_kind && rule.applies_to(node) && expand(&rule.from, kind, namespace, node)? == full {
                return expand(&rule.to, kind, namespace, node);
            }
        }
        Ok(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn resolved(rules: &[&str], name: &str, kind: NameKind) -> String {
        let rules = Remapping::new(rules.iter().map(|rule| rule.parse().unwrap()));
        rules.resolve(expand(name, kind, "/lab", "n").unwrap(), kind, "/lab", "n").unwrap()
    }

    #[test]
    fn first_matching_rule_replaces_the_name() {
        let rules = ["other:chatter:=/wrong", "n:chatter:=news", "chatter:=/late"];
        assert_eq!(resolved(&rules, "chatter", NameKind::Topic), "/lab/news");
        assert_eq!(resolved(&rules, "/chatter", NameKind::Topic), "/chatter");
        assert_eq!(resolved(&["/lab/chatter:=~/x"], "chatter", NameKind::Topic), "/lab/n/x");
    }

    #[test]
    fn scheme_limits_a_rule_to_its_kind() {
        let rules = ["rosservice://x:=/service", "rostopic://x:=/topic"];
        assert_eq!(resolved(&rules, "x", NameKind::Topic), "/topic");
        assert_eq!(resolved(&rules, "x", NameKind::Service), "/service");
        assert_eq!(resolved(&["n:rosservice://x:=/y"], "x", NameKind::Service), "/y");
    }

    #[test]
    fn node_rules_replace_names_and_namespaces() {
        let rules = Remapping::new(["a:__node:=b", "__ns:=/x"].map(|rule| rule.parse().unwrap()));
        assert_eq!(rules.of_node(&Target::Node, "a"), Some("b"));
        assert_eq!(rules.of_node(&Target::Node, "b"), None);
        assert_eq!(rules.of_node(&Target::Namespace, "b"), Some("/x"));
    }

    #[test]
    fn malformed_rule_names_its_problem() {
        for rule in ["", "a", "a=b", ":=", "a:=", "a b:=c", "__ns:=x", "__node:=/n", "http://x:=y"] {
            let error = rule.parse::<RemapRule>().unwrap_err().to_string();
            assert!(error.contains(&format!("{rule:?}")), "{error}");
        }
    }
}
