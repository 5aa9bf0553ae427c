//! In-process delivery: state that a writer and a reader of the same participant share.
//!
//! In: samples that a local reader refuses, and the QoS of the writer. Out: the first sequence number for a reader, and
//! requests for redelivery. Owned: one [`LocalPath`] for each local pair of writer and reader.

mod local_parcel;
mod local_path;

pub(crate) use local_parcel::LocalParcel;
pub(crate) use local_path::{LocalBegin, LocalDemands, LocalPath, LocalTerms};
