//! Names that somebody may have meant.

/// Names longer than this are compared for equality only: the comparison takes the product of both lengths.
const LEN_MAX: usize = 128;

/// Whether two names differ so little that one is probably a slip of the other: in capitals and separators, in a prefix
/// that stands before a slash (ROS 2 puts `rt/` there), or in one letter of four, at most three.
#[must_use]
pub fn are_similar(one: &str, other: &str) -> bool {
    let (a, b) = (plain(one), plain(other));
    if a == b {
        return true;
    }
    let shortest = a.chars().count().min(b.chars().count());
    let differences_max = (shortest / 4).clamp(usize::from(shortest > 2), 3);
    distance(&a, &b).is_some_and(|distance| distance <= differences_max)
        || one.ends_with(&format!("/{other}"))
        || other.ends_with(&format!("/{one}"))
}

/// The one of `candidates` that is most like `name`, if any is like it.
pub fn nearest<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let similar = candidates.into_iter().filter(|candidate| are_similar(name, candidate));
    similar.min_by_key(|candidate| distance(&plain(name), &plain(candidate)))
}

fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// How many letters have to be added, left out, changed or swapped with their neighbour to make one of the other; `None`
/// for names that are too long.
fn distance(one: &str, other: &str) -> Option<usize> {
    let longest = one.chars().count().max(other.chars().count());
    (longest <= LEN_MAX).then(|| strsim::osa_distance(one, other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_similar_and_other_names_are_not() {
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
    fn the_nearest_name_is_found() {
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
