//! Tests of the book, the README and the documents: pages, links, programs, and tables that mirror the code.
//!
//! The documentation tests of this package compile and run the snippets of the book.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report")]

mod links;
mod markdown;
mod outputs;
mod pages;
mod reference;
mod shown_types;
