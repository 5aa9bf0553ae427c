//! QoS policies as parameters, in both directions. Each has the type of `qos`; an unknown kind is an invalid value.

use super::decode::ParameterOutcome;
use crate::qos::{
    AccessScope, DataRepresentation, DestinationOrder, Durability, DurabilityService, History, Liveliness,
    LivelinessKind, Ownership, Presentation, Reliability, ResourceLimits, TypeConsistency, TypeConsistencyKind,
};
use crate::types::Duration;
use crate::wire::{ParameterError, ParameterFields, ParameterListWriter, ParameterValueWriter};

/// Most ids of a DATA_REPRESENTATION list; three are defined.
const REPRESENTATIONS_MAX: usize = 16;

/// A policy with a parameter encoding.
pub(super) trait PolicyParameter: Sized {
    /// Reads the value.
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError>;
    /// Writes the value.
    fn write(&self, value: &mut ParameterValueWriter<'_>);
}

/// Implements the parameter of a policy that is an enumeration.
macro_rules! kinds {
    ($policy:ident { $($number:literal => $variant:ident,)* }) => {
        impl PolicyParameter for $policy {
            fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
                match fields.i32()? {
                    $($number => Ok(Self::$variant),)*
                    _ => Err(fields.illegal()),
                }
            }

            fn write(&self, value: &mut ParameterValueWriter<'_>) {
                value.i32(match self {
                    $(Self::$variant => $number,)*
                });
            }
        }
    };
}

kinds!(Durability { 0 => Volatile, 1 => TransientLocal, 2 => Transient, 3 => Persistent, });
kinds!(Ownership { 0 => Shared, 1 => Exclusive, });
kinds!(DestinationOrder { 0 => ByReceptionTimestamp, 1 => BySourceTimestamp, });
kinds!(AccessScope { 0 => Instance, 1 => Topic, 2 => Group, });
kinds!(LivelinessKind { 0 => Automatic, 1 => ManualByParticipant, 2 => ManualByTopic, });

impl PolicyParameter for Duration {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        fields.duration()
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.duration(*self);
    }
}

impl PolicyParameter for i32 {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        fields.i32()
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.i32(*self);
    }
}

impl PolicyParameter for Reliability {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        match fields.i32()? {
            // Best effort never blocks, so its duration is not read and may be absent.
            1 => Ok(Self::BestEffort),
            2 => Ok(Self::Reliable { max_blocking_time: fields.duration()? }),
            _ => Err(fields.illegal()),
        }
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        match self {
            // The parameter has a fixed length, so best effort carries a duration as well.
            Self::BestEffort => value.i32(1).duration(Duration::ZERO),
            Self::Reliable { max_blocking_time } => value.i32(2).duration(*max_blocking_time),
        };
    }
}

impl PolicyParameter for Liveliness {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        Ok(Self { kind: LivelinessKind::read(fields)?, lease_duration: fields.duration()? })
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        self.kind.write(value);
        value.duration(self.lease_duration);
    }
}

impl PolicyParameter for Presentation {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        Ok(Self {
            access_scope: AccessScope::read(fields)?,
            coherent_access: fields.bool()?,
            ordered_access: fields.bool()?,
        })
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        self.access_scope.write(value);
        value.bool(self.coherent_access).bool(self.ordered_access);
    }
}

impl PolicyParameter for History {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        let kind = fields.i32()?;
        let depth = fields.i32()?;
        match (kind, u32::try_from(depth)) {
            (0, Ok(depth)) => Ok(Self::KeepLast { depth }),
            // KEEP_ALL has no depth, so peers may send any number there.
            (1, _) => Ok(Self::KeepAll),
            _ => Err(fields.illegal()),
        }
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        match self {
            Self::KeepLast { depth } => value.i32(0).i32(i32::try_from(*depth).unwrap_or(i32::MAX)),
            // The depth has no meaning here; Cyclone DDS and Fast DDS send 1.
            Self::KeepAll => value.i32(1).i32(1),
        };
    }
}

