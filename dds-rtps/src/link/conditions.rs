//! Faults and limits of a link.

use crate::types::Duration;

/// Faults and limits of one direction of a link. Shares are from 0 (never) to 1 (always).
///
/// The presets are rough pictures of a kind of network, not measurements of one place.
///
/// | | one-way delay | lost | multicast lost | bursts | bytes/s |
/// |---|---|---|---|---|---|
/// | [`immediate`](Self::immediate) | 0 | - | - | - | any |
/// | [`perfect`](Self::perfect) | 10 us | - | - | - | any |
/// | [`ethernet`](Self::ethernet) | 50..70 us | - | - | - | 125 M |
/// | [`office_wifi`](Self::office_wifi) | 2..6 ms | 0.1 % | 3 % | 60 ms every 10 s | 20 M |
/// | [`hall_wifi`](Self::hall_wifi) | 4..20 ms | 5 % | 20 % | 300 ms every 6 s | 4 M |
/// | [`lte`](Self::lte) | 35..60 ms | 0.5 % | all | 800 ms every 30 s | 2 M |
///
/// Sources of the numbers:
///
/// - The bandwidth of Ethernet is that of IEEE 802.3. A hop is one frame that a switch stores and forwards, and the
///   work of two kernels.
/// - Wi-Fi acknowledges and retransmits unicast frames, but not multicast frames. A multicast loss of 5 % and more is
///   not uncommon (RFC 9119, 3.1.1).
/// - A robot that changes its access point is unreachable for 60 to 400 ms (Mishra, Shin and Arbaugh, 2003, for IEEE
///   802.11). The bursts of the hall model this; those of the office model a person between the antennas.
/// - A lost cell of LTE is noticed after the timer T310, at most one second by default. Then the device searches
///   another cell (3GPP TS 36.331, 7.3). Mobile networks forward no multicast.
///
/// To model your own network, measure it and change the fields that differ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Conditions {
    /// Minimum one-way delay. Default: 10 us.
    pub delay: Duration,
    /// Maximum additional delay, drawn for each datagram. It does not reorder; see `reordered`. Default: 0.
    pub jitter: Duration,
    /// Share of lost frames. A datagram longer than the `mtu` travels in several frames and needs all. Default: 0.
    pub loss: f64,
    /// Share of lost multicast frames, which wireless networks do not retransmit. The larger of both applies.
    /// Default: 0.
    pub multicast_loss: f64,
    /// Periods in which nearly nothing passes. Default: none.
    pub burst: Option<Burst>,
    /// Share of datagrams that arrive twice. Default: 0.
    pub duplicated: f64,
    /// Share of datagrams that later ones may overtake, by up to `jitter` plus one `delay`. Default: 0.
    pub reordered: f64,
    /// Share of datagrams that arrive with one bit flipped, as after a faulty driver. Default: 0.
    ///
    /// UDP checksums do not detect it here.
    pub damaged: f64,
    /// Share of datagrams that arrive without their end. Default: 0.
    pub truncated: f64,
    /// Bytes per second; `None` is unlimited. Faster datagrams wait in the queue. Default: none.
    pub bandwidth: Option<u64>,
    /// Bytes that the queue holds; more are lost. Default: 256 KiB.
    pub queue: usize,
    /// Bytes of one frame; longer datagrams are divided. Default: 1472, the UDP payload of an Ethernet frame.
    pub mtu: usize,
    /// Longest datagram that arrives; longer ones vanish silently. Default: any length.
    pub longest: Option<usize>,
}

/// Periods in which a link is nearly dead: a person walks between the antennas, a cell hands over.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Burst {
    /// Mean duration of the good periods; each is drawn between zero and twice the mean.
    pub every: Duration,
    /// Mean duration of the bad periods, drawn in the same way.
    pub lasting: Duration,
    /// Share of frames that are lost in a bad period.
    pub loss: f64,
}

impl Default for Conditions {
    fn default() -> Self {
        Self::perfect()
    }
}

impl Conditions {
    /// No faults, and a delay of 10 us.
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
            truncated: 0.0,
            bandwidth: None,
            queue: 256 << 10,
            // An Ethernet frame has 1500 bytes, and the headers of IPv4 and UDP take 28 of them.
            mtu: 1472,
            longest: None,
        }
    }

    /// No faults and no delay. Every datagram travels in one frame.
    #[must_use]
    pub const fn immediate() -> Self {
        Self { delay: Duration::ZERO, mtu: 65_507, ..Self::perfect() }
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

    /// Wi-Fi with few users and a good signal.
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

    /// Wi-Fi of a production hall: metal, many users, robots that change their access point.
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

    /// A mobile network: long delay, no multicast, and gaps when the cell changes.
    ///
    /// Without multicast, participants need each other's addresses as peers.
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

    /// Sets the delay and the jitter.
    #[must_use]
    pub fn delayed(mut self, delay: impl Into<Duration>, jitter: impl Into<Duration>) -> Self {
        self.delay = delay.into();
        self.jitter = jitter.into();
        self
    }

    /// Sets the share of lost frames, unicast and multicast.
    #[must_use]
    pub fn lossy(mut self, share: f64) -> Self {
        self.loss = share;
        self
    }

    /// Sets the share of datagrams that arrive twice.
    #[must_use]
    pub fn duplicating(mut self, share: f64) -> Self {
        self.duplicated = share;
        self
    }

    /// Sets the share of datagrams that later ones may overtake.
    #[must_use]
    pub fn reordering(mut self, share: f64) -> Self {
        self.reordered = share;
        self
    }

    /// Sets the share of datagrams in which one bit flips.
    #[must_use]
    pub fn damaging(mut self, share: f64) -> Self {
        self.damaged = share;
        self
    }

    /// Sets the bandwidth in bytes per second.
    #[must_use]
    pub fn limited_to(mut self, bytes_per_second: u64) -> Self {
        self.bandwidth = Some(bytes_per_second);
        self
    }
}
