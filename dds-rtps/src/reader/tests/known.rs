//! When a reader counts a writer as one that knows it.

use super::*;

impl Script {
    /// RELIABLE, VOLATILE, and awaits that its writers know it. Matches [`WRITER`].
    fn awaiting(writer: WriterProxyConfig) -> Self {
        let config = ReaderConfig { awaits_writers: true, reliable: true, ..keep_all(config(KeySource::None)) };
        let mut script = Self::new(config);
        assert!(script.reader.match_writer(script.now(), writer));
        script.events();
        script
    }

    fn is_known(&self) -> bool {
        self.reader.is_known_to(WRITER)
    }
}

fn writer_of(vendor: VendorId) -> WriterProxyConfig {
    WriterProxyConfig { unicast: vec![locator(WRITER)], ..WriterProxyConfig::of_vendor(WRITER, vendor) }
}

#[test]
fn heartbeat_by_name_shows_that_the_writer_knows_the_reader() {
    for vendor in [VendorId::OURS, VendorId::CYCLONE] {
        let mut script = Script::awaiting(writer_of(vendor));
        assert!(!script.is_known());
        // It may be for a reader of another participant.
        script.final_heartbeat(1, 0);
        assert!(!script.is_known());
        assert_eq!(script.events(), []);
        script.later(100);
        assert_eq!(script.sent().len(), 1, "the reader still asks the writer");
        script.heartbeat_by_name(1, 0);
        assert!(script.is_known());
        assert_eq!(script.events(), [StatefulReaderEvent::KnownToWriter]);
        script.heartbeat_by_name(1, 1);
        assert_eq!(script.events(), [], "once");
    }
}

#[test]
fn any_heartbeat_of_a_writer_that_names_no_reader_counts() {
    let mut script = Script::awaiting(writer_of(VendorId::RUSTDDS));
    script.heartbeat(1, 0);
    assert!(script.is_known());
    assert_eq!(script.events(), [StatefulReaderEvent::KnownToWriter]);
}

#[test]
fn silent_writer_counts_unless_it_would_answer() {
    for (vendor, is_silent) in [(VendorId::RUSTDDS, true), (VendorId::CYCLONE, false)] {
        let mut script = Script::awaiting(writer_of(vendor));
        let mut known_at = None;
        for millis in (0..10_000).step_by(100) {
            script.sent();
            if script.later(100).events().contains(&StatefulReaderEvent::KnownToWriter) {
                known_at.get_or_insert(millis + 100);
            }
        }
        assert_eq!(script.is_known(), is_silent);
        // Three pre-emptive ACKNACKs, the last one after 0.3 s.
        assert_eq!(known_at, is_silent.then_some(400));
    }
}

#[test]
fn best_effort_writer_counts_at_once() {
    let writer = WriterProxyConfig { reliable: false, ..writer_of(VendorId::CYCLONE) };
    let mut script = Script::new(ReaderConfig { awaits_writers: true, ..keep_all(config(KeySource::None)) });
    assert!(!script.is_known(), "it is not matched");
    assert!(script.reader.match_writer(script.now(), writer));
    assert!(script.is_known());
}

#[test]
fn reader_without_the_setting_reports_nothing() {
    let mut script = Script::new(ReaderConfig { reliable: true, ..keep_all(config(KeySource::None)) });
    assert!(script.reader.match_writer(script.now(), writer_of(VendorId::CYCLONE)));
    script.events();
    script.heartbeat(1, 0);
    assert_eq!(script.events(), []);
    assert!(script.is_known());
}
