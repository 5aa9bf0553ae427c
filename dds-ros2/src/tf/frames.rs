//! The tree of frames as data.
//!
//! Life cycle of a transform: [`insert`](Frames::insert), then it leaves when it is older than the cache time before
//! the newest one of its frame. Bounds: [`FRAMES_MAX`] frames, [`SAMPLES_MAX`] transforms of a frame, [`NAME_MAX`]
//! bytes of a name. At most [`TOTAL_MAX`] transforms are kept in all.

use super::error::TransformError;
use super::isometry::Isometry;
use dds_core::{Duration, Time};
use std::collections::{BTreeMap, VecDeque};

/// Frames of a buffer. Robots have some hundred, and a peer must not add frames without end.
pub(super) const FRAMES_MAX: usize = 4096;

/// Transforms of a frame: 10 s at 500 Hz.
pub(super) const SAMPLES_MAX: usize = 5000;

/// Transforms of all frames.
const TOTAL_MAX: usize = 500_000;

/// Bytes of the name of a frame.
const NAME_MAX: usize = 255;

/// Frames between a frame and its root, as in `tf2`.
const DEPTH_MAX: usize = 1000;

/// The squared length of a rotation may differ from 1 by this much, as in `tf2`.
const LENGTH_TOLERANCE: f64 = 1e-2;

/// Room for transforms that an empty frame may keep.
const SPARE_MAX: usize = 16;

/// The number of a frame.
type FrameId = usize;

#[derive(Debug)]
pub(super) struct Frames {
    keep: Duration,
    names: BTreeMap<String, FrameId>,
    frames: Vec<Frame>,
    total: usize,
}

#[derive(Debug)]
struct Frame {
    name: String,
    /// Transforms to the parent, from old to new. A static one is alone.
    samples: VecDeque<Sample>,
    is_static: bool,
}

#[derive(Debug, Clone, Copy)]
struct Sample {
    time: i64,
    parent: FrameId,
    isometry: Isometry,
}

/// A transform with the time that it is for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Located {
    pub(super) isometry: Isometry,
    pub(super) time: Time,
}

impl Frames {
    pub(super) fn new(keep: Duration) -> Self {
        Self { keep, names: BTreeMap::new(), frames: Vec::new(), total: 0 }
    }

    /// Removes the transforms that are not static. Frames stay known.
    pub(super) fn clear(&mut self) {
        for frame in self.frames.iter_mut().filter(|frame| !frame.is_static) {
            frame.samples = VecDeque::new();
        }
        self.count();
    }

    fn count(&mut self) {
        self.total = self.frames.iter().map(|frame| frame.samples.len()).sum();
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.names.keys().map(String::as_str)
    }

    fn id_of(&mut self, name: &str) -> Result<FrameId, TransformError> {
        if let Some(id) = self.names.get(name) {
            return Ok(*id);
        }
        if self.frames.len() >= FRAMES_MAX {
            return Err(TransformError::TooManyFrames { limit: FRAMES_MAX });
        }
        let id = self.frames.len();
        self.frames.push(Frame { name: name.to_owned(), samples: VecDeque::new(), is_static: false });
        self.names.insert(name.to_owned(), id);
        Ok(id)
    }

    /// Adds a transform of a child to its parent, unless it is older than the cache time. Each name may start with `/`.
    pub(super) fn insert(
        &mut self,
        parent: &str,
        child: &str,
        at: Located,
        is_static: bool,
    ) -> Result<(), TransformError> {
        let strip = |name: &'_ str| name.strip_prefix('/').unwrap_or(name).to_owned();
        let (parent, child) = (&strip(parent), &strip(child));
        let isometry = check(parent, child, at.isometry)?;
        let parent = self.id_of(parent)?;
        let child = self.id_of(child)?;
        let time = at.time.as_unix_nanos();
        let sample = Sample { time, parent, isometry };
        let keep = self.keep.as_nanos();
        let frame = &mut self.frames[child];
        let before = frame.samples.len();
        if is_static {
            frame.samples.clear();
        } else {
            if frame.is_static {
                frame.samples.clear();
            }
            let newest = frame.samples.back().map_or(time, |sample| sample.time);
            if time < newest.saturating_sub(keep) {
                let newest = Time::from_unix_nanos(newest);
                return Err(TransformError::TooOld { frame: frame.name.clone(), time: at.time, newest });
            }
        }
        frame.is_static = is_static;
        let index = frame.samples.partition_point(|sample| sample.time < time);
        match frame.samples.get_mut(index) {
            Some(same) if same.time == time => *same = sample,
            _ => frame.samples.insert(index, sample),
        }
        let newest = frame.samples.back().map_or(time, |sample| sample.time);
        while frame.samples.front().is_some_and(|sample| sample.time < newest.saturating_sub(keep))
            || frame.samples.len() > SAMPLES_MAX
        {
            frame.samples.pop_front();
        }
        frame.release();
        self.total = (self.total + frame.samples.len()).saturating_sub(before);
        if self.total > TOTAL_MAX {
            self.shrink();
        }
        Ok(())
    }

