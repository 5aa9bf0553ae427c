// Written by `tests/messages/committed.rs` from the interface files of `lifecycle_msgs`.
// SPDX-License-Identifier: Apache-2.0

//! Interfaces of the ROS 2 package `lifecycle_msgs`.

#![allow(missing_docs, rustdoc::all, clippy::all, reason = "the texts are those of the interface files")]

pub mod msg {
    /// Primary state definitions as depicted in:
    /// http://design.ros2.org/articles/node_lifecycle.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "lifecycle_msgs::msg::dds_::State_")]
    pub struct State {
        /// The state id value from the above definitions.
        pub id: u8,
        /// A text label of the state.
        pub label: ::std::string::String,
    }

    impl State {
        /// These are the primary states. State changes can only be requested when the
        /// node is in one of these states.
        /// Indicates state has not yet been set.
        pub const PRIMARY_STATE_UNKNOWN: u8 = 0;

        /// This is the life cycle state the node is in immediately after being
        /// instantiated.
        pub const PRIMARY_STATE_UNCONFIGURED: u8 = 1;

        /// This state represents a node that is not currently performing any processing.
        pub const PRIMARY_STATE_INACTIVE: u8 = 2;

        /// This is the main state of the node's life cycle. While in this state, the node
        /// performs any processing, responds to service requests, reads and processes
        /// data, produces output, etc.
        pub const PRIMARY_STATE_ACTIVE: u8 = 3;

        /// The finalized state is the state in which the node ends immediately before
        /// being destroyed.
        pub const PRIMARY_STATE_FINALIZED: u8 = 4;

        /// Temporary intermediate states. When a transition is requested, the node
        /// changes its state into one of these states.
        /// In this transition state the node's onConfigure callback will be called to
        /// allow the node to load its configuration and conduct any required setup.
        pub const TRANSITION_STATE_CONFIGURING: u8 = 10;

        /// In this transition state the node's callback onCleanup will be called to clear
        /// all state and return the node to a functionally equivalent state as when
        /// first created.
        pub const TRANSITION_STATE_CLEANINGUP: u8 = 11;

        /// In this transition state the callback onShutdown will be executed to do any
        /// cleanup necessary before destruction.
        pub const TRANSITION_STATE_SHUTTINGDOWN: u8 = 12;

        /// In this transition state the callback onActivate will be executed to do any
        /// final preparations to start executing.
        pub const TRANSITION_STATE_ACTIVATING: u8 = 13;

        /// In this transition state the callback onDeactivate will be executed to do any
        /// cleanup to start executing, and reverse the onActivate changes.
        pub const TRANSITION_STATE_DEACTIVATING: u8 = 14;

        /// This transition state is where any error may be cleaned up.
        pub const TRANSITION_STATE_ERRORPROCESSING: u8 = 15;
    }

    impl crate::RosMessage for State {
        const ROS_NAME: &'static str = "lifecycle_msgs/msg/State";
        const TYPE_HASH: &'static str = "RIHS01_dd2d02b82f3ebc858e53c431b1e6e91f3ffc71436fc81d0715214ac6ee2107a0";
    }

