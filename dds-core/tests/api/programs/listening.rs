//! Listeners: a trait with unshared state, closures with state on the delivering thread, and a listener that closes its
//! reader.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::error::WaitErrorKind;
use dds_core::listener::DataReaderListener;
use dds_core::listener::Delivery;
use dds_core::qos::Preset;
use dds_core::status::{PeerStatus, StatusMask};
use dds_core::{DataReader, Entity};
use std::cell::Cell;
use std::sync::mpsc;

/// Like a serial port, `Cell` is `Send` but not `Sync`.
struct Port {
    written: Cell<u32>,
    tell: mpsc::Sender<(u32, u32)>,
}

impl DataReaderListener<Pose> for Port {
    fn on_data_available(&mut self, reader: &DataReader<Pose>) {
        for pose in reader.take().unwrap().into_data() {
            self.written.set(self.written.get() + pose.robot);
        }
        let _ = self.tell.send((0, self.written.get()));
    }

    fn on_subscription_matched(&mut self, _reader: &DataReader<Pose>, status: PeerStatus) {
        let _ = self.tell.send((status.current_count, self.written.get()));
    }
}

#[test]
fn listener_trait_and_closures_keep_state() {
    let participant = World::new().participant();
    let (tell, told) = mpsc::channel();
    let port = Port { written: Cell::new(0), tell };
    let reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event);
    let _reader = reader.listener(StatusMask::ALL, port).build().unwrap();
    // Runs on the writing thread, unless another thread is notifying the listener of the match.
    let (tell, heard) = mpsc::channel();
    let mut count = 0;
    let inline = participant.reader_builder::<Pose>("pose").qos(Preset::Event).delivery(Delivery::Inline);
    let inline = inline.on_data(move |reader| {
        count += reader.take().unwrap().len();
        let refused = reader.next_sample().block().unwrap_err();
        assert_eq!(refused.kind(), &WaitErrorKind::InListener);
        let _ = tell.send(count);
    });
    let _inline = inline.build().unwrap();
    let writer = participant.writer_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
    for robot in 1..=4 {
        writer.write(&pose(robot, 0.0)).unwrap();
    }
    let mut heard = std::iter::from_fn(|| heard.recv_timeout(PATIENCE.to_std().unwrap()).ok());
    assert!(heard.any(|count| count == 4));
    let told = std::iter::from_fn(|| told.recv_timeout(PATIENCE.to_std().unwrap()).ok());
    let seen: Vec<_> = told.take_while(|(_, sum)| *sum < 10).collect();
    assert!(seen.contains(&(1, 0)), "the match came before the data: {seen:?}");
}

#[test]
fn listener_closes_its_own_reader() {
    let participant = World::new().participant();
    let (tell, closed) = mpsc::channel();
    let reader = participant.reader_builder::<Pose>("pose").on_data(move |reader| {
        reader.close();
        assert_eq!(reader.closed().block().unwrap_err().kind(), &WaitErrorKind::WouldDeadlock);
        let _ = tell.send(());
    });
    let reader = reader.build().unwrap();
    participant.writer::<Pose>("pose").unwrap().write(&pose(1, 1.0)).unwrap();
    closed.recv_timeout(PATIENCE.to_std().unwrap()).unwrap();
    reader.closed().block_for(PATIENCE).unwrap();
    let entities: [&dyn Entity; 2] = [&reader, &participant];
    assert_eq!(entities.map(Entity::is_closed), [true, false]);
}