    /// Halves the transforms of each frame that is not static.
    fn shrink(&mut self) {
        for frame in &mut self.frames {
            let half = frame.samples.len() / 2;
            frame.samples.drain(..half);
            frame.release();
        }
        self.count();
    }

    fn find(&self, name: &str) -> Result<FrameId, TransformError> {
        if name.starts_with('/') {
            let reason = "names of frames start without `/`";
            return Err(TransformError::InvalidArgument { frame: name.to_owned(), reason });
        }
        self.names.get(name).copied().ok_or_else(|| TransformError::Lookup { frame: name.to_owned() })
    }

    /// Returns the transform that maps points of `source` to `target`. Time zero means the newest common time.
    pub(super) fn lookup(&self, target: &str, source: &str, time: Time) -> Result<Located, TransformError> {
        let (target, source) = (self.find(target)?, self.find(source)?);
        let time = if time.as_unix_nanos() == 0 { self.latest_common(target, source)? } else { time.as_unix_nanos() };
        let located = |isometry| Located { isometry, time: Time::from_unix_nanos(time) };
        if target == source {
            return Ok(located(Isometry::IDENTITY));
        }
        let to_root = self.chain(source, time);
        let from_target = self.chain(target, time);
        // The first frame of one chain that the other one has.
        for (frame, isometry) in &to_root.steps {
            if let Some(down) = from_target.places.get(frame) {
                return Ok(located(from_target.steps[*down].1.inverse() * *isometry));
            }
        }
        Err(self.why_not([target, source], [to_root, from_target]))
    }

    /// Returns the transform by a fixed frame: of `source` at its time to `fixed`, and on to `target` at its time.
    pub(super) fn lookup_fixed(
        &self,
        (target, target_time): (&str, Time),
        (source, source_time): (&str, Time),
        fixed: &str,
    ) -> Result<Located, TransformError> {
        let first = self.lookup(fixed, source, source_time)?;
        let second = self.lookup(target, fixed, target_time)?;
        Ok(Located { isometry: second.isometry * first.isometry, time: second.time })
    }

    /// The frames from `frame` up to the root at a time, with the transforms from `frame` to each.
    fn chain(&self, frame: FrameId, time: i64) -> Chain<Isometry> {
        self.climb(frame, Isometry::IDENTITY, |frame, isometry| {
            Ok(frame.at(time)?.map(|sample| (sample.parent, sample.isometry * *isometry)))
        })
    }

    /// The frames from `first` up to the root. `up` returns the parent of a frame, and the value of the parent.
    fn climb<T>(
        &self,
        first: FrameId,
        value: T,
        up: impl Fn(&Frame, &T) -> Result<Option<(FrameId, T)>, TransformError>,
    ) -> Chain<T> {
        let mut chain = Chain { steps: Vec::new(), places: BTreeMap::new(), error: None };
        let (mut current, mut value) = (first, value);
        loop {
            // Wrong parents form a loop, or a chain of a length that no robot has.
            if chain.steps.len() > DEPTH_MAX || chain.places.contains_key(&current) {
                let frame = self.frames[first].name.clone();
                chain.error = Some(TransformError::TooDeep { frame, limit: DEPTH_MAX });
                return chain;
            }
            chain.places.insert(current, chain.steps.len());
            let next = up(&self.frames[current], &value);
            chain.steps.push((current, value));
            match next {
                Ok(Some((parent, of_parent))) => (current, value) = (parent, of_parent),
                Ok(None) => return chain,
                Err(error) => {
                    chain.error = Some(error);
                    return chain;
                }
            }
        }
    }