    /// Default values for transitions as described in:
    /// http://design.ros2.org/articles/node_lifecycle.html
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "lifecycle_msgs::msg::dds_::Transition_")]
    pub struct Transition {
        /// Fields
        ///
        /// The transition id from above definitions.
        pub id: u8,
        /// A text label of the transition.
        pub label: ::std::string::String,
    }

    impl Transition {
        /// Reserved, publicly available transitions.
        /// When a node is in one of these primary states, these transitions can be
        /// invoked.
        /// This transition will instantiate the node, but will not run any code beyond
        /// the constructor.
        ///
        /// Unit: `0-9`
        pub const TRANSITION_CREATE: u8 = 0;

        /// The node's onConfigure callback will be called to allow the node to load its
        /// configuration and conduct any required setup.
        pub const TRANSITION_CONFIGURE: u8 = 1;

        /// The node's callback onCleanup will be called in this transition to allow the
        /// node to load its configuration and conduct any required setup.
        pub const TRANSITION_CLEANUP: u8 = 2;

        /// The node's callback onActivate will be executed to do any final preparations
        /// to start executing.
        pub const TRANSITION_ACTIVATE: u8 = 3;

        /// The node's callback onDeactivate will be executed to do any cleanup to start
        /// executing, and reverse the onActivate changes.
        pub const TRANSITION_DEACTIVATE: u8 = 4;

        /// This signals shutdown during an unconfigured state, the node's callback
        /// onShutdown will be executed to do any cleanup necessary before destruction.
        pub const TRANSITION_UNCONFIGURED_SHUTDOWN: u8 = 5;

        /// This signals shutdown during an inactive state, the node's callback onShutdown
        /// will be executed to do any cleanup necessary before destruction.
        pub const TRANSITION_INACTIVE_SHUTDOWN: u8 = 6;

        /// This signals shutdown during an active state, the node's callback onShutdown
        /// will be executed to do any cleanup necessary before destruction.
        pub const TRANSITION_ACTIVE_SHUTDOWN: u8 = 7;

        /// This transition will simply cause the deallocation of the node.
        pub const TRANSITION_DESTROY: u8 = 8;

        /// Reserved, private transitions
        /// These transitions are not publicly available and cannot be invoked by a user.
        /// The following transitions are implicitly invoked based on the callback
        /// feedback of the intermediate transition states.
        ///
        /// Unit: `10-69`
        pub const TRANSITION_ON_CONFIGURE_SUCCESS: u8 = 10;
        pub const TRANSITION_ON_CONFIGURE_FAILURE: u8 = 11;
        pub const TRANSITION_ON_CONFIGURE_ERROR: u8 = 12;
        pub const TRANSITION_ON_CLEANUP_SUCCESS: u8 = 20;
        pub const TRANSITION_ON_CLEANUP_FAILURE: u8 = 21;
        pub const TRANSITION_ON_CLEANUP_ERROR: u8 = 22;
        pub const TRANSITION_ON_ACTIVATE_SUCCESS: u8 = 30;
        pub const TRANSITION_ON_ACTIVATE_FAILURE: u8 = 31;
        pub const TRANSITION_ON_ACTIVATE_ERROR: u8 = 32;
        pub const TRANSITION_ON_DEACTIVATE_SUCCESS: u8 = 40;
        pub const TRANSITION_ON_DEACTIVATE_FAILURE: u8 = 41;
        pub const TRANSITION_ON_DEACTIVATE_ERROR: u8 = 42;
        pub const TRANSITION_ON_SHUTDOWN_SUCCESS: u8 = 50;
        pub const TRANSITION_ON_SHUTDOWN_FAILURE: u8 = 51;
        pub const TRANSITION_ON_SHUTDOWN_ERROR: u8 = 52;
        pub const TRANSITION_ON_ERROR_SUCCESS: u8 = 60;
        pub const TRANSITION_ON_ERROR_FAILURE: u8 = 61;
        pub const TRANSITION_ON_ERROR_ERROR: u8 = 62;

        /// Reserved. Transition callback success values.
        /// These return values ought to be set as a return value for each callback.
        /// Depending on which return value, the transition will be executed correctly or
        /// fallback/error callbacks will be triggered.
        /// The transition callback successfully performed its required functionality.
        ///
        /// Unit: `90-99`
        pub const TRANSITION_CALLBACK_SUCCESS: u8 = 97;

        /// The transition callback failed to perform its required functionality.
        pub const TRANSITION_CALLBACK_FAILURE: u8 = 98;

        /// The transition callback encountered an error that requires special cleanup, if
        /// possible.
        pub const TRANSITION_CALLBACK_ERROR: u8 = 99;
    }

    impl crate::RosMessage for Transition {
        const ROS_NAME: &'static str = "lifecycle_msgs/msg/Transition";
        const TYPE_HASH: &'static str = "RIHS01_c65d7b31ea134cba4f54fc867b817979be799f7452035cd35fac9b7421fb3424";
    }

    /// The transition id and label of this description.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::msg::dds_::TransitionDescription_"
    )]
    pub struct TransitionDescription {
        pub transition: Transition,
        /// The current state from which this transition transitions.
        pub start_state: State,
        /// The desired target state of this transition.
        pub goal_state: State,
    }

    impl crate::RosMessage for TransitionDescription {
        const ROS_NAME: &'static str = "lifecycle_msgs/msg/TransitionDescription";
        const TYPE_HASH: &'static str = "RIHS01_c5f1cd4bb1ad2ba0e3329d4ac7015c52a674a72c1faf7974c37a33f4f6048b28";
    }

    /// The time point at which this event occurred.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "lifecycle_msgs::msg::dds_::TransitionEvent_")]
    pub struct TransitionEvent {
        pub timestamp: u64,
        /// The id and label of this transition event.
        pub transition: Transition,
        /// The starting state from which this event transitioned.
        pub start_state: State,
        /// The end state of this transition event.
        pub goal_state: State,
    }

    impl crate::RosMessage for TransitionEvent {
        const ROS_NAME: &'static str = "lifecycle_msgs/msg/TransitionEvent";
        const TYPE_HASH: &'static str = "RIHS01_d5f8873a2f0146498f812d7885c7327ce27e463d36811d8792f35ee38c0d6c38";
    }
}

