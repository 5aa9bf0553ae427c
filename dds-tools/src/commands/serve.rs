//! `dds serve`: a page with the state of the domain, and its topics for Foxglove.

use super::text::write_json;
use crate::domain_view::DomainWatch;
use crate::error::ToolError;
use crate::json_input::sample_from_json;
use crate::latencies::LatencyWatch;
use crate::live_view::access::AccessRules;
use crate::live_view::foxglove::{self, ClientChannel, ClientMessage, Subscription};
use crate::live_view::metrics;
use crate::live_view::otlp::Exporter;
use crate::live_view::outbox::Outbox;
use crate::live_view::server::{ClientRequest, LiveServer, PageQuery};
use crate::live_view::snapshot::{Snapshot, SystemObserver};
use crate::live_view::topics::ServedTopics;
use crate::network;
use crate::options::{CollectorUrl, ServeOptions, WriterQosOptions};
use crate::ros::{dds_topic, ros_type};
use crate::stop::Stop;
use crate::topic_access::dynamic_writer;
use crate::topic_types::{KnownType, TopicTypes};
use dds_core::cdr::Encoded;
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::{DataWriter, DomainParticipant, Time};
use dds_idl::ros::InterfaceName;
use serde_json::json;
use std::collections::HashMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Time between two looks at the readers, if no sample arrives.
const STEP: Duration = Duration::from_millis(2);
/// Time between two looks at the topics of the domain, and between two messages with the time.
const LOOK: Duration = Duration::from_millis(100);
/// Period of rates and losses.
const PERIOD: Duration = Duration::from_secs(1);
/// Time for which all topics have readers after the page has asked.
const PAGE_TIME: Duration = Duration::from_secs(35);
/// The same after a collector of metrics has asked. Prometheus forgets a series without a new value after 5 minutes.
const METRICS_TIME: Duration = Duration::from_secs(6 * 60);
/// Most channels that one client may publish.
const CLIENT_CHANNELS_MAX: usize = 256;
/// Requests of clients between two looks at the readers. Many small requests must not hold back the samples.
const REQUESTS_AT_ONCE: usize = 256;

/// Serves until the time or the request to stop.
///
/// # Errors
/// Fails if the address cannot be used.
pub fn run(
    options: &ServeOptions,
    output: &mut dyn Write,
    notes: &mut dyn Write,
    stop: &Stop,
) -> Result<(), ToolError> {
    let participant = network::join_to_look(&options.network)?;
    let watch = DomainWatch::new(&participant)?;
    let rules = AccessRules::new(options.bind, options.token.as_deref(), &options.allow_origin)?;
    let session = participant.guid().to_string();
    let server = LiveServer::bind(options.bind, rules, !options.read_only, session)?;
    let (page, foxglove) = (server.url(), server.websocket_url());
    if options.output.json {
        write_json(output, &json!({ "page": page, "foxglove": foxglove }))?;
    } else {
        writeln!(notes, "page      {page}\nFoxglove  {foxglove}")
            .and_then(|()| notes.flush())
            .map_err(ToolError::output)?;
        if options.bind.ip().is_unspecified() {
            let all = options.bind.ip();
            writeln!(notes, "on other hosts, replace {all} by a name or address of this host")
                .map_err(ToolError::output)?;
        }
    }
    let types = TopicTypes::new(participant.clone(), options.type_wait, options.type_file.clone())?;
    let mut view = LiveView {
        topics: ServedTopics::new(participant.clone(), types),
        observer: SystemObserver::new(participant.clone()),
        latencies: LatencyWatch::new(&participant)?,
        collector: options.otlp.clone().map(|url| Collector::start(url, options.otlp_every)),
        participant,
        watch,
        clients: HashMap::new(),
        outboxes: HashMap::new(),
        queries: QueryTimes::default(),
        accepts_samples: !options.read_only,
    };
    view.serve(&server, &stop.after(options.duration))
}

/// A connected client of Foxglove's protocol.
struct Client {
    /// The topics that it publishes, by its channel.
    published: HashMap<u32, PublishedTopic>,
    /// Dropped samples in the last status message.
    reported_drops: u64,
}