    /// The reason for which two chains do not meet.
    fn why_not<T>(&self, [target, source]: [FrameId; 2], [of_source, of_target]: [Chain<T>; 2]) -> TransformError {
        if let Some(error) = of_source.error.or(of_target.error) {
            return error;
        }
        let name = |id: FrameId| self.frames[id].name.clone();
        let root = |chain: &[(FrameId, T)]| chain.last().map(|(id, _)| name(*id)).unwrap_or_default();
        TransformError::Connectivity {
            target: name(target),
            source: name(source),
            roots: [root(&of_target.steps), root(&of_source.steps)],
        }
    }

    /// The newest time at which each transform between two frames is known. Zero if all are static.
    fn latest_common(&self, target: FrameId, source: FrameId) -> Result<i64, TransformError> {
        let (of_source, of_target) = (self.newest_chain(source), self.newest_chain(target));
        for (frame, up) in &of_source.steps {
            if let Some(place) = of_target.places.get(frame) {
                let times = [*up, of_target.steps[*place].1];
                return Ok(times.into_iter().flatten().min().unwrap_or(0));
            }
        }
        Err(self.why_not([target, source], [of_source, of_target]))
    }

    /// The frames up to the root by their newest parents. Each has the oldest of the newest times of the frames before.
    /// A static frame has none.
    fn newest_chain(&self, frame: FrameId) -> Chain<Option<i64>> {
        self.climb(frame, None, |frame, oldest| {
            let Some(newest) = frame.samples.back() else { return Ok(None) };
            let own = (!frame.is_static).then_some(newest.time);
            Ok(Some((newest.parent, [*oldest, own].into_iter().flatten().min())))
        })
    }
}

/// A walk up the tree.
struct Chain<T> {
    /// The frames, with a value for each.
    steps: Vec<(FrameId, T)>,
    /// The index of each frame in `steps`.
    places: BTreeMap<FrameId, usize>,
    error: Option<TransformError>,
}

impl Frame {
    /// Returns the memory of removed transforms, once it is most of the memory.
    fn release(&mut self) {
        let needed = self.samples.len().max(SPARE_MAX);
        if self.samples.capacity() > 4 * needed {
            self.samples.shrink_to(2 * needed);
        }
    }

    /// Returns the transform to the parent at a time, `None` for a root.
    fn at(&self, time: i64) -> Result<Option<Sample>, TransformError> {
        let (Some(oldest), Some(newest)) = (self.samples.front(), self.samples.back()) else { return Ok(None) };
        if self.is_static {
            return Ok(Some(*newest));
        }
        let index = self.samples.partition_point(|sample| sample.time < time);
        let Some(after) = self.samples.get(index) else {
            return Err(self.extrapolation(time, oldest, newest));
        };
        if after.time == time {
            return Ok(Some(*after));
        }
        let before = index.checked_sub(1).and_then(|index| self.samples.get(index));
        let Some(before) = before else { return Err(self.extrapolation(time, oldest, newest)) };
        if before.parent != after.parent {
            return Ok(Some(*before));
        }
        // Differences of times within the cache time are exact.
        #[allow(clippy::cast_precision_loss, reason = "the ratio needs no more digits")]
        let ratio = (time - before.time) as f64 / (after.time - before.time) as f64;
        Ok(Some(Sample { time, parent: before.parent, isometry: before.isometry.interpolate(&after.isometry, ratio) }))
    }

    fn extrapolation(&self, requested: i64, oldest: &Sample, newest: &Sample) -> TransformError {
        TransformError::Extrapolation {
            frame: self.name.clone(),
            requested: Time::from_unix_nanos(requested),
            known: [oldest, newest].map(|sample| Time::from_unix_nanos(sample.time)),
        }
    }
}