pub mod srv {
    /// The requested transition.
    ///
    /// This change state service will fail if the transition is not possible.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::ChangeState_Request_"
    )]
    pub struct ChangeStateRequest {
        pub transition: super::msg::Transition,
    }

    impl crate::RosMessage for ChangeStateRequest {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/ChangeState_Request";
        const TYPE_HASH: &'static str = "RIHS01_d74c6f524e14cade7b67e7297190360ed749264af300524fc1456f27cc2a553a";
    }

    /// `lifecycle_msgs/srv/ChangeState_Response`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::ChangeState_Response_"
    )]
    pub struct ChangeStateResponse {
        /// Indicates whether the service was able to initiate the state transition
        pub success: bool,
    }

    impl crate::RosMessage for ChangeStateResponse {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/ChangeState_Response";
        const TYPE_HASH: &'static str = "RIHS01_e1ddfed0271fefe63767aa71561926e4d9eac0f1ddf9e71a8873eb46b36deac2";
    }

    /// `lifecycle_msgs/srv/ChangeState_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::ChangeState_Event_"
    )]
    pub struct ChangeStateEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<ChangeStateRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<ChangeStateResponse>,
    }

    impl crate::RosMessage for ChangeStateEvent {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/ChangeState_Event";
        const TYPE_HASH: &'static str = "RIHS01_bf7f355aca8762a7a51df02eaf4a51024255d15b31b1b68bf0a099673c2709bc";
    }

    /// The service `lifecycle_msgs/srv/ChangeState`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct ChangeState;

    impl crate::RosService for ChangeState {
        type Request = ChangeStateRequest;
        type Response = ChangeStateResponse;
        type Event = ChangeStateEvent;
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/ChangeState";
        const TYPE_HASH: &'static str = "RIHS01_356fe34f0475a43acf54542013af4167b0e729f77ea22ffb045c6ad8e20668e5";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            ChangeStateEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// `lifecycle_msgs/srv/GetAvailableStates_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableStates_Request_"
    )]
    pub struct GetAvailableStatesRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for GetAvailableStatesRequest {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableStates_Request";
        const TYPE_HASH: &'static str = "RIHS01_c2c0c12de6023822f284929577d4ca2862e0501150010966e8a90b632e4424de";
    }

    /// Array of possible states that can be transitioned to.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableStates_Response_"
    )]
    pub struct GetAvailableStatesResponse {
        pub available_states: ::std::vec::Vec<super::msg::State>,
    }

    impl crate::RosMessage for GetAvailableStatesResponse {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableStates_Response";
        const TYPE_HASH: &'static str = "RIHS01_223e0dd5bb8a847ebb9532adaf8b5e2a97e6e68e79faeaabd81a45fb32925bd1";
    }

    /// `lifecycle_msgs/srv/GetAvailableStates_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableStates_Event_"
    )]
    pub struct GetAvailableStatesEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetAvailableStatesRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetAvailableStatesResponse>,
    }

    impl crate::RosMessage for GetAvailableStatesEvent {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableStates_Event";
        const TYPE_HASH: &'static str = "RIHS01_4211b77ace9f7061a6109f184cafc1bf0d5e9af0ae690715b92e23c6ced4c45f";
    }

    /// The service `lifecycle_msgs/srv/GetAvailableStates`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetAvailableStates;

    impl crate::RosService for GetAvailableStates {
        type Request = GetAvailableStatesRequest;
        type Response = GetAvailableStatesResponse;
        type Event = GetAvailableStatesEvent;
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableStates";
        const TYPE_HASH: &'static str = "RIHS01_00a07d79d2207d71e81a8cbc1880e5d924cc16d4688ea8e8e06e443dc8f8aa1d";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetAvailableStatesEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// `lifecycle_msgs/srv/GetAvailableTransitions_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableTransitions_Request_"
    )]
    pub struct GetAvailableTransitionsRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for GetAvailableTransitionsRequest {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableTransitions_Request";
        const TYPE_HASH: &'static str = "RIHS01_52a73c0b5d7489bee0df6ddb0aec45c41289d223ff225b58fe11d859ac8109a6";
    }

    /// An array of the possible start_state-goal_state transitions
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableTransitions_Response_"
    )]
    pub struct GetAvailableTransitionsResponse {
        pub available_transitions: ::std::vec::Vec<super::msg::TransitionDescription>,
    }

    impl crate::RosMessage for GetAvailableTransitionsResponse {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableTransitions_Response";
        const TYPE_HASH: &'static str = "RIHS01_4711339461aadf02bcfff797a198de911f885074bd3f2fe9f7b677ef87f0741c";
    }

    /// `lifecycle_msgs/srv/GetAvailableTransitions_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetAvailableTransitions_Event_"
    )]
    pub struct GetAvailableTransitionsEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetAvailableTransitionsRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetAvailableTransitionsResponse>,
    }

    impl crate::RosMessage for GetAvailableTransitionsEvent {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableTransitions_Event";
        const TYPE_HASH: &'static str = "RIHS01_188e7de007993da873cc247d52906151b38346fdb72a4cc5f78c407c3b5b370f";
    }

    /// The service `lifecycle_msgs/srv/GetAvailableTransitions`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetAvailableTransitions;

    impl crate::RosService for GetAvailableTransitions {
        type Request = GetAvailableTransitionsRequest;
        type Response = GetAvailableTransitionsResponse;
        type Event = GetAvailableTransitionsEvent;
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetAvailableTransitions";
        const TYPE_HASH: &'static str = "RIHS01_59b7ecefce0982a8a844b9f2c4f14764c1c4543cc55e72924e2aa4adad83e9bc";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetAvailableTransitionsEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }

    /// `lifecycle_msgs/srv/GetState_Request`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetState_Request_"
    )]
    pub struct GetStateRequest {
        pub structure_needs_at_least_one_member: u8,
    }

    impl crate::RosMessage for GetStateRequest {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetState_Request";
        const TYPE_HASH: &'static str = "RIHS01_77a9c844e7975f15bc2221e8bbebafc4d118afb78c7f7071eef91f83f940f2f6";
    }

    /// The current state-machine state of the node.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(
        crate = "crate::export",
        name = "lifecycle_msgs::srv::dds_::GetState_Response_"
    )]
    pub struct GetStateResponse {
        pub current_state: super::msg::State,
    }

    impl crate::RosMessage for GetStateResponse {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetState_Response";
        const TYPE_HASH: &'static str = "RIHS01_fe249babab472e42cb5653b5d6a6b0c42a003b0fdfb84851aea3fde08760b4f5";
    }

    /// `lifecycle_msgs/srv/GetState_Event`.
    #[derive(Debug, Clone, PartialEq, Default, Eq, Hash, crate::export::DdsType)]
    #[dds(crate = "crate::export", name = "lifecycle_msgs::srv::dds_::GetState_Event_")]
    pub struct GetStateEvent {
        pub info: crate::service_msgs::msg::ServiceEventInfo,
        #[dds(bound = 1)]
        pub request: ::std::vec::Vec<GetStateRequest>,
        #[dds(bound = 1)]
        pub response: ::std::vec::Vec<GetStateResponse>,
    }

    impl crate::RosMessage for GetStateEvent {
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetState_Event";
        const TYPE_HASH: &'static str = "RIHS01_4ac077d336db33726a95700398b95c34f326ecd27162b3f85cd7f85b4a55a75a";
    }

    /// The service `lifecycle_msgs/srv/GetState`.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub struct GetState;

    impl crate::RosService for GetState {
        type Request = GetStateRequest;
        type Response = GetStateResponse;
        type Event = GetStateEvent;
        const ROS_NAME: &'static str = "lifecycle_msgs/srv/GetState";
        const TYPE_HASH: &'static str = "RIHS01_800a0a5aae599782b02932de0caf563f6dc4e7e94b794eadde075ba2cbef9795";
        fn event(
            info: crate::service_msgs::msg::ServiceEventInfo,
            request: ::core::option::Option<Self::Request>,
            response: ::core::option::Option<Self::Response>,
        ) -> Self::Event {
            GetStateEvent {
                info,
                request: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(request),
                ),
                response: ::core::iter::Iterator::collect(
                    ::core::iter::IntoIterator::into_iter(response),
                ),
            }
        }
    }
}

