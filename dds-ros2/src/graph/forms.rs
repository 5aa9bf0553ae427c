//! Announcements in both forms: nodes of Humble and of later releases expect different messages on one topic.
//!
//! Peers have the form of the context until their own announcement shows another one. A second writer then sends to
//! these alone.

use super::GraphCore;
use super::discovery_info;
use crate::Result;
use crate::context::{Background, Distro, Turn};
use dds_core::audience::{self, GuidPrefix, WriterPeers};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Distro {
    /// A release with the other form.
    pub(super) fn other(self) -> Self {
        match self {
            Self::Humble => Self::Jazzy,
            Self::Jazzy | Self::Kilted | Self::Lyrical => Self::Humble,
        }
    }
}

impl GraphCore {
    /// Lets the background thread serve peers of the other form. The only call.
    pub(crate) fn follow_forms(self: &Arc<Self>, background: &Background) -> Result<()> {
        let own = Arc::downgrade(self);
        let task = background.task(move || {
            if let Some(core) = own.upgrade() {
                core.log_failure(core.serve_forms());
            }
            Turn::Done
        })?;
        // Announcements may have arrived before.
        task.wake();
        let _ = self.found.forms.set(task);
        Ok(())
    }

    /// Divides the peers between both writers by their announcements, and announces the nodes to all.
    fn serve_forms(&self) -> Result<()> {
        let others: BTreeSet<_> = self.remote().of_distro(self.distro.other()).map(GuidPrefix).collect();
        let writer = match self.other.get() {
            Some(writer) => writer,
            None if others.is_empty() => return Ok(()),
            None => {
                let created = discovery_info::writer(&self.waits.participant)?;
                self.other.get_or_init(|| created)
            }
        };
        // First the exclusion: a peer must not get a message that it misreads after one that it understands.
        audience::set(&self.waits.participant, &self.writer, WriterPeers::AllBut(others.clone()));
        audience::set(&self.waits.participant, writer, WriterPeers::Only(others));
        self.change_local(|_| {})
    }
}