impl PolicyParameter for ResourceLimits {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        // -1 is "no limit"; other negative numbers are treated alike.
        let mut limit = || fields.i32().map(|limit| u32::try_from(limit).ok());
        Ok(Self { max_samples: limit()?, max_instances: limit()?, max_samples_per_instance: limit()? })
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        for limit in [self.max_samples, self.max_instances, self.max_samples_per_instance] {
            // LENGTH_UNLIMITED is -1 (DDS 1.4, 2.2.3.19). A limit beyond 31 bits is no limit in practice.
            value.i32(match limit {
                Some(limit) => i32::try_from(limit).unwrap_or(-1),
                None => -1,
            });
        }
    }
}

impl PolicyParameter for DurabilityService {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        Ok(Self {
            cleanup_delay: fields.duration()?,
            history: History::read(fields)?,
            resource_limits: ResourceLimits::read(fields)?,
        })
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.duration(self.cleanup_delay);
        self.history.write(value);
        self.resource_limits.write(value);
    }
}

impl PolicyParameter for Vec<DataRepresentation> {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        // The first entry of a writer decides, and a reader accepts any of a few: further ones have no effect.
        let count = fields.sequence_len(2)?.min(REPRESENTATIONS_MAX);
        let mut representations = Self::new();
        for _ in 0..count {
            representations.push(DataRepresentation::from_wire(fields.i16()?));
        }
        Ok(representations)
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.sequence_len(self.len());
        for representation in self {
            value.i16(representation.to_wire());
        }
    }
}

impl PolicyParameter for Vec<String> {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        // Bounded because the comparison of two lists takes time in proportion to the product of their lengths.
        let count = fields.sequence_len(4)?;
        let mut names = Self::new();
        let mut len = 0;
        for _ in 0..count {
            let name = fields.string()?;
            // The 8 are the length field and the terminator with its padding, at most.
            len += name.len() + 8;
            if len > crate::qos::PARTITION_BYTES_MAX {
                return Err(fields.illegal());
            }
            names.push(name.to_owned());
        }
        Ok(names)
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.sequence_len(self.len());
        for name in self {
            value.string(name);
        }
    }
}

impl PolicyParameter for TypeConsistency {
    fn read(fields: &mut ParameterFields<'_>) -> Result<Self, ParameterError> {
        let kind = match fields.u16()? {
            0 => TypeConsistencyKind::DisallowTypeCoercion,
            1 => TypeConsistencyKind::AllowTypeCoercion,
            _ => return Err(fields.illegal()),
        };
        // Cyclone DDS also uses forms with fewer flags; an absent flag has its default.
        let mut policy = Self::default().kind(kind);
        for flag in [
            &mut policy.ignore_sequence_bounds,
            &mut policy.ignore_string_bounds,
            &mut policy.ignore_member_names,
            &mut policy.prevent_type_widening,
            &mut policy.force_type_validation,
        ] {
            if !fields.is_at_end() {
                *flag = fields.bool()?;
            }
        }
        Ok(policy)
    }

    fn write(&self, value: &mut ParameterValueWriter<'_>) {
        value.u16(match self.kind {
            TypeConsistencyKind::DisallowTypeCoercion => 0,
            TypeConsistencyKind::AllowTypeCoercion => 1,
        });
        value.bool(self.ignore_sequence_bounds).bool(self.ignore_string_bounds).bool(self.ignore_member_names);
        value.bool(self.prevent_type_widening).bool(self.force_type_validation);
    }
}

/// Writes all policies that writers and readers share, because vendors do not agree on every default.
macro_rules! write_shared_policies {
    ($list:expr, $qos:expr) => {
        write_policy(&mut $list, id::RELIABILITY, &$qos.reliability);
        write_policy(&mut $list, id::DURABILITY, &$qos.durability);
        write_policy(&mut $list, id::DEADLINE, &$qos.deadline);
        write_policy(&mut $list, id::LATENCY_BUDGET, &$qos.latency_budget);
        write_policy(&mut $list, id::LIVELINESS, &$qos.liveliness);
        write_policy(&mut $list, id::OWNERSHIP, &$qos.ownership);
        write_policy(&mut $list, id::DESTINATION_ORDER, &$qos.destination_order);
        write_policy(&mut $list, id::DATA_REPRESENTATION, &$qos.representation);
        write_policy(&mut $list, id::HISTORY, &$qos.history);
        write_policy(&mut $list, id::RESOURCE_LIMITS, &$qos.resource_limits);
        write_octets(&mut $list, id::USER_DATA, &$qos.user_data);
    };
}

