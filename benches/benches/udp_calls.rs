//! Cost of a datagram by system call on the loopback, and cost of fragments for their receiver.
//!
//! ARCHITECTURE.md bases its decisions on `sendmmsg`, `recvmmsg`, `UDP_GRO` and `UDP_SEGMENT` on these figures. For
//! fragments the bench compares a copy into the assembly with in-place reception.
//!
//! All forms take turns. Each round sends its datagrams and then receives them on the same thread, so no wake is
//! measured. Pin it to one core: `taskset -c 0 cargo bench -p benches --bench udp_calls`. `--test` runs one round.

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("only Linux has these system calls");
}

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rounds = if std::env::args().any(|argument| argument == "--test") { 1 } else { 300 };
    println!(
        "{:<16} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "ns/datagram", "send", "sendmmsg", "gso", "recv", "recvmsg", "gro", "recvmmsg"
    );
    for (len, count) in [(64, 1), (64, 512), (1400, 1), (1400, 512), (65_000, 1), (65_000, 16)] {
        linux::measure(len, count, rounds)?;
    }
    for len in [256 << 10, 1 << 20, 4 << 20] {
        linux::measure_fragments(len, rounds)?;
    }
    Ok(())
}

#[cfg(target_os = "linux")]
mod linux {
    use nix::cmsg_space;
    use nix::sys::socket::{
        ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, recvmmsg, recvmsg, sendmmsg, sendmsg, setsockopt,
        sockopt,
    };
    use std::error::Error;
    use std::io::{IoSlice, IoSliceMut};
    use std::net::{Ipv4Addr, UdpSocket};
    use std::os::fd::AsRawFd;
    use std::time::{Duration, Instant};

    type Outcome<T = ()> = Result<T, Box<dyn Error>>;

    const AT_ONCE: usize = 16;
    /// Bytes of one run.
    const RUN_LEN: usize = 65_000;

    struct Pair {
        from: UdpSocket,
        to: UdpSocket,
        buffers: [Vec<u8>; AT_ONCE],
    }

    impl Pair {
        fn open(takes_runs: bool) -> Outcome<Self> {
            let [from, to] = [UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?, UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?];
            from.connect(to.local_addr()?)?;
            setsockopt(&to, sockopt::RcvBuf, &(4 << 20))?;
            if takes_runs {
                setsockopt(&to, sockopt::UdpGroSegment, &true)?;
            }
            Ok(Self { from, to, buffers: [(); AT_ONCE].map(|()| vec![0; 64 << 10]) })
        }

        fn send(&self, datagram: &[u8], count: usize) -> Outcome {
            (0..count).try_for_each(|_| self.from.send(datagram).map(drop)).map_err(Into::into)
        }

        fn sendmmsg(&self, headers: &mut MultiHeaders<()>, datagram: &[u8], mut left: usize) -> Outcome {
            let bytes = [[IoSlice::new(datagram)]; AT_ONCE];
            let addresses = [None; AT_ONCE];
            while left > 0 {
                let count = left.min(AT_ONCE);
                let fd = self.from.as_raw_fd();
                let sent = sendmmsg(fd, headers, &bytes[..count], &addresses[..count], [], MsgFlags::empty())?.count();
                left -= sent;
            }
            Ok(())
        }

        fn send_runs(&self, run: &[u8], len: usize, mut left: usize) -> Outcome {
            let each = u16::try_from(len)?;
            while left > 0 {
                let count = left.min((RUN_LEN / len).min(64));
                let control = [ControlMessage::UdpGsoSegments(&each)];
                let bytes = [IoSlice::new(&run[..count * len])];
                sendmsg::<()>(self.from.as_raw_fd(), &bytes, &control, MsgFlags::empty(), None)?;
                left -= count;
            }
            Ok(())
        }

        fn recv(&mut self, count: usize) -> Outcome {
            let buffer = &mut self.buffers[0];
            (0..count).try_for_each(|_| self.to.recv(buffer).map(drop)).map_err(Into::into)
        }

        fn recvmsg(&mut self, mut left: usize) -> Outcome {
            let mut control = cmsg_space!(i32);
            while left > 0 {
                let mut buffers = [IoSliceMut::new(&mut self.buffers[0])];
                let message = recvmsg::<()>(self.to.as_raw_fd(), &mut buffers, Some(&mut control), MsgFlags::empty())?;
                let each = message.cmsgs()?.find_map(|control| match control {
                    ControlMessageOwned::UdpGroSegments(each) => usize::try_from(each).ok(),
                    _ => None,
                });
                left = left.saturating_sub(each.map_or(1, |each| message.bytes.div_ceil(each)));
            }
            Ok(())
        }

        fn recvmmsg(&mut self, headers: &mut MultiHeaders<()>, mut left: usize) -> Outcome {
            while left > 0 {
                let mut buffers = self.buffers.each_mut().map(|buffer| [IoSliceMut::new(buffer)]);
                let fd = self.to.as_raw_fd();
                let received = recvmmsg(fd, headers, buffers.iter_mut(), MsgFlags::MSG_WAITFORONE, None)?;
                left = left.saturating_sub(received.count());
            }
            Ok(())
        }
    }