/// A topic that a client publishes.
struct PublishedTopic {
    name: String,
    writer: DataWriter<DynamicData>,
    ty: DynamicType,
    is_json: bool,
}

/// When the page and a collector of metrics last asked.
#[derive(Debug, Default)]
struct QueryTimes {
    page: Option<Instant>,
    metrics: Option<Instant>,
}

impl QueryTimes {
    /// Returns whether all topics need readers.
    fn need_all_topics(&self, now: Instant) -> bool {
        let is_recent = |asked: Option<Instant>, time| asked.is_some_and(|asked| now - asked < time);
        is_recent(self.page, PAGE_TIME) || is_recent(self.metrics, METRICS_TIME)
    }
}

/// The collector that receives metrics.
struct Collector {
    exporter: Exporter,
    every: Duration,
    started: Time,
    sent: Instant,
}

impl Collector {
    fn start(url: CollectorUrl, every: Duration) -> Self {
        Self { exporter: Exporter::start(url), every, started: Time::now(), sent: Instant::now() }
    }
}

struct LiveView {
    participant: DomainParticipant,
    watch: DomainWatch,
    topics: ServedTopics,
    observer: SystemObserver,
    latencies: LatencyWatch,
    collector: Option<Collector>,
    clients: HashMap<u64, Client>,
    outboxes: HashMap<u64, (SocketAddr, Arc<Outbox>)>,
    queries: QueryTimes,
    accepts_samples: bool,
}

impl LiveView {
    fn serve(&mut self, server: &LiveServer, stop: &Stop) -> Result<(), ToolError> {
        let (mut looked, mut period_start) = (None::<Instant>, Instant::now());
        while !stop.is_due() {
            let mut is_idle = true;
            for _ in 0..REQUESTS_AT_ONCE {
                let Some(request) = server.next_request() else { break };
                is_idle = false;
                self.handle(request);
            }
            if looked.is_none_or(|looked| looked.elapsed() >= LOOK) {
                looked = Some(Instant::now());
                self.look()?;
            }
            if period_start.elapsed() >= PERIOD {
                period_start = Instant::now();
                self.topics.end_period();
                self.report_drops();
            }
            self.export();
            is_idle &= self.topics.take(&self.outboxes)? == 0;
            if is_idle {
                stop.sleep(STEP);
            }
        }
        for (_, outbox) in self.outboxes.values() {
            outbox.close();
        }
        Ok(())
    }

    /// Follows the domain, and sends the changes of channels and the time.
    fn look(&mut self) -> Result<(), ToolError> {
        self.watch.update()?;
        self.latencies.update()?;
        let all_topics = self.collector.is_some() || self.queries.need_all_topics(Instant::now());
        let changes = self.topics.update(self.watch.view(), all_topics)?;
        if !changes.removed.is_empty() {
            self.send_all(&foxglove::unadvertise(&changes.removed));
        }
        if !changes.added.is_empty() {
            self.send_all(&foxglove::advertise(&changes.added));
        }
        for topic in &changes.typed {
            self.close_outdated_writers(topic);
        }
        let now = u64::try_from(Time::now().as_unix_nanos()).unwrap_or(0);
        self.send_all(&foxglove::time(now));
        Ok(())
    }

    /// Closes the writers of clients whose topic has another type now. A participant has one type for each topic name.
    fn close_outdated_writers(&mut self, topic: &str) {
        let Some(ty) = self.topics.type_of(topic).and_then(KnownType::dynamic) else { return };
        for (id, client) in &mut self.clients {
            client.published.retain(|channel, published| {
                let remains = published.name != topic || published.ty == *ty;
                if let (false, Some((_, outbox))) = (remains, self.outboxes.get(id)) {
                    let text = format!("channel {channel}: the type of topic {topic} has changed; advertise it again");
                    outbox.push(foxglove::warning(&text));
                }
                remains
            });
        }
        self.topics.retry(topic);
    }

