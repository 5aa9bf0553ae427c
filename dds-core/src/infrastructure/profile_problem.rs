//! What a profile file has that cannot be understood (feature `serde`).

use std::fmt;
use std::path::PathBuf;

/// What is wrong with a profile file, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileProblem {
    /// The file.
    pub file: PathBuf,
    /// The line, where it is known.
    pub line: Option<u32>,
    /// The place in it: `writer.scan.history`, or `dds/qos_library[robots]/qos_profile[scan]`. Empty: the file as a whole.
    pub key: String,
    /// What stands there. Empty for a file that cannot be read or is neither TOML nor JSON nor XML.
    pub value: String,
    /// What should stand there, or what the reader of the file said, with line and column where they are known.
    pub expected: String,
    /// A name that may have been meant.
    pub nearest: Option<String>,
}

impl fmt::Display for ProfileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, line, key, value, expected, nearest } = self;
        write!(f, "the profile file {}", file.display())?;
        if let Some(line) = line {
            write!(f, ", line {line}")?;
        }
        if key.is_empty() {
            write!(f, " cannot be used: {expected}")?;
        } else {
            write!(f, ": {key} = {value}: {expected}")?;
        }
        nearest.as_ref().map_or(Ok(()), |nearest| write!(f, "; did you mean `{nearest}`?"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_says_where_it_is_and_what_should_be_there() {
        let unreadable = ProfileProblem {
            file: PathBuf::from("robot.toml"),
            line: None,
            key: String::new(),
            value: String::new(),
            expected: "no such file".to_owned(),
            nearest: None,
        };
        assert_eq!(unreadable.to_string(), "the profile file robot.toml cannot be used: no such file");
        let unknown = ProfileProblem {
            line: Some(12),
            key: "writer.scan.history".to_owned(),
            value: "\"keep_lats\"".to_owned(),
            expected: "keep_all or keep_last".to_owned(),
            nearest: Some("keep_last".to_owned()),
            ..unreadable
        };
        assert_eq!(
            unknown.to_string(),
            "the profile file robot.toml, line 12: writer.scan.history = \"keep_lats\": keep_all or keep_last; \
             did you mean `keep_last`?"
        );
    }
}
