//! The used interfaces, and multicast on each of them.

use super::changes::InterfaceChanges;
use super::family::{Families, Family, on_link};
use super::sender::MulticastSender;
use super::{Interface, UdpConfig, UdpTransport};
use crate::types::Locator;
use smallvec::SmallVec;
use socket2::{SockAddr, SockRef, Socket};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// Most interfaces on which a participant uses multicast, for each version of IP.
///
/// Linux lets a socket join 20 groups. A host with more interfaces runs containers; its interfaces are better
/// selected in the configuration.
const MULTICAST_INTERFACES_MAX: usize = 20;

/// One version of IP on one interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkId {
    pub(super) family: Family,
    pub(super) index: u32,
    /// Source of IPv4 multicast: the interface's first address. Unspecified for IPv6, which uses the index.
    pub(super) address: IpAddr,
    pub(super) is_loopback: bool,
}

/// A socket that receives datagrams to multicast groups.
#[derive(Debug)]
pub(super) struct GroupSocket {
    pub(super) family: Family,
    pub(super) socket: UdpSocket,
    pub(super) groups: Vec<IpAddr>,
}

/// Follows the interfaces of this host: joins groups and sends multicast on the used ones, and knows their addresses.
///
/// Multicast is limited to 20 links for each version of IP; addresses are unlimited.
#[derive(Debug)]
pub struct Links {
    config: UdpConfig,
    families: Families,
    port: u16,
    groups: Vec<GroupSocket>,
    transport: Arc<UdpTransport>,
    /// The last list, restricted to the used versions of IP.
    interfaces: Vec<Interface>,
    links: Vec<MulticastLink>,
    changes: InterfaceChanges,
    /// The last update failed and must be repeated.
    must_repeat: bool,
}

#[derive(Debug, Clone, Copy)]
struct MulticastLink {
    id: LinkId,
    sends: bool,
    joins: bool,
    /// Multicast sent here returns to this host.
    returns: bool,
}

impl Links {
    pub(super) fn new(
        config: &UdpConfig,
        families: Families,
        port: u16,
        groups: Vec<GroupSocket>,
        transport: Arc<UdpTransport>,
    ) -> Self {
        Self {
            config: config.clone(),
            families,
            port,
            groups,
            transport,
            interfaces: Vec::new(),
            links: Vec::new(),
            // Before the first list, so that no change is missed.
            changes: InterfaceChanges::subscribe(),
            must_repeat: true,
        }
    }

    /// Updates the interfaces if they may have changed. Returns true if they have; then the caller announces the new
    /// addresses.
    ///
    /// # Errors
    /// The system cannot list the interfaces, or the process has no more file descriptors. Then the announced
    /// addresses stay, and the next call repeats the update.
    pub fn follow(&mut self) -> io::Result<bool> {
        if !self.changes.may_have_occurred() && !self.must_repeat {
            return Ok(false);
        }
        let updated = Interface::list().and_then(|listed| self.update(listed));
        // The system reports a change once, so after a failure the update is repeated without a report.
        self.must_repeat = updated.is_err();
        updated
    }

    pub(super) fn update(&mut self, mut listed: Vec<Interface>) -> io::Result<bool> {
        listed.retain(|interface| self.families.contains(&Family::of(interface.address)));
        if listed == self.interfaces {
            return Ok(false);
        }
        // Addresses or interfaces have changed. The sockets stay; only memberships and senders follow.
        let wanted = self.wanted(&listed);
        // Links that did not work before are opened again: a change may have repaired them.
        let (kept, gone): (Vec<MulticastLink>, Vec<MulticastLink>) =
            self.links.drain(..).partition(|link| link.joins && link.sends && wanted.contains(&link.id));
        self.links = kept;
        for link in &gone {
            self.leave(link.id);
        }
        self.transport.remove_senders(|id| gone.iter().any(|link| link.id == id));
        for id in wanted {
            if !self.links.iter().any(|link| link.id == id) {
                let link = self.open(id)?;
                self.links.push(link);
            }
        }
        self.transport.set_host_addresses(listed.iter().map(|interface| interface.address));
        self.transport.scopes().set_links(self.links.iter().map(|link| &link.id));
        // Only now: if a link could not be opened, the next call must find a difference.
        self.interfaces = listed;
        Ok(true)
    }