    fn send_all(&self, message: &tungstenite::Message) {
        for (_, outbox) in self.outboxes.values() {
            outbox.push(message.clone());
        }
    }

    /// Tells each client how many samples it lost.
    fn report_drops(&mut self) {
        for (id, client) in &mut self.clients {
            let Some((_, outbox)) = self.outboxes.get(id) else { continue };
            let (_, dropped) = outbox.counts();
            if dropped > client.reported_drops {
                let number = dropped - client.reported_drops;
                client.reported_drops = dropped;
                let text = format!("{number} samples were dropped, because this client receives too slowly");
                outbox.push(foxglove::warning(&text));
            }
        }
    }

    fn handle(&mut self, request: ClientRequest) {
        match request {
            ClientRequest::Connected { client, peer, outbox } => {
                outbox.push(foxglove::advertise(&self.topics.advertisements()));
                self.clients.insert(client, Client { published: HashMap::new(), reported_drops: 0 });
                self.outboxes.insert(client, (peer, outbox));
            }
            ClientRequest::Disconnected { client } => {
                self.topics.unsubscribe(client, None);
                let published = self.clients.remove(&client).map(|client| client.published).unwrap_or_default();
                for topic in published.into_values() {
                    self.close_published(topic);
                }
                self.outboxes.remove(&client);
            }
            ClientRequest::Message { client, message } => {
                let Some((_, outbox)) = self.outboxes.get(&client) else { return };
                let outbox = Arc::clone(outbox);
                for problem in self.handle_message(client, &outbox, message) {
                    outbox.push(foxglove::warning(&problem));
                }
            }
            ClientRequest::PageQuery { query, answer } => {
                let text = self.answer(&query);
                // The connection may have ended.
                let _ = answer.send(text);
            }
        }
    }

    fn answer(&mut self, query: &PageQuery) -> String {
        let asked = if *query == PageQuery::Metrics { &mut self.queries.metrics } else { &mut self.queries.page };
        *asked = Some(Instant::now());
        match query {
            PageQuery::Sample(topic) => self.topics.sample_json(topic),
            PageQuery::State => {
                let snapshot = self.snapshot();
                serde_json::to_string(&snapshot).unwrap_or_else(|error| format!("{{\"error\":\"{error}\"}}"))
            }
            PageQuery::Metrics => metrics::prometheus(&self.snapshot(), &self.latencies.reports()),
        }
    }

    fn snapshot(&mut self) -> Snapshot {
        let problem = self.collector.as_ref().and_then(|collector| collector.exporter.problem());
        self.observer.snapshot(self.watch.view(), &self.topics, &self.outboxes, problem)
    }

    /// Sends the metrics to the collector, if it is time.
    fn export(&mut self) {
        let Some(collector) = self.collector.as_mut().filter(|it| it.sent.elapsed() >= it.every) else { return };
        collector.sent = Instant::now();
        let started = collector.started.as_unix_nanos();
        let snapshot = self.snapshot();
        let body = metrics::otlp(&snapshot, &self.latencies.reports(), started, Time::now().as_unix_nanos());
        if let Some(collector) = &self.collector {
            collector.exporter.send(body.to_string());
        }
    }

    /// Handles a message of a client. Returns what its user should know.
    fn handle_message(&mut self, client: u64, outbox: &Outbox, message: ClientMessage) -> Vec<String> {
        match message {
            ClientMessage::Subscribe(subscriptions) => {
                let mut problems = Vec::new();
                for Subscription { id, channel_id } in subscriptions {
                    problems.extend(self.topics.subscribe(client, outbox, id, channel_id));
                }
                problems
            }
            ClientMessage::Unsubscribe(subscriptions) => {
                self.topics.unsubscribe(client, Some(&subscriptions));
                Vec::new()
            }
            ClientMessage::Advertise(channels) => {
                channels.iter().filter_map(|channel| self.advertise(client, channel).err()).collect()
            }
            ClientMessage::Unadvertise(channels) => {
                for channel in channels {
                    let client = self.clients.get_mut(&client);
                    if let Some(published) = client.and_then(|client| client.published.remove(&channel)) {
                        self.close_published(published);
                    }
                }
                Vec::new()
            }
            ClientMessage::Sample { channel, payload } => {
                let published = self.clients.get(&client).and_then(|client| client.published.get(&channel));
                match published.map(|topic| topic.publish(&payload)) {
                    Some(Ok(())) => Vec::new(),
                    Some(Err(error)) => vec![format!("channel {channel}: {error}")],
                    None => vec![format!("channel {channel} is not advertised")],
                }
            }
            ClientMessage::Unsupported(operation) => vec![format!("`dds serve` does not support {operation}")],
        }
    }

