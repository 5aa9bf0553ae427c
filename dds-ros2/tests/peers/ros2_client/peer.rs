//! A node of the crate `ros2-client` for the tests: it reads commands as JSON lines, and prints events as JSON lines.
//!
//! Arguments: the name and the namespace of the node. `.ci/run ros2_client` builds it outside of the workspace.

use futures::StreamExt;
use futures::future::{Either, select};
use ros2_client::qos::{Durability, History, WhenFull};
use ros2_client::service::{Client, Server};
use ros2_client::{
    Context, ContextOptions, Message, MessageTypeName, Name, Node, NodeEvent, NodeName, NodeOptions, Publisher,
    QosProfile, ServiceMapping, ServiceTypeName, Subscription,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::BufRead;
use std::pin::pin;
use std::thread::sleep;
use std::time::{Duration, Instant};

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Text {
    data: String,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SetBoolRequest {
    data: bool,
}
impl Message for SetBoolRequest {}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct SetBoolResponse {
    success: bool,
    message: String,
}
impl Message for SetBoolResponse {}

/// Between two looks for messages.
const PAUSE: Duration = Duration::from_millis(5);

/// Longer than any step takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(20);

fn report(event: Value) {
    println!("{event}");
}

/// Waits for a result, but not longer than `LIMIT`.
fn within_limit<T>(wait: impl Future<Output = T>) -> Option<T> {
    let (alarm, limit) = futures::channel::oneshot::channel::<()>();
    std::thread::spawn(move || {
        sleep(LIMIT);
        drop(alarm);
    });
    match futures::executor::block_on(select(pin!(wait), limit)) {
        Either::Left((result, _)) => Some(result),
        Either::Right(_) => None,
    }
}

fn qos() -> QosProfile {
    QosProfile::publisher_default()
        .reliability_reliable(WhenFull::DEFAULT)
        .durability(Durability::Volatile)
        .history(History::KeepLast { depth: 10 })
}

struct Peer {
    node: Node,
    publishers: BTreeMap<String, Publisher<Text>>,
}

impl Peer {
    fn publish(&mut self, topic: &str, text: &str) {
        if !self.publishers.contains_key(topic) {
            let (name, kind) = (Name::parse(topic).unwrap(), MessageTypeName::new("std_msgs", "String"));
            let of_dds = self.node.create_topic(&name, kind, &qos()).unwrap();
            let publisher = self.node.create_publisher(&of_dds, None).unwrap();
            self.publishers.insert(topic.to_owned(), publisher);
        }
        self.publishers[topic].publish(Text { data: text.to_owned() }).unwrap();
    }

    fn subscribe(&mut self, topic: &str) {
        let (name, kind) = (Name::parse(topic).unwrap(), MessageTypeName::new("std_msgs", "String"));
        let of_dds = self.node.create_topic(&name, kind, &qos()).unwrap();
        let subscription: Subscription<Text> = self.node.create_subscription(&of_dds, None).unwrap();
        std::thread::spawn(move || {
            loop {
                match subscription.take() {
                    Ok(Some((text, _))) => {
                        report(json!({"event": "heard", "text": text.data}));
                        continue;
                    }
                    Ok(None) => {}
                    Err(error) => report(json!({"event": "error", "text": error.to_string()})),
                }
                sleep(PAUSE);
            }
        });
        report(json!({"event": "subscribed"}));
    }

    fn serve(&mut self, service: &str, mapping: ServiceMapping) {
        let (name, kind) = (Name::parse(service).unwrap(), ServiceTypeName::new("std_srvs", "SetBool"));
        let server: Server<SetBoolRequest, SetBoolResponse> =
            self.node.create_server(mapping, &name, &kind, qos(), qos()).unwrap();
        std::thread::spawn(move || {
            loop {
                match server.receive_request() {
                    Ok(Some((id, SetBoolRequest { data }))) => {
                        let message = format!("not {data}");
                        server.send_response(id, SetBoolResponse { success: !data, message }).unwrap();
                        continue;
                    }
                    Ok(None) => {}
                    Err(error) => report(json!({"event": "error", "text": error.to_string()})),
                }
                sleep(PAUSE);
            }
        });
        report(json!({"event": "serving"}));
    }

    fn call(&mut self, service: &str, mapping: ServiceMapping, values: &[bool]) {
        let (name, kind) = (Name::parse(service).unwrap(), ServiceTypeName::new("std_srvs", "SetBool"));
        let client: Client<SetBoolRequest, SetBoolResponse> =
            self.node.create_client(mapping, &name, &kind, qos(), qos()).unwrap();
        if within_limit(client.wait_for_service(&self.node)).is_none() {
            return report(json!({"event": "error", "text": format!("no server of {service}")}));
        }
        for data in values {
            let id = client.send_request(SetBoolRequest { data: *data }).unwrap();
            let start = Instant::now();
            let answer = loop {
                match client.receive_response() {
                    Ok(Some((of, answer))) if of == id => break Some(answer),
                    Ok(_) => {}
                    Err(error) => report(json!({"event": "error", "text": error.to_string()})),
                }
                if start.elapsed() > LIMIT {
                    break None;
                }
                sleep(PAUSE);
            };
            let (success, message) = answer.map(|answer| (answer.success, answer.message)).unzip();
            report(json!({"event": "answered", "asked": data, "success": success, "message": message}));
        }
    }
}

fn mapping_of(command: &Value) -> ServiceMapping {
    if command["mapping"] == "cyclone" { ServiceMapping::Cyclone } else { ServiceMapping::Enhanced }
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let domain = std::env::var("ROS_DOMAIN_ID").unwrap().parse().unwrap();
    let context = Context::with_options(ContextOptions::new().domain_id(domain)).unwrap();
    let name = NodeName::new(&arguments[2], &arguments[1]).unwrap();
    let mut node = context.new_node(name, NodeOptions::new()).unwrap();
    let spinner = node.spinner().unwrap();
    std::thread::spawn(move || futures::executor::block_on(spinner.spin()).unwrap());
    let events = node.status_receiver().unwrap();
    std::thread::spawn(move || {
        futures::executor::block_on(events.for_each(|event| async move {
            if let NodeEvent::ParticipantEntities(info) = event {
                let names: Vec<_> = info.nodes().iter().map(|node| node.fully_qualified_name()).collect();
                report(json!({"event": "nodes", "names": names}));
            }
        }));
    });
    let mut peer = Peer { node, publishers: BTreeMap::new() };
    report(json!({"event": "started"}));
    for line in std::io::stdin().lock().lines() {
        let command: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let text = |name: &str| command[name].as_str().unwrap();
        match text("command") {
            "publish" => peer.publish(text("topic"), text("text")),
            "subscribe" => peer.subscribe(text("topic")),
            "serve" => peer.serve(text("service"), mapping_of(&command)),
            "call" => {
                let values: Vec<bool> = serde_json::from_value(command["values"].clone()).unwrap();
                peer.call(text("service"), mapping_of(&command), &values);
            }
            other => panic!("unknown command {other}"),
        }
    }
    // Its threads end with the process.
    std::process::exit(0);
}
