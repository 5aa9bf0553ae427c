//! The page of `serve` in a real browser without a window. `DDS_TEST_SCREENSHOTS` names the folder of its pictures.

#![allow(clippy::disallowed_methods, reason = "the browser is another process")]

use crate::serving::{await_that, get, serve};
use crate::support::{Domain, pose, pose_reader, pose_writer};
use dds_core::qos::PublisherQos;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

/// A browser without a window.
fn browser(profile: &Path) -> Command {
    let mut command = Command::new(std::env::var("DDS_TEST_BROWSER").unwrap_or_else(|_| "chromium".to_owned()));
    command.args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--window-size=1200,1400"]);
    command.arg(format!("--user-data-dir={}", profile.display())).stdin(Stdio::null());
    command
}

/// Opens a page for a few refreshes, and returns the standard output.
fn open(address: SocketAddr, path: &str, options: &[&str]) -> String {
    let profile = tempfile::tempdir().unwrap();
    let mut command = browser(profile.path());
    // The time of the page, which stands still during its requests.
    command.arg("--virtual-time-budget=4000").args(options).arg(format!("http://{address}/{path}"));
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Takes a light and a dark picture of a page.
fn photograph(address: SocketAddr, path: &str, picture: &str) {
    let folder = PathBuf::from(std::env::var_os("DDS_TEST_SCREENSHOTS").expect("the folder of the pictures"));
    for (name, options) in [(picture.to_owned(), &[][..]), (format!("{picture}-dark"), &["--force-dark-mode"][..])] {
        let file = folder.join(name).with_extension("png");
        let _ = std::fs::remove_file(&file);
        let screenshot = format!("--screenshot={}", file.display());
        open(address, path, &[&[screenshot.as_str()], options].concat());
        let bytes = std::fs::read(&file).unwrap();
        assert!(bytes.starts_with(b"\x89PNG") && bytes.len() > 10_000, "{} bytes", bytes.len());
    }
}

/// Returns the document of a page after a few refreshes.
fn document(address: SocketAddr, path: &str) -> String {
    open(address, path, &["--dump-dom"])
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
                photograph(address, "#robot/pose", "page");
                document(address, "#robot/pose")
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

/// The state of a domain with 200 participants and 2000 endpoints of 400 topics. Each answer has other rates.
fn large_state(answers: usize) -> String {
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
            "topic": format!("topic/{topic}"), "types": ["Pose"],
            "rate_hz": 100 + answers, "bytes_per_second": 64 * (100 + answers),
            "lost": 0, "lost_total": 0, "delay_p50_ns": 40_000 + 1000 * answers, "delay_p99_ns": 90_000 + 1000 * answers,
            "endpoints": (0..5).map(|number| endpoint(topic, number)).collect::<Vec<_>>(),
        })
    };
    let participant = |number: usize| {
        json!({
            "participant": format!("robot {number}"), "vendor": "dds-core", "writers": 4, "readers": 6,
            "socket_dropped": 0,
        })
    };
    let state = json!({
        "problems": [], "problem_count": 0, "pairs": [], "clients": [],
        "topics": (0..400).map(topic).collect::<Vec<_>>(),
        "participants": (0..200).map(participant).collect::<Vec<_>>(),
    });
    state.to_string()
}

/// Tells the server the time of each redraw in milliseconds, with layout and painting.
///
/// With the path `#end`, the user scrolls to the last topic after the first redraw.
const SCRIPT: &str = "
{
  const drawn = draw;
  draw = () => {
    const start = performance.now();
    drawn();
    if (location.hash === \"#end\") byId(\"topics\").closest(\".box\").scrollTop = 1e6;
    requestAnimationFrame(() => setTimeout(() => fetch(`drawn/${performance.now() - start}`)));
  };
}
";

/// A server of the page of a large domain. `cargo bench --bench live_view` measures the real server.
///
/// Ends with the request `/end`.
fn answer(listener: &TcpListener, redraws: &Sender<f64>) {
    let mut answers = 0;
    let script = [include_str!("../../src/live_view/page.js"), SCRIPT].concat();
    for stream in listener.incoming() {
        let mut stream = stream.unwrap();
        let (mut request, mut part) = (String::new(), [0; 4096]);
        while !request.contains("\r\n\r\n") {
            match stream.read(&mut part) {
                Ok(len) if len > 0 => request += &String::from_utf8_lossy(&part[..len]),
                _ => break,
            }
        }
        let path = request.split(' ').nth(1).unwrap_or_default();
        let (status, kind, body) = match path {
            "/page.js" => ("200 OK", "text/javascript", script.clone()),
            "/page.css" => ("200 OK", "text/css", include_str!("../../src/live_view/page.css").to_owned()),
            "/" => ("200 OK", "text/html", include_str!("../../src/live_view/page.html").to_owned()),
            "/api/state" => ("200 OK", "application/json", large_state(answers)),
            _ => ("404 Not Found", "text/plain", String::new()),
        };
        answers += usize::from(path == "/api/state");
        if let Some(time) = path.strip_prefix("/drawn/") {
            redraws.send(time.parse().unwrap()).unwrap();
        }
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n", body.len());
        // The browser may close a connection that it does not need.
        let _ = write!(stream, "{head}Connection: close\r\n\r\n{body}");
        if path == "/end" {
            break;
        }
    }
}

/// Returns the median time of ten redraws in real time, in milliseconds. The first one makes all rows.
fn median_redraw(address: SocketAddr, redraws: &Receiver<f64>) -> f64 {
    let profile = tempfile::tempdir().unwrap();
    let mut command = browser(profile.path());
    // With a port for a debugger, the browser stays until its end by a signal.
    command.arg("--remote-debugging-port=0").arg(format!("http://{address}/")).stderr(Stdio::null());
    let mut running = command.spawn().unwrap();
    let times: Result<Vec<f64>, _> = (0..11).map(|_| redraws.recv_timeout(Duration::from_secs(60))).collect();
    running.kill().unwrap();
    running.wait().unwrap();
    let mut times = times.unwrap().split_off(1);
    times.sort_unstable_by(f64::total_cmp);
    times[times.len() / 2]
}

/// The rate of each topic in a document.
fn rates(document: &str) -> Vec<f64> {
    let rows = content(document, "topics").split("<tr>").skip(1);
    rows.map(|row| row.split("<td class=\"number\">").nth(3).unwrap().split('<').next().unwrap().parse().unwrap())
        .collect()
}

#[test]
#[ignore = "needs chromium: .ci/run page"]
fn browser_draws_a_large_domain() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (sender, redraws) = channel();
    let server = std::thread::spawn(move || answer(&listener, &sender));
    photograph(address, "", "large");
    let (start, end) = (document(address, ""), document(address, "#end"));
    // In virtual time, a redraw takes no time.
    while redraws.try_recv().is_ok() {}
    let median = median_redraw(address, &redraws);
    get(address, "/end", "");
    server.join().unwrap();
    assert!(start.contains("200 participants, 400 topics"), "{start}");
    assert!(content(&start, "graph-limit").contains("60 of 400 topics are shown."), "{start}");
    // Each refresh writes the rows that the user sees.
    let (first, last) = (rates(&start), rates(&end));
    assert_eq!((first.len(), last.len()), (400, 400));
    assert!(first[0] > first[399] && last[0] < last[399], "{first:?} {last:?}");
    println!("the browser redraws 200 participants with 2000 endpoints in {median:.0} ms");
}
