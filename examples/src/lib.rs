//! Helpers of the example programs.
