//! Assembles drafts into the graph of a type.

use super::builder::{CaseDraft, CollectionForm, Draft, MemberDraft, StructBuilder, TypeDraft, UnionBuilder};
use super::builder::{CollectionBuilder, EnumBuilder};
use super::graph::{
    BitmaskNode, BitsetNode, CaseNode, Element, EnumNode, Graph, Index, MemberNode, Node, NodeKind, StructNode,
    TypeMarks, UnionNode,
};
use super::{DynamicType, Input, TypeError, check, merge};
use crate::cdr::member::ID_MASK;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// Creates the type of a draft.
pub(super) fn assemble(draft: TypeDraft) -> Result<DynamicType, TypeError> {
    if let TypeDraft(Draft::Finished(ty)) = draft {
        return Ok(ty);
    }
    let mut assembler = Assembler::default();
    let root = assembler.add(draft)?;
    assembler.finish(root)
}

/// A graph under construction.
#[derive(Default)]
pub(super) struct Assembler {
    /// `None`: the node is under construction.
    nodes: Vec<Option<Node>>,
    /// Types that [`DynamicType::named`] may refer to.
    named: Vec<(String, Index)>,
    /// Copies of nodes of finished types, by address of the graph and index.
    copied: HashMap<(usize, Index), Index>,
    /// The copied graphs. Holding them prevents reuse of their addresses.
    held: Vec<Arc<Graph>>,
    /// MemberDefaults of members: struct, index, value.
    defaults: MemberDefaults,
}

impl Assembler {
    /// Checks the whole graph and creates the type.
    pub(super) fn finish(self, root: Index) -> Result<DynamicType, TypeError> {
        let nodes = self.nodes.into_iter().collect::<Option<Vec<Node>>>();
        debug_assert!(nodes.is_some(), "every reserved node is set");
        let nodes = nodes.ok_or(TypeError::Malformed { what: "a type is not finished" })?;
        // Before the checks: a type that is used often then counts once toward the limits.
        let (nodes, defaults, root) = without_copies(nodes, self.defaults, root);
        let graph = check::checked(nodes, defaults)?;
        Ok(DynamicType { graph: Arc::new(graph), index: root })
    }

    /// Reserves the index of a node that is set later.
    pub(super) fn reserve(&mut self) -> Result<Index, TypeError> {
        // Checked at each node, so that a hostile TypeObject cannot fill the memory first.
        if self.nodes.len() >= check::TYPES_MAX {
            return Err(TypeError::TooLarge { what: "types", max: check::TYPES_MAX as u64 });
        }
        self.nodes.push(None);
        Ok((self.nodes.len() - 1) as Index)
    }

    pub(super) fn put(&mut self, index: Index, name: &str, kind: NodeKind) {
        debug_assert!((index as usize) < self.nodes.len(), "the index is reserved");
        if let Some(slot) = self.nodes.get_mut(index as usize) {
            *slot = Some(Node { name: name.into(), kind });
        }
    }

    pub(super) fn push(&mut self, name: &str, kind: NodeKind) -> Result<Index, TypeError> {
        let index = self.reserve()?;
        self.put(index, name, kind);
        Ok(index)
    }

    fn add(&mut self, draft: TypeDraft) -> Result<Index, TypeError> {
        match draft.0 {
            Draft::Finished(ty) => self.copy(&ty.graph, ty.index),
            Draft::Named(name) => {
                // The innermost enclosing type of that name.
                for (other, index) in self.named.iter().rev() {
                    if *other == name {
                        return Ok(*index);
                    }
                }
                Err(TypeError::UnknownType { name })
            }
            Draft::Alias { name, of } => {
                let of = self.add(*of)?;
                self.push(&name, NodeKind::Alias { of })
            }
            Draft::Collection(builder) => self.add_collection(*builder),
            Draft::Struct(builder) => self.add_struct(*builder),
            Draft::Union(builder) => self.add_union(*builder),
            Draft::Enum(builder) => self.add_enum(builder),
            Draft::Bitmask(builder) => {
                let node = BitmaskNode {
                    extensibility: builder.extensibility,
                    bit_bound: builder.bit_bound,
                    flags: builder.flags.into(),
                };
                self.push(&builder.name, NodeKind::Bitmask(node))
            }
            Draft::Bitset(builder) => {
                self.push(&builder.name, NodeKind::Bitset(BitsetNode { fields: builder.fields.into() }))
            }
        }
    }

