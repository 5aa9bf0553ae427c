//! Looks for a topic in other domains, and with other domain tags.

use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::network;
use crate::options::{NetworkOptions, WhyOptions};
use crate::stop::Stop;
use crate::tag_listener;
use dds_core::error::{CreateError, CreateErrorKind};
use dds_core::{DomainParticipant, Error};
use std::time::Duration;

/// Time for an announcement of each participant. Most repeat theirs more often.
const ANNOUNCEMENT_TIME: Duration = Duration::from_millis(3500);
/// The last domain that is tried. The first one is 0.
const DOMAIN_MAX: u32 = 9;

/// Where else a topic exists.
#[derive(Default)]
pub(super) struct Elsewhere {
    domains: Vec<u32>,
    /// The empty tag is the default one.
    tags: Vec<String>,
}

impl Elsewhere {
    /// Looks for a topic outside of the domain `own`.
    ///
    /// # Errors
    /// As [`network::join_to_look`].
    pub(super) fn look(options: &WhyOptions, own: u32, topic: &str, stop: &Stop) -> Result<Self, ToolError> {
        let wait = options.discovery.wait;
        Ok(Self {
            domains: other_domains(&options.network, own, topic, wait, stop)?,
            tags: other_tags(&options.network, own, topic, wait, stop)?,
        })
    }

    /// Returns where the topic exists with the next step: the end of a sentence about it.
    pub(super) fn next_step(&self) -> Option<String> {
        if !self.domains.is_empty() {
            let domains: Vec<String> = self.domains.iter().map(u32::to_string).collect();
            return Some(format!("exists in domain {}: compare the domains", domains.join(", ")));
        }
        let tag = self.tags.first()?;
        let pass = if tag.is_empty() { "no --tag".to_owned() } else { format!("--tag {tag}") };
        Some(format!("exists with another domain tag: compare the tags, and look with {pass}"))
    }
}

/// Looks for a topic in the domains from 0 to 9, except that of the command.
fn other_domains(
    options: &NetworkOptions,
    own: u32,
    topic: &str,
    wait: Duration,
    stop: &Stop,
) -> Result<Vec<u32>, ToolError> {
    let mut watches = Vec::new();
    for domain in (0..=DOMAIN_MAX).filter(|domain| *domain != own) {
        let joined = network::join_to_look(&NetworkOptions { domain: Some(domain), ..options.clone() });
        let participant = match joined {
            // The files of an identity may allow some domains only.
            Err(ToolError::Dds(Error::Create(error))) if is_of_security(&error) => continue,
            joined => joined?,
        };
        let watch = DomainWatch::new(&participant)?;
        watches.push((domain, participant, watch));
    }
    having_topic(watches, topic, wait, stop)
}

fn is_of_security(error: &CreateError) -> bool {
    matches!(error.kind(), CreateErrorKind::Security { .. })
}

/// Looks for a topic with the tags of other participants in the same domain.
fn other_tags(
    options: &NetworkOptions,
    own: u32,
    topic: &str,
    wait: Duration,
    stop: &Stop,
) -> Result<Vec<String>, ToolError> {
    let own_tag = options.tag.clone().unwrap_or_default();
    let tags = tag_listener::listen(own, wait.max(ANNOUNCEMENT_TIME), || !stop.is_due());
    let mut watches = Vec::new();
    for tag in tags.into_iter().filter(|tag| *tag != own_tag) {
        let participant = network::join_to_look(&NetworkOptions { tag: Some(tag.clone()), ..options.clone() })?;
        let watch = DomainWatch::new(&participant)?;
        watches.push((tag, participant, watch));
    }
    having_topic(watches, topic, wait, stop)
}

/// Returns the places whose watches see the topic after `wait`. Each participant lives until then.
fn having_topic<P>(
    watches: Vec<(P, DomainParticipant, DomainWatch)>,
    topic: &str,
    wait: Duration,
    stop: &Stop,
) -> Result<Vec<P>, ToolError> {
    if watches.is_empty() {
        return Ok(Vec::new());
    }
    stop.sleep(wait);
    let mut found = Vec::new();
    for (place, _participant, mut watch) in watches {
        watch.update()?;
        if watch.view().topics().contains_key(topic) {
            found.push(place);
        }
    }
    Ok(found)
}
