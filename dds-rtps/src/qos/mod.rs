//! Policies, QoS structs, and requested/offered matching.
