//! Joins equal nodes of a graph under construction.
//!
//! A type that is built from finished types contains a copy of each of their parts, so one type may have several nodes.
//! Nodes are equal if their contents are, and the nodes that they refer to. Classes of nodes are refined until each
//! class refers to the same classes. Types may contain themselves, so no order of nodes exists.

use super::graph::{Index, Node};
use std::collections::HashMap;

/// Most rounds of refinement. Each round sees the differences one level deeper, and a type has 128 levels.
///
/// A hostile type may need more rounds. It keeps its copies.
const ROUNDS_MAX: usize = 256;

/// For each node the node that replaces it, which is the first equal one.
pub(super) fn representatives(nodes: &[Node], is_alone: impl Fn(Index) -> bool) -> Vec<Index> {
    let mut references = Vec::with_capacity(nodes.len());
    let mut classes = Vec::with_capacity(nodes.len());
    let mut contents = HashMap::new();
    for (node, index) in nodes.iter().zip(0..) {
        let (mut node, mut to) = (node.clone(), Vec::new());
        // Without its references, a node is compared by its own content.
        node.kind.for_each_reference(&mut |reference| to.push(std::mem::take(reference)));
        // Its own index makes the content different from any other.
        let alone = if is_alone(index) { Some(index) } else { None };
        let next = contents.len();
        classes.push(*contents.entry((format!("{node:?}"), alone)).or_insert(next));
        references.push(to);
    }
    let mut count = contents.len();
    for _ in 0..ROUNDS_MAX {
        // Each node is alone, and classes are only ever divided.
        if count == nodes.len() {
            break;
        }
        let mut known = HashMap::new();
        let mut refined = Vec::with_capacity(nodes.len());
        for (class, to) in classes.iter().zip(&references) {
            // Two nodes stay in one class while all their references are in equal classes.
            let to: Vec<Option<usize>> = to.iter().map(|index| classes.get(*index as usize).copied()).collect();
            let next = known.len();
            refined.push(*known.entry((*class, to)).or_insert(next));
        }
        let is_final = known.len() == count;
        (count, classes) = (known.len(), refined);
        // No class was divided in this round, so none ever will be.
        if is_final {
            let mut first = HashMap::new();
            return classes.into_iter().zip(0..).map(|(class, index)| *first.entry(class).or_insert(index)).collect();
        }
    }
    (0..).zip(nodes).map(|(index, _)| index).collect()
}
