//! Errors in a profile file (feature `serde`).

use std::fmt;
use std::path::PathBuf;

/// An error in a profile file, and its position.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProfileProblem {
    /// Path of the file.
    pub file: PathBuf,
    /// The line, if known.
    pub line: Option<u32>,
    /// Key, such as `writer.scan.history` or `dds/qos_library[robots]/qos_profile[scan]`.
    ///
    /// Empty if the file as a whole is wrong.
    pub key: String,
    /// The value in the file. Empty if the file cannot be read, or is not TOML, JSON or XML.
    pub value: String,
    /// The expected value, or the message of the parser with line and column if known.
    pub expected: String,
    /// A similar name.
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
        match nearest {
            Some(nearest) => write!(f, "; did you mean `{nearest}`?"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn problem_text_has_place_and_expected_value() {
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
