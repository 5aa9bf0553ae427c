//! Derive macro for the types of DDS topics.