/// Every message of the package, and those of its services and actions.
pub const TYPES: &[crate::RosTypeEntry] = &[
    crate::RosTypeEntry::of::<msg::State>(),
    crate::RosTypeEntry::of::<msg::Transition>(),
    crate::RosTypeEntry::of::<msg::TransitionDescription>(),
    crate::RosTypeEntry::of::<msg::TransitionEvent>(),
    crate::RosTypeEntry::of::<srv::ChangeStateRequest>(),
    crate::RosTypeEntry::of::<srv::ChangeStateResponse>(),
    crate::RosTypeEntry::of::<srv::ChangeStateEvent>(),
    crate::RosTypeEntry::of::<srv::GetAvailableStatesRequest>(),
    crate::RosTypeEntry::of::<srv::GetAvailableStatesResponse>(),
    crate::RosTypeEntry::of::<srv::GetAvailableStatesEvent>(),
    crate::RosTypeEntry::of::<srv::GetAvailableTransitionsRequest>(),
    crate::RosTypeEntry::of::<srv::GetAvailableTransitionsResponse>(),
    crate::RosTypeEntry::of::<srv::GetAvailableTransitionsEvent>(),
    crate::RosTypeEntry::of::<srv::GetStateRequest>(),
    crate::RosTypeEntry::of::<srv::GetStateResponse>(),
    crate::RosTypeEntry::of::<srv::GetStateEvent>(),
];
