//! The declared parameters of a node as data.

use super::value::ParameterValue;
use dds_ros2_msgs::rcl_interfaces::msg::{
    FloatingPointRange, IntegerRange, ParameterDescriptor, ParameterValue as Message,
};
use std::collections::{BTreeMap, BTreeSet};

/// Names or prefixes in a request. The thread of the context answers, so one request must not hold it up.
pub(super) const NAMES_MAX: usize = 1000;

/// Bytes of an answer to a request that names several parameters. A request may repeat the name of a large one.
const ANSWER_MAX: usize = 1024 * 1024;

/// A declared parameter.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Declared {
    pub(crate) value: ParameterValue,
    pub(crate) description: String,
    pub(crate) is_read_only: bool,
    pub(crate) integer_range: Option<IntegerRange>,
    pub(crate) double_range: Option<FloatingPointRange>,
}

impl Declared {
    /// Returns why a value is not allowed.
    pub(crate) fn check(&self, name: &str, value: &ParameterValue) -> Result<(), String> {
        if value.kind() != self.value.kind() {
            let (own, other) = (self.value.kind_name(), value.kind_name());
            return Err(format!("parameter {name:?} has the type {own}, and the value the type {other}"));
        }
        if value.has_nul() {
            return Err(format!("the value of parameter {name:?} contains NUL"));
        }
        let is_allowed = match (value, &self.integer_range, &self.double_range) {
            (ParameterValue::Integer(value), Some(range), _) => is_in_integer_range(*value, range),
            (ParameterValue::Double(value), _, Some(range)) => is_in_double_range(*value, range),
            _ => true,
        };
        if is_allowed { Ok(()) } else { Err(format!("{value} is outside of the range of parameter {name:?}")) }
    }
}

/// Whether an answer with parts of these sizes is within the limits. One parameter may have any size.
fn is_moderate(sizes: impl ExactSizeIterator<Item = usize>) -> bool {
    let count = sizes.len();
    count <= 1 || (count <= NAMES_MAX && sizes.sum::<usize>() <= ANSWER_MAX)
}

/// The upper bound is always allowed, with any step (`rcl_interfaces/msg/IntegerRange.msg`).
fn is_in_integer_range(value: i64, range: &IntegerRange) -> bool {
    let is_within = (range.from_value..=range.to_value).contains(&value);
    let distance = i128::from(value) - i128::from(range.from_value);
    is_within && (range.step == 0 || value == range.to_value || distance % i128::from(range.step) == 0)
}

fn is_in_double_range(value: f64, range: &FloatingPointRange) -> bool {
    if !(range.from_value..=range.to_value).contains(&value) {
        return false;
    }
    let step = range.step.abs();
    if step == 0.0 || value == range.to_value {
        return true;
    }
    // Steps such as 0.1 are not exact.
    let steps = (value - range.from_value) / step;
    (steps - steps.round()).abs() < 1e-9 * steps.abs().max(1.0)
}

/// The parameters of a node by their names.
#[derive(Debug, Default)]
pub(crate) struct Store {
    pub(crate) declared: BTreeMap<String, Declared>,
}

impl Store {
    pub(crate) fn get(&self, name: &str) -> ParameterValue {
        self.declared.get(name).map(|declared| declared.value.clone()).unwrap_or_default()
    }

    /// Checks a change of another node or of the program.
    pub(crate) fn check(&self, name: &str, value: &ParameterValue) -> Result<(), String> {
        let Some(declared) = self.declared.get(name) else {
            return Err(format!("parameter {name:?} is not declared"));
        };
        if declared.is_read_only {
            return Err(format!("parameter {name:?} is read-only"));
        }
        declared.check(name, value)
    }

    /// Checks several changes. The error is that of the first that is not allowed.
    pub(crate) fn check_all(&self, values: &[(String, ParameterValue)]) -> Result<(), String> {
        values.iter().try_for_each(|(name, value)| self.check(name, value))
    }

    /// Sets a checked value. Returns whether it differs.
    pub(crate) fn set(&mut self, name: &str, value: ParameterValue) -> bool {
        match self.declared.get_mut(name) {
            Some(declared) if !declared.value.is_same(&value) => {
                declared.value = value;
                true
            }
            _ => false,
        }
    }

    /// Returns values, with no value for other names. Empty if a peer asks for too much.
    pub(crate) fn values(&self, names: &[String]) -> Vec<Message> {
        let size = |name: &String| self.declared.get(name).map_or(8, |declared| declared.value.size());
        if !is_moderate(names.iter().map(size)) {
            return Vec::new();
        }
        names.iter().map(|name| self.get(name).to_message()).collect()
    }

    /// Returns the numbers of types. Empty if a peer asks for too much.
    pub(crate) fn kinds(&self, names: &[String]) -> Vec<u8> {
        if !is_moderate(names.iter().map(|_| 1)) {
            return Vec::new();
        }
        let kind = |name: &String| self.declared.get(name).map_or(0, |declared| declared.value.kind());
        names.iter().map(kind).collect()
    }

    /// Returns descriptions. Empty if a peer asks for too much.
    pub(crate) fn descriptions(&self, names: &[String]) -> Vec<ParameterDescriptor> {
        let size =
            |name: &String| name.len() + self.declared.get(name).map_or(8, |declared| declared.description.len());
        if !is_moderate(names.iter().map(size)) {
            return Vec::new();
        }
        names.iter().map(|name| self.describe(name)).collect()
    }