/// Reads a policy that writers and readers share, and evaluates to the outcome.
///
/// HISTORY, RESOURCE_LIMITS and USER_DATA are informative: no match depends on those of a peer. HISTORY decides whether
/// a lost sample counts as replaced.
macro_rules! read_shared_policy {
    ($qos:expr, $parameter:expr) => {{
        let mut fields = $parameter.fields();
        match $parameter.id {
            id::RELIABILITY => decide(&mut $qos.reliability, &mut fields)?,
            id::DURABILITY => decide(&mut $qos.durability, &mut fields)?,
            id::DEADLINE => decide(&mut $qos.deadline, &mut fields)?,
            id::LATENCY_BUDGET => decide(&mut $qos.latency_budget, &mut fields)?,
            id::LIVELINESS => decide(&mut $qos.liveliness, &mut fields)?,
            id::OWNERSHIP => decide(&mut $qos.ownership, &mut fields)?,
            id::DESTINATION_ORDER => decide(&mut $qos.destination_order, &mut fields)?,
            id::DATA_REPRESENTATION => decide(&mut $qos.representation, &mut fields)?,
            id::HISTORY => store_informative(&mut $qos.history, PolicyParameter::read(&mut fields).ok()),
            id::RESOURCE_LIMITS => {
                store_informative(&mut $qos.resource_limits, PolicyParameter::read(&mut fields).ok())
            }
            id::USER_DATA => store_informative(&mut $qos.user_data, informative_octets(fields)),
            _ => ParameterOutcome::Unknown,
        }
    }};
}

pub(super) use {read_shared_policy, write_shared_policies};

/// Writes a policy as a parameter.
pub(super) fn write_policy(list: &mut ParameterListWriter<'_>, id: u16, policy: &impl PolicyParameter) {
    list.parameter(id, |value| policy.write(value));
}

/// Reads a value that decides about a match. If it is invalid, so is the data.
pub(super) fn decide<T: PolicyParameter>(
    target: &mut T,
    fields: &mut ParameterFields<'_>,
) -> Result<ParameterOutcome, ParameterError> {
    *target = T::read(fields)?;
    Ok(ParameterOutcome::Read)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Parameter;

    fn fields(value: &[u8]) -> ParameterFields<'_> {
        Parameter { id: 0, value, little_endian: true }.fields()
    }

    #[test]
    fn unknown_policy_kinds_are_invalid() {
        assert!(Reliability::read(&mut fields(&[3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])).is_err());
        assert!(Durability::read(&mut fields(&[4, 0, 0, 0])).is_err());
        assert!(Presentation::read(&mut fields(&[0, 0, 0, 0, 2, 0, 0, 0])).is_err());
    }

    #[test]
    fn type_consistency_may_stop_after_any_field() {
        let full = [0, 0, 1, 0, 1, 0, 1, 0];
        for len in 2..=7 {
            assert!(TypeConsistency::read(&mut fields(&full[..len])).is_ok());
        }
        let short = TypeConsistency::read(&mut fields(&full[..2])).unwrap();
        assert_eq!(short.kind, TypeConsistencyKind::DisallowTypeCoercion);
        assert!(short.ignore_string_bounds);
        assert!(TypeConsistency::read(&mut fields(&full[..7])).unwrap().force_type_validation);
    }

    #[test]
    fn partitions_beyond_the_bound_are_invalid() {
        let names: Vec<String> = (0..2_000).map(|i| i.to_string()).collect();
        let mut bytes = Vec::new();
        let mut list = crate::wire::ParameterListWriter::new(&mut bytes);
        list.parameter(0x29, |value| names.write(value));
        list.finish();
        let parameter = crate::wire::ParameterListReader::new(&bytes, true).next().unwrap().unwrap();
        assert!(Vec::<String>::read(&mut parameter.fields()).is_err());
    }

    #[test]
    fn representations_are_bounded() {
        let mut bytes = (REPRESENTATIONS_MAX as u32 + 10).to_le_bytes().to_vec();
        bytes.resize(4 + 2 * (REPRESENTATIONS_MAX + 10), 0);
        assert_eq!(Vec::<DataRepresentation>::read(&mut fields(&bytes)).unwrap().len(), REPRESENTATIONS_MAX);
    }
}