    fn add_collection(&mut self, builder: CollectionBuilder) -> Result<Index, TypeError> {
        let CollectionBuilder { form, bound, try_construct, key_try_construct, is_external, are_keys_external } =
            builder;
        match form {
            CollectionForm::String => self.push("string", NodeKind::String { bound }),
            CollectionForm::WString => self.push("wstring", NodeKind::WString { bound }),
            CollectionForm::Sequence(element) => {
                let element = Element { ty: self.add(element)?, try_construct, is_external };
                self.push("sequence", NodeKind::Sequence { bound, element })
            }
            CollectionForm::Array(element) => {
                let element = Element { ty: self.add(element)?, try_construct, is_external };
                self.push("array", NodeKind::Array { length: bound.unwrap_or_default(), element })
            }
            CollectionForm::Map(key, value) => {
                let key =
                    Element { ty: self.add(key)?, try_construct: key_try_construct, is_external: are_keys_external };
                let element = Element { ty: self.add(value)?, try_construct, is_external };
                self.push("map", NodeKind::Map { bound, key, element })
            }
        }
    }

    fn add_struct(&mut self, builder: StructBuilder) -> Result<Index, TypeError> {
        let StructBuilder { name, extensibility, base, members, marks, is_out_of_order } = builder;
        if is_out_of_order {
            return Err(TypeError::NoMember { ty: name });
        }
        // Reserved before its members, which may refer to the struct by name.
        let index = self.reserve()?;
        // Never removed: a name that was declared inside can be used by types that follow.
        self.named.push((name.clone(), index));
        let base = match base {
            Some(base) => {
                let base = self.add(base)?;
                Some((base, self.base_node(base, &name)?))
            }
            None => None,
        };
        let (mut inherited, mut next_id) = (0, 0);
        if let Some((_, node)) = &base {
            inherited = node.members.len();
            // XTYPES 1.3, 7.3.1.2.1.1: the ids of a derived struct continue those of its base.
            next_id = node.members.last().map_or(0, |last| last.id.saturating_add(1));
        }
        let mut own = Vec::with_capacity(members.len());
        for draft in members {
            let MemberDraft {
                name,
                ty,
                id,
                is_key,
                is_optional,
                must_understand,
                is_external,
                hash_id,
                try_construct,
                default,
            } = draft;
            let id = id.unwrap_or(default_id(&name, hash_id.as_deref(), marks, next_id));
            // Beyond the largest id the check of the type fails, so saturation is enough.
            next_id = id.saturating_add(1);
            // Converted at the end, when the type of the member is complete.
            if let Some(default) = default {
                self.defaults.push((index, inherited + own.len(), default));
            }
            let ty = self.add(ty)?;
            own.push(MemberNode {
                name: name.into(),
                id,
                is_key,
                is_optional,
                must_understand,
                is_external,
                hash_id: hash_id.map(String::into),
                try_construct,
                default: None,
                ty,
            });
        }
        let base = base.as_ref().map(|(index, node)| (*index, node));
        let node = StructNode::new(extensibility, base, own);
        self.put(index, &name, NodeKind::Struct(StructNode { marks, ..node }));
        Ok(index)
    }

    /// The finished base struct of another struct.
    pub(super) fn base_node(&self, base: Index, extended: &str) -> Result<StructNode, TypeError> {
        // Follow aliases. Each step needs another node, so the number of nodes bounds the loop.
        let mut index = base;
        for _ in 0..self.nodes.len() {
            match self.nodes.get(index as usize) {
                Some(Some(Node { kind: NodeKind::Struct(node), .. })) => return Ok(node.clone()),
                Some(Some(Node { kind: NodeKind::Alias { of }, .. })) => index = *of,
                Some(None) => return Err(TypeError::ContainsItself { ty: extended.to_owned() }),
                _ => break,
            }
        }
        Err(TypeError::WrongKind { ty: extended.to_owned(), needed: "a base that is a struct" })
    }

    fn add_union(&mut self, builder: UnionBuilder) -> Result<Index, TypeError> {
        let UnionBuilder { name, extensibility, discriminator, has_key, try_construct, cases, marks, is_out_of_order } =
            builder;
        if is_out_of_order {
            return Err(TypeError::NoMember { ty: name });
        }
        let index = self.reserve()?;
        self.named.push((name.clone(), index));
        let discriminator = self.add(discriminator)?;
        // The discriminator is member 0.
        let mut next_id = 1;
        let mut finished = Vec::with_capacity(cases.len());
        for CaseDraft { name, ty, labels, id, is_default, is_external, hash_id, try_construct } in cases {
            // A case without a member is no member, so it takes no id.
            let (mut member, mut member_id) = (None, 0);
            if let Some(ty) = ty {
                member = Some(self.add(ty)?);
                member_id = id.unwrap_or(default_id(&name, hash_id.as_deref(), marks, next_id));
                next_id = member_id.saturating_add(1);
            }
            finished.push(CaseNode {
                name: name.into(),
                id: member_id,
                labels: labels.into(),
                is_default,
                is_external,
                hash_id: hash_id.map(String::into),
                try_construct,
                ty: member,
            });
        }
        let node = UnionNode { extensibility, discriminator, has_key, try_construct, cases: finished.into(), marks };
        self.put(index, &name, NodeKind::Union(node));
        Ok(index)
    }