    /// Returns the links of the used interfaces. The system lists the addresses of an interface together.
    fn wanted(&self, listed: &[Interface]) -> Vec<LinkId> {
        let mut wanted: Vec<LinkId> = Vec::new();
        for interface in listed {
            if !self.config.uses(interface) {
                continue;
            }
            let (family, index) = (Family::of(interface.address), interface.index);
            // Further addresses of an interface add no link.
            let is_known = wanted.iter().any(|id| id.family == family && id.index == index);
            let count = wanted.iter().filter(|id| id.family == family).count();
            if is_known || count >= MULTICAST_INTERFACES_MAX {
                continue;
            }
            // IPv6 names an interface by its index, IPv4 by an address of it.
            let address = if family == Family::V4 { interface.address } else { family.unspecified() };
            // The loopback interface may have other addresses as well.
            let is_loopback = listed.iter().any(|other| other.index == index && other.is_loopback());
            wanted.push(LinkId { family, index, address, is_loopback });
        }
        wanted
    }

    fn open(&self, id: LinkId) -> io::Result<MulticastLink> {
        let mut link = MulticastLink { id, sends: false, joins: false, returns: false };
        if !self.config.multicast || !self.routes_multicast(id) {
            return Ok(link);
        }
        // Each interface has its own sender, so that senders share it without a lock and without switching it.
        let socket = id.family.sender(&self.config)?;
        if send_by(&socket, id, &self.config).is_ok() {
            self.transport.add_sender(MulticastSender { socket, id });
            link.sends = true;
        }
        link.joins = self.join(id);
        link.returns = link.sends && link.joins && (!id.is_loopback || self.returns(id));
        Ok(link)
    }

    /// Joins the groups of discovery on a link; returns whether it is a member of any.
    fn join(&self, id: LinkId) -> bool {
        let mut is_member = false;
        for group in &self.groups {
            if group.family != id.family {
                continue;
            }
            for address in &group.groups {
                match join(SockRef::from(&group.socket), *address, id) {
                    Ok(()) => is_member = true,
                    // The interface is the same as before, with another address.
                    Err(error) if error.kind() == ErrorKind::AddrInUse => is_member = true,
                    Err(_) => {}
                }
            }
        }
        is_member
    }

    fn leave(&self, id: LinkId) {
        for group in self.groups.iter().filter(|group| group.family == id.family) {
            for address in &group.groups {
                let socket = SockRef::from(&group.socket);
                // Usually the interface is gone, and the membership with it.
                let _ = match (address, id.address) {
                    (IpAddr::V4(group), IpAddr::V4(own)) => socket.leave_multicast_v4(group, &own),
                    (IpAddr::V6(group), _) => socket.leave_multicast_v6(group, id.index),
                    _ => Ok(()),
                };
            }
        }
    }

    /// Whether the system has a route to the groups by this link. A connect tests it and sends nothing.
    fn routes_multicast(&self, id: LinkId) -> bool {
        id.family.groups(&self.config).into_iter().any(|group| self.connect_to(group, id).is_ok())
    }

    fn connect_to(&self, group: IpAddr, id: LinkId) -> io::Result<()> {
        // Without the interface, the system would test its default route.
        let socket = id.family.socket()?;
        set_multicast_interface(&socket, id)?;
        socket.connect(&SockAddr::from(on_link(group, self.port, id.index)))
    }

    /// Whether multicast on loopback arrives. Some systems accept it and deliver nothing.
    fn returns(&self, id: LinkId) -> bool {
        id.family.groups(&self.config).into_iter().any(|group| self.send_to_self(group, id).unwrap_or(false))
    }

    /// Sends a datagram to a group, on a port of its own, and returns whether it arrives.
    fn send_to_self(&self, group: IpAddr, id: LinkId) -> io::Result<bool> {
        // A port of its own: a participant on the discovery port must not receive the test.
        let receiver = id.family.socket()?;
        receiver.set_nonblocking(true)?;
        receiver.bind(&SockAddr::from(SocketAddr::new(id.family.unspecified(), 0)))?;
        join(SockRef::from(&receiver), group, id)?;
        let receiver = UdpSocket::from(receiver);
        let sender = id.family.sender(&self.config)?;
        send_by(&sender, id, &self.config)?;
        let port = receiver.local_addr()?.port();
        sender.send_to(b"?", &SockAddr::from(on_link(group, port, id.index)))?;
        // Loopback delivers during the send. A later datagram counts as lost.
        Ok(receiver.recv(&mut [0; 2]).is_ok())
    }

