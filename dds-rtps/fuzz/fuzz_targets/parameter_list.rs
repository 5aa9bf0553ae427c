//! Any bytes as a parameter list: the iteration ends and stays within the bytes.

#![no_main]

use dds_rtps::wire::InlineQos;
use dds_rtps::wire::ParameterListReader;
use libfuzzer_sys::fuzz_target;
use std::hint::black_box;

fuzz_target!(|bytes: &[u8]| {
    for little_endian in [true, false] {
        let mut list = ParameterListReader::new(bytes, little_endian);
        for parameter in &mut list {
            let Ok(parameter) = parameter else { continue };
            let mut fields = parameter.fields();
            black_box((fields.string().ok(), fields.octets().ok(), fields.duration().ok(), fields.guid().ok()));
        }
        assert!(list.position() <= bytes.len());
        let unchecked = InlineQos { bytes, little_endian };
        black_box((unchecked.parameters().count(), unchecked.key_hash(), unchecked.original_writer_qos().is_some()));
        black_box(unchecked.content_filter_info().map(|info| info.results().count()));
    }
});
