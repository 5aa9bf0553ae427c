//! The settings of a context.

use super::arguments::{Arguments, parameters_of};
use super::environment::{DiscoveryRange, Environment};
use super::{Background, Context, ContextInner};
use crate::graph::GraphCore;
use crate::name::{NameKind, RemapRule, check_namespace};
use crate::parameter::{Override, ParameterValue};
use crate::rosout::SharedLevels;
use crate::wait::Waits;
use crate::{Result, user_data};
use dds_core::builtin::VendorId;
use dds_core::error::CreateError;
use dds_core::qos::DomainParticipantQos;
use dds_core::{DomainParticipant, DomainParticipantBuilder, Scope};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A release of ROS 2, as [`Graph::distro`](crate::Graph::distro) tells it for each peer.
///
/// Messages and services have one form in all releases. Announcements of nodes have one in Humble, and another one in
/// all later releases. A context reads both forms, and answers each peer in the form of its own announcement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Distro {
    /// Iron and Jazzy, and a later release that does not show. The default.
    #[default]
    Jazzy,
    /// Humble.
    Humble,
    /// Kilted, which has Fast DDS 3.
    Kilted,
    /// Lyrical, which announces the hashes of services, or has Cyclone DDS 11.
    Lyrical,
}

/// A change of the settings of the participant.
type Configure = Box<dyn FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder + Send>;

/// Builds a [`Context`]. See [`Context::builder`].
///
/// Code overrides the environment and the arguments.
#[must_use = "a builder creates nothing until `build` is called"]
pub struct ContextBuilder {
    reads_environment: bool,
    arguments: Vec<OsString>,
    rules: Vec<RemapRule>,
    domain_id: Option<u32>,
    range: Option<DiscoveryRange>,
    static_peers: Option<Vec<String>>,
    enclave: Option<String>,
    distro: Distro,
    parameters: Vec<Override>,
    parameter_files: Vec<PathBuf>,
    header_vendors: Vec<VendorId>,
    configure: Vec<Configure>,
}

impl ContextBuilder {
    pub(super) fn new() -> Self {
        Self {
            reads_environment: true,
            arguments: Vec::new(),
            rules: Vec::new(),
            domain_id: None,
            range: None,
            static_peers: None,
            enclave: None,
            distro: Distro::default(),
            parameters: Vec::new(),
            parameter_files: Vec::new(),
            header_vendors: Vec::new(),
            configure: Vec::new(),
        }
    }

