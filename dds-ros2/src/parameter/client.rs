//! Parameters of other nodes.

use super::value::ParameterValue;
use crate::node::Node;
use crate::service::Client;
use crate::{Error, Result};
use dds_core::Duration;
use dds_ros2_msgs::rcl_interfaces::msg::Parameter;
use dds_ros2_msgs::rcl_interfaces::srv::{
    GetParameters, GetParametersRequest, ListParameters, ListParametersRequest, SetParameters, SetParametersRequest,
};

/// Reads and changes the parameters of another node. See [`Node::parameters_of`].
#[derive(Debug, Clone)]
pub struct RemoteParameters {
    get: Client<GetParameters>,
    set: Client<SetParameters>,
    list: Client<ListParameters>,
    limit: Duration,
}

impl RemoteParameters {
    pub(crate) fn new(node: &Node, other: &str) -> Result<Self> {
        Ok(Self {
            get: node.client(&format!("{other}/get_parameters"))?,
            set: node.client(&format!("{other}/set_parameters"))?,
            list: node.client(&format!("{other}/list_parameters"))?,
            limit: Duration::from_secs(10),
        })
    }

    /// Limits each operation. Default: 10 s.
    #[must_use]
    pub fn within(mut self, limit: impl Into<Duration>) -> Self {
        self.limit = limit.into();
        self
    }

    /// Returns a value, or [`ParameterValue::NotSet`] if the node has no such parameter.
    ///
    /// # Errors
    /// As the wait of [`Client::call`].
    pub async fn get(&self, name: &str) -> Result<ParameterValue> {
        let request = GetParametersRequest { names: vec![name.to_owned()] };
        let response = self.get.call(request).within(self.limit).await?;
        // `rclcpp` answers with an empty list for an undeclared parameter.
        Ok(response.values.into_iter().next().map(ParameterValue::of_message).unwrap_or_default())
    }

    /// Sets a value.
    ///
    /// # Errors
    /// [`Error::Parameter`] with the reason if the node refuses it, and those of the wait of [`Client::call`].
    pub async fn set(&self, name: &str, value: impl Into<ParameterValue>) -> Result<()> {
        let parameter = Parameter { name: name.to_owned(), value: value.into().to_message() };
        let response = self.set.call(SetParametersRequest { parameters: vec![parameter] }).within(self.limit).await?;
        match response.results.into_iter().next() {
            Some(result) if result.successful => Ok(()),
            Some(result) => Err(Error::Parameter { reason: result.reason }),
            None => Err(Error::Parameter { reason: format!("the node gave no result for {name:?}") }),
        }
    }

    /// Returns the names of all parameters.
    ///
    /// # Errors
    /// As the wait of [`Client::call`].
    pub async fn list(&self) -> Result<Vec<String>> {
        let response = self.list.call(ListParametersRequest::default()).within(self.limit).await?;
        Ok(response.result.names)
    }
}
