//! Measurements of the workspace: see `benches/` for the targets.
