//! Announcement of a reader's content filter.
//!
//! ```text
//! CONTENT_FILTER_PROPERTY (RTPS 2.5, 9.6.3.1)   four strings: filtered topic, related topic, class, expression
//!                                               sequence of strings: parameters
//! signature (RTPS 2.5, 9.6.4.1)                 MD5 over all of these, in this order, each with its NUL
//! ```
//!
//! RTI Connext leaves the last NUL out of its signature, so there are two signatures. Fast DDS knows both.

use super::{ParameterFields, ParameterValueWriter};
use crate::filter::LEN_MAX;

/// A reader's content filter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ContentFilterProperty {
    /// Name of the filtered topic.
    pub filtered_topic: String,
    /// Name of the related topic.
    pub related_topic: String,
    /// Class of the filter; [`DDSSQL`] is that of the standard.
    pub class: String,
    /// The expression.
    pub expression: String,
    /// Values of its parameters.
    pub parameters: Vec<String>,
}

/// Class of filters with expressions of DDS 1.4, Annex B.
pub const DDSSQL: &str = "DDSSQL";

/// Most parameters of an expression: `%0` to `%99`.
const PARAMETERS_MAX: usize = 100;

/// Most bytes of each name.
const NAME_MAX: usize = 1_024;

impl ContentFilterProperty {
    /// Reads a property; `None` if it is malformed, too large, or has an empty name, class or expression.
    ///
    /// An empty text means that there is no filter.
    #[must_use]
    pub fn read(mut fields: ParameterFields<'_>) -> Option<Self> {
        let filtered_topic = read_text(&mut fields, NAME_MAX)?;
        let related_topic = read_text(&mut fields, NAME_MAX)?;
        let class = read_text(&mut fields, NAME_MAX)?;
        let expression = read_text(&mut fields, LEN_MAX)?;
        let count = fields.sequence_len(4).ok()?;
        if count > PARAMETERS_MAX {
            return None;
        }
        let mut parameters = Vec::with_capacity(count);
        let mut len = expression.len();
        for _ in 0..count {
            let parameter = fields.string().ok()?;
            len += parameter.len();
            if len > LEN_MAX {
                return None;
            }
            parameters.push(parameter.to_owned());
        }
        Some(Self { filtered_topic, related_topic, class, expression, parameters })
    }

    /// Writes the property.
    pub fn write(&self, value: &mut ParameterValueWriter<'_>) {
        for name in self.names() {
            value.string(name);
        }
        value.sequence_len(self.parameters.len());
        for parameter in &self.parameters {
            value.string(parameter);
        }
    }

    /// Returns the signature in the inline QoS of samples, as the standard defines it.
    #[must_use]
    pub fn signature(&self) -> [u8; 16] {
        md5::compute(self.signed()).0
    }

    /// Returns the signature in samples of RTI Connext.
    #[must_use]
    pub fn signature_of_connext(&self) -> [u8; 16] {
        let signed = self.signed();
        md5::compute(signed.strip_suffix(&[0]).unwrap_or(&signed)).0
    }

    fn signed(&self) -> Vec<u8> {
        let mut signed = Vec::new();
        for text in self.names().into_iter().chain(self.parameters.iter().map(String::as_str)) {
            signed.extend_from_slice(text.as_bytes());
            signed.push(0);
        }
        signed
    }

    fn names(&self) -> [&str; 4] {
        [&self.filtered_topic, &self.related_topic, &self.class, &self.expression]
    }
}

/// Reads a text that is neither empty nor longer than `max` bytes.
fn read_text(fields: &mut ParameterFields<'_>, max: usize) -> Option<String> {
    let text = fields.string().ok()?;
    if text.is_empty() || text.len() > max {
        return None;
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ParameterListReader, ParameterListWriter};

    fn property() -> ContentFilterProperty {
        ContentFilterProperty {
            filtered_topic: "Square_filtered".to_owned(),
            related_topic: "Square".to_owned(),
            class: DDSSQL.to_owned(),
            expression: "color = %0".to_owned(),
            parameters: vec!["'RED'".to_owned()],
        }
    }

    fn written(property: &ContentFilterProperty) -> Vec<u8> {
        let mut bytes = Vec::new();
        let mut list = ParameterListWriter::new(&mut bytes);
        list.parameter(0x35, |value| property.write(value));
        list.finish();
        bytes
    }

    fn read(bytes: &[u8]) -> Option<ContentFilterProperty> {
        let parameter = ParameterListReader::new(bytes, true).next().unwrap().unwrap();
        assert_eq!(parameter.id, 0x35);
        ContentFilterProperty::read(parameter.fields())
    }

    #[test]
    fn property_has_the_layout_of_the_standard() {
        let expected = [
            &b"\x35\x00\x4c\x00"[..],
            b"\x10\0\0\0Square_filtered\0",
            b"\x07\0\0\0Square\0\0",
            b"\x07\0\0\0DDSSQL\0\0",
            b"\x0b\0\0\0color = %0\0\0",
            b"\x01\0\0\0",
            b"\x06\0\0\0'RED'\0\0\0",
        ];
        let bytes = written(&property());
        assert_eq!(bytes.get(..80), Some(&expected.concat()[..]));
        assert_eq!(read(&bytes), Some(property()));
    }

    /// `printf 'Square_filtered\0Square\0DDSSQL\0color = %%0\0\047RED\047\0' | md5sum`, and without the last NUL.
    #[test]
    fn signatures_are_digests_over_texts_with_nuls() {
        let hex = |digest: [u8; 16]| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        assert_eq!(hex(property().signature()), "5619828333943ebb3744337f9707c029");
        assert_eq!(hex(property().signature_of_connext()), "adcbfd5705abfa2b4e0b66175295159b");
    }

    #[test]
    fn empty_or_oversized_property_is_rejected() {
        let base = property();
        assert_eq!(read(&written(&ContentFilterProperty { expression: String::new(), ..base.clone() })), None);
        assert_eq!(read(&written(&ContentFilterProperty { class: String::new(), ..base.clone() })), None);
        let parameters = |count: usize, len: usize| vec!["x".repeat(len); count];
        let of = |parameters| read(&written(&ContentFilterProperty { parameters, ..property() }));
        assert!(of(parameters(PARAMETERS_MAX, 1)).is_some());
        assert_eq!(of(parameters(PARAMETERS_MAX + 1, 1)), None);
        assert_eq!(of(parameters(2, LEN_MAX / 2)), None);
        for end in 4..written(&base).len() - 8 {
            let cut = ParameterFieldsOf(&written(&base)[4..end]).read();
            assert!(cut.is_none() || end >= 78, "{end}");
        }
    }

    /// A value that ends too early.
    struct ParameterFieldsOf<'a>(&'a [u8]);

    impl ParameterFieldsOf<'_> {
        fn read(&self) -> Option<ContentFilterProperty> {
            let mut bytes = Vec::new();
            let mut list = ParameterListWriter::new(&mut bytes);
            list.parameter(0x35, |value| {
                value.bytes(self.0);
            });
            list.finish();
            read(&bytes)
        }
    }
}
