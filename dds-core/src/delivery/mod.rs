//! In-process delivery: what a writer and a reader of the same participant share.
//!
//! In: samples that a local reader refuses, and the QoS of the writer. Out: the point where a reader's stream of samples
//! begins, and the request for redelivery. Owned: one [`LocalPath`] for each local pair of writer and reader.

mod local_parcel;
mod local_path;

pub(crate) use local_parcel::LocalParcel;
pub(crate) use local_path::{LocalBegin, LocalDemands, LocalPath, LocalTerms};
