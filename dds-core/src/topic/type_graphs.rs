//! Type graphs of local types. Each is built once per process, when the first endpoint of its type is announced.

use dds_rtps::cdr::TypeDescription;
use dds_rtps::xtypes::TypeGraph;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// By the place of the description. A program has as many as it has types.
static GRAPHS: Mutex<Option<HashMap<usize, Option<Arc<TypeGraph>>>>> = Mutex::new(None);

/// The graph of a dynamic type; `None` if TypeObjects cannot describe it, and its name decides.
#[cfg(feature = "dynamic")]
pub(crate) fn graph_of_dynamic(ty: &dds_rtps::cdr::dynamic::DynamicType) -> Option<Arc<TypeGraph>> {
    match TypeGraph::of_dynamic(ty) {
        Ok(graph) => Some(Arc::new(graph)),
        Err(error) => {
            tracing::warn!(type_name = ty.name(), %error, "the type is announced by its name alone");
            None
        }
    }
}

/// The graph of a type; `None` if TypeObjects cannot describe it, and its name decides.
pub(crate) fn graph_of(ty: &'static TypeDescription) -> Option<Arc<TypeGraph>> {
    // The address identifies a static description, and costs less to hash than its content.
    let place = std::ptr::from_ref(ty).addr();
    if let Some(graph) = graphs().get_or_insert_default().get(&place) {
        return graph.clone();
    }
    // Without the lock, because a large type takes milliseconds. Two threads may build the same graph.
    let graph = match TypeGraph::of(ty) {
        Ok(graph) => Some(Arc::new(graph)),
        Err(error) => {
            tracing::warn!(type_name = ty.name(), %error, "the type is announced by its name alone");
            None
        }
    };
    // A failure is stored as well, so that the warning appears once.
    graphs().get_or_insert_default().insert(place, graph.clone());
    graph
}

fn graphs() -> MutexGuard<'static, Option<HashMap<usize, Option<Arc<TypeGraph>>>>> {
    GRAPHS.lock().unwrap_or_else(PoisonError::into_inner)
}
