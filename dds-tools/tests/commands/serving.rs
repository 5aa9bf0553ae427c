//! `serve`, with clients over HTTP and WebSocket.

use crate::support::{Domain, Ender, Pose, pose, pose_reader, pose_writer};
use dds_core::DdsType;
use dds_core::cdr::Encoding;
use dds_core::dynamic::{DynamicData, DynamicType};
use dds_core::qos::{Preset, PublisherQos};
use dds_tools::Stop;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

/// Runs `serve` while `look` looks at it.
pub(crate) fn serve(domain: &Domain, extra: &[&str], look: impl FnOnce(SocketAddr)) {
    // The system gives out the next free port, so another program rarely takes this one.
    let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let stop = Stop::new();
    std::thread::scope(|scope| {
        let server = scope.spawn({
            let (stop, address) = (stop.clone(), address.to_string());
            move || domain.run_with(&[&["serve", "--bind", &address], extra].concat(), "", &stop)
        });
        let ender = Ender(stop);
        await_that(|| TcpStream::connect(address).is_ok().then_some(()));
        look(address);
        drop(ender);
        let printed = server.join().unwrap();
        let addresses = format!("{}{}", printed.notes, printed.output);
        assert!(addresses.contains(&format!("http://{address}/")), "{addresses}");
        let is_json =
            printed.unwrap() == format!("{{\"page\":\"http://{address}/\",\"foxglove\":\"ws://{address}/\"}}\n");
        assert_eq!(is_json, extra.contains(&"--json"), "{addresses}");
    });
}

/// Repeats `look` until it returns a value.
pub(crate) fn await_that<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(start.elapsed() < Duration::from_secs(30), "nothing came in 30 s");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns the status and the body of a response.
pub(crate) fn get(address: SocketAddr, path: &str, fields: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {address}\r\n{fields}\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    let (head, body) = response.split_once("\r\n\r\n").unwrap();
    (head[9..12].parse().unwrap(), body.to_owned())
}

/// A client of Foxglove's protocol.
struct Foxglove(WebSocket<TcpStream>);

impl Foxglove {
    fn connect(address: SocketAddr) -> Self {
        let mut request = format!("ws://{address}/").into_client_request().unwrap();
        request.headers_mut().insert("Sec-WebSocket-Protocol", "foxglove.sdk.v1".parse().unwrap());
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let (socket, response) = tungstenite::client(request, stream).unwrap();
        assert_eq!(response.headers()["Sec-WebSocket-Protocol"], "foxglove.sdk.v1");
        Self(socket)
    }

    fn send(&mut self, message: &Value) {
        self.0.send(Message::text(message.to_string())).unwrap();
    }

    /// Returns the next message with an operation.
    fn next(&mut self, operation: &str) -> Value {
        loop {
            if let Message::Text(text) = self.0.read().unwrap() {
                let message: Value = serde_json::from_str(&text).unwrap();
                if message["op"] == operation {
                    return message;
                }
            }
        }
    }

    /// Returns the channel of a topic.
    fn channel(&mut self, topic: &str) -> Value {
        loop {
            let message = self.next("advertise");
            let channels = message["channels"].as_array().unwrap();
            if let Some(channel) = channels.iter().find(|channel| channel["topic"] == topic) {
                return channel.clone();
            }
        }
    }

    /// Returns the subscription and the payload of the next sample.
    fn sample(&mut self) -> (u32, Vec<u8>) {
        loop {
            if let Message::Binary(bytes) = self.0.read().unwrap()
                && bytes[0] == 1
            {
                assert!(u64::from_le_bytes(bytes[5..13].try_into().unwrap()) > 0, "the time of the reception");
                return (u32::from_le_bytes(bytes[1..5].try_into().unwrap()), bytes[13..].to_vec());
            }
        }
    }
}