    /// Closes the writer of a client's channel. Its type may have kept the reader of the topic from being created.
    fn close_published(&mut self, published: PublishedTopic) {
        let PublishedTopic { name, writer, .. } = published;
        drop(writer);
        self.topics.retry(&name);
    }

    /// Creates the writer of a client's channel.
    fn advertise(&mut self, client: u64, channel: &ClientChannel) -> Result<(), String> {
        let ClientChannel { id, topic, encoding, schema_name } = channel;
        if !self.accepts_samples {
            return Err("`dds serve` runs with --read-only".to_owned());
        }
        let is_json = match encoding.as_str() {
            "json" => true,
            "cdr" => false,
            _ => return Err(format!("topic {topic}: expected the encoding cdr or json, found {encoding}")),
        };
        let Some(client) = self.clients.get_mut(&client) else { return Ok(()) };
        if client.published.contains_key(id) {
            return Err(format!("channel {id} is advertised already"));
        }
        if client.published.len() >= CLIENT_CHANNELS_MAX {
            return Err(format!("a client can publish at most {CLIENT_CHANNELS_MAX} channels"));
        }
        let name = dds_topic(topic);
        let known = self.topics.type_of(&name).and_then(|ty| ty.dynamic().cloned());
        let ty = known.or_else(|| {
            let interface = schema_name.parse::<InterfaceName>().ok()?;
            ros_type(&interface.dds_type_name()).map(|found| found.ty)
        });
        let Some(ty) = ty else { return Err(format!("topic {topic}: the type {schema_name} is unknown")) };
        let endpoints = self.watch.view().endpoints_of(&name);
        let qos = WriterQosOptions::default();
        let writer =
            dynamic_writer(&self.participant, &name, &endpoints, &ty, &qos).map_err(|error| error.to_string())?;
        client.published.insert(*id, PublishedTopic { name, writer, ty, is_json });
        Ok(())
    }
}

impl PublishedTopic {
    fn publish(&self, payload: &[u8]) -> Result<(), String> {
        if self.is_json {
            let text = std::str::from_utf8(payload).map_err(|error| error.to_string())?;
            let sample = sample_from_json(&self.ty, text).map_err(|error| error.to_string())?;
            return self.writer.write(&sample).map_err(|error| error.to_string());
        }
        // Readers must not receive bytes that do not decode.
        let sample = DynamicData::from_payload(&self.ty, payload).map_err(|error| error.to_string())?;
        match Encoded::new(payload).map(|encoded| self.writer.write_encoded(encoded)) {
            Ok(Ok(())) => Ok(()),
            // The readers accept another encoding.
            _ => self.writer.write(&sample).map_err(|error| error.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::QueryTimes;
    use std::time::{Duration, Instant};

    #[test]
    fn collector_may_ask_each_minute() {
        let start = Instant::now();
        let later = |seconds| start + Duration::from_secs(seconds);
        let collector = QueryTimes { metrics: Some(start), ..QueryTimes::default() };
        assert!(collector.need_all_topics(later(60)) && collector.need_all_topics(later(300)));
        assert!(!collector.need_all_topics(later(600)));
        let page = QueryTimes { page: Some(start), ..QueryTimes::default() };
        assert!(page.need_all_topics(later(30)) && !page.need_all_topics(later(60)));
        assert!(!QueryTimes::default().need_all_topics(start));
    }
}
