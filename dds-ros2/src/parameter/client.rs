//! Parameters of other nodes.

use super::value::ParameterValue;
use crate::node::Node;
use crate::service::Client;
use crate::wait::Wait;
use crate::{Error, Result};
use dds_core::Duration;
use dds_ros2_msgs::rcl_interfaces::msg::{Parameter, ParameterDescriptor};
use dds_ros2_msgs::rcl_interfaces::srv::{
    DescribeParameters, DescribeParametersRequest, DescribeParametersResponse, GetParameters, GetParametersRequest,
    GetParametersResponse, ListParameters, ListParametersRequest, SetParameters, SetParametersAtomically,
    SetParametersAtomicallyRequest, SetParametersAtomicallyResponse, SetParametersRequest, SetParametersResponse,
};

/// Reads and changes the parameters of another node. See [`Node::parameters_of`].
#[derive(Debug, Clone)]
pub struct RemoteParameters {
    get: Client<GetParameters>,
    set: Client<SetParameters>,
    list: Client<ListParameters>,
    set_all: Client<SetParametersAtomically>,
    describe: Client<DescribeParameters>,
    limit: Duration,
}

impl RemoteParameters {
    pub(crate) fn new(node: &Node, other: &str) -> Result<Self> {
        Ok(Self {
            get: node.client(&format!("{other}/get_parameters"))?,
            set: node.client(&format!("{other}/set_parameters"))?,
            list: node.client(&format!("{other}/list_parameters"))?,
            set_all: node.client(&format!("{other}/set_parameters_atomically"))?,
            describe: node.client(&format!("{other}/describe_parameters"))?,
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

    /// Sets all values or none of them, and waits until the node has accepted them.
    ///
    /// Errors of the wait: as of [`set`](Self::set).
    pub fn set_all<N: Into<String>>(&self, values: impl IntoIterator<Item = (N, ParameterValue)>) -> Wait<'static, ()> {
        let message = |(name, value): (N, ParameterValue)| Parameter { name: name.into(), value: value.to_message() };
        let request = SetParametersAtomicallyRequest { parameters: values.into_iter().map(message).collect() };
        let check = |response: SetParametersAtomicallyResponse| match response.result {
            result if result.successful => Ok(()),
            result => Err(Error::Parameter { reason: result.reason }),
        };
        self.set_all.call_then(request, check).within(self.limit)
    }

    /// Waits for the type, the description and the range of a parameter.
    ///
    /// The type is 0 if the node has no such parameter.
    ///
    /// Errors of the wait: as of [`Client::call`].
    pub fn describe(&self, name: &str) -> Wait<'static, ParameterDescriptor> {
        let request = DescribeParametersRequest { names: vec![name.to_owned()] };
        let first =
            |response: DescribeParametersResponse| Ok(response.descriptors.into_iter().next().unwrap_or_default());
        self.describe.call_then(request, first).within(self.limit)
    }

    /// Waits for the names of all parameters.
    ///
    /// Errors of the wait: as of [`Client::call`].
    pub fn list(&self) -> Wait<'static, Vec<String>> {
        self.list.call_then(ListParametersRequest::default(), |response| Ok(response.result.names)).within(self.limit)
    }
}