    /// Returns names and prefixes below `prefixes`. `depth` counts the parts of the names, and 0 means all.
    ///
    /// Both are empty if a peer names too many prefixes.
    pub(crate) fn list(&self, prefixes: &[String], depth: u64) -> (Vec<String>, Vec<String>) {
        if prefixes.len() > NAMES_MAX {
            return (Vec::new(), Vec::new());
        }
        let is_near = |rest: &str| depth == 0 || (rest.matches('.').count() as u64) < depth;
        let is_listed = |name: &str| {
            if prefixes.is_empty() {
                return is_near(name);
            }
            prefixes.iter().any(|prefix| {
                let rest = name.strip_prefix(prefix.as_str()).and_then(|rest| rest.strip_prefix('.'));
                name == prefix || rest.is_some_and(is_near)
            })
        };
        let names: Vec<String> = self.declared.keys().filter(|name| is_listed(name)).cloned().collect();
        let found: BTreeSet<&str> =
            names.iter().filter_map(|name| name.rsplit_once('.').map(|(prefix, _)| prefix)).collect();
        let prefixes = found.into_iter().map(str::to_owned).collect();
        (names, prefixes)
    }

    fn describe(&self, name: &str) -> ParameterDescriptor {
        let Some(declared) = self.declared.get(name) else {
            return ParameterDescriptor { name: name.to_owned(), ..ParameterDescriptor::default() };
        };
        ParameterDescriptor {
            name: name.to_owned(),
            r#type: declared.value.kind(),
            description: declared.description.clone(),
            read_only: declared.is_read_only,
            floating_point_range: declared.double_range.clone().into_iter().collect(),
            integer_range: declared.integer_range.clone().into_iter().collect(),
            ..ParameterDescriptor::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(names: &[&str]) -> Store {
        let declared = |name: &&str| ((*name).to_owned(), Declared { value: 1_i64.into(), ..Declared::default() });
        Store { declared: names.iter().map(declared).collect() }
    }

    #[test]
    fn list_selects_by_prefix_and_depth() {
        let store = store(&["a", "b.c", "b.d.e", "bx"]);
        let list = |prefixes: &[&str], depth| {
            let prefixes: Vec<String> = prefixes.iter().map(|prefix| (*prefix).to_owned()).collect();
            store.list(&prefixes, depth).0
        };
        assert_eq!(list(&[], 0), ["a", "b.c", "b.d.e", "bx"]);
        assert_eq!(list(&[], 1), ["a", "bx"]);
        assert_eq!(list(&["b"], 1), ["b.c"]);
        assert_eq!(list(&["b"], 0), ["b.c", "b.d.e"]);
        assert_eq!(list(&["bx"], 1), ["bx"]);
        assert_eq!(store.list(&[], 0).1, ["b", "b.d"]);
    }

    #[test]
    fn ranges_follow_their_steps() {
        let range = IntegerRange { from_value: 2, to_value: 5, step: 2 };
        let allowed: Vec<i64> = (0..8).filter(|value| is_in_integer_range(*value, &range)).collect();
        assert_eq!(allowed, [2, 4, 5]);
        let extreme = IntegerRange { from_value: i64::MIN, to_value: i64::MAX, step: u64::MAX };
        assert!(is_in_integer_range(i64::MAX, &extreme) && !is_in_integer_range(0, &extreme));
        let range = FloatingPointRange { from_value: 0.0, to_value: 1.0, step: 0.1 };
        for (value, is_allowed) in
            [(0.3, true), (0.7, true), (0.25, false), (1.0, true), (1.1, false), (f64::NAN, false)]
        {
            assert_eq!(is_in_double_range(value, &range), is_allowed, "{value}");
        }
    }

    #[test]
    fn refused_change_has_its_reason() {
        let mut store = store(&["a", "fixed"]);
        if let Some(fixed) = store.declared.get_mut("fixed") {
            fixed.is_read_only = true;
        }
        assert_eq!(store.check("b", &1_i64.into()).unwrap_err(), "parameter \"b\" is not declared");
        assert_eq!(store.check("fixed", &1_i64.into()).unwrap_err(), "parameter \"fixed\" is read-only");
        let error = store.check("a", &"x".into()).unwrap_err();
        assert_eq!(error, "parameter \"a\" has the type integer, and the value the type string");
    }

    #[test]
    fn too_large_requests_get_an_empty_answer() {
        let mut store = store(&["a", "large"]);
        if let Some(large) = store.declared.get_mut("large") {
            large.value = vec![0_u8; ANSWER_MAX + 1].into();
        }
        let names = |name: &str, count| vec![name.to_owned(); count];
        assert_eq!(store.values(&names("a", NAMES_MAX)).len(), NAMES_MAX);
        assert!(store.values(&names("a", NAMES_MAX + 1)).is_empty());
        assert_eq!((store.values(&names("large", 1)).len(), store.values(&names("large", 2)).len()), (1, 0));
        assert!(store.kinds(&names("a", NAMES_MAX + 1)).is_empty());
        assert_eq!(store.descriptions(&names("a", 2)).len(), 2);
        assert!(store.descriptions(&names("a", NAMES_MAX + 1)).is_empty());
        assert_eq!(store.list(&names("a", NAMES_MAX), 0).0, ["a"]);
        assert!(store.list(&names("a", NAMES_MAX + 1), 0).0.is_empty());
    }

    #[test]
    fn text_with_nul_is_refused() {
        let text = Declared { value: "x".into(), ..Declared::default() };
        assert_eq!(text.check("t", &"a\0b".into()).unwrap_err(), "the value of parameter \"t\" contains NUL");
        let texts = Declared { value: vec![String::new()].into(), ..Declared::default() };
        assert!(texts.check("t", &vec!["a".to_owned(), "\0".to_owned()].into()).is_err());
        assert!(texts.check("t", &vec!["a".to_owned()].into()).is_ok());
    }
}
