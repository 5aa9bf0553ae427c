//! The interfaces in use, and what multicast does on each of them.

use super::changes::Changes;
use super::family::{Families, Family, on_link};
use super::sender::MulticastSender;
use super::{Interface, UdpConfig, UdpTransport};
use crate::types::Locator;
use socket2::{SockAddr, SockRef, Socket};
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;

/// On how many interfaces one participant uses multicast, for each version of IP. Linux lets a socket join 20 groups; a host
/// with more interfaces has containers on it, which are better named in the configuration.
const MULTICAST_INTERFACES_MAX: usize = 20;

/// One version of IP on one interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LinkId {
    pub(super) family: Family,
    pub(super) index: u32,
    /// Where IPv4 multicast comes from: the interface's first address. Unspecified for IPv6, which goes by the number.
    pub(super) address: IpAddr,
    pub(super) is_loopback: bool,
}

/// A socket that receives what is sent to groups.
#[derive(Debug)]
pub(super) struct GroupSocket {
    pub(super) family: Family,
    pub(super) socket: UdpSocket,
    pub(super) groups: Vec<IpAddr>,
}

/// Follows the interfaces of this host: joins and sends multicast on those that are to be used, and knows which addresses
/// there are.
///
/// Bound: 20 links for each version of IP; every interface's addresses are listed.
#[derive(Debug)]
pub struct Links {
    config: UdpConfig,
    families: Families,
    port: u16,
    groups: Vec<GroupSocket>,
    transport: Arc<UdpTransport>,
    /// As they were listed last, of the families that are spoken.
    interfaces: Vec<Interface>,
    links: Vec<Link>,
    changes: Changes,
    /// What the last look came upon could not be taken over.
    looks_again: bool,
}

#[derive(Debug, Clone, Copy)]
struct Link {
    id: LinkId,
    sends: bool,
    hears: bool,
    /// Multicast sent here comes back to this host.
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
            // Before the first look, so that nothing comes between.
            changes: Changes::listen(),
            looks_again: true,
        }
    }

    /// Looks at the interfaces again, if there may be something new. True if something has changed: then what this knows is to
    /// be announced.
    ///
    /// # Errors
    /// The system does not say which interfaces there are, or has no descriptor for another socket; nothing is announced
    /// differently then, and the next look makes up for it.
    pub fn follow(&mut self) -> io::Result<bool> {
        if !self.changes.may_have_come() && !self.looks_again {
            return Ok(false);
        }
        let taken = Interface::list().and_then(|listed| self.take(listed));
        self.looks_again = taken.is_err();
        taken
    }

    pub(super) fn take(&mut self, mut listed: Vec<Interface>) -> io::Result<bool> {
        listed.retain(|interface| self.families.contains(&Family::of(interface.address)));
        if listed == self.interfaces {
            return Ok(false);
        }
        let wanted = self.wanted(&listed);
        // Those that did not work are tried again, for something has changed.
        let (kept, gone): (Vec<Link>, Vec<Link>) =
            self.links.drain(..).partition(|link| link.hears && link.sends && wanted.contains(&link.id));
        self.links = kept;
        gone.iter().for_each(|link| self.leave(link.id));
        self.transport.remove_senders(|id| gone.iter().any(|link| link.id == id));
        for id in wanted {
            if !self.links.iter().any(|link| link.id == id) {
                let link = self.open(id)?;
                self.links.push(link);
            }
        }
        self.transport.set_host_addresses(listed.iter().map(|interface| interface.address));
        self.transport.scopes().set_links(self.links.iter().map(|link| &link.id));
        self.interfaces = listed;
        Ok(true)
    }

    /// The links that the interfaces in use make. The system lists the addresses of an interface together.
    fn wanted(&self, listed: &[Interface]) -> Vec<LinkId> {
        let mut wanted: Vec<LinkId> = Vec::new();
        for interface in listed.iter().filter(|interface| self.config.uses(interface)) {
            let family = Family::of(interface.address);
            let address = if family == Family::V4 { interface.address } else { family.unspecified() };
            let is_known = |id: &LinkId| id.family == family && id.index == interface.index;
            let count = wanted.iter().filter(|id| id.family == family).count();
            if !wanted.iter().any(is_known) && count < MULTICAST_INTERFACES_MAX {
                let mut same = listed.iter().filter(|other| other.index == interface.index);
                let is_loopback = same.any(Interface::is_loopback);
                wanted.push(LinkId { family, index: interface.index, address, is_loopback });
            }
        }
        wanted
    }

    fn open(&self, id: LinkId) -> io::Result<Link> {
        let mut link = Link { id, sends: false, hears: false, returns: false };
        if !self.config.multicast || !self.routes_multicast(id) {
            return Ok(link);
        }
        let socket = id.family.sender(&self.config)?;
        if send_by(&socket, id, &self.config).is_ok() {
            self.transport.add_sender(MulticastSender { socket, id });
            link.sends = true;
        }
        link.hears = self.join(id);
        link.returns = link.sends && link.hears && (!id.is_loopback || self.comes_back(id));
        Ok(link)
    }

    /// Whether any group was joined there, or was already.
    fn join(&self, id: LinkId) -> bool {
        let sockets = self.groups.iter().filter(|group| group.family == id.family);
        let pairs = sockets.flat_map(|group| group.groups.iter().map(move |address| (&group.socket, *address)));
        let joined = pairs.filter(|(socket, group)| match join(SockRef::from(*socket), *group, id) {
            Ok(()) => true,
            // The interface is the same as before, under another address.
            Err(error) => error.kind() == ErrorKind::AddrInUse,
        });
        joined.count() > 0
    }

    fn leave(&self, id: LinkId) {
        for group in self.groups.iter().filter(|group| group.family == id.family) {
            for address in &group.groups {
                let socket = SockRef::from(&group.socket);
                // Mostly the interface has gone, and the membership with it.
                let _ = match (address, id.address) {
                    (IpAddr::V4(group), IpAddr::V4(own)) => socket.leave_multicast_v4(group, &own),
                    (IpAddr::V6(group), _) => socket.leave_multicast_v6(group, id.index),
                    _ => Ok(()),
                };
            }
        }
    }

    /// Whether the system has a route to the groups by this link. Asks by connecting, which sends nothing.
    fn routes_multicast(&self, id: LinkId) -> bool {
        let probe = |group: IpAddr| -> io::Result<()> {
            let socket = id.family.socket()?;
            set_multicast_interface(&socket, id)?;
            socket.connect(&SockAddr::from(on_link(group, self.port, id.index)))
        };
        id.family.groups(&self.config).into_iter().any(|group| probe(group).is_ok())
    }

    /// Whether multicast on loopback arrives. Tries it, on a port of its own: some systems take it, and deliver nothing.
    /// It is there when the send returns, or counts as not coming.
    fn comes_back(&self, id: LinkId) -> bool {
        let probe = |group: IpAddr| -> io::Result<bool> {
            let receiver = id.family.socket()?;
            receiver.set_nonblocking(true)?;
            receiver.bind(&SockAddr::from(SocketAddr::new(id.family.unspecified(), 0)))?;
            join(SockRef::from(&receiver), group, id)?;
            let receiver = UdpSocket::from(receiver);
            let sender = id.family.sender(&self.config)?;
            send_by(&sender, id, &self.config)?;
            let port = receiver.local_addr()?.port();
            sender.send_to(b"?", &SockAddr::from(on_link(group, port, id.index)))?;
            Ok(receiver.recv(&mut [0; 2]).is_ok())
        };
        id.family.groups(&self.config).into_iter().any(|group| probe(group).unwrap_or(false))
    }

    /// The addresses to be announced; see the module's documentation. Empty: no interface is in use.
    #[must_use]
    pub fn addresses(&self) -> Vec<IpAddr> {
        announced(&self.config, &self.families, &self.interfaces)
    }

    /// All addresses of this host of the families that are spoken.
    #[must_use]
    pub fn interfaces(&self) -> &[Interface] {
        &self.interfaces
    }

    /// The groups that are joined on some interface.
    #[must_use]
    pub fn groups_joined(&self) -> Vec<Locator> {
        self.groups_where(|link| link.hears)
    }

    /// The groups that can be sent to by some interface.
    #[must_use]
    pub fn groups_sent_to(&self) -> Vec<Locator> {
        self.groups_where(|link| link.sends)
    }

    fn groups_where(&self, holds: impl Fn(&Link) -> bool) -> Vec<Locator> {
        let families = self.families.iter();
        let families =
            families.filter(|family| self.links.iter().any(|link| link.id.family == **family && holds(link)));
        families.flat_map(|family| family.groups(&self.config)).map(|group| Locator::udp(group, self.port)).collect()
    }

    /// The loopback address of each family in which multicast does not reach the participants of this host.
    pub fn unreached_by_multicast(&self) -> impl Iterator<Item = IpAddr> + '_ {
        let reached = |family| self.links.iter().any(|link| link.id.family == family && link.returns);
        self.families.iter().filter(move |family| !reached(**family)).map(|family| family.localhost())
    }
}

