//! Cursors and the XCDR1/XCDR2 encodings.
