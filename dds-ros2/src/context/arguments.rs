//! The arguments of a program that start with `--ros-args` (`rcl/src/rcl/arguments.c`).

use crate::name::{NameKind, RemapRule, check_namespace};
use crate::parameter::{Override, parse_file, value_of};
use crate::rosout::LogLevels;
use crate::{Error, Result};
use std::ffi::OsString;
use std::path::Path;

/// Flags for logs other than `/rosout`. The `tracing` subscriber of the program decides about them.
const LOG_FLAGS: [&str; 4] =
    ["--enable-stdout-logs", "--disable-stdout-logs", "--enable-external-lib-logs", "--disable-external-lib-logs"];

/// The arguments of a program, sorted.
#[derive(Debug, Default)]
pub(crate) struct Arguments {
    /// Values for parameters. Later ones count.
    pub(crate) parameters: Vec<Override>,
    /// Nodes publish no `/rosout`.
    pub(crate) is_without_rosout: bool,
    pub(crate) log_levels: LogLevels,
    /// Arguments outside of `--ros-args`.
    pub(crate) others: Vec<String>,
    pub(crate) rules: Vec<RemapRule>,
    pub(crate) enclave: Option<String>,
}

impl Arguments {
    /// Sorts the arguments, without the name of the program. Those after `--ros-args` must be Unicode.
    pub(crate) fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Self> {
        let mut sorted = Self::default();
        let mut arguments = arguments.into_iter();
        let mut is_ros = false;
        while let Some(argument) = arguments.next() {
            match argument.to_str() {
                Some("--ros-args") => is_ros = true,
                Some("--") if is_ros => is_ros = false,
                _ if is_ros => sorted.ros_argument(&unicode(argument)?, &mut arguments)?,
                _ => sorted.others.push(argument.to_string_lossy().into_owned()),
            }
        }
        Ok(sorted)
    }

    fn ros_argument(&mut self, flag: &str, rest: &mut impl Iterator<Item = OsString>) -> Result<()> {
        let mut value = |expected: &str| {
            let next = rest.next().ok_or_else(|| Error::Argument {
                argument: flag.to_owned(),
                reason: format!("expected {expected} after it"),
            })?;
            unicode(next)
        };
        match flag {
            "-r" | "--remap" => self.rules.push(value("a rule `from:=to`")?.parse()?),
            "-e" | "--enclave" => {
                let enclave = value("an enclave such as `/lab/camera`")?;
                check_namespace(&enclave, NameKind::Enclave)?;
                self.enclave = Some(enclave);
            }
            "-p" | "--param" => self.parameters.push(parameter(&value("`name:=value`")?)?),
            "--params-file" => self.parameters.extend(parameters_of(&value("the path of a parameter file")?)?),
            "--enable-rosout-logs" => self.is_without_rosout = false,
            "--disable-rosout-logs" => self.is_without_rosout = true,
            "--log-level" => {
                let level = value("a level")?;
                self.log_levels.add(&level).ok_or_else(|| Error::Argument {
                    argument: format!("{flag} {level}"),
                    reason: "expected `debug`, `info`, `warn`, `error` or `fatal`, or `logger:=` before it".into(),
                })?;
            }
            "--log-config-file" => {
                let ignored = value("a value")?;
                tracing::warn!("{flag} {ignored} has no effect: the subscriber of `tracing` decides about the log");
            }
            _ if LOG_FLAGS.contains(&flag) => {
                tracing::warn!("{flag} has no effect: the subscriber of `tracing` decides about the log");
            }
            _ => {
                return Err(Error::Argument {
                    argument: flag.to_owned(),
                    reason: "unknown after `--ros-args`; expected `-r RULE`, `-p NAME:=VALUE`, `--params-file PATH` or `-e ENCLAVE`, or `--` before it"
                        .into(),
                });
            }
        }
        Ok(())
    }
}

