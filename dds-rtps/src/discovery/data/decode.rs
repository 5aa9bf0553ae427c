//! Decoding of a discovery payload, common to all kinds of data.

use crate::types::Locator;
use crate::wire::{Parameter, ParameterError, ParameterFields, ParameterListReader, ParameterListWriter};
use std::fmt;

/// Encapsulation identifier of a parameter list, big endian (RTPS 2.5, 10.2.1.2).
const PL_CDR_BE: [u8; 2] = [0x00, 0x02];
/// Encapsulation identifier of a parameter list, little endian.
const PL_CDR_LE: [u8; 2] = [0x00, 0x03];

/// Most locators of one list. A host with more interfaces is reachable by the first ones.
const LOCATORS_MAX: usize = 32;
/// Longest name of a topic, type or entity, in bytes. DDS sets no limit; nested IDL names stay below this.
pub(super) const NAME_MAX: usize = 1_024;
/// Most octets of user, topic and group data: the limit of our own announcements, [`crate::qos::USER_DATA_MAX`].
pub(super) const OCTETS_MAX: usize = crate::qos::USER_DATA_MAX;

/// Reason to reject discovery data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryDataError {
    /// The payload does not begin with the header of a parameter list.
    Encapsulation,
    /// The list is truncated, or a value that decides about identity or matching is invalid.
    Parameter(ParameterError),
    /// The sender requires that this parameter is understood, and it is unknown.
    MustUnderstand {
        /// The parameter.
        id: u16,
    },
    /// A required parameter is missing.
    Missing {
        /// The parameter.
        id: u16,
    },
    /// A name is longer than 1024 bytes.
    TooLong {
        /// The parameter.
        id: u16,
    },
    /// The GUID has the wrong kind, or does not belong to the sender.
    Guid,
}

impl fmt::Display for DiscoveryDataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encapsulation => f.write_str("not a parameter list"),
            Self::Parameter(error) => error.fmt(f),
            Self::MustUnderstand { id } => write!(f, "unknown parameter 0x{id:04x} that must be understood"),
            Self::Missing { id } => write!(f, "parameter 0x{id:04x} is missing"),
            Self::TooLong { id } => write!(f, "parameter 0x{id:04x} is too long"),
            Self::Guid => f.write_str("the GUID has the wrong entity kind or participant"),
        }
    }
}

impl std::error::Error for DiscoveryDataError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Parameter(error) => Some(error),
            _ => None,
        }
    }
}

impl From<ParameterError> for DiscoveryDataError {
    fn from(error: ParameterError) -> Self {
        Self::Parameter(error)
    }
}

/// Decoded data, and the number of skipped parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decoded<T> {
    /// The data.
    pub data: T,
    /// Informative parameters that were malformed or beyond a bound.
    pub skipped: u32,
}

/// Result of reading one parameter.
pub(super) enum ParameterOutcome {
    /// Known and read.
    Read,
    /// Known and informative, but unusable.
    Skipped,
    /// Not a parameter of this data.
    Unknown,
}

/// Returns the parameters behind the encapsulation header.
pub(super) fn parameters(payload: &[u8]) -> Result<ParameterListReader<'_>, DiscoveryDataError> {
    let (header, list) = payload.split_first_chunk::<4>().ok_or(DiscoveryDataError::Encapsulation)?;
    // The other two bytes are options. A list has its own end and needs none of them.
    match [header[0], header[1]] {
        PL_CDR_LE => Ok(ParameterListReader::new(list, true)),
        PL_CDR_BE => Ok(ParameterListReader::new(list, false)),
        _ => Err(DiscoveryDataError::Encapsulation),
    }
}

/// Passes each parameter to `read`; returns how many were skipped.
pub(super) fn walk<'a>(
    payload: &'a [u8],
    mut read: impl FnMut(&Parameter<'a>) -> Result<ParameterOutcome, DiscoveryDataError>,
) -> Result<u32, DiscoveryDataError> {
    let mut skipped = 0;
    for parameter in parameters(payload)? {
        // Behind a truncated entry no further entry can be found, so the whole list is rejected.
        let parameter = parameter?;
        match read(&parameter)? {
            ParameterOutcome::Read => {}
            ParameterOutcome::Skipped => skipped += 1,
            // A vendor cannot require its own parameters from other vendors: the bit has no meaning there.
            ParameterOutcome::Unknown if parameter.must_understand() && !parameter.is_vendor_specific() => {
                return Err(DiscoveryDataError::MustUnderstand { id: parameter.id });
            }
            ParameterOutcome::Unknown => {}
        }
    }
    Ok(skipped)
}

/// Begins a payload in `buffer`, which is cleared first.
pub(super) fn begin(buffer: &mut Vec<u8>) -> ParameterListWriter<'_> {
    buffer.clear();
    // Every receiver reads both byte orders, so one of them is enough here.
    buffer.extend_from_slice(&PL_CDR_LE);
    buffer.extend_from_slice(&[0; 2]);
    ParameterListWriter::new(buffer)
}

/// Stores an informative value; `None` leaves `target` unchanged.
pub(super) fn store_informative<T>(target: &mut T, value: Option<T>) -> ParameterOutcome {
    match value {
        Some(value) => {
            *target = value;
            ParameterOutcome::Read
        }
        None => ParameterOutcome::Skipped,
    }
}

/// Reads informative octets; `None` if they are unusable.
pub(super) fn informative_octets(mut fields: ParameterFields<'_>) -> Option<Vec<u8>> {
    let octets = fields.octets().ok()?;
    if octets.len() > OCTETS_MAX {
        return None;
    }
    Some(octets.to_vec())
}

/// Reads an informative name; `None` if it is unusable.
pub(super) fn informative_name(mut fields: ParameterFields<'_>) -> Option<String> {
    let name = fields.string().ok()?;
    if name.len() > NAME_MAX {
        return None;
    }
    Some(name.to_owned())
}

/// Reads a name that decides about matching.
pub(super) fn name(id: u16, mut fields: ParameterFields<'_>) -> Result<String, DiscoveryDataError> {
    let name = fields.string()?;
    if name.len() > NAME_MAX {
        return Err(DiscoveryDataError::TooLong { id });
    }
    Ok(name.to_owned())
}

/// Adds a locator to a list. An unsupported kind is kept: it explains why a peer is unreachable.
pub(super) fn add_locator(locators: &mut Vec<Locator>, mut fields: ParameterFields<'_>) -> ParameterOutcome {
    match fields.locator() {
        Ok(locator) if locators.len() < LOCATORS_MAX => {
            // A repeated locator would send each datagram twice.
            if !locators.contains(&locator) {
                locators.push(locator);
            }
            ParameterOutcome::Read
        }
        _ => ParameterOutcome::Skipped,
    }
}

/// Writes locators, each as its own parameter.
pub(super) fn write_locators(list: &mut ParameterListWriter<'_>, id: u16, locators: &[Locator]) {
    for locator in locators {
        list.parameter(id, |value| {
            value.locator(locator);
        });
    }
}

/// Writes octets, unless they are empty.
pub(super) fn write_octets(list: &mut ParameterListWriter<'_>, id: u16, octets: &[u8]) {
    if !octets.is_empty() {
        list.parameter(id, |value| {
            value.octets(octets);
        });
    }
}
