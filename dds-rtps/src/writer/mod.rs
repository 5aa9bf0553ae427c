//! The RTPS writers.
