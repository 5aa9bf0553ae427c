//! Parameters of other nodes.

use super::value::ParameterValue;
use crate::node::Node;
use crate::service::Client;
use crate::wait::Wait;
use crate::{Error, Result};
use dds_core::Duration;
use dds_ros2_msgs::rcl_interfaces::msg::Parameter;
use dds_ros2_msgs::rcl_interfaces::srv::{
    GetParameters, GetParametersRequest, GetParametersResponse, ListParameters, ListParametersRequest, SetParameters,
    SetParametersRequest, SetParametersResponse,
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

    /// Waits for a value. It is [`ParameterValue::NotSet`] if the node has no such parameter.
    ///
    /// Errors of the wait: as of [`Client::call`].
    pub fn get(&self, name: &str) -> Wait<'static, ParameterValue> {
        let request = GetParametersRequest { names: vec![name.to_owned()] };
        // `rclcpp` answers with an empty list for an undeclared parameter.
        let value = |response: GetParametersResponse| {
            Ok(response.values.into_iter().next().map(ParameterValue::of_message).unwrap_or_default())
        };
        self.get.call_then(request, value).within(self.limit)
    }

    /// Sets a value, and waits until the node has accepted it.
    ///
    /// Errors of the wait: [`Error::Parameter`] with the reason if the node refuses it, and as of [`Client::call`].
    pub fn set(&self, name: &str, value: impl Into<ParameterValue>) -> Wait<'static, ()> {
        let name = name.to_owned();
        let parameter = Parameter { name: name.clone(), value: value.into().to_message() };
        let check = move |response: SetParametersResponse| match response.results.into_iter().next() {
            Some(result) if result.successful => Ok(()),
            Some(result) => Err(Error::Parameter { reason: result.reason }),
            None => Err(Error::Parameter { reason: format!("the node gave no result for {name:?}") }),
        };
        self.set.call_then(SetParametersRequest { parameters: vec![parameter] }, check).within(self.limit)
    }

    /// Waits for the names of all parameters.
    ///
    /// Errors of the wait: as of [`Client::call`].
    pub fn list(&self) -> Wait<'static, Vec<String>> {
        self.list.call_then(ListParametersRequest::default(), |response| Ok(response.result.names)).within(self.limit)
    }
}