    /// Returns the addresses to announce; see the module's documentation. Empty if no interface is used.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        announced(&self.config, &self.families, &self.interfaces)
    }

    /// Returns all addresses of this host, of the used versions of IP.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// Returns the groups that are joined on at least one interface.
    #[must_use]
    pub fn groups_joined(&self) -> Vec<Locator> {
        self.groups_where(|link| link.joins)
    }

    /// Returns the groups that can be sent to by at least one interface.
    #[must_use]
    pub fn groups_sent_to(&self) -> Vec<Locator> {
        self.groups_where(|link| link.sends)
    }

    fn groups_where(&self, holds: impl Fn(&MulticastLink) -> bool) -> Vec<Locator> {
        let mut locators = Vec::new();
        for &family in &self.families {
            if self.links.iter().any(|link| link.id.family == family && holds(link)) {
                for group in family.groups(&self.config) {
                    locators.push(Locator::udp(group, self.port));
                }
            }
        }
        locators
    }

    /// Returns the loopback addresses for participants of this host that multicast does not reach.
    pub fn unreached_by_multicast(&self) -> impl Iterator<Item = IpAddr> + use<> {
        let mut unreached: SmallVec<[IpAddr; 2]> = SmallVec::new();
        for &family in &self.families {
            if !self.links.iter().any(|link| link.id.family == family && link.returns) {
                unreached.push(family.localhost());
            }
        }
        unreached.into_iter()
    }
}

/// Returns the addresses to announce; see the module's documentation.
pub(super) fn announced(config: &UdpConfig, families: &[Family], interfaces: &[Interface]) -> Vec<IpAddr> {
    let mut outward = Vec::new();
    for interface in interfaces {
        let is_used = families.contains(&Family::of(interface.address)) && config.uses(interface);
        if is_used && !interface.is_loopback() {
            outward.push(interface);
        }
    }
    let mut addresses = Vec::new();
    for (at, interface) in outward.iter().enumerate() {
        // A link-local address does not name its link, so a peer with several links cannot use it safely.
        let is_replaced = interface.is_link_local()
            && outward
                .iter()
                .any(|other| other.index == interface.index && other.address.is_ipv6() && !other.is_link_local());
        let is_repeated = outward.iter().take(at).any(|earlier| earlier.is_same_network(interface));
        if !is_replaced && !is_repeated {
            addresses.push(interface.address);
        }
    }
    // Some peers use the first locator that they understand. IPv4 is understood by all of them.
    addresses.sort_by_key(IpAddr::is_ipv6);
    if !addresses.is_empty() {
        return addresses;
    }
    // Without a network, the participants of this host still reach each other.
    for &family in families {
        if interfaces.iter().any(|interface| Family::of(interface.address) == family) {
            addresses.push(family.localhost());
        }
    }
    addresses
}

fn join(socket: SockRef<'_>, group: IpAddr, id: LinkId) -> io::Result<()> {
    match (group, id.address) {
        (IpAddr::V4(group), IpAddr::V4(own)) => socket.join_multicast_v4(&group, &own),
        (IpAddr::V4(group), IpAddr::V6(_)) => socket.join_multicast_v4(&group, &Ipv4Addr::UNSPECIFIED),
        (IpAddr::V6(group), _) => socket.join_multicast_v6(&group, id.index),
    }
}

fn set_multicast_interface(socket: &Socket, id: LinkId) -> io::Result<()> {
    match id.address {
        IpAddr::V4(own) => socket.set_multicast_if_v4(&own),
        IpAddr::V6(_) => socket.set_multicast_if_v6(id.index),
    }
}

/// Configures a socket to send multicast by one link, and to this host as well.
fn send_by(socket: &Socket, id: LinkId, config: &UdpConfig) -> io::Result<()> {
    set_multicast_interface(socket, id)?;
    match id.family {
        Family::V4 => {
            socket.set_multicast_ttl_v4(config.multicast_ttl)?;
            // Participants of this host receive the datagram by loopback of the group.
            socket.set_multicast_loop_v4(true)
        }
        Family::V6 => {
            socket.set_multicast_hops_v6(config.multicast_ttl)?;
            socket.set_multicast_loop_v6(true)
        }
    }
}
