//! The page of `serve` in a real browser without a window. `DDS_TEST_SCREENSHOTS` names the folder of its pictures.

#![allow(clippy::disallowed_methods, reason = "the browser is another process")]

use crate::serving::{await_that, get, serve};
use crate::support::{Domain, pose, pose_reader, pose_writer};
use dds_core::qos::PublisherQos;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Opens a page and returns its document after a few refreshes. Takes a light and a dark picture of it.
fn open(address: SocketAddr, path: &str, picture: &str) -> String {
    let folder = PathBuf::from(std::env::var_os("DDS_TEST_SCREENSHOTS").expect("the folder of the pictures"));
    let profile = tempfile::tempdir().unwrap();
    let browser = std::env::var("DDS_TEST_BROWSER").unwrap_or_else(|_| "chromium".to_owned());
    let run = |more: &[&str]| {
        let mut command = Command::new(&browser);
        command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1400"]);
        // The time of the page, which stands still during its requests.
        command.args(["--virtual-time-budget=4000", &format!("--user-data-dir={}", profile.path().display())]);
        command.args(more).arg(format!("http://{address}/{path}")).stdin(Stdio::null());
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let photograph = |name: String, more: &[&str]| {
        let file = folder.join(name);
        let _ = std::fs::remove_file(&file);
        let screenshot = format!("--screenshot={}", file.display());
        run(&[&[screenshot.as_str()], more].concat());
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{} bytes", bytes.len());
    };
    photograph(format!("{picture}.png"), &[]);
    photograph(format!("{picture}-dark.png"), &["--force-dark-mode"]);
    run(&["--dump-dom"])
}

/// Returns the content of an element.
fn content<'d>(document: &'d str, id: &str) -> &'d str {
    let start = document.find(&format!("id=\"{id}\"")).unwrap_or_else(|| panic!("no {id} in {document}"));
    let end = document[start..].find("</section>").map_or(document.len(), |len| start + len);
    &document[start..end]
}

#[test]
#[ignore = "needs chromium: .ci/run page"]
fn browser_shows_graph_problems_rates_and_samples() {
    let domain = Domain::new();
    let (robot, planner) = (domain.join("robot"), domain.join("planner"));
    let (writer, _reader) = (pose_writer(&robot), pose_reader(&planner, "robot/pose"));
    let hidden = robot.publisher(PublisherQos::default().partition(["left"])).unwrap();
    let _hidden = hidden.writer_builder::<crate::support::Pose>("robot/arm").build().unwrap();
    let _arm = pose_reader(&planner, "robot/arm");
    let is_done = AtomicBool::new(false);
    serve(&domain, &[], |address| {
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !is_done.load(Ordering::Relaxed) {
                    writer.write(&pose(7, 1.5)).unwrap();
                    std::thread::sleep(Duration::from_millis(10));
                }
            });
            let looked = std::panic::catch_unwind(|| {
                await_that(|| {
                    let state: Value = serde_json::from_str(&get(address, "/api/state", "").1).unwrap();
                    let rates = state["topics"].as_array()?.iter().map(|topic| topic["rate_hz"].as_f64());
                    let is_complete = rates.flatten().any(|rate| rate > 0.0) && state["pairs"][0].is_object();
                    is_complete.then_some(())
                });
                open(address, "#robot/pose", "page")
            });
            is_done.store(true, Ordering::Relaxed);
            let document = looked.unwrap();
            assert!(document.contains("2 participants, 2 topics"), "{document}");
            assert!(content(&document, "problems").contains("left"), "{document}");
            let graph = content(&document, "graph");
            for part in
                ["robot/arm", "robot/pose", "planner", "class=\"bad\"", "✕", "<title>writer of robot: robot/pose"]
            {
                assert!(graph.contains(part), "{part} in {graph}");
            }
            assert!(content(&document, "topics").contains("robot/pose"), "{document}");
            let inspector = content(&document, "inspector");
            assert!(inspector.contains("\"robot\": 7") && inspector.contains("<polyline"), "{inspector}");
            assert!(document.contains("live, drawn in "), "{document}");
        });
    });
}