/// What to announce of the interfaces in use; see the module's documentation.
pub(super) fn announced(config: &UdpConfig, families: &[Family], interfaces: &[Interface]) -> Vec<IpAddr> {
    let is_used = |interface: &&Interface| families.contains(&Family::of(interface.address)) && config.uses(interface);
    let outward: Vec<&Interface> =
        interfaces.iter().filter(is_used).filter(|interface| !interface.is_loopback()).collect();
    let is_needed = |(at, interface): (usize, &&Interface)| {
        let others = || outward.iter().filter(|other| other.index == interface.index && other.address.is_ipv6());
        if interface.is_link_local() && others().any(|other| !other.is_link_local()) {
            return None;
        }
        let is_repeated = outward.iter().take(at).any(|earlier| earlier.is_same_network(interface));
        (!is_repeated).then_some(interface.address)
    };
    let mut addresses: Vec<IpAddr> = outward.iter().enumerate().filter_map(is_needed).collect();
    // Peers that take the first one that they understand are served best by the version that everybody speaks.
    addresses.sort_by_key(IpAddr::is_ipv6);
    if addresses.is_empty() {
        let has = |family: &&Family| interfaces.iter().any(|interface| Family::of(interface.address) == **family);
        addresses.extend(families.iter().filter(has).map(|family| family.localhost()));
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

/// Lets a socket send multicast by one link, and to this host as well.
fn send_by(socket: &Socket, id: LinkId, config: &UdpConfig) -> io::Result<()> {
    set_multicast_interface(socket, id)?;
    match id.family {
        Family::V4 => {
            socket.set_multicast_ttl_v4(config.multicast_ttl)?;
            socket.set_multicast_loop_v4(true)
        }
        Family::V6 => {
            socket.set_multicast_hops_v6(config.multicast_ttl)?;
            socket.set_multicast_loop_v6(true)
        }
    }
}
