//! SPDP, SEDP, leases and matching.
