//! The walk over a discovery payload that all kinds of data share.

use crate::types::Locator;
use crate::wire::{Parameter, ParameterError, ParameterFields, ParameterListReader, ParameterListWriter};
use std::fmt;

/// Encapsulation identifier of a parameter list, big endian (RTPS 2.5, 10.2.1.2).
const PL_CDR_BE: [u8; 2] = [0x00, 0x02];
/// Encapsulation identifier of a parameter list, little endian.
const PL_CDR_LE: [u8; 2] = [0x00, 0x03];

/// Locators kept of one list. A host with more interfaces than this is reachable by the first ones.
const LOCATORS_MAX: usize = 32;
/// Bytes kept of a topic's, type's or entity's name. DDS sets no limit; IDL names nest, but not that far.
pub(super) const NAME_MAX: usize = 1_024;
/// Octets kept of user, topic and group data: what [`crate::qos::USER_DATA_MAX`] lets us announce ourselves.
pub(super) const OCTETS_MAX: usize = crate::qos::USER_DATA_MAX;

/// Why discovery data was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DataError {
    /// The payload does not begin with the header of a parameter list.
    Encapsulation,
    /// The list is cut off, or a value that decides about identity or matching is illegal.
    Parameter(ParameterError),
    /// The sender demands that this parameter is understood, and we do not know it.
    MustUnderstand {
        /// The parameter.
        id: u16,
    },
    /// A parameter is absent without which there is nothing to know.
    Missing {
        /// The parameter.
        id: u16,
    },
    /// A name is longer than 1024 bytes.
    TooLong {
        /// The parameter.
        id: u16,
    },
    /// The GUID does not name what the data describes, or an entity of the sender.
    Guid,
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encapsulation => f.write_str("not a parameter list"),
            Self::Parameter(error) => error.fmt(f),
            Self::MustUnderstand { id } => write!(f, "unknown parameter 0x{id:04x} that must be understood"),
            Self::Missing { id } => write!(f, "parameter 0x{id:04x} is missing"),
            Self::TooLong { id } => write!(f, "parameter 0x{id:04x} is too long"),
            Self::Guid => f.write_str("the GUID names another kind of entity"),
        }
    }
}

impl std::error::Error for DataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Parameter(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ParameterError> for DataError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// Decoded data, and how much of it was left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The data.
    pub data: T,
    /// Parameters that only inform and were malformed, or beyond a bound.
    pub skipped: u32,
}

/// What became of one parameter.
pub(super) enum Outcome {
    /// Known, and taken over.
    Taken,
    /// Known, but of no use as it stands; only informative.
    Skipped,
    /// Not one that this data has.
    Unknown,
}

/// The parameters behind the encapsulation header.
pub(super) fn parameters(payload: &[u8]) -> Result<ParameterListReader<'_>, DataError> {
    let (header, list) = payload.split_first_chunk::<4>().ok_or(DataError::Encapsulation)?;
    match [header[0], header[1]] {
        PL_CDR_LE => Ok(ParameterListReader::new(list, true)),
        PL_CDR_BE => Ok(ParameterListReader::new(list, false)),
        _ => Err(DataError::Encapsulation),
    }
}

/// Hands each parameter to `take`, and says how many were skipped.
pub(super) fn walk<'a>(
    payload: &'a [u8],
    mut take: impl FnMut(&Parameter<'a>) -> Result<Outcome, DataError>,
) -> Result<u32, DataError> {
    let mut skipped = 0;
    for parameter in parameters(payload)? {
        let parameter = parameter?;
        match take(&parameter)? {
            Outcome::Taken => {}
            Outcome::Skipped => skipped += 1,
            // A vendor's own parameter cannot be demanded from other vendors (the bit has no meaning there).
            Outcome::Unknown if parameter.must_understand() && !parameter.is_vendor_specific() => {
                return Err(DataError::MustUnderstand { id: parameter.id });
            }
            Outcome::Unknown => {}
        }
    }
    Ok(skipped)
}

/// Begins a payload in `buffer`, which is cleared first.
pub(super) fn begin(buffer: &mut Vec<u8>) -> ParameterListWriter<'_> {
    buffer.clear();
    buffer.extend_from_slice(&PL_CDR_LE);
    buffer.extend_from_slice(&[0; 2]);
    ParameterListWriter::new(buffer)
}

/// A value that only informs: `None` from `read` leaves `target` as it is.
pub(super) fn inform<T>(target: &mut T, value: Option<T>) -> Outcome {
    match value {
        Some(value) => {
            *target = value;
            Outcome::Taken
        }
        None => Outcome::Skipped,
    }
}

/// Octets that only inform.
pub(super) fn informative_octets(mut fields: ParameterFields<'_>) -> Option<Vec<u8>> {
    fields.octets().ok().filter(|octets| octets.len() <= OCTETS_MAX).map(<[u8]>::to_vec)
}

/// A name that only informs.
pub(super) fn informative_name(mut fields: ParameterFields<'_>) -> Option<String> {
    fields.string().ok().filter(|name| name.len() <= NAME_MAX).map(str::to_owned)
}

/// A name that decides.
pub(super) fn name(id: u16, mut fields: ParameterFields<'_>) -> Result<String, DataError> {
    let name = fields.string()?;
    if name.len() > NAME_MAX { Err(DataError::TooLong { id }) } else { Ok(name.to_owned()) }
}

/// One more locator of a list. A kind that we cannot send to is kept: it tells the user why a peer is unreachable.
pub(super) fn add_locator(locators: &mut Vec<Locator>, mut fields: ParameterFields<'_>) -> Outcome {
    match fields.locator() {
        Ok(locator) if locators.len() < LOCATORS_MAX => {
            if !locators.contains(&locator) {
                locators.push(locator);
            }
            Outcome::Taken
        }
        _ => Outcome::Skipped,
    }
}

/// Writes a list of locators, each as a parameter of its own.
pub(super) fn write_locators(list: &mut ParameterListWriter<'_>, id: u16, locators: &[Locator]) {
    for locator in locators {
        list.parameter(id, |value| {
            value.locator(locator);
        });
    }
}

/// Writes octets, if there are any.
pub(super) fn write_octets(list: &mut ParameterListWriter<'_>, id: u16, octets: &[u8]) {
    if !octets.is_empty() {
        list.parameter(id, |value| {
            value.octets(octets);
        });
    }
}
