//! Listeners of endpoints and of their groups.

use crate::context::{EndpointGroup, NewListener, ParticipantContext};
use crate::endpoint::{Endpoint, EndpointActor};
use crate::infrastructure::{About, Callback, CreateError, ListenedEntity, ListenerSet, MemberQueue, StatusMask};
use std::any::Any;
use std::sync::{Arc, Weak};

/// Calls the listener of an endpoint with its changed marks.
pub(crate) type EndpointDispatch<E> = Box<dyn FnMut(Arc<E>, u32) + Send>;

struct EndpointCallback<E: Endpoint> {
    /// Weak, so that a listener does not keep its own endpoint alive.
    endpoint: Weak<E>,
    dispatch: EndpointDispatch<E>,
}

impl<E: Endpoint> Callback for EndpointCallback<E> {
    fn call(&mut self, marks: u32) {
        if let Some(endpoint) = self.endpoint.upgrade() {
            (self.dispatch)(endpoint, marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(endpoint) = self.endpoint.upgrade() {
            endpoint.core().drop_panicked(endpoint.listener(), || endpoint.refresh_listeners());
            endpoint.note_listener_panic(message);
        }
    }
}

/// Creates the listener of an endpoint.
pub(crate) fn new_listener<E: Endpoint>(
    endpoint: &Arc<E>,
    mask: StatusMask,
    dispatch: EndpointDispatch<E>,
) -> NewListener {
    NewListener {
        name: E::LISTENER,
        mask,
        delivery: endpoint.delivery(),
        callback: Box::new(EndpointCallback { endpoint: Arc::downgrade(endpoint), dispatch }),
        members: None,
    }
}

/// Resolves the listeners that an endpoint notifies: its own, its group's and its participant's.
pub(super) fn resolve_listeners<E: Endpoint>(endpoint: &Arc<E>) {
    // Until the set is in the cell, so that two changes do not install their sets in the wrong order.
    let turn = endpoint.core().listening();
    let entity = || Arc::downgrade(endpoint) as Weak<dyn ListenedEntity>;
    let levels = [
        endpoint.listener().level(entity),
        match endpoint.group() {
            Some(group) => group.listener().level(entity),
            None => None,
        },
        endpoint.core().top_listener().level(entity),
    ];
    let mut listening = Vec::new();
    for (level, enabled) in levels.into_iter().zip(endpoint.level_masks()) {
        if let Some((mask, listener)) = level {
            listening.push((mask & enabled, listener));
        }
    }
    let listeners = ListenerSet::resolve(listening);
    // A closed endpoint notifies no listener. The old set is dropped outside of the cell.
    let old = endpoint.visit_cell(|actor, _| actor.endpoint().notifier.set_listeners(listeners));
    drop(turn);
    drop(old);
}

impl<E: Endpoint> ListenedEntity for E {
    fn note_listener_panic(&self, message: &str) {
        // Ignore the error, because a closed endpoint has no events.
        let _ = self.visit(|actor, effects| actor.endpoint().notifier.note_listener_panic(message, effects));
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

/// Callback of the listener of a group, for the events of its endpoints.
struct GroupCallback<E: Endpoint, L> {
    group: Weak<EndpointGroup<E>>,
    listener: L,
    members: Arc<MemberQueue>,
    /// Endpoint of the last call, which reports a panic in it.
    last: Option<Weak<dyn ListenedEntity>>,
    dispatch: fn(&Arc<E>, &mut L, u32),
}

impl<E: Endpoint, L: Send> Callback for GroupCallback<E, L> {
    fn call(&mut self, _marks: u32) {
        let Some((entity, marks)) = self.members.take() else { return };
        // Before the call, which may panic.
        self.last = Some(Weak::clone(&entity));
        let Some(entity) = entity.upgrade() else { return };
        let endpoint = entity.as_any().downcast::<E>();
        debug_assert!(endpoint.is_ok(), "all members of a group are of one kind");
        if let Ok(endpoint) = endpoint {
            (self.dispatch)(&endpoint, &mut self.listener, marks);
        }
    }

    fn panicked(&mut self, message: &str) {
        if let Some(group) = self.group.upgrade() {
            group.participant().core().drop_panicked(group.listener(), || refresh_members(&group));
        }
        // Only the member whose call panicked reports the event.
        let Some(last) = self.last.take() else { return };
        if let Some(endpoint) = last.upgrade() {
            endpoint.note_listener_panic(message);
        }
    }
}

fn refresh_members<E: Endpoint>(group: &EndpointGroup<E>) {
    for endpoint in group.members() {
        endpoint.refresh_listeners();
    }
}

/// Sets the listener of a group. `dispatch` calls it about one endpoint.
pub(crate) fn set_group_listener<E: Endpoint, L: Send + 'static>(
    group: &Arc<EndpointGroup<E>>,
    mask: StatusMask,
    listener: L,
    dispatch: fn(&Arc<E>, &mut L, u32),
) -> Result<(), CreateError> {
    // A queue of its own for each listener: marks for the old one are dropped with it.
    let members = Arc::<MemberQueue>::default();
    let queue = Arc::clone(&members);
    let callback = GroupCallback { group: Arc::downgrade(group), listener, members: queue, last: None, dispatch };
    let new = NewListener {
        name: E::GROUP_LISTENER,
        mask,
        delivery: group.participant().core().config().delivery,
        callback: Box::new(callback),
        members: Some(members),
    };
    change_group_listener(group, Some(new))
}

/// Removes the listener of a group. No call of it begins after this returns.
pub(crate) fn remove_group_listener<E: Endpoint>(group: &Arc<EndpointGroup<E>>) {
    // Ignore the error, because a closed group has no listener.
    let _ = change_group_listener(group, None);
}

fn change_group_listener<E: Endpoint>(
    group: &Arc<EndpointGroup<E>>,
    new: Option<NewListener>,
) -> Result<(), CreateError> {
    let (is_closed, refresh) = (|| group.is_closed(), || refresh_members(group));
    let core = group.participant().core();
    core.set_listener(group.listener(), new, group.ending(), is_closed, refresh).about(group.subject())
}
