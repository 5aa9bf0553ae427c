//! Implements single fields of samples for types of the run time.

use super::graph::TypeView;
use super::{DynamicKind, DynamicType};
use crate::cdr::{Extensibility, FieldStep, PlannedType};

impl PlannedType for DynamicType {
    type View<'t> = TypeView<'t>;

    fn shape(&self) -> TypeView<'_> {
        self.view()
    }

    fn framing(&self) -> Extensibility {
        self.extensibility()
    }

    fn part(&self, step: FieldStep) -> Option<Self> {
        let part = match (self.kind(), step) {
            (DynamicKind::Struct, FieldStep::Member(index)) => self.members().nth(index as usize)?.ty(),
            (DynamicKind::Union, FieldStep::Member(index)) => self.cases().nth(index as usize)?.ty()?,
            (DynamicKind::Union, FieldStep::Discriminator) => self.discriminator()?,
            // Any index may exist, even above the bound: the sender's bound may be larger.
            (DynamicKind::Sequence, FieldStep::Element(_)) => self.element()?,
            (DynamicKind::Array, FieldStep::Element(index)) => {
                let (mut count, mut innermost) = (1_usize, self.clone());
                while innermost.kind() == DynamicKind::Array {
                    count = count.saturating_mul(innermost.bound()? as usize);
                    innermost = innermost.element()?.resolved();
                }
                // A path to an element that never exists is a mistake, and the filter reports it.
                if index as usize >= count {
                    return None;
                }
                innermost
            }
            // The node of the bits has the type of the bitset: both read the same number.
            (DynamicKind::Bitset, FieldStep::Bits { position: 0..64, bit_count: 1..=64, .. }) => self.clone(),
            _ => return None,
        };
        Some(part.resolved())
    }
}
