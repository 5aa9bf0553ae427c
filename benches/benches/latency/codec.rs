//! Encoding and decoding alone.

use benches::codec::Codec;
use criterion::Criterion;
use std::hint::black_box;

/// Bytes as one run and element by element; then the forms in which a sample can be read.
pub(crate) fn all(c: &mut Criterion) {
    let mut run = Codec::bytes().expect("the value fits its type");
    c.bench_function("cdr_bytes_32000_encode", |b| b.iter(|| black_box(run.encode()).is_ok()));
    c.bench_function("cdr_bytes_32000_decode", |b| b.iter(|| black_box(run.decode_into()).is_ok()));
    let mut elements = Codec::elements().expect("the value fits its type");
    c.bench_function("cdr_bytes_32000_element_wise_encode", |b| b.iter(|| black_box(elements.encode()).is_ok()));
    c.bench_function("cdr_bytes_32000_element_wise_decode", |b| b.iter(|| black_box(elements.decode_into()).is_ok()));

    let mut log = Codec::log().expect("the value fits its type");
    c.bench_function("decode_owned", |b| b.iter(|| black_box(log.decode_owned()).is_ok()));
    c.bench_function("decode_into", |b| b.iter(|| black_box(log.decode_into()).is_ok()));
    c.bench_function("decode_borrowed", |b| b.iter(|| black_box(log.decode_borrowed()).is_ok()));
    c.bench_function("decode_raw", |b| b.iter(|| black_box(log.decode_raw()).is_ok()));
}
