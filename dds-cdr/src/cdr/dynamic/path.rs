//! Paths to a part of a value: `position.x`, `points[3].y`, `limits["left"]`, or the id of a member.

use super::DataError;
use super::value::DEPTH_MAX;
use smallvec::SmallVec;
use std::borrow::Cow;

/// One step of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathStep<'p> {
    /// A member of a struct or union, a flag or a field, by name.
    Name(&'p str),
    /// A member by id.
    Id(u32),
    /// An index, or the key of a map, in brackets.
    Bracket {
        /// The text. Quoted text still has its backslashes.
        text: &'p str,
        /// Whether the text was in quotation marks.
        is_quoted: bool,
    },
}

/// Returns the text in brackets without the backslashes of quoted text.
pub(super) fn bracket_text(text: &str, is_quoted: bool) -> Cow<'_, str> {
    if !is_quoted || !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let (mut plain, mut is_escaped) = (String::with_capacity(text.len()), false);
    for letter in text.chars() {
        is_escaped = letter == '\\' && !is_escaped;
        if !is_escaped {
            plain.push(letter);
        }
    }
    Cow::Owned(plain)
}

/// The steps of a path. Few paths have more than four.
pub(super) type Steps<'p> = SmallVec<[PathStep<'p>; 4]>;

/// A path to a part of a value: text like `points[3].x`, or the id of a member ([`MemberId`]).
///
/// The empty text selects the whole value. Brackets contain indices of arrays and sequences, from 0, and keys of maps:
/// `[7]`, `["left"]`, `[RED]`, `[true]`. In quotation marks, a backslash precedes `"` and `\`: `["a \"b\""]`.
/// Flags of a bitmask and fields of a bitset are selected like members.
pub trait MemberPath: sealed::Sealed {
    /// The steps.
    #[doc(hidden)]
    fn steps(&self) -> Result<Steps<'_>, DataError>;
}

/// Selects the member of a struct or union with this id.
///
/// ```
/// # mod dds_core { pub use dds_cdr::cdr::{self, dynamic}; }
/// use dds_core::dynamic::{DynamicData, DynamicType, MemberId};
///
/// let ty = DynamicType::structure("Count").member("count", DynamicType::int32()).id(7).build()?;
/// let mut data = DynamicData::new(&ty);
/// data.set(MemberId(7), 3)?;
/// assert_eq!(data.get::<i32>("count")?, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberId(
    /// The id.
    pub u32,
);

mod sealed {
    pub trait Sealed {}
    impl Sealed for str {}
    impl Sealed for String {}
    impl Sealed for super::MemberId {}
    impl<T: Sealed + ?Sized> Sealed for &T {}
}

impl MemberPath for MemberId {
    fn steps(&self) -> Result<Steps<'_>, DataError> {
        Ok(Steps::from_slice(&[PathStep::Id(self.0)]))
    }
}

impl MemberPath for String {
    fn steps(&self) -> Result<Steps<'_>, DataError> {
        self.as_str().steps()
    }
}

impl<T: MemberPath + ?Sized> MemberPath for &T {
    fn steps(&self) -> Result<Steps<'_>, DataError> {
        (**self).steps()
    }
}

impl MemberPath for str {
    fn steps(&self) -> Result<Steps<'_>, DataError> {
        let error = || DataError::Path { path: self.to_owned() };
        let (mut steps, mut rest) = (Steps::new(), self);
        while !rest.is_empty() {
            let (step, behind) = match rest.strip_prefix('[') {
                Some(inside) => bracket(inside).ok_or_else(error)?,
                None => {
                    // A dot separates steps, but does not precede the first one.
                    let name = match (rest.strip_prefix('.'), steps.is_empty()) {
                        (Some(name), false) => name,
                        (None, true) => rest,
                        _ => return Err(error()),
                    };
                    let end = name.find(['.', '[']).unwrap_or(name.len());
                    let (name, behind) = name.split_at(end);
                    if name.is_empty() || name.contains([']', '"']) {
                        return Err(error());
                    }
                    (PathStep::Name(name), behind)
                }
            };
            steps.push(step);
            rest = behind;
        }
        // An edit creates a level of values for each step, and their depth is limited.
        if steps.len() >= DEPTH_MAX {
            return Err(DataError::TooDeep { max: DEPTH_MAX });
        }
        Ok(steps)
    }
}

/// Parses the text after an opening bracket. Returns the step and the rest after the closing bracket.
fn bracket(inside: &str) -> Option<(PathStep<'_>, &str)> {
    if let Some(quoted) = inside.strip_prefix('"') {
        // A quoted key may contain dots and brackets.
        let (text, behind) = quoted.split_at_checked(quoted_len(quoted)?)?;
        return Some((PathStep::Bracket { text, is_quoted: true }, behind.strip_prefix("\"]")?));
    }
    let (text, behind) = inside.split_once(']')?;
    if text.is_empty() {
        return None;
    }
    Some((PathStep::Bracket { text, is_quoted: false }, behind))
}

/// Returns the length of quoted text, without its last quotation mark.
fn quoted_len(text: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        match letter {
            '"' => return Some(at),
            // Another escape is an error, so that it can get a meaning later.
            '\\' if !matches!(letters.next(), Some((_, '"' | '\\'))) => return None,
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn path_is_split_into_steps() {
        let steps = r#"a.b[3]["x.y"].c"#.steps().unwrap();
        let expected = [
            PathStep::Name("a"),
            PathStep::Name("b"),
            PathStep::Bracket { text: "3", is_quoted: false },
            PathStep::Bracket { text: "x.y", is_quoted: true },
            PathStep::Name("c"),
        ];
        assert_eq!(steps.as_slice(), expected);
        assert!("".steps().unwrap().is_empty());
    }

    #[test]
    fn quoted_key_may_have_any_character() {
        for (path, key) in [
            (r#"["a\"]["]"#, r#"a"]["#),
            (r#"["\\"]"#, r"\"),
            (r#"["\\\""]"#, r#"\""#),
            (r#"[""]"#, ""),
            (r#"["]"]"#, "]"),
        ] {
            let steps = path.steps().unwrap();
            let [PathStep::Bracket { text, is_quoted: true }] = steps.as_slice() else { panic!("{path}: {steps:?}") };
            assert_eq!(bracket_text(text, true), key, "{path}");
        }
    }

    #[test]
    fn invalid_path_is_rejected() {
        for path in
            [".a", "a.", "a..b", "a[", "a[]", "a[\"x]", "a]", "a\"b", "[1]b", r#"["\n"]"#, r#"["a\"]"#, r#"["a"b"]"#]
        {
            assert_eq!(path.steps(), Err(DataError::Path { path: path.to_owned() }), "{path}");
        }
        let deep = vec!["a"; DEPTH_MAX].join(".");
        assert_eq!(deep.steps(), Err(DataError::TooDeep { max: DEPTH_MAX }));
    }
}