    /// Takes arguments of a program, without its name.
    ///
    /// After `--ros-args` and up to `--`: `-r RULE` (or `--remap`) adds a [`RemapRule`], `-e ENCLAVE` (or `--enclave`)
    /// sets the enclave, `-p NAME:=VALUE` and `--params-file PATH` set parameters. `--disable-rosout-logs` turns off
    /// `/rosout`, and `--log-level LEVEL` or `--log-level LOGGER:=LEVEL` sets the lowest level of loggers and
    /// of the layer of `tracing` there. Other flags for the log have no effect. [`Context::arguments`] returns all
    /// others.
    pub fn arguments<I: Into<String>>(mut self, arguments: impl IntoIterator<Item = I>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| OsString::from(argument.into())));
        self
    }

    pub(super) fn arguments_of_system(mut self, arguments: impl IntoIterator<Item = OsString>) -> Self {
        self.arguments.extend(arguments);
        self
    }

    /// Adds a remapping rule for all nodes. Earlier rules come first, and those of arguments last.
    pub fn remap(mut self, rule: RemapRule) -> Self {
        self.rules.push(rule);
        self
    }

    /// Sets the domain. Default: `ROS_DOMAIN_ID`, or 0.
    pub fn domain_id(mut self, domain_id: u32) -> Self {
        self.domain_id = Some(domain_id);
        self
    }

    /// Sets how far discovery reaches. Default: `ROS_AUTOMATIC_DISCOVERY_RANGE`, or the subnet.
    pub fn discovery_range(mut self, range: DiscoveryRange) -> Self {
        self.range = Some(range);
        self
    }

    /// Sets hosts that discovery contacts, by name or address. Default: `ROS_STATIC_PEERS`.
    ///
    /// With [`DiscoveryRange::Off`], they have no effect.
    pub fn static_peers<P: Into<String>>(mut self, peers: impl IntoIterator<Item = P>) -> Self {
        self.static_peers = Some(peers.into_iter().map(Into::into).collect());
        self
    }

    /// Sets the enclave. Default: that of the arguments, or `/`.
    pub fn enclave(mut self, enclave: impl Into<String>) -> Self {
        self.enclave = Some(enclave.into());
        self
    }

    /// Sets the release of peers that have not announced their nodes yet. Default: [`Distro::Jazzy`].
    ///
    /// Other peers get announcements in their own form. A peer that announces nothing may need this. All releases but
    /// Humble have the same effect.
    pub fn distro(mut self, distro: Distro) -> Self {
        self.distro = distro;
        self
    }

    /// Declares that the servers of a vendor have the header of `rmw_cyclonedds` before each request and reply.
    ///
    /// A client needs this for servers of `ros2-client` with `ServiceMapping::Cyclone`, which announce no form. Those
    /// of `rmw_cyclonedds` and of `rmw_fastrtps` are known. A server recognizes both forms of `ros2-client` itself.
    ///
    /// ```
    /// use dds_core::builtin::VendorId;
    /// # use dds_ros2::{Context, DiscoveryRange};
    ///
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let builder = Context::builder().discovery_range(DiscoveryRange::Off);
    /// let context = builder.service_header_of(VendorId::RUSTDDS).build()?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn service_header_of(mut self, vendor: VendorId) -> Self {
        self.header_vendors.push(vendor);
        self
    }

    /// Sets the first value of a parameter of all nodes that declare it. It comes before that of arguments and files.
    ///
    /// ```
    /// # use dds_ros2::DiscoveryRange;
    /// # fn main() -> dds_ros2::Result<()> {
    /// # let builder = dds_ros2::Context::builder().discovery_range(DiscoveryRange::Off);
    /// let context = builder.parameter("speed", 2.0).build()?;
    /// let speed = context.node("drive")?.parameter("speed", 1.0).declare()?;
    /// assert_eq!(speed.get(), 2.0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<ParameterValue>) -> Self {
        self.parameters.push(Override { node: "/**".to_owned(), name: name.into(), value: value.into() });
        self
    }

    /// Reads a parameter file of ROS 2, as `--params-file`. Values of arguments come before those of the file.
    ///
    /// Names of nodes may contain `*` for one part, and `**` for any number of parts. As in `rcl`, anchors and aliases
    /// are errors.
    pub fn parameter_file(mut self, path: impl Into<PathBuf>) -> Self {
        self.parameter_files.push(path.into());
        self
    }

    /// Ignores the environment variables of ROS 2.
    pub fn ignore_environment(mut self) -> Self {
        self.reads_environment = false;
        self
    }

    /// Changes further settings of the participant, such as its interfaces or its lease.
    pub fn participant(
        mut self,
        configure: impl FnOnce(DomainParticipantBuilder) -> DomainParticipantBuilder + Send + 'static,
    ) -> Self {
        self.configure.push(Box::new(configure));
        self
    }

    /// Creates the context, and its participant.
    ///
    /// With `ROS_SECURITY_ENABLE=true`, the participant has the identity of its enclave in `ROS_SECURITY_KEYSTORE`
    /// (feature `security`). Without such an identity, `ROS_SECURITY_STRATEGY=Enforce` makes `build` fail. With any
    /// other strategy, the participant has no security then. `ROS_SECURITY_ENCLAVE_OVERRIDE` names another enclave.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument), [`Error::Environment`](crate::Error::Environment),
    /// [`Error::ParameterFile`](crate::Error::ParameterFile),
    /// [`Error::Name`](crate::Error::Name) for the enclave, or [`Error::Create`](crate::Error::Create).
    pub fn build(self) -> Result<Context> {
        self.build_by(|builder| builder.build())
    }

    /// As [`build`](Self::build), but `create` creates the participant.
    ///
    /// A test runs nodes in the simulator of `dds-core` (feature `sim`) with
    /// `build_by(|builder| simulation.build("robot", builder))`.
    ///
    /// # Errors
    /// As [`build`](Self::build), and those of `create`.
    pub fn build_by(
        self,
        create: impl FnOnce(DomainParticipantBuilder) -> Result<DomainParticipant, CreateError>,
    ) -> Result<Context> {
        let environment = if self.reads_environment { Environment::read()? } else { Environment::default() };
        let arguments = Arguments::parse(self.arguments)?;
        let mut parameters = Vec::new();
        for path in &self.parameter_files {
            parameters.extend(parameters_of(path)?);
        }
        parameters.extend(arguments.parameters);
        parameters.extend(self.parameters);
        let enclave = self.enclave.or(arguments.enclave).unwrap_or_else(|| "/".to_owned());
        let enclave = environment.security.enclave(enclave);
        check_namespace(&enclave, NameKind::Enclave)?;
        let qos = DomainParticipantQos::default().user_data(user_data::entry("enclave", &enclave).into_bytes());
        let domain_id = self.domain_id.or(environment.domain_id).unwrap_or(0);
        // ROS 2 matches by the names of topics and types. Fast DDS 3 describes the same types differently.
        let mut builder = DomainParticipant::builder(domain_id).name(&enclave).qos(qos).type_information(false);
        let range = self.range.or(environment.range).unwrap_or(DiscoveryRange::SystemDefault);
        let (scope, peers) = reach_of(range, self.static_peers.unwrap_or(environment.static_peers));
        if let Some(scope) = scope {
            builder = builder.scope(scope);
        }
        if !peers.is_empty() {
            builder = builder.peers(peers);
        }
        if range == DiscoveryRange::Off {
            builder = builder.domain_tag(format!("ros_discovery_off_{}", std::process::id()));
        }
        builder = environment.security.secure(builder, &enclave)?;
        for configure in self.configure {
            builder = configure(builder);
        }
        let participant = create(builder)?;
        let waits = Waits { participant, closing: Arc::default() };
        let graph = GraphCore::new(&waits, &enclave, self.distro, self.header_vendors)?;
        let rules = self.rules.into_iter().chain(arguments.rules).collect();
        let inner = ContextInner {
            waits,
            graph,
            rules,
            arguments: arguments.others,
            enclave,
            parameters,
            is_without_rosout: arguments.is_without_rosout,
            log_levels: SharedLevels::new(arguments.log_levels),
            background: Background::default(),
            services: AtomicU32::new(0),
        };
        inner.graph.follow_forms(&inner.background)?;
        Ok(Context { inner: Arc::new(inner) })
    }
}

