//! Short forms of policies in files: `"reliable"`, `"keep_last"` and `{ keep_last: 5 }`.
//!
//! In: a value of a self-describing format. Out: the policy. Files are written in the full forms.

use super::policy::{History, Reliability};
use crate::types::Duration;
use serde::Deserialize;

/// Forms of RELIABILITY in a file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "should be `best_effort`, `reliable` or { reliable: { max_blocking_time: \"100ms\" } }")]
pub(super) enum ReliabilityForm {
    Name(ReliabilityName),
    Full(FullReliability),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReliabilityName {
    BestEffort,
    Reliable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FullReliability {
    reliable: BlockingTime,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BlockingTime {
    max_blocking_time: Duration,
}

impl From<ReliabilityForm> for Reliability {
    fn from(form: ReliabilityForm) -> Self {
        match form {
            ReliabilityForm::Name(ReliabilityName::BestEffort) => Self::BestEffort,
            ReliabilityForm::Name(ReliabilityName::Reliable) => Self::RELIABLE,
            ReliabilityForm::Full(full) => Self::reliable(full.reliable.max_blocking_time),
        }
    }
}

/// Forms of HISTORY in a file.
#[derive(Deserialize)]
#[serde(untagged, expecting = "should be `keep_all`, `keep_last` (one sample) or { keep_last: 5 }")]
pub(super) enum HistoryForm {
    Name(HistoryName),
    Full(FullHistory),
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum HistoryName {
    KeepAll,
    KeepLast,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FullHistory {
    keep_last: DepthForm,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DepthForm {
    Number(u32),
    Full(FullDepth),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FullDepth {
    depth: u32,
}

impl From<HistoryForm> for History {
    fn from(form: HistoryForm) -> Self {
        match form {
            HistoryForm::Name(HistoryName::KeepAll) => Self::KeepAll,
            HistoryForm::Name(HistoryName::KeepLast) => Self::default(),
            HistoryForm::Full(FullHistory { keep_last: DepthForm::Number(depth) })
            | HistoryForm::Full(FullHistory { keep_last: DepthForm::Full(FullDepth { depth }) }) => {
                Self::KeepLast { depth }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reliability(text: &str) -> Result<Reliability, serde_json::Error> {
        serde_json::from_str(text)
    }

    fn history(text: &str) -> Result<History, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn short_and_full_forms_are_read() {
        assert_eq!(reliability(r#""best_effort""#).unwrap(), Reliability::BestEffort);
        assert_eq!(reliability(r#""reliable""#).unwrap(), Reliability::RELIABLE);
        let full = reliability(r#"{ "reliable": { "max_blocking_time": "20ms" } }"#).unwrap();
        assert_eq!(full, Reliability::reliable(Duration::from_millis(20)));
        assert_eq!(history(r#""keep_all""#).unwrap(), History::KeepAll);
        assert_eq!(history(r#""keep_last""#).unwrap(), History::KeepLast { depth: 1 });
        assert_eq!(history(r#"{ "keep_last": 7 }"#).unwrap(), History::KeepLast { depth: 7 });
        assert_eq!(history(r#"{ "keep_last": { "depth": 7 } }"#).unwrap(), History::KeepLast { depth: 7 });
    }

    #[test]
    fn written_forms_are_read_back() {
        for value in [Reliability::BestEffort, Reliability::RELIABLE, Reliability::reliable(Duration::from_secs(3))] {
            assert_eq!(reliability(&serde_json::to_string(&value).unwrap()).unwrap(), value);
        }
        for value in [History::KeepAll, History::KeepLast { depth: 9 }] {
            assert_eq!(history(&serde_json::to_string(&value).unwrap()).unwrap(), value);
        }
    }

    #[test]
    fn other_forms_are_refused_with_the_accepted_ones() {
        for text in [r#""Reliable""#, r#"{ "best": 1 }"#, "1", r#"{ "reliable": { "blocking": "1s" } }"#] {
            let error = reliability(text).unwrap_err().to_string();
            assert!(error.starts_with("should be `best_effort`, `reliable` or {"), "{error}");
        }
        for text in [r#""keep_some""#, r#"{ "keep_last": -1 }"#, r#"{ "keep_last": { "dept": 2 } }"#, "[]"] {
            let error = history(text).unwrap_err().to_string();
            assert!(error.starts_with("should be `keep_all`, `keep_last` (one sample) or {"), "{error}");
        }
    }
}