    fn add_enum(&mut self, builder: EnumBuilder) -> Result<Index, TypeError> {
        let EnumBuilder { name, extensibility, bit_bound, literals, default } = builder;
        let default = match default {
            Some(wanted) => {
                let found = literals.iter().position(|literal| *literal.name == wanted);
                found.ok_or(TypeError::UnknownType { name: wanted })?
            }
            None => 0,
        };
        let node = EnumNode { extensibility, bit_bound, literals: literals.into(), default };
        self.push(&name, NodeKind::Enum(node))
    }

    /// Copies a node of a finished type with all nodes that it refers to.
    fn copy(&mut self, graph: &Arc<Graph>, index: Index) -> Result<Index, TypeError> {
        let address = Arc::as_ptr(graph).addr();
        // Held, so that no other graph can get its address while the map refers to it.
        if !self.held.iter().any(|held| Arc::ptr_eq(held, graph)) {
            self.held.push(Arc::clone(graph));
        }
        let mut open = Vec::new();
        // A list of open nodes instead of recursion: the depth of a type is not limited yet.
        let root = self.copy_of(address, index, &mut open)?;
        while let Some((from, to)) = open.pop() {
            let Some(node) = graph.nodes.get(from as usize) else { continue };
            let mut node = node.clone();
            let mut failure = None;
            node.kind.for_each_reference(&mut |index| match self.copy_of(address, *index, &mut open) {
                Ok(copy) => *index = copy,
                Err(error) => failure = Some(error),
            });
            // The visitor cannot return early, so the first failure is remembered.
            if let Some(error) = failure {
                return Err(error);
            }
            if let Some(slot) = self.nodes.get_mut(to as usize) {
                *slot = Some(node);
            }
        }
        Ok(root)
    }

    fn copy_of(&mut self, address: usize, index: Index, open: &mut Vec<(Index, Index)>) -> Result<Index, TypeError> {
        if let Some(copy) = self.copied.get(&(address, index)) {
            return Ok(*copy);
        }
        let copy = self.reserve()?;
        self.copied.insert((address, index), copy);
        // The copy is reserved before its references are followed, so cycles end here.
        open.push((index, copy));
        Ok(copy)
    }
}

type MemberDefaults = Vec<(Index, usize, Input)>;

/// Removes copies of nodes. A struct whose defaults are not set yet keeps its own node.
fn without_copies(nodes: Vec<Node>, mut defaults: MemberDefaults, root: Index) -> (Vec<Node>, MemberDefaults, Index) {
    let with_defaults: HashSet<Index> = defaults.iter().map(|(index, ..)| *index).collect();
    // A type with defaults stays alone: its copies may have other defaults.
    let first = merge::representatives(&nodes, |index| with_defaults.contains(&index));
    let (mut kept, mut places) = (Vec::with_capacity(nodes.len()), HashMap::new());
    for ((node, index), first) in nodes.into_iter().zip(0..).zip(&first) {
        if *first == index {
            // The kept nodes move together, so their indices change.
            places.insert(index, kept.len() as Index);
            kept.push(node);
        }
    }
    let place = |index: Index| {
        let first = first.get(index as usize).copied().unwrap_or(index);
        places.get(&first).copied().unwrap_or(first)
    };
    for node in &mut kept {
        node.kind.for_each_reference(&mut |reference| *reference = place(*reference));
    }
    for (index, ..) in &mut defaults {
        *index = place(*index);
    }
    (kept, defaults, place(root))
}

/// The id of a member without an id of its own (XTYPES 1.3, 7.3.1.2.1.1).
pub(super) fn default_id(name: &str, hash_id: Option<&str>, marks: TypeMarks, next: u32) -> u32 {
    match hash_id {
        Some("") => member_id_of_name(name),
        Some(hashed) => member_id_of_name(hashed),
        // `@autoid(HASH)` of the type. An explicit `@hashid` of the member comes first.
        None if marks.has_hash_ids => member_id_of_name(name),
        None => next,
    }
}

/// The id that is the hash of a name.
fn member_id_of_name(name: &str) -> u32 {
    let [a, b, c, d, ..] = md5::compute(name).0;
    u32::from_le_bytes([a, b, c, d]) & ID_MASK
}

impl NodeKind {
    /// Calls `visit` with every reference to another node.
    pub(super) fn for_each_reference(&mut self, visit: &mut impl FnMut(&mut Index)) {
        match self {
            Self::Sequence { element, .. } | Self::Array { element, .. } => visit(&mut element.ty),
            Self::Map { key, element, .. } => {
                visit(&mut key.ty);
                visit(&mut element.ty);
            }
            Self::Alias { of } => visit(of),
            Self::Struct(node) => {
                if let Some(base) = &mut node.base {
                    visit(base);
                }
                for member in &mut node.members {
                    visit(&mut member.ty);
                }
            }
            Self::Union(node) => {
                visit(&mut node.discriminator);
                for case in &mut node.cases {
                    if let Some(ty) = &mut case.ty {
                        visit(ty);
                    }
                }
            }
            _ => {}
        }
    }
}
