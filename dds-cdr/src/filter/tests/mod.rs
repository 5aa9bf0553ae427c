//! Tests of content filters.

mod errors;
mod evaluating;
mod hostile;
mod naive;
mod patterns;
mod sample;
#[path = "../../../../dds-rtps/src/types/split_mix.rs"]
#[allow(unreachable_pub, reason = "the file is a module of dds-rtps, which exports it")]
mod split_mix;

use super::{ExpressionError, ExpressionErrorKind, Filter};
use crate::cdr::{ByteOrder, Encapsulation, Encode, Encoder, Encoding, TypeInfo};

const ENCODINGS: [Encoding; 2] = [Encoding::Xcdr1, Encoding::Xcdr2];
const ORDERS: [ByteOrder; 2] = [ByteOrder::Little, ByteOrder::Big];

/// Encodes a payload in either byte order.
fn payload<T: Encode + TypeInfo>(value: &T, encoding: Encoding, order: ByteOrder) -> Vec<u8> {
    let mut bytes = Encapsulation::new(encoding, T::DESCRIPTION.extensibility(), order).to_bytes().to_vec();
    value.encode(&mut Encoder::new(&mut bytes, encoding, order)).unwrap();
    bytes
}

fn filter<T: TypeInfo>(expression: &str, parameters: &[&str]) -> Result<Filter, ExpressionError> {
    let parameters: Vec<String> = parameters.iter().map(|&parameter| parameter.to_owned()).collect();
    let filter = Filter::new(T::DESCRIPTION, expression, &parameters);
    #[cfg(feature = "dynamic")]
    {
        let dynamic = of_run_time::<T>(expression, &parameters).map(|filter| filter.uses_only_key());
        assert_eq!(dynamic, filter.as_ref().map(Filter::uses_only_key).map_err(Clone::clone), "{expression}");
    }
    filter
}

/// Compiles for the same type, but built at run time.
#[cfg(feature = "dynamic")]
fn of_run_time<T: TypeInfo>(expression: &str, parameters: &[String]) -> Result<Filter, ExpressionError> {
    let ty = crate::cdr::dynamic::DynamicType::of::<T>().unwrap();
    Filter::of_dynamic(&ty, expression, parameters)
}

/// Whether a value passes. The result must not depend on the encoding.
fn passes<T: Encode + TypeInfo>(value: &T, expression: &str, parameters: &[&str]) -> bool {
    let filter = filter::<T>(expression, parameters).unwrap_or_else(|error| panic!("{expression}: {error}"));
    let expected = filter.evaluate(&payload(value, Encoding::Xcdr2, ByteOrder::Little), false).unwrap();
    for encoding in ENCODINGS {
        for order in ORDERS {
            let result = filter.evaluate(&payload(value, encoding, order), false);
            assert_eq!(result, Ok(expected), "{expression} {encoding:?} {order:?}");
            #[cfg(feature = "dynamic")]
            {
                let dynamic = of_run_time::<T>(expression, filter.parameters()).unwrap();
                let result = dynamic.evaluate(&payload(value, encoding, order), false);
                assert_eq!(result, Ok(expected), "{expression} {encoding:?} {order:?}, dynamic");
            }
        }
    }
    expected
}