#[test]
fn foxglove_receives_and_publishes_samples() {
    let domain = Domain::new();
    let robot = domain.join("robot");
    let writer = pose_writer(&robot);
    writer.write(&pose(7, 1.5)).unwrap();
    let commands = robot.reader_builder::<Pose>("robot/command").qos(Preset::Event).build().unwrap();
    let ty = DynamicType::of::<Pose>().unwrap();
    serve(&domain, &[], |address| {
        let mut client = Foxglove::connect(address);
        let info = client.next("serverInfo");
        assert_eq!(info["capabilities"], json!(["time", "clientPublish"]));
        let channel = client.channel("robot/pose");
        assert_eq!((&channel["encoding"], &channel["schemaEncoding"]), (&json!("cdr"), &json!("omgidl")));
        assert!(channel["schema"].as_str().unwrap().contains("struct Pose {"), "{channel}");
        // No reader exists before the subscription.
        assert_eq!(writer.matched_subscriptions().len(), 0);
        client.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": 5, "channelId": channel["id"] }] }));
        let (subscription, payload) = client.sample();
        let sample = DynamicData::from_payload(&ty, &payload).unwrap();
        assert_eq!((subscription, sample.get::<f64>("x").unwrap()), (5, 1.5));

        // A later client also receives the last sample of a transient-local topic.
        let mut later = Foxglove::connect(address);
        later.channel("robot/pose");
        later.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": 6, "channelId": channel["id"] }] }));
        assert_eq!(later.sample(), (6, payload));
        client.send(&json!({ "op": "unsubscribe", "subscriptionIds": [5] }));

        let advertise = |id: u32, encoding: &str| {
            let channel = json!({ "id": id, "topic": "robot/command", "encoding": encoding, "schemaName": "Pose" });
            json!({ "op": "advertise", "channels": [channel] })
        };
        await_that(|| get(address, "/api/state", "").1.contains("robot/command").then_some(()));
        std::thread::sleep(Duration::from_millis(300));
        client.send(&advertise(1, "json"));
        client.send(&advertise(2, "cdr"));
        client.send(&advertise(3, "protobuf"));
        assert!(client.next("status")["message"].as_str().unwrap().contains("found protobuf"));
        client.send(&advertise(2, "json"));
        assert_eq!(client.next("status")["message"], "channel 2 is advertised already");
        let mut sample = DynamicData::new(&ty);
        sample.set("robot", 9).unwrap();
        let messages =
            [(1_u32, br#"{"robot": 8, "x": 0.5}"#.to_vec()), (2, sample.to_payload(Encoding::Xcdr1).unwrap())];
        for (channel, payload) in &messages {
            // A volatile reader may match after the first samples.
            let robot = await_that(|| {
                let message = [&[1][..], &channel.to_le_bytes(), payload].concat();
                client.0.send(Message::binary(message)).unwrap();
                let sample = commands.next_sample().block_for(Duration::from_millis(200)).ok()?;
                sample.data.map(|pose| pose.robot).filter(|robot| *robot == 7 + channel)
            });
            assert_eq!(robot, 7 + channel);
        }
        client.send(&json!({ "op": "getParameters" }));
        assert!(client.next("status")["message"].as_str().unwrap().contains("does not support getParameters"));
    });
}

#[test]
fn page_has_figures_problems_and_samples() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let writer = pose_writer(&robot);
    let _reader = pose_reader(&planner, "robot/pose");
    // This pair does not match.
    let hidden = robot.publisher(PublisherQos::default().partition(["left"])).unwrap();
    let _hidden = hidden.writer_builder::<Pose>("robot/arm").build().unwrap();
    let _arm = pose_reader(&planner, "robot/arm");
    serve(&domain, &["--read-only", "--json"], |address| {
        let state = await_that(|| {
            writer.write(&pose(7, 1.5)).unwrap();
            let state: Value = serde_json::from_str(&get(address, "/api/state", "").1).unwrap();
            let topics = state["topics"].as_array()?;
            let is_live = topics.iter().any(|topic| topic["rate_hz"].as_f64() > Some(0.0));
            (is_live && !state["pairs"].as_array()?.is_empty()).then_some(state)
        });
        let topic = state["topics"].as_array().unwrap().iter().find(|topic| topic["topic"] == "robot/pose").unwrap();
        assert_eq!(topic["endpoints"][0]["participant"], "robot");
        assert!(topic["delay_p50_ns"].as_u64() > Some(0), "{topic}");
        assert_eq!(state["pairs"][0]["topic"], "robot/arm");
        let problems = state["problems"].as_array().unwrap();
        assert!(problems.iter().any(|text| text.as_str().unwrap().contains("left")), "{problems:?}");
        assert_eq!(state["participants"].as_array().unwrap().len(), 2);

        let sample: Value = serde_json::from_str(&get(address, "/api/sample?topic=robot%2Fpose", "").1).unwrap();
        assert!(sample["text"].as_str().unwrap().contains("\"robot\": 7"), "{sample}");
        let (_, metrics) = get(address, "/metrics", "");
        assert!(metrics.contains("dds_topic_samples_total{topic=\"robot/pose\"} "), "{metrics}");
        assert!(metrics.contains("dds_problems 1\n"), "{metrics}");
    });
}

#[test]
fn address_of_all_interfaces_is_explained() {
    let printed = Domain::new().run(&["serve", "--bind", "0.0.0.0:0", "--for", "0"]);
    let expected = "on other hosts, replace 0.0.0.0 by a name or address of this host\n";
    assert!(printed.notes.ends_with(expected), "{}", printed.notes);
    printed.unwrap();
}

#[test]
fn other_sites_and_missing_tokens_are_refused() {
    let domain = Domain::new();
    let token = "secret-of-this-test";
    serve(&domain, &["--token", token], |address| {
        let (status, page) = get(address, "/", "");
        assert!(status == 200 && page.contains("page.js"), "{page}");
        assert!(!page.contains("//"), "the page needs no other server: {page}");
        assert_eq!(get(address, "/api/state", "").0, 403);
        assert_eq!(get(address, "/metrics?token=secret-of-another", "").0, 403);
        assert_eq!(get(address, &format!("/metrics?token={token}"), "").0, 200);
        assert_eq!(get(address, "/metrics", &format!("Authorization: Bearer {token}\r\n")).0, 200);
        let fields = format!("Authorization: Bearer {token}\r\nOrigin: https://evil.example\r\n");
        assert_eq!(get(address, "/api/state", &fields).0, 403);
        let websocket = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Protocol: foxglove.sdk.v1\r\n";
        assert_eq!(get(address, "/", websocket).0, 403);
        assert_eq!(get(address, &format!("/?token={token}"), &websocket.replace("foxglove.sdk", "other")).0, 400);
        assert_eq!(get(address, "/nothing", &format!("Authorization: Bearer {token}\r\n")).0, 404);
    });
}

#[test]
fn published_topic_follows_a_new_type() {
    #[derive(DdsType, Debug, Clone)]
    struct Speed {
        forward: f64,
    }
    let domain = Domain::new();
    let robot = domain.join("robot");
    let old = pose_reader(&robot, "robot/command");
    serve(&domain, &[], |address| {
        let mut client = Foxglove::connect(address);
        client.channel("robot/command");
        let channel = json!({ "id": 1, "topic": "robot/command", "encoding": "json", "schemaName": "Pose" });
        client.send(&json!({ "op": "advertise", "channels": [channel] }));
        let message = |text: &str| Message::binary([&[1][..], &1_u32.to_le_bytes(), text.as_bytes()].concat());
        await_that(|| {
            client.0.send(message("{\"robot\": 8}")).unwrap();
            old.next_sample().block_for(Duration::from_millis(200)).ok()
        });
        // YAML could overflow the stack of the server.
        client.0.send(message(&"- ".repeat(100_000))).unwrap();
        assert!(client.next("status")["message"].as_str().unwrap().contains("the sample is not JSON"));

        drop(old);
        let writer = robot.writer_builder::<Speed>("robot/command").qos(Preset::State).build().unwrap();
        writer.write(&Speed { forward: 1.5 }).unwrap();
        // The server may learn of the new topic before its type. Until then, it has the type of the client's writer.
        let channel = loop {
            let channel = client.channel("robot/command");
            if channel["schema"].as_str().unwrap().contains("struct Speed") {
                break channel;
            }
        };
        let warning = client.next("status");
        assert!(warning["message"].as_str().unwrap().contains("has changed"), "{warning}");
        client.send(&json!({ "op": "subscribe", "subscriptions": [{ "id": 5, "channelId": channel["id"] }] }));
        let sample = DynamicData::from_payload(&DynamicType::of::<Speed>().unwrap(), &client.sample().1).unwrap();
        assert_eq!(sample.get::<f64>("forward").unwrap(), 1.5);
    });
}
