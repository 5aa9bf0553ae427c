//! A participant's protocol state as a whole.
