//! The QoS of what a participant makes without one (DDS 1.4, 2.2.2.2.1.20 and its like).

use crate::infrastructure::{DefaultQos, QosError};
use crate::participant::DomainParticipant;
use crate::qos::{DataReaderQos, DataWriterQos, PublisherQos, SubscriberQos, TopicQos};

/// The defaults of a participant. They are not announced, and changing one changes no entity.
#[derive(Default)]
pub(crate) struct Defaults {
    writer: DefaultQos<DataWriterQos>,
    reader: DefaultQos<DataReaderQos>,
    publisher: DefaultQos<PublisherQos>,
    subscriber: DefaultQos<SubscriberQos>,
    topic: DefaultQos<TopicQos>,
}

impl DomainParticipant {
    /// The QoS of the writers that are made with it from now on, unless they or their topic say otherwise
    /// ([`TopicSpec`](crate::TopicSpec)). Those that are there keep theirs. Publishers have a default of their own.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    #[doc(alias = "set_default_datawriter_qos")]
    pub fn set_default_writer_qos(&self, qos: impl Into<DataWriterQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().map_err(|kind| QosError::new(self.handle().core.subject(), kind))?;
        self.handle().defaults().writer.set(qos);
        Ok(())
    }

    /// The QoS of writers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_datawriter_qos")]
    pub fn default_writer_qos(&self) -> DataWriterQos {
        self.handle().defaults().writer.get()
    }

    /// The QoS of the readers that are made with it from now on, unless they or their topic say otherwise
    /// ([`TopicSpec`](crate::TopicSpec)). Those that are there keep theirs. Subscribers have a default of their own.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    #[doc(alias = "set_default_datareader_qos")]
    pub fn set_default_reader_qos(&self, qos: impl Into<DataReaderQos>) -> Result<(), QosError> {
        let qos = qos.into();
        qos.check().map_err(|kind| QosError::new(self.handle().core.subject(), kind))?;
        self.handle().defaults().reader.set(qos);
        Ok(())
    }

    /// The QoS of readers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_datareader_qos")]
    pub fn default_reader_qos(&self) -> DataReaderQos {
        self.handle().defaults().reader.get()
    }

    /// The QoS of the publishers that are made with `None` from now on; those that are there keep theirs.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    pub fn set_default_publisher_qos(&self, qos: PublisherQos) -> Result<(), QosError> {
        qos.check().map_err(|kind| QosError::new(self.handle().core.subject(), kind))?;
        self.handle().defaults().publisher.set(qos);
        Ok(())
    }

    /// The QoS of publishers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_publisher_qos")]
    pub fn default_publisher_qos(&self) -> PublisherQos {
        self.handle().defaults().publisher.get()
    }

    /// The QoS of the subscribers that are made with `None` from now on; those that are there keep theirs.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    pub fn set_default_subscriber_qos(&self, qos: SubscriberQos) -> Result<(), QosError> {
        qos.check().map_err(|kind| QosError::new(self.handle().core.subject(), kind))?;
        self.handle().defaults().subscriber.set(qos);
        Ok(())
    }

    /// The QoS of subscribers that are made without one.
    #[must_use]
    #[doc(alias = "get_default_subscriber_qos")]
    pub fn default_subscriber_qos(&self) -> SubscriberQos {
        self.handle().defaults().subscriber.get()
    }

    /// The QoS of the topics that are made with `None` from now on; those that are there keep theirs. Topics that are only
    /// named have none.
    ///
    /// # Errors
    /// Nothing has changed: the policies contradict each other.
    pub fn set_default_topic_qos(&self, qos: TopicQos) -> Result<(), QosError> {
        qos.check().map_err(|kind| QosError::new(self.handle().core.subject(), kind))?;
        self.handle().defaults().topic.set(qos);
        Ok(())
    }

    /// The QoS of topics that are made without one.
    #[must_use]
    #[doc(alias = "get_default_topic_qos")]
    pub fn default_topic_qos(&self) -> TopicQos {
        self.handle().defaults().topic.get()
    }
}
