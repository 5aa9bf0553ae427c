//! Streams of samples and statuses in one `select!`, timeouts of this crate and of the runtime, and an awaited end.

use super::{Pose, pose};
use crate::support::{PATIENCE, World};
use dds_core::error::{WaitErrorKind, WriteErrorKind};
use dds_core::qos::Preset;
use dds_core::status::ReaderEvent;
use futures_core::Stream;
use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

async fn next<S: Stream + Unpin>(stream: &mut S) -> Option<S::Item> {
    poll_fn(|context| Pin::new(&mut *stream).poll_next(context)).await
}

#[test]
fn streams_share_select_and_both_timeouts_work() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let world = World::new();
        let participant = world.participant();
        let reader = participant.reader_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();

        let ours = reader.next_sample().within(Duration::from_millis(1)).await.unwrap_err();
        assert!(matches!(ours.kind(), WaitErrorKind::Timeout { .. }));
        let theirs = tokio::time::timeout(Duration::from_millis(1), reader.next_sample()).await;
        assert!(theirs.is_err(), "no writer has written");

        let (mut samples, mut events) = (reader.stream(), reader.events());
        let writer = participant.writer_builder::<Pose>("pose").qos(Preset::Event).build().unwrap();
        writer.wait_for_readers(1).within(PATIENCE).await.unwrap();
        for x in 0..3 {
            writer.write_async(&pose(7, f64::from(x))).await.unwrap();
        }
        let (mut sum, mut matches) = (0.0, 0);
        while sum < 3.0 || matches == 0 {
            tokio::select! {
                Some(pose) = next(&mut samples) => sum += pose.x,
                Some(event) = next(&mut events) => match event {
                    ReaderEvent::Matched(status) => matches = status.current_count,
                    ReaderEvent::LivelinessChanged(status) => assert_eq!(status.not_alive_count, 0),
                    other => panic!("{other:?}"),
                },
            }
        }
        assert_eq!((sum, matches), (3.0, 1));

        participant.shutdown().await.unwrap();
        assert_eq!(next(&mut samples).await, None, "a stream ends with its reader");
        assert_eq!(writer.write(&pose(7, 0.0)).unwrap_err().kind(), &WriteErrorKind::Closed);
    });
}
