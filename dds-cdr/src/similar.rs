//! Finds similar names, for hints in diagnostics.

/// Longer names are only compared for equality, because the comparison takes time in the product of both lengths.
const LEN_MAX: usize = 128;

/// Returns whether one name is probably a misspelling of the other.
///
/// Similar names may differ in capitals and separators, or in a prefix before a slash (ROS 2 adds `rt/`). They may also
/// differ in one of four letters, at most three.
#[must_use]
pub fn are_similar(one: &str, other: &str) -> bool {
    let (a, b) = (plain(one), plain(other));
    if a == b {
        return true;
    }
    let shortest = a.chars().count().min(b.chars().count());
    // One difference for each four letters. Of one or two letters, any other name is similar.
    let differences_max = (shortest / 4).clamp(usize::from(shortest > 2), 3);
    distance(&a, &b).is_some_and(|distance| distance <= differences_max)
        || one.ends_with(&format!("/{other}"))
        || other.ends_with(&format!("/{one}"))
}

/// Returns the candidate that is most similar to `name`, if any is similar.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similar = candidates.into_iter().filter(|candidate| are_similar(name, candidate));
    similar.min_by_key(|candidate| distance(&plain(name), &plain(candidate)))
}

/// Returns the letters and digits of a name in lower case.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// Returns the edit distance: insertions, deletions, changes, and swaps of neighbors. `None` if a name is too long.
fn distance(one: &str, other: &str) -> Option<usize> {
    let longest = one.chars().count().max(other.chars().count());
    // The distance takes the product of both lengths, and names come from peers.
    if longest > LEN_MAX {
        return None;
    }
    Some(strsim::osa_distance(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspelled_names_are_similar_and_others_are_not() {
        for (one, other) in [
            ("robot/pose", "robot/poes"),
            ("robot/pose", "Robot/Pose"),
            ("robot_pose", "robot/pose"),
            ("chatter", "rt/chatter"),
            ("scan", "scans"),
            ("reliability", "relaibility"),
        ] {
            assert!(are_similar(one, other) && are_similar(other, one), "{one} {other}");
        }
        for (one, other) in [("pose", "scan"), ("a", "b"), ("ab", "cd"), ("robot/pose", "robot/twist"), ("", "abc")] {
            assert!(!are_similar(one, other), "{one} {other}");
        }
    }

    #[test]
    fn nearest_returns_only_similar_names() {
        assert_eq!(nearest("histroy", ["reliability", "history", "durability"]), Some("history"));
        assert_eq!(nearest("xyz", ["reliability", "history"]), None);
    }

    #[test]
    fn distances_are_those_of_the_textbook() {
        for (one, other, expected) in [("", "", 0), ("a", "", 1), ("kitten", "sitting", 3), ("ab", "ba", 1)] {
            assert_eq!(distance(one, other), Some(expected), "{one} {other}");
        }
        assert_eq!(distance(&"x".repeat(200), "x"), None);
    }
}
