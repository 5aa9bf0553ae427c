//! What a link does to the datagrams that pass it.

use crate::types::Duration;

/// What a link does to the datagrams that pass it, in one direction. Shares are from 0 (never) to 1 (always).
///
/// The ready ones are rough pictures, not measurements of one place: their use is that each has the troubles of its kind.
///
/// | | one way | lost | multicast lost | bursts | bytes/s |
/// |---|---|---|---|---|---|
/// | [`perfect`](Self::perfect) | 10 us | - | - | - | any |
/// | [`ethernet`](Self::ethernet) | 50..70 us | - | - | - | 125 M |
/// | [`office_wifi`](Self::office_wifi) | 2..6 ms | 0.1 % | 3 % | 60 ms every 10 s | 20 M |
/// | [`hall_wifi`](Self::hall_wifi) | 4..20 ms | 5 % | 20 % | 300 ms every 6 s | 4 M |
/// | [`lte`](Self::lte) | 35..60 ms | 0.5 % | all | 800 ms every 30 s | 2 M |
///
/// Where the numbers come from: the bandwidth of Ethernet is that of IEEE 802.3, a hop is one frame stored and forwarded by
/// a switch and the work of two kernels. Wi-Fi acknowledges and repeats unicast frames and not multicast ones, of which a loss
/// of 5 % and more is not uncommon (RFC 9119, 3.1.1); a robot that changes its access point is gone for 60 to 400 ms (Mishra,
/// Shin and Arbaugh, 2003, for IEEE 802.11), which is what the bursts of the hall are, and those of the office are somebody
/// in the way. A lost cell of LTE is noticed after the timer T310, a second at most by default, before another one is looked
/// for (3GPP TS 36.331, 7.3); mobile networks forward no multicast. Measure your own place, and change what differs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// The least time that a datagram takes. Default: 10 us.
    pub delay: Duration,
    /// Up to so much more, drawn for each datagram. What left first still arrives first; see `reordered`. Default: 0.
    pub jitter: Duration,
    /// The share of frames that are lost. A datagram longer than the `mtu` travels in several and needs all. Default: 0.
    pub loss: f64,
    /// The same for multicast, which a wireless network does not repeat by itself; the larger of both counts. Default: 0.
    pub multicast_loss: f64,
    /// Times in which nearly nothing passes. Default: none.
    pub burst: Option<Burst>,
    /// The share of datagrams that arrive twice. Default: 0.
    pub duplicated: f64,
    /// The share of datagrams that later ones may overtake, by up to `jitter` and one more `delay`. Default: 0.
    pub reordered: f64,
    /// The share of datagrams that arrive with one bit turned over, as after a faulty driver: sums of UDP do not see it
    /// here. Default: 0.
    pub damaged: f64,
    /// Bytes a second; `None`: any number. What comes faster waits. Default: none.
    pub bandwidth: Option<u64>,
    /// Bytes that may wait for their turn; what comes on top is lost. Default: 256 KiB.
    pub queue: usize,
    /// Bytes of a frame, beyond which a datagram is divided. Default: 1472, what Ethernet leaves for UDP.
    pub mtu: usize,
}

/// Times in which a link is as good as dead: somebody walks between the antennas, a cell hands over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// How long the good times last on average; each is drawn between 0 and twice that.
    pub every: Duration,
    /// How long the bad times last on average; drawn in the same way.
    pub lasting: Duration,
    /// The share of frames that are lost in a bad time.
    pub loss: f64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self::perfect()
    }
}

impl Conditions {
    /// Nothing goes wrong, and everything takes 10 us.
    #[must_use]
    pub const fn perfect() -> Self {
        Self {
            delay: Duration::from_micros(10),
            jitter: Duration::ZERO,
            loss: 0.0,
            multicast_loss: 0.0,
            burst: None,
            duplicated: 0.0,
            reordered: 0.0,
            damaged: 0.0,
            bandwidth: None,
            queue: 256 << 10,
            mtu: 1472,
        }
    }

    /// A quiet gigabit network with one switch.
    #[must_use]
    pub const fn ethernet() -> Self {
        Self {
            delay: Duration::from_micros(50),
            jitter: Duration::from_micros(20),
            bandwidth: Some(125_000_000),
            queue: 512 << 10,
            ..Self::perfect()
        }
    }

    /// A Wi-Fi with few users and a good signal.
    #[must_use]
    pub const fn office_wifi() -> Self {
        Self {
            delay: Duration::from_millis(2),
            jitter: Duration::from_millis(4),
            loss: 0.001,
            multicast_loss: 0.03,
            burst: Some(Burst { every: Duration::from_secs(10), lasting: Duration::from_millis(60), loss: 0.5 }),
            duplicated: 0.0005,
            bandwidth: Some(20_000_000),
            ..Self::perfect()
        }
    }

    /// The Wi-Fi of a production hall: metal, many users, robots that move between access points.
    #[must_use]
    pub const fn hall_wifi() -> Self {
        Self {
            delay: Duration::from_millis(4),
            jitter: Duration::from_millis(16),
            loss: 0.05,
            multicast_loss: 0.2,
            burst: Some(Burst { every: Duration::from_secs(6), lasting: Duration::from_millis(300), loss: 0.9 }),
            duplicated: 0.005,
            reordered: 0.01,
            bandwidth: Some(4_000_000),
            ..Self::perfect()
        }
    }

    /// A mobile network: far away, without multicast (participants need each other's addresses as peers), with gaps
    /// when the cell changes.
    #[must_use]
    pub const fn lte() -> Self {
        Self {
            delay: Duration::from_millis(35),
            jitter: Duration::from_millis(25),
            loss: 0.005,
            multicast_loss: 1.0,
            burst: Some(Burst { every: Duration::from_secs(30), lasting: Duration::from_millis(800), loss: 0.98 }),
            bandwidth: Some(2_000_000),
            mtu: 1372,
            ..Self::perfect()
        }
    }

    /// With another delay and jitter.
    #[must_use]
    pub fn delayed(mut self, delay: impl Into<Duration>, jitter: impl Into<Duration>) -> Self {
        self.delay = delay.into();
        self.jitter = jitter.into();
        self
    }

    /// With another share of lost frames, multicast or not.
    #[must_use]
    pub fn lossy(mut self, share: f64) -> Self {
        self.loss = share;
        self
    }

    /// With another share of datagrams that arrive twice.
    #[must_use]
    pub fn duplicating(mut self, share: f64) -> Self {
        self.duplicated = share;
        self
    }

    /// With another share of datagrams that may be overtaken.
    #[must_use]
    pub fn reordering(mut self, share: f64) -> Self {
        self.reordered = share;
        self
    }

    /// With another share of datagrams in which a bit is turned over.
    #[must_use]
    pub fn damaging(mut self, share: f64) -> Self {
        self.damaged = share;
        self
    }

    /// With so many bytes a second.
    #[must_use]
    pub fn limited_to(mut self, bytes_per_second: u64) -> Self {
        self.bandwidth = Some(bytes_per_second);
        self
    }
}
