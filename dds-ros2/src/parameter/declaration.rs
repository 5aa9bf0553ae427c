//! Declarations of parameters, and their handles.

use super::server::Shared;
use super::store::Declared;
use super::value::{ParameterType, ParameterValue};
use crate::node::Node;
use crate::wait::Wait;
use crate::{Error, Result};
use dds_ros2_msgs::rcl_interfaces::msg::{FloatingPointRange, IntegerRange, Parameter as Message};
use std::fmt;
use std::marker::PhantomData;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// Declares a parameter of a node. See [`Node::parameter`].
#[must_use = "a builder declares nothing until `declare` is called"]
#[derive(Debug)]
pub struct ParameterBuilder<T> {
    node: Node,
    name: String,
    declared: Declared,
    marker: PhantomData<T>,
}

impl<T: ParameterType> ParameterBuilder<T> {
    pub(crate) fn new(node: &Node, name: &str, default: T) -> Self {
        let declared = Declared { value: default.into_value(), ..Declared::default() };
        Self { node: node.clone(), name: name.to_owned(), declared, marker: PhantomData }
    }

    /// Sets the description that `ros2 param describe` shows.
    pub fn description(mut self, text: impl Into<String>) -> Self {
        self.declared.description = text.into();
        self
    }

    /// Refuses every later change.
    pub fn read_only(mut self) -> Self {
        self.declared.is_read_only = true;
        self
    }

    /// Declares the parameter, and announces it on `/parameter_events`.
    ///
    /// The first parameter of a node creates the services for parameters.
    ///
    /// # Errors
    /// [`Error::Parameter`] if the name is declared already, the default is outside of the range, or a text contains
    /// NUL, and those of [`Node::service`].
    pub fn declare(self) -> Result<Parameter<T>> {
        let Self { node, name, declared, .. } = self;
        if name.is_empty() {
            return Err(Error::Parameter { reason: "the name of a parameter must not be empty".into() });
        }
        if name.contains('\0') || declared.description.contains('\0') {
            return Err(Error::Parameter { reason: format!("parameter {name:?}: its texts must not contain NUL") });
        }
        let shared = node.parameters()?;
        shared.declare(&name, declared)?;
        Ok(Parameter { shared, name, node, marker: PhantomData })
    }
}

impl ParameterBuilder<i64> {
    /// Sets the allowed values.
    pub fn range(mut self, range: RangeInclusive<i64>) -> Self {
        let (from_value, to_value) = range.into_inner();
        self.declared.integer_range = Some(IntegerRange { from_value, to_value, step: 0 });
        self
    }
}

impl ParameterBuilder<f64> {
    /// Sets the allowed values.
    pub fn range(mut self, range: RangeInclusive<f64>) -> Self {
        let (from_value, to_value) = range.into_inner();
        self.declared.double_range = Some(FloatingPointRange { from_value, to_value, step: 0.0 });
        self
    }
}

/// A declared parameter.
///
/// A handle: clones are cheap and refer to the same parameter. The parameter exists as long as its node.
pub struct Parameter<T> {
    shared: Arc<Shared>,
    name: String,
    node: Node,
    marker: PhantomData<fn() -> T>,
}

impl<T: ParameterType> Parameter<T> {
    /// Returns the value.
    #[must_use]
    pub fn get(&self) -> T {
        let value = self.shared.store().get(&self.name);
        T::from_value(value).expect("every change keeps the type of a declared parameter")
    }

    /// Sets the value, and announces it on `/parameter_events`.
    ///
    /// # Errors
    /// [`Error::Parameter`] if it is outside of the range or read-only, or if it contains NUL.
    pub fn set(&self, value: T) -> Result<()> {
        let value = value.into_value().to_message();
        self.shared.set(vec![Message { name: self.name.clone(), value }])
    }

    /// Waits until the value differs from the value at the time of this call, and returns it.
    ///
    /// Errors of the wait: [`Error::Timeout`], [`Error::Closed`].
    pub fn changed(&self) -> Wait<'_, T> {
        let before: ParameterValue = self.shared.store().get(&self.name);
        Wait::new(
            self.shared.context.waits(),
            &self.shared.changed,
            move || {
                let value = self.shared.store().get(&self.name);
                Ok(if value.is_same(&before) { None } else { T::from_value(value) })
            },
            || format!("parameter {:?} did not change", self.name),
        )
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the node of the parameter.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }
}

impl<T> Clone for Parameter<T> {
    fn clone(&self) -> Self {
        Self { shared: Arc::clone(&self.shared), name: self.name.clone(), node: self.node.clone(), marker: PhantomData }
    }
}

impl<T> fmt::Debug for Parameter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Parameter({:?})", self.name)
    }
}