/// Returns the scope, or `None` for the setting of `dds-core`, and the peers that discovery contacts.
fn reach_of(range: DiscoveryRange, mut peers: Vec<String>) -> (Option<Scope>, Vec<String>) {
    match range {
        DiscoveryRange::SystemDefault => (None, peers),
        DiscoveryRange::Subnet => (Some(Scope::Subnet), peers),
        DiscoveryRange::Localhost if peers.is_empty() => (Some(Scope::Host), peers),
        DiscoveryRange::Localhost => {
            // `Scope::Host` sends no datagram to another host. Without multicast, this host is a peer as well.
            peers.push("127.0.0.1".to_owned());
            (Some(Scope::PeersOnly), peers)
        }
        DiscoveryRange::Off => (Some(Scope::Host), Vec::new()),
    }
}

impl fmt::Debug for ContextBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ContextBuilder").field("domain_id", &self.domain_id).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn static_peers_widen_localhost_and_not_off() {
        let peers = || vec!["robot".to_owned()];
        assert_eq!(reach_of(DiscoveryRange::Localhost, Vec::new()), (Some(Scope::Host), Vec::new()));
        let both = vec!["robot".to_owned(), "127.0.0.1".to_owned()];
        assert_eq!(reach_of(DiscoveryRange::Localhost, peers()), (Some(Scope::PeersOnly), both));
        assert_eq!(reach_of(DiscoveryRange::Off, peers()), (Some(Scope::Host), Vec::new()));
        assert_eq!(reach_of(DiscoveryRange::Subnet, peers()), (Some(Scope::Subnet), peers()));
    }
}
