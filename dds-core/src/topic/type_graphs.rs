//! Type graphs of local types. Each is built once per process, when the first endpoint of its type is announced.

use dds_rtps::cdr::TypeDescription;
use dds_rtps::xtypes::TypeGraph;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

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
    let place = std::ptr::from_ref(ty).addr();
    let known = |graphs: &mut Option<HashMap<_, _>>| graphs.get_or_insert_default().get(&place).cloned();
    if let Some(graph) = known(&mut GRAPHS.lock().unwrap_or_else(PoisonError::into_inner)) {
        return graph;
    }
    let graph = TypeGraph::of(ty).map(Arc::new);
    if let Err(error) = &graph {
        tracing::warn!(type_name = ty.name(), %error, "the type is announced by its name alone");
    }
    let graph = graph.ok();
    let mut graphs = GRAPHS.lock().unwrap_or_else(PoisonError::into_inner);
    graphs.get_or_insert_default().insert(place, graph.clone());
    graph
}
