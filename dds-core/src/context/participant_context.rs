//! Services that every entity uses from its participant.

use crate::context::ParticipantCore;
use crate::infrastructure::{CreateErrorKind, Missing};
use crate::introspection::{EndpointInfo, MatchReport};
use dds_rtps::types::{EntityId, Guid};
use std::any::Any;
use std::sync::Arc;

/// Services that every entity uses from its participant.
///
/// Topics, readers and writers have additional traits in their own modules. The path of a sample calls no method of
/// these: entities copy the needed values when they are created.
pub(crate) trait ParticipantContext: Send + Sync {
    fn core(&self) -> &Arc<ParticipantCore>;

    /// Ends the participant, because the application has dropped its last handle. May block.
    fn end(&self);

    /// Counts an endpoint or a [`Topic`](crate::Topic) that uses a topic name.
    ///
    /// # Errors
    /// Fails if the participant is closed, or uses the name with another type.
    fn use_topic(&self, name: &str, type_name: &str) -> Result<(), CreateErrorKind>;

    fn release_topic(&self, name: &str);

    /// Removes an entity from the table of the participant.
    fn remove_entity(&self, id: EntityId);

    /// Returns the data of these endpoints from discovery. Skips unknown ones.
    fn describe_endpoints(&self, guids: &[Guid]) -> Vec<EndpointInfo>;

    /// Returns a report for each possible counterpart of a local endpoint.
    fn explain_endpoint(&self, guid: Guid) -> Vec<MatchReport>;

    /// Returns a text for the log that explains why a local endpoint still waits for counterparts.
    fn why_waiting(&self, guid: Guid) -> String;

    /// Returns why a local endpoint has no match.
    fn unmatched(&self, guid: Guid) -> Missing;

    /// Returns the participant itself, for the module that defines it.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}
