//! The levels of loggers.
//!
//! Life cycle: [`LogLevels`] collects the arguments, then the loggers and the services of a context share them.
//! Bounds: [`NAMES_MAX`], [`NAME_MAX`].

use dds_ros2_msgs::rcl_interfaces::msg::{Log, LoggerLevel};
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// Loggers with a level of their own that requests may set. More than a program has.
const NAMES_MAX: usize = 1000;

/// Bytes of the name of a logger in a request: a node and its namespace have at most 500.
const NAME_MAX: usize = 1024;

/// The levels of loggers. Messages below the level of their logger are not published.
#[derive(Debug, Clone, Default)]
pub(crate) struct LogLevels {
    /// The level of loggers without a name here. Default: INFO, as in ROS 2.
    default: Option<u8>,
    named: BTreeMap<String, u8>,
}

impl LogLevels {
    /// Adds an argument: `level` or `logger:=level`. Returns `None` if it is not valid.
    pub(crate) fn add(&mut self, argument: &str) -> Option<()> {
        let (name, level) = match argument.split_once(":=") {
            Some((name, level)) => (Some(name), level),
            None => (None, argument),
        };
        let level = match level.to_ascii_lowercase().as_str() {
            "debug" => Log::DEBUG,
            "info" => Log::INFO,
            "warn" => Log::WARN,
            "error" => Log::ERROR,
            "fatal" => Log::FATAL,
            _ => return None,
        };
        match name {
            None => self.default = Some(level),
            Some("") => return None,
            Some(name) => {
                self.named.insert(name.to_owned(), level);
            }
        }
        Some(())
    }

    /// Returns the level of a logger: its own, that of the nearest logger above, or the default.
    fn of(&self, logger: &str) -> u8 {
        let mut name = logger;
        loop {
            if let Some(level) = self.named.get(name) {
                return *level;
            }
            let Some((above, _)) = name.rsplit_once('.') else { return self.fallback() };
            name = above;
        }
    }

    fn fallback(&self) -> u8 {
        self.default.unwrap_or(Log::INFO)
    }

    /// Returns the level that a logger has itself, or 0. The empty name is the default (`rcutils/src/logging.c`).
    fn own(&self, logger: &str) -> u8 {
        if logger.is_empty() { self.fallback() } else { self.named.get(logger).copied().unwrap_or_default() }
    }

    /// Sets the level of a logger for a request. 0 removes it.
    fn set(&mut self, logger: &str, level: u32) -> Result<(), String> {
        let level = u8::try_from(level).unwrap_or(u8::MAX);
        let is_known = matches!(level, 0 | Log::DEBUG | Log::INFO | Log::WARN | Log::ERROR | Log::FATAL);
        if !is_known {
            return Err("invalid level; expected 0, 10, 20, 30, 40 or 50".to_owned());
        }
        match (logger, level) {
            ("", 0) => self.default = None,
            ("", level) => self.default = Some(level),
            (logger, 0) => {
                self.named.remove(logger);
            }
            (logger, _) if logger.len() > NAME_MAX => {
                return Err(format!("the name of the logger has more than {NAME_MAX} bytes"));
            }
            (logger, _) if self.named.len() >= NAMES_MAX && !self.named.contains_key(logger) => {
                return Err(format!("{NAMES_MAX} loggers have a level of their own"));
            }
            (logger, level) => {
                self.named.insert(logger.to_owned(), level);
            }
        }
        Ok(())
    }
}

/// The levels of a context. Its loggers and services share them.
#[derive(Debug, Clone)]
pub(crate) struct SharedLevels {
    levels: Arc<RwLock<LogLevels>>,
}

impl SharedLevels {
    pub(crate) fn new(levels: LogLevels) -> Self {
        Self { levels: Arc::new(RwLock::new(levels)) }
    }

    pub(super) fn of(&self, logger: &str) -> u8 {
        self.levels.read().unwrap_or_else(PoisonError::into_inner).of(logger)
    }

    /// The levels that these loggers have themselves.
    pub(super) fn own(&self, loggers: Vec<String>) -> Vec<LoggerLevel> {
        let levels = self.levels.read().unwrap_or_else(PoisonError::into_inner);
        loggers.into_iter().map(|name| LoggerLevel { level: levels.own(&name).into(), name }).collect()
    }

    pub(super) fn set(&self, level: &LoggerLevel) -> Result<(), String> {
        self.levels.write().unwrap_or_else(PoisonError::into_inner).set(&level.name, level.level)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn level_of_a_logger_is_that_of_the_nearest_name() {
        let mut levels = LogLevels::default();
        assert_eq!(levels.of("lab.camera"), Log::INFO);
        for argument in ["WARN", "lab:=error", "lab.camera:=debug"] {
            levels.add(argument).unwrap();
        }
        let found = ["arm", "lab", "lab.arm", "lab.camera.lens", "laboratory"].map(|name| levels.of(name));
        assert_eq!(found, [Log::WARN, Log::ERROR, Log::ERROR, Log::DEBUG, Log::WARN]);
        for argument in ["", "loud", "lab:=", ":=info", "lab=info"] {
            assert_eq!(levels.add(argument), None, "{argument}");
        }
    }

    #[test]
    fn request_changes_own_levels_and_the_default() {
        let mut levels = LogLevels::default();
        levels.set("lab", 40).unwrap();
        levels.set("", 10).unwrap();
        assert_eq!(["", "lab", "lab.arm"].map(|name| levels.own(name)), [10, 40, 0]);
        assert_eq!((levels.of("lab.arm"), levels.of("arm")), (40, 10));
        levels.set("lab", 0).unwrap();
        levels.set("", 0).unwrap();
        assert_eq!((levels.of("lab"), levels.own("")), (20, 20));
        for level in [1, 60, 256 + 10] {
            assert!(levels.set("lab", level).unwrap_err().starts_with("invalid level"), "{level}");
        }
    }

    #[test]
    fn names_of_requests_are_bounded() {
        let mut levels = LogLevels::default();
        assert!(levels.set(&"n".repeat(NAME_MAX + 1), 10).unwrap_err().contains("bytes"));
        (0..NAMES_MAX).for_each(|number| levels.set(&number.to_string(), 10).unwrap());
        assert!(levels.set("one more", 10).unwrap_err().contains("loggers"));
        levels.set("7", 20).unwrap();
        assert_eq!(levels.own("7"), 20);
    }
}
