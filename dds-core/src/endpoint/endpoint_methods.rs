//! The operations that data writers and data readers have in common, on the handles of applications.

/// Defines the common operations of `$handle`, whose field `handle` is an `Arc<$shared>`.
///
/// `$of` and `$peer` name its kind and that of its peers in the documentation.
macro_rules! endpoint_methods {
    ($handle:ident, $shared:ident, $of:literal, $peer:literal) => {
        crate::infrastructure::entity_methods!($handle<T>, $of);

        #[doc = concat!("Operations that ", $of, "s and ", $peer, "s have in common.")]
        impl<T> $handle<T> {
            #[doc = concat!("Returns the status condition of this ", $of, ", for a `WaitSet`.")]
            ///
            #[doc = concat!("All handles of the ", $of, " share one condition.")]
            #[must_use]
            #[doc(alias = "get_statuscondition")]
            pub fn status_condition(&self) -> crate::infrastructure::StatusCondition {
                crate::infrastructure::Entity::status_condition(self)
            }

            /// Returns the statuses that changed since they were last read. Empty after `close`.
            #[must_use]
            #[doc(alias = "get_status_changes")]
            pub fn status_changes(&self) -> crate::infrastructure::StatusMask {
                self.handle.status_condition().changes()
            }

            #[doc = concat!("Explains for each known ", $peer, " of this topic whether it matches.")]
            ///
            #[doc = concat!("A report of a ", $peer, " that does not match lists every reason. If the topic has no ", $peer, ",")]
            #[doc = concat!("the reports describe ", $peer, "s of topics with a similar name. Empty after `close` of the participant.")]
            #[must_use]
            pub fn explain_matches(&self) -> Vec<crate::introspection::MatchReport> {
                self.handle.participant().explain_endpoint(self.handle.guid())
            }

            #[doc = concat!("Returns the topic that the ", $of, " was created with.")]
            ///
            #[doc = concat!("`None` if the ", $of, " was created by a topic name or a `TopicSpec`.")]
            #[must_use]
            #[doc(alias = "get_topic")]
            #[doc(alias = "get_topicdescription")]
            pub fn topic(&self) -> Option<crate::topic::Topic<T>> {
                self.handle.topic().cloned().map(crate::topic::Topic::from_handle)
            }

            #[doc = concat!("Returns a handle that does not keep the ", $of, " alive.")]
            #[must_use]
            pub fn downgrade(&self) -> crate::infrastructure::Weak<Self> {
                crate::infrastructure::Weak::new(&self.handle)
            }

            /// Returns the name of the topic.
            #[must_use]
            pub fn topic_name(&self) -> &str {
                self.handle.topic_name()
            }

            /// Returns the announced type name of the topic.
            #[must_use]
            pub fn type_name(&self) -> &str {
                self.handle.type_name()
            }

            #[doc = concat!("Returns statistics of the visits of the ", $of, "'s cell, for tests.")]
            /// Empty in builds without debug assertions.
            #[doc(hidden)]
            #[must_use]
            pub fn holds(&self) -> crate::actor::Holds {
                self.handle.cell().holds()
            }

            #[doc = concat!("Runs `f` inside of the ", $of, "'s cell, for tests.")]
            #[doc(hidden)]
            pub fn inside<R>(&self, f: impl FnOnce() -> R) -> Result<R, crate::actor::EnterError> {
                self.handle.visit_cell(|_, _| f())
            }
        }

        impl<T: 'static> $handle<T> {
            /// Removes the listener. No call of it begins after this returns.
            #[doc(alias = "get_listener")]
            pub fn remove_listener(&self) {
                // Ignore the error, because a closed endpoint has no listener.
                let _ = self.handle.change_listener(None);
            }
        }

        impl<T> crate::infrastructure::Entity for $handle<T> {
            fn guid(&self) -> dds_rtps::types::Guid {
                self.handle.guid()
            }

            fn enable(&self) -> Result<(), crate::infrastructure::CreateError> {
                self.handle.enable().about(self.handle.subject())
            }

            fn is_enabled(&self) -> bool {
                self.handle.is_enabled()
            }

            fn status_condition(&self) -> crate::infrastructure::StatusCondition {
                self.handle.status_condition().clone()
            }

            fn is_closed(&self) -> bool {
                self.handle.is_closed()
            }

            fn close(&self) {
                self.handle.close();
            }

            fn closed(&self) -> crate::infrastructure::Waiting<'_, ()> {
                crate::infrastructure::Waiting::new(&*self.handle, crate::infrastructure::Awaited::Closed)
            }
        }

        impl<T> crate::infrastructure::Sealed for $handle<T> {}

        impl<T> Clone for $handle<T> {
            fn clone(&self) -> Self {
                Self::from_handle(std::sync::Arc::clone(&self.handle))
            }
        }

        impl<T> std::fmt::Debug for $handle<T> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                let (guid, topic) = (self.handle.guid(), self.handle.topic_name());
                write!(f, concat!(stringify!($handle), "({}, \"{}\")"), guid, topic)
            }
        }

        impl<T> crate::infrastructure::Upgrade for $handle<T> {
            type Shared = $shared;

            fn upgrade(shared: &std::sync::Weak<$shared>) -> Option<Self> {
                let handle = Self::from_handle(shared.upgrade()?);
                // `user` is `None` if only a running listener still holds the endpoint. The application has dropped its
                // handles.
                if handle.user.is_some() { Some(handle) } else { None }
            }
        }
    };
}

pub(crate) use endpoint_methods;