/// Reads `name:=value` or `node:name:=value`.
fn parameter(argument: &str) -> Result<Override> {
    let invalid = |reason: &str| Error::Argument { argument: argument.to_owned(), reason: reason.to_owned() };
    let Some((left, text)) = argument.split_once(":=") else {
        return Err(invalid("expected `name:=value` or `node:name:=value`"));
    };
    // A node in any namespace.
    let (node, name) = match left.split_once(':') {
        Some((node, name)) => (format!("/**/{node}"), name),
        None => ("/**".to_owned(), left),
    };
    if name.is_empty() || node == "/**/" {
        return Err(invalid("expected a name before `:=`"));
    }
    let value = value_of(text.trim()).map_err(|problem| invalid(&problem.reason))?;
    Ok(Override { node, name: name.to_owned(), value })
}

/// Reads a parameter file.
pub(super) fn parameters_of(path: impl AsRef<Path>) -> Result<Vec<Override>> {
    let path = path.as_ref();
    let failed = |line, column, reason| Error::ParameterFile { path: path.to_owned(), line, column, reason };
    let text = std::fs::read_to_string(path).map_err(|error| failed(None, None, error.to_string()))?;
    parse_file(&text).map_err(|problem| failed(Some(problem.line), Some(problem.column), problem.reason))
}

fn unicode(argument: OsString) -> Result<String> {
    argument.into_string().map_err(|argument| Error::Argument {
        argument: argument.to_string_lossy().into_owned(),
        reason: "expected Unicode after `--ros-args`".into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(arguments: &[&str]) -> Result<Arguments> {
        Arguments::parse(arguments.iter().map(OsString::from))
    }

    #[test]
    fn ros_arguments_are_separated_from_others() {
        let line = ["-v", "--ros-args", "-r", "__ns:=/lab", "-e", "/e", "--", "file", "--ros-args", "-r", "a:=b"];
        let sorted = parse(&line).unwrap();
        assert_eq!(sorted.others, ["-v", "file"]);
        assert_eq!(sorted.rules.len(), 2);
        assert_eq!(sorted.enclave.as_deref(), Some("/e"));
    }

    #[test]
    fn incomplete_and_unknown_arguments_are_errors() {
        for (line, expected) in [
            (&["--ros-args", "-r"][..], "expected a rule"),
            (&["--ros-args", "-r", "ab"], "from:=to"),
            (&["--ros-args", "--speed"], "unknown after"),
            (&["--ros-args", "--log-level", "loud"], "expected `debug`"),
            (&["--ros-args", "-e", "lab"], "invalid enclave"),
            (&["--ros-args", "-p", "speed"], "`name:=value`"),
            (&["--ros-args", "-p", "speed:=[1, x]"], "one type"),
            (&["--ros-args", "--params-file", "/none.yaml"], "\"/none.yaml\""),
        ] {
            let error = parse(line).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn parameters_apply_to_all_nodes_or_to_one() {
        let sorted = parse(&["--ros-args", "-p", "a:=1", "-p", "drive:b.c:='x'", "--disable-rosout-logs"]).unwrap();
        let expected = [("/**", "a", 1_i64.into()), ("/**/drive", "b.c", "x".into())];
        let found: Vec<_> = sorted.parameters.into_iter().map(|one| (one.node, one.name, one.value)).collect();
        assert_eq!(found, expected.map(|(node, name, value)| (node.to_owned(), name.to_owned(), value)));
        assert!(sorted.is_without_rosout);
    }

    #[cfg(unix)]
    #[test]
    fn argument_outside_of_unicode_is_an_error_for_ros_alone() {
        use std::os::unix::ffi::OsStringExt;
        let strange = || OsString::from_vec(vec![b'a', 0xff]);
        assert_eq!(Arguments::parse([strange()]).unwrap().others, ["a\u{fffd}"]);
        for flag in ["--ros-args", "-r"] {
            let line = ["--ros-args".into(), flag.into(), strange()];
            let error = Arguments::parse(line).unwrap_err().to_string();
            assert!(error.contains("expected Unicode"), "{error}");
        }
    }
}
