//! What every entity asks of its participant.

use crate::context::ParticipantCore;
use crate::infrastructure::CreateErrorKind;
use crate::introspection::{EndpointInfo, MatchReport};
use dds_rtps::types::{EntityId, Guid};
use std::any::Any;
use std::sync::Arc;

/// What every entity asks of its participant.
///
/// Topics, readers and writers have traits of their own beside this one, each in its room. No method is called on the path
/// of a sample: entities copy what they need there when they are created.
pub(crate) trait ParticipantContext: Send + Sync {
    fn core(&self) -> &Arc<ParticipantCore>;

    /// Ends the participant: the application has dropped its last handle. May wait.
    fn end(&self);

    /// Counts one more endpoint or [`Topic`](crate::Topic) of a name.
    ///
    /// # Errors
    /// The participant is closed, or uses the name with another type.
    fn use_topic(&self, name: &str, type_name: &str) -> Result<(), CreateErrorKind>;

    fn release_topic(&self, name: &str);

    /// Removes an entity from the table of the participant.
    fn remove_entity(&self, id: EntityId);

    /// What discovery knows of these endpoints. Skips unknown ones.
    fn describe_endpoints(&self, guids: &[Guid]) -> Vec<EndpointInfo>;

    /// A report for each possible counterpart of a local endpoint.
    fn explain_endpoint(&self, guid: Guid) -> Vec<MatchReport>;

    /// A text for the log that explains why a local endpoint still waits for counterparts.
    fn why_waiting(&self, guid: Guid) -> String;

    /// The participant itself, for the room that defines it.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}