    /// Prints the medians.
    pub(crate) fn measure(len: usize, count: usize, rounds: usize) -> Outcome {
        let (mut plain, mut runs) = (Pair::open(false)?, Pair::open(true)?);
        let mut headers = MultiHeaders::preallocate(AT_ONCE, None);
        let mut outgoing = MultiHeaders::preallocate(AT_ONCE, None);
        let bytes = vec![7; RUN_LEN];
        let has_runs = 2 * len <= RUN_LEN;
        let mut times: [Vec<f64>; 7] = Default::default();
        for _ in 0..rounds * (512 / count).min(16) {
            let mut timed = |at: usize, started: Instant| {
                times[at].push(started.elapsed().as_secs_f64() * 1e9 / count as f64);
            };
            let started = Instant::now();
            plain.send(&bytes[..len], count)?;
            timed(0, started);
            let started = Instant::now();
            plain.recv(count)?;
            timed(3, started);
            let started = Instant::now();
            plain.sendmmsg(&mut outgoing, &bytes[..len], count)?;
            timed(1, started);
            let started = Instant::now();
            plain.recvmsg(count)?;
            timed(4, started);
            plain.send(&bytes[..len], count)?;
            let started = Instant::now();
            plain.recvmmsg(&mut headers, count)?;
            timed(6, started);
            if has_runs {
                let started = Instant::now();
                runs.send_runs(&bytes, len, count)?;
                timed(2, started);
                let started = Instant::now();
                runs.recvmsg(count)?;
                timed(5, started);
            }
        }
        print!("{:<16}", format!("{count} x {len}"));
        for times in &mut times {
            times.sort_by(f64::total_cmp);
            match times.get(times.len() / 2) {
                Some(median) => print!(" {median:>8.0}"),
                None => print!(" {:>8}", "-"),
            }
        }
        println!();
        Ok(())
    }

    /// Bytes before the fragments of a datagram: the message header, INFO_TS and DATA_FRAG.
    const HEADER_LEN: usize = 72;
    const FRAGMENT_LEN: usize = 65_000;
    /// One in this number of datagrams has a wrong prediction.
    const WRONG_EVERY: usize = 16;

    /// Prints the cost of the fragments of one sample for their receiver.
    ///
    /// The receiver copies them from the receive buffer, or receives them in place at a predicted position. The last
    /// figure includes wrong predictions.
    pub(crate) fn measure_fragments(len: usize, rounds: usize) -> Outcome {
        let mut pair = Pair::open(false)?;
        let datagram = vec![7; HEADER_LEN + FRAGMENT_LEN];
        let mut whole = vec![0; len.next_multiple_of(FRAGMENT_LEN)];
        let fragments = whole.len() / FRAGMENT_LEN;
        let mut times: [Vec<f64>; 3] = Default::default();
        for _ in 0..rounds {
            let mut spent = Duration::ZERO;
            for place in whole.chunks_exact_mut(FRAGMENT_LEN) {
                pair.send(&datagram, 1)?;
                let started = Instant::now();
                let received = pair.to.recv(&mut pair.buffers[0])?;
                place.copy_from_slice(&pair.buffers[0][HEADER_LEN..received]);
                spent += started.elapsed();
            }
            times[0].push(spent.as_secs_f64() * 1e6);
            for (at, wrong_every) in [(1, usize::MAX), (2, WRONG_EVERY)] {
                let mut spent = Duration::ZERO;
                for index in 0..fragments {
                    pair.send(&datagram, 1)?;
                    let started = Instant::now();
                    let mut header = [0; HEADER_LEN];
                    let place = &mut whole[index * FRAGMENT_LEN..][..FRAGMENT_LEN];
                    let mut parts = [IoSliceMut::new(&mut header), IoSliceMut::new(place)];
                    recvmsg::<()>(pair.to.as_raw_fd(), &mut parts, None, MsgFlags::empty())?;
                    if (index + 1) % wrong_every == 0 {
                        // A wrong prediction costs two copies: out of the wrong place and into the right one.
                        pair.buffers[0][..FRAGMENT_LEN].copy_from_slice(place);
                        place.copy_from_slice(&pair.buffers[0][..FRAGMENT_LEN]);
                    }
                    spent += started.elapsed();
                }
                times[at].push(spent.as_secs_f64() * 1e6);
            }
        }
        let medians = times.each_mut().map(|times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        });
        let [copied, placed, sometimes] = medians;
        println!(
            "{:>4} KiB: copied {copied:.0} us, placed {placed:.0} us ({:.2}), 1 in {WRONG_EVERY} wrong {sometimes:.0} us ({:.2})",
            len >> 10,
            placed / copied,
            sometimes / copied
        );
        Ok(())
    }
}
