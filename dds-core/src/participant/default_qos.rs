//! Default QoS of the entities of a participant (DDS 1.4, 2.2.2.2.1.20 and similar).

use crate::infrastructure::{About, DefaultQos, QosError};
use crate::participant::DomainParticipant;
use crate::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};

/// Default QoS by kind of entity. They are not announced, and a change affects no existing entity.
#[derive(Default)]
pub(crate) struct Defaults {
    writer: DefaultQos<DataWriterQos>,
    reader: DefaultQos<DataReaderQos>,
    publisher: DefaultQos<PublisherQos>,
    subscriber: DefaultQos<SubscriberQos>,
    topic: DefaultQos<TopicQos>,
}

impl DomainParticipant {
    /// Sets the QoS of new writers that neither set a QoS nor have one from a [`TopicSpec`](crate::TopicSpec).
    ///
    /// Existing writers keep theirs. Publishers have their own default.
    ///
    /// # Errors
    /// Fails without a change if the policies contradict each other.
    #[doc(alias = "set_default_datawriter_qos")]
    pub fn set_default_writer_qos(&self, qos: impl Into<DataWriterQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().about(self.handle().core.subject())?;
        self.handle().defaults().writer.set(qos);
        Ok(())
    }

    /// Returns the QoS of writers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_datawriter_qos")]
    pub fn default_writer_qos(&self) -> DataWriterQos {
        self.handle().defaults().writer.get()
    }

    /// Sets the QoS of new readers that neither set a QoS nor have one from a [`TopicSpec`](crate::TopicSpec).
    ///
    /// Existing readers keep theirs. Subscribers have their own default.
    ///
    /// # Errors
    /// Fails without a change if the policies contradict each other.
    #[doc(alias = "set_default_datareader_qos")]
    pub fn set_default_reader_qos(&self, qos: impl Into<DataReaderQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().about(self.handle().core.subject())?;
        self.handle().defaults().reader.set(qos);
        Ok(())
    }

    /// Returns the QoS of readers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_datareader_qos")]
    pub fn default_reader_qos(&self) -> DataReaderQos {
        self.handle().defaults().reader.get()
    }

    /// Sets the QoS of publishers that are created with `None`. Existing ones keep theirs.
    ///
    /// # Errors
    /// Fails without a change if the policies contradict each other.
    pub fn set_default_publisher_qos(&self, qos: PublisherQos) -> Result<(), QosError> {
        qos.check().about(self.handle().core.subject())?;
        self.handle().defaults().publisher.set(qos);
        Ok(())
    }

    /// Returns the QoS of publishers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_publisher_qos")]
    pub fn default_publisher_qos(&self) -> PublisherQos {
        self.handle().defaults().publisher.get()
    }

    /// Sets the QoS of subscribers that are created with `None`. Existing ones keep theirs.
    ///
    /// # Errors
    /// Fails without a change if the policies contradict each other.
    pub fn set_default_subscriber_qos(&self, qos: SubscriberQos) -> Result<(), QosError> {
        qos.check().about(self.handle().core.subject())?;
        self.handle().defaults().subscriber.set(qos);
        Ok(())
    }

    /// Returns the QoS of subscribers that are created without one.
    #[must_use]
    #[doc(alias = "get_default_subscriber_qos")]
    pub fn default_subscriber_qos(&self) -> SubscriberQos {
        self.handle().defaults().subscriber.get()
    }

    /// Sets the QoS of topics that are created with `None`. Existing ones keep theirs.
    ///
    /// Topics that exist only by name have no QoS.
    ///
    /// # Errors
    /// Fails without a change if the policies contradict each other.
    pub fn set_default_topic_qos(&self, qos: TopicQos) -> Result<(), QosError> {
        qos.check().about(self.handle().core.subject())?;
        self.handle().defaults().topic.set(qos);
        Ok(())
    }

    /// Returns the QoS of topics that are created without one.
    #[must_use]
    #[doc(alias = "get_default_topic_qos")]
    pub fn default_topic_qos(&self) -> TopicQos {
        self.handle().defaults().topic.get()
    }
}
