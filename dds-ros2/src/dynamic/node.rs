//! The methods of nodes for types that the program learns at run time.

use super::{MessageType, discover};
use crate::name::topic_name;
use crate::node::Node;
use crate::topic::{Publisher, PublisherBuilder, Subscription, SubscriptionBuilder, user_data_with};
use crate::wait::Wait;
use crate::{QosProfile, Result};
use dds_core::Topic;
use dds_core::dynamic::DynamicData;
use dds_core::qos::TopicQos;

impl Node {
    /// Waits for the type of a topic, by its publishers and subscriptions (feature `dynamic`).
    ///
    /// A type of the packages of this build with the announced hash needs no question. Otherwise, the node of the
    /// endpoint describes it by its service `~/get_type_description`, from Jazzy on. The last resort is the description
    /// that the endpoint announces, as those of Kilted and of `dds-core` do.
    ///
    /// The name of the topic is remapped. A description whose hash no endpoint announces is ignored. Fast DDS describes
    /// `byte` as `uint8`, and `wstring` as `string`. The announced hash tells which of up to ten such members are so.
    /// With more members, a description with `uint8` takes the announced hash if all endpoints of the type announce the
    /// same one.
    ///
    /// Errors of the wait: [`Error::Name`](crate::Error::Name), [`Error::Closed`](crate::Error::Closed), and
    /// [`Error::Timeout`](crate::Error::Timeout) with the reason for each endpoint.
    pub fn discover_message_type(&self, topic: &str) -> Wait<'static, MessageType> {
        discover::message_type(self, topic)
    }

    /// Creates a publisher of a type that the program learned at run time (feature `dynamic`).
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn dynamic_publisher(&self, topic: &str, ty: &MessageType) -> Result<Publisher<DynamicData>> {
        self.dynamic_publisher_builder(topic, ty).build()
    }

    /// As [`publisher_builder`](Self::publisher_builder), of a type that the program learned at run time (feature
    /// `dynamic`).
    pub fn dynamic_publisher_builder(&self, topic: &str, ty: &MessageType) -> PublisherBuilder<DynamicData> {
        let ty = ty.clone();
        let open = move |node: &Node, name: String, qos: QosProfile| {
            let topic = dds_topic(node, &name, &ty)?;
            let qos = qos.writer(user_data_with(ty.type_hash()));
            let learned = node.types().add_dynamic(ty.name(), ty.type_hash(), ty.description());
            Publisher::new(node, &topic, name, qos, Some(learned))
        };
        PublisherBuilder::new(self, topic, Box::new(open))
    }

    /// Creates a subscription of a type that the program learned at run time (feature `dynamic`).
    ///
    /// # Errors
    /// As [`publisher`](Self::publisher).
    pub fn dynamic_subscription(&self, topic: &str, ty: &MessageType) -> Result<Subscription<DynamicData>> {
        self.dynamic_subscription_builder(topic, ty).build()
    }

    /// As [`subscription_builder`](Self::subscription_builder), of a type that the program learned at run time (feature
    /// `dynamic`).
    pub fn dynamic_subscription_builder(&self, topic: &str, ty: &MessageType) -> SubscriptionBuilder<DynamicData> {
        let ty = ty.clone();
        let open = move |node: &Node, name: String, qos: QosProfile, receiving| {
            let topic = dds_topic(node, &name, &ty)?;
            let qos = qos.reader(user_data_with(ty.type_hash()));
            let learned = node.types().add_dynamic(ty.name(), ty.type_hash(), ty.description());
            Subscription::new(node, &topic, name, qos, receiving, Some(learned))
        };
        SubscriptionBuilder::new(self, topic, Box::new(open))
    }
}

fn dds_topic(node: &Node, name: &str, ty: &MessageType) -> Result<Topic<DynamicData>> {
    let name = topic_name("rt", name, "");
    Ok(node.context().participant().dynamic_topic(&name, ty.dynamic_type(), TopicQos::default())?)
}