/// Returns the transform with a rotation of length 1.
fn check(parent: &str, child: &str, isometry: Isometry) -> Result<Isometry, TransformError> {
    let invalid = |reason| Err(TransformError::InvalidArgument { frame: child.to_owned(), reason });
    if parent.is_empty() || child.is_empty() {
        return invalid("expected names of both frames");
    }
    if parent.len() > NAME_MAX || child.len() > NAME_MAX {
        return Err(TransformError::InvalidArgument { frame: String::new(), reason: "expected at most 255 bytes" });
    }
    if parent.starts_with('/') || child.starts_with('/') {
        return invalid("names of frames start with at most one `/`");
    }
    if parent == child {
        return invalid("a frame cannot be its own parent");
    }
    if !isometry.translation.is_finite() || !isometry.rotation.is_finite() {
        return invalid("expected finite numbers");
    }
    if (isometry.rotation.length_squared() - 1.0).abs() >= LENGTH_TOLERANCE {
        return invalid("expected a quaternion of length 1");
    }
    Ok(Isometry { rotation: isometry.rotation.normalize(), ..isometry })
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};
    use std::f64::consts::FRAC_PI_2;

    fn at(seconds: i64) -> Time {
        Time::from_unix_nanos(seconds * 1_000_000_000)
    }

    fn shift(x: f64) -> Isometry {
        Isometry::from_translation(DVec3::X * x)
    }

    fn frames() -> Frames {
        Frames::new(Duration::from_secs(10))
    }

    fn add(frames: &mut Frames, parent: &str, child: &str, isometry: Isometry, seconds: i64) {
        frames.insert(parent, child, Located { isometry, time: at(seconds) }, false).unwrap();
    }

    /// `map` → `odom` → `base`, and a camera that turns on `base`.
    fn robot() -> Frames {
        let mut frames = frames();
        for seconds in [10, 12] {
            add(&mut frames, "map", "odom", shift(1.0), seconds);
        }
        add(&mut frames, "odom", "base", shift(0.0), 10);
        add(&mut frames, "odom", "base", shift(4.0), 14);
        let turn = Isometry { translation: DVec3::Z, rotation: DQuat::from_rotation_z(FRAC_PI_2) };
        frames.insert("base", "camera", Located { isometry: turn, time: at(1) }, true).unwrap();
        frames
    }

    #[test]
    fn chain_is_interpolated_and_inverted() {
        let frames = robot();
        let found = frames.lookup("map", "camera", at(11)).unwrap();
        let point = found.isometry.transform_point(DVec3::X);
        assert!(point.abs_diff_eq(DVec3::new(2.0, 1.0, 1.0), 1e-12), "{point}");
        let back = frames.lookup("camera", "map", at(11)).unwrap();
        assert!(back.isometry.transform_point(point).abs_diff_eq(DVec3::X, 1e-12));
        assert_eq!(frames.lookup("base", "base", at(99)).unwrap().isometry, Isometry::IDENTITY);
    }

    #[test]
    fn time_zero_means_the_newest_common_time() {
        let frames = robot();
        let found = frames.lookup("map", "base", at(0)).unwrap();
        assert_eq!((found.time, found.isometry.translation.x), (at(12), 3.0));
        assert_eq!(frames.lookup("base", "camera", at(0)).unwrap().time, at(0));
    }

    #[test]
    fn fixed_frame_joins_two_times() {
        let frames = robot();
        let moved = frames.lookup_fixed(("base", at(14)), ("base", at(10)), "odom").unwrap();
        assert_eq!(moved.isometry.translation.x, -4.0);
    }

    #[test]
    fn errors_name_frames_and_times() {
        let mut frames = robot();
        let text =
            |target: &str, source: &str, seconds| frames.lookup(target, source, at(seconds)).unwrap_err().to_string();
        assert!(text("map", "arm", 0).contains("frame \"arm\" does not exist"));
        let future = text("map", "base", 13);
        assert!(future.contains("\"odom\" would be extrapolated into the future: requested 13.000000000"), "{future}");
        assert!(text("odom", "base", 9).contains("into the past"));
        add(&mut frames, "other", "thing", shift(0.0), 11);
        let error = frames.lookup("map", "thing", at(11)).unwrap_err();
        let roots = ["map".to_owned(), "other".to_owned()];
        assert_eq!(error, TransformError::Connectivity { target: "map".into(), source: "thing".into(), roots });
    }

    #[test]
    fn invalid_transforms_are_refused() {
        let mut frames = frames();
        let bent = Isometry { rotation: DQuat::from_xyzw(0.0, 0.0, 0.0, 0.5), ..Isometry::IDENTITY };
        for (parent, child, isometry) in [
            ("a", "a", Isometry::IDENTITY),
            ("", "a", Isometry::IDENTITY),
            ("//a", "b", Isometry::IDENTITY),
            ("a", "b", shift(f64::NAN)),
            ("a", "b", bent),
            ("a", "b", Isometry::from_rotation(DQuat::from_xyzw(0.0, 0.0, 0.0, 0.0))),
        ] {
            let error = frames.insert(parent, child, Located { isometry, time: at(1) }, false);
            assert!(matches!(error, Err(TransformError::InvalidArgument { .. })), "{parent} {child}");
        }
        assert_eq!(frames.names().count(), 0);
    }

    #[test]
    fn memory_is_bounded_and_loops_end() {
        let mut frames = frames();
        for nanos in 0..3 * SAMPLES_MAX as i64 {
            let located = Located { isometry: Isometry::IDENTITY, time: Time::from_unix_nanos(1 + nanos) };
            frames.insert("a", "b", located, false).unwrap();
        }
        assert_eq!((frames.frames[1].samples.len(), frames.total), (SAMPLES_MAX, SAMPLES_MAX));
        add(&mut frames, "a", "b", shift(1.0), 1000);
        assert_eq!((frames.frames[1].samples.len(), frames.total), (1, 1));
        assert!(frames.frames[1].samples.capacity() <= 4 * SPARE_MAX);
        let old = frames.insert("a", "b", Located { isometry: shift(1.0), time: at(900) }, false);
        assert!(matches!(old, Err(TransformError::TooOld { .. })), "{old:?}");
        assert_eq!(frames.total, 1);
        for number in 0.. {
            let located = Located { isometry: Isometry::IDENTITY, time: at(1) };
            if let Err(error) = frames.insert("a", &format!("frame{number}"), located, false) {
                assert_eq!(error, TransformError::TooManyFrames { limit: FRAMES_MAX });
                break;
            }
        }
        assert_eq!(frames.names().count(), FRAMES_MAX);
        add(&mut frames, "b", "a", shift(0.0), 1000);
        assert!(frames.lookup("frame1", "b", at(1000)).is_err());
        assert!(frames.lookup("frame1", "b", at(0)).is_err());
    }
    #[test]
    fn too_many_transforms_release_their_memory() {
        let mut frames = frames();
        for frame in 0..=TOTAL_MAX / SAMPLES_MAX {
            for nanos in 0..SAMPLES_MAX as i64 {
                let located = Located { isometry: Isometry::IDENTITY, time: Time::from_unix_nanos(1 + nanos) };
                frames.insert("a", &format!("b{frame}"), located, false).unwrap();
            }
        }
        assert!(frames.total <= TOTAL_MAX);
        frames.clear();
        let kept: usize = frames.frames.iter().map(|frame| frame.samples.capacity()).sum();
        assert_eq!((frames.total, kept), (0, 0));
    }

    #[test]
    fn clear_keeps_static_transforms() {
        let mut frames = robot();
        frames.clear();
        assert_eq!((frames.names().count(), frames.total), (4, 1));
        assert!(frames.lookup("base", "camera", at(5)).is_ok());
        assert!(frames.lookup("map", "base", at(0)).is_err());
        // Times before those of the old transforms.
        add(&mut frames, "odom", "base", shift(1.0), 1);
        assert_eq!(frames.lookup("odom", "camera", at(0)).unwrap().time, at(1));
    }

    #[test]
    fn names_lose_their_slash() {
        let mut frames = frames();
        add(&mut frames, "/a", "/b", shift(1.0), 1);
        assert_eq!(frames.names().collect::<Vec<_>>(), ["a", "b"]);
        assert!(frames.lookup("a", "b", at(1)).is_ok());
        assert!(matches!(frames.lookup("/a", "b", at(1)), Err(TransformError::InvalidArgument { .. })));
    }

    #[test]
    fn loops_and_deep_chains_have_an_error() {
        let mut frames = frames();
        for (parent, child) in [("b", "a"), ("a", "b"), ("root", "c")] {
            add(&mut frames, parent, child, shift(1.0), 1);
        }
        for time in [0, 1] {
            let error = frames.lookup("a", "c", at(time)).unwrap_err();
            assert_eq!(error, TransformError::TooDeep { frame: "a".into(), limit: DEPTH_MAX });
        }
        for number in 0..DEPTH_MAX {
            let (parent, child) = (format!("d{number}"), format!("d{}", number + 1));
            add(&mut frames, &parent, &child, shift(1.0), 1);
        }
        let found = frames.lookup("d0", &format!("d{DEPTH_MAX}"), at(0)).unwrap();
        assert_eq!(found.isometry.translation.x, DEPTH_MAX as f64);
        add(&mut frames, "e", "d0", shift(1.0), 1);
        let error = frames.lookup("e", &format!("d{DEPTH_MAX}"), at(1)).unwrap_err();
        assert!(matches!(error, TransformError::TooDeep { .. }), "{error}");
    }
}
