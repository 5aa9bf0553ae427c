//! A hash of all events of a simulation.

/// Folds all events into one number. Two runs with the same events have the same number.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Trace(u64);

impl Trace {
    pub(super) fn note(&mut self, value: u64) {
        // The mixing step of splitmix64, applied to the previous hash and the new value.
        let mut bits = (self.0.rotate_left(5) ^ value).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = bits ^ (bits >> 31);
    }

    pub(super) fn note_bytes(&mut self, bytes: &[u8]) {
        self.note(bytes.len() as u64);
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.note(u64::from_le_bytes(word));
        }
    }

    pub(super) fn hash(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hash(parts: &[&[u8]]) -> u64 {
        let mut trace = Trace::default();
        parts.iter().for_each(|part| trace.note_bytes(part));
        trace.hash()
    }

    #[test]
    fn order_length_and_content_count() {
        assert_eq!(hash(&[b"one", b"two"]), hash(&[b"one", b"two"]));
        assert_ne!(hash(&[b"one", b"two"]), hash(&[b"two", b"one"]));
        assert_ne!(hash(&[b"one\0"]), hash(&[b"one"]));
        assert_ne!(hash(&[b"onetwo"]), hash(&[b"one", b"two"]));
    }
}