/// The state of a domain with 200 participants and 2000 endpoints of 400 topics.
fn large_state() -> Value {
    let endpoint = |topic: usize, number: usize| {
        let participant = (topic * 5 + number) % 200;
        json!({
            "kind": if number < 2 { "writer" } else { "reader" },
            "guid": format!("{topic}.{number}"),
            "participant": format!("robot {participant}"),
            "participant_guid": format!("{participant}"),
            "vendor": "dds-core", "reliable": true, "durability": "volatile", "history": "keep last 1", "partition": [],
        })
    };
    let topic = |topic: usize| {
        json!({
            "topic": format!("topic/{topic}"), "types": ["Pose"], "rate_hz": 100.0, "bytes_per_second": 6400.0,
            "lost": 0, "lost_total": 0, "delay_p50_ns": 40_000, "delay_p99_ns": 90_000,
            "endpoints": (0..5).map(|number| endpoint(topic, number)).collect::<Vec<_>>(),
        })
    };
    let participant = |number: usize| {
        json!({
            "participant": format!("robot {number}"), "vendor": "dds-core", "writers": 4, "readers": 6,
            "socket_dropped": 0,
        })
    };
    json!({
        "problems": [], "problem_count": 0, "pairs": [], "clients": [],
        "topics": (0..400).map(topic).collect::<Vec<_>>(),
        "participants": (0..200).map(participant).collect::<Vec<_>>(),
    })
}

/// A server of the page with a state that never changes. `cargo bench --bench live_view` measures the real server.
///
/// Returns the times between the state and the next request for it. The browser skips the pause between both.
fn answer(listener: &TcpListener, state: &str) -> Vec<Duration> {
    let (mut refreshes, mut answered) = (Vec::new(), None::<Instant>);
    let files = [
        ("/page.js", "text/javascript", include_str!("../../src/live_view/page.js")),
        ("/page.css", "text/css", include_str!("../../src/live_view/page.css")),
        ("/api/state", "application/json", state),
        ("/ ", "text/html", include_str!("../../src/live_view/page.html")),
    ];
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let (mut request, mut part) = (String::new(), [0; 4096]);
        while !request.contains("\r\n\r\n") {
            match stream.read(&mut part) {
                Ok(len) if len > 0 => request += &String::from_utf8_lossy(&part[..len]),
                _ => break,
            }
        }
        let found = files.iter().find(|(path, ..)| request.starts_with(&format!("GET {path}")));
        let (status, kind, body) =
            found.map_or(("404 Not Found", "text/plain", ""), |(_, kind, body)| ("200 OK", kind, body));
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        if request.starts_with("GET /api/state") {
            refreshes.extend(answered.map(|answered| answered.elapsed()));
        }
        // The browser may close a connection that it does not need.
        let _ = write!(stream, "{head}Connection: close\r\n\r\n{body}");
        if request.starts_with("GET /api/state") {
            answered = Some(Instant::now());
        }
        if request.starts_with("GET /end") {
            break;
        }
    }
    refreshes
}

#[test]
#[ignore = "needs chromium: .ci/run page"]
fn browser_draws_a_large_domain() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let state = large_state().to_string();
    let server = std::thread::spawn(move || answer(&listener, &state));
    let document = open(address, "", "large");
    get(address, "/end", "");
    let mut refreshes = server.join().unwrap();
    refreshes.sort_unstable();
    assert!(document.contains("200 participants, 400 topics"), "{document}");
    assert_eq!(content(&document, "topics").matches("<tr>").count(), 400);
    assert!(content(&document, "graph-limit").contains("60 of 400 topics are shown."), "{document}");
    let median = refreshes[refreshes.len() / 2];
    println!("a refresh of 200 participants with 2000 endpoints takes the browser {median:.1?} or less");
}
