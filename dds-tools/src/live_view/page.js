"use strict";
// Asks the server for its state each second and draws it. All text is set as text, never as HTML.
const HISTORY = 120, TOPICS_SHOWN = 500, GRAPH_TOPICS = 60;
const token = new URLSearchParams(location.search).get("token");
const byId = id => document.getElementById(id);
const past = new Map();
// The address can name a topic: `/#robot/pose`. A text such as `%` is no encoded name, and stands for itself.
const decoded = text => { try { return decodeURIComponent(text); } catch { return text; } };
let selected = decoded(location.hash.slice(1)) || null, state = null;

function address(path, parameters = {}) {
  const query = new URLSearchParams(parameters);
  if (token) query.set("token", token);
  const text = query.toString();
  return text ? `${path}?${text}` : path;
}

function element(name, text, className) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  if (className) made.className = className;
  return made;
}

function shape(name, attributes, text) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

const isNumber = value => typeof value === "number";
const bytes = value => value >= 1e6 ? `${(value / 1e6).toFixed(2)} MB` : value >= 1e3 ? `${(value / 1e3).toFixed(2)} kB` : `${value.toFixed(0)} B`;
const milliseconds = value => isNumber(value) ? `${(value / 1e6).toFixed(3)} ms` : "-";
const short = (text, length) => text.length > length ? `${text.slice(0, length - 1)}…` : text;
const limitText = (found, shown) => found > shown ? `${shown} of ${found} topics are shown.` : "";
const count = (topic, kind) => topic.endpoints.filter(endpoint => endpoint.kind === kind).length;

function remember() {
  const present = new Set(state.topics.map(topic => topic.topic));
  for (const name of past.keys()) if (!present.has(name)) past.delete(name);
  for (const topic of state.topics) {
    const points = past.get(topic.topic) ?? [];
    points.push({ rate: topic.rate_hz, p50: topic.delay_p50_ns, p99: topic.delay_p99_ns });
    if (points.length > HISTORY) points.shift();
    past.set(topic.topic, points);
  }
}

function drawProblems() {
  const list = state.problems.map(text => element("li", text));
  const more = state.problem_count - state.problems.length;
  if (more > 0) list.push(element("li", `and ${more} more`));
  if (list.length === 0) list.push(element("li", "none", "good"));
  byId("problems").replaceChildren(...list);
}

// Writes only what differs from the last call, so the browser lays out and paints nothing else.
function setText(target, text) {
  if (target.textContent !== text) target.textContent = text;
}

function setClass(target, className) {
  if (target.className !== className) target.className = className;
}

const numeric = value => ({ text: String(value), isNumeric: true });

// Returns a function that tells whether the user sees the row with an index. It counts some rows around the box as seen.
function visibleRows(body) {
  const box = body.closest(".box"), height = body.rows[0]?.offsetHeight;
  if (!box || !height) return () => true;
  const first = box.scrollTop / height, last = (box.scrollTop + box.clientHeight) / height;
  return index => index > first - 10 && index < last + 10;
}

// Keeps the rows of the last call, because new rows cost a layout of the whole table. Scrolling writes the rows that were
// out of sight. A cell is a text or `numeric`.
function setRows(body, rows) {
  while (body.rows.length > rows.length) body.deleteRow(-1);
  const isVisible = visibleRows(body);
  rows.forEach(({ cells, className = "" }, index) => {
    const present = body.rows[index];
    if (present && !isVisible(index)) return;
    const made = present ?? body.insertRow();
    setClass(made, className);
    cells.forEach((cell, column) => {
      const target = made.cells[column] ?? made.insertCell();
      setClass(target, cell.isNumeric ? "number" : "");
      setText(target, cell.text ?? String(cell));
    });
  });
}

let topicsShown = [];

function drawTopics() {
  const wanted = byId("filter").value;
  const found = state.topics.filter(topic => topic.topic.includes(wanted));
  setText(byId("topics-limit"), limitText(found.length, TOPICS_SHOWN));
  topicsShown = found.slice(0, TOPICS_SHOWN);
  setRows(byId("topics"), topicsShown.map(topic => ({
    cells: [topic.topic, topic.types.join(" "), numeric(count(topic, "writer")), numeric(count(topic, "reader")),
      numeric(topic.rate_hz.toFixed(1)), numeric(bytes(topic.bytes_per_second)), numeric(topic.lost), numeric(topic.lost_total),
      numeric(milliseconds(topic.delay_p50_ns)), numeric(milliseconds(topic.delay_p99_ns))],
    className: [topic.lost > 0 ? "bad" : "", topic.topic === selected ? "selected" : ""].join(" ").trim(),
  })));
}

function selectTopic(event) {
  const clicked = event.target.closest("tr");
  if (!clicked) return;
  selected = topicsShown[clicked.sectionRowIndex].topic;
  location.hash = encodeURIComponent(selected);
  draw();
  inspect();
}

function drawTables() {
  setRows(byId("participants"), state.participants.map(found => ({
    cells: [found.participant, found.vendor, numeric(found.writers), numeric(found.readers), numeric(found.socket_dropped ?? "-")],
    className: found.socket_dropped > 0 ? "bad" : "",
  })));
  byId("client-section").hidden = state.clients.length === 0;
  setRows(byId("clients"), state.clients.map(client => ({
    cells: [client.address, numeric(client.sent), numeric(client.dropped)],
    className: client.dropped > 0 ? "bad" : "",
  })));
}

// The content of the drawn graph. It seldom changes, and drawing it costs most of a refresh.
let graphDrawn = null;

// Participants with writers stand left, topics in the middle, participants with readers right.
function drawGraph() {
  const bad = new Map();
  for (const pair of state.pairs) {
    const text = pair.report.obstacles.map(obstacle => `${obstacle.reason}; ${obstacle.next_step}`).join("\n");
    for (const guid of pair.endpoints) bad.set(guid, text);
  }
  const unmatched = topic => topic.endpoints.some(endpoint => bad.has(endpoint.guid));
  const topics = [...state.topics].sort((a, b) => unmatched(b) - unmatched(a)).slice(0, GRAPH_TOPICS);
  setText(byId("graph-limit"), limitText(state.topics.length, GRAPH_TOPICS));
  const columns = { writer: new Map(), topic: new Map(), reader: new Map() };
  const edges = new Map();
  for (const topic of topics) {
    columns.topic.set(topic.topic, topic.topic);
    for (const endpoint of topic.endpoints) {
      columns[endpoint.kind].set(endpoint.participant_guid, endpoint.participant);
      const key = `${endpoint.kind} ${endpoint.participant_guid} ${topic.topic}`;
      const edge = edges.get(key) ?? { endpoint, topic: topic.topic, obstacle: null };
      edge.obstacle ??= bad.get(endpoint.guid) ?? null;
      edges.set(key, edge);
    }
  }
  const content = JSON.stringify([Object.values(columns).map(column => [...column]), [...edges]]);
  if (content === graphDrawn) return;
  graphDrawn = content;
  const rowHeight = 34, width = 1100;
  const height = Math.max(1, ...Object.values(columns).map(column => column.size)) * rowHeight + 20;
  const place = { writer: 10, topic: 400, reader: 790 }, boxWidth = 300;
  const centers = {}, parts = [], lines = [];
  for (const [kind, column] of Object.entries(columns)) {
    const step = height / Math.max(1, column.size);
    centers[kind] = new Map();
    [...column].forEach(([key, name], index) => {
      const y = step * (index + .5);
      centers[kind].set(key, y);
      const group = shape("g", { class: kind });
      group.append(shape("rect", { x: place[kind], y: y - 11, width: boxWidth, height: 22, rx: 5 }),
        shape("text", { x: place[kind] + 8, y: y + 4 }, short(name, 44)), shape("title", {}, name));
      parts.push(group);
    });
  }
  for (const { endpoint, topic, obstacle } of edges.values()) {
    const isWriter = endpoint.kind === "writer";
    const from = isWriter ? place.writer + boxWidth : place.topic + boxWidth;
    const to = isWriter ? place.topic : place.reader;
    const participant = centers[endpoint.kind].get(endpoint.participant_guid), middle = centers.topic.get(topic);
    const [y1, y2] = isWriter ? [participant, middle] : [middle, participant];
    const line = shape("path", { d: `M${from} ${y1} C${from + 45} ${y1} ${to - 45} ${y2} ${to} ${y2}` });
    line.append(shape("title", {}, obstacle ?? `${endpoint.kind} of ${endpoint.participant}: ${topic}`));
    if (obstacle) {
      line.setAttribute("class", "bad");
      lines.push(shape("text", { class: "bad", x: (from + to) / 2 - 5, y: (y1 + y2) / 2 - 4 }, "✕"));
    }
    lines.unshift(line);
  }
  const graph = byId("graph");
  graph.setAttribute("viewBox", `0 0 ${width} ${height}`);
  graph.setAttribute("width", width);
  graph.setAttribute("height", height);
  graph.replaceChildren(...lines, ...parts);
}

function plot(id, series) {
  const values = series.flat().filter(isNumber);
  const top = Math.max(1e-9, ...values) * 1.1;
  const lines = series.map((points, index) => shape("polyline", { class: index ? "second" : "first",
    points: points.map((value, at) => isNumber(value) ? `${at * 400 / HISTORY},${118 - value / top * 105}` : "").join(" ") }));
  byId(id).replaceChildren(shape("text", { x: 3, y: 10 }, top.toPrecision(3)), ...lines);
}

function drawInspector() {
  const topic = state.topics.find(topic => topic.topic === selected);
  byId("inspector").hidden = !topic;
  if (!topic) return;
  byId("inspected").textContent = topic.topic;
  const points = past.get(topic.topic) ?? [];
  plot("rate-plot", [points.map(point => point.rate)]);
  const toMilliseconds = key => points.map(point => isNumber(point[key]) ? point[key] / 1e6 : null);
  plot("delay-plot", [toMilliseconds("p50"), toMilliseconds("p99")]);
  byId("endpoints").replaceChildren(...topic.endpoints.map(endpoint => element("li",
    `${endpoint.kind} of ${endpoint.participant} (${endpoint.vendor}): ${endpoint.reliable ? "reliable" : "best effort"}, ` +
    `${endpoint.durability}, ${endpoint.history}${endpoint.partition.length ? `, partition ${endpoint.partition.join(" ")}` : ""}`)));
}

async function inspect() {
  if (selected === null) return;
  const answer = await fetch(address("api/sample", { topic: selected }));
  const sample = answer.ok ? await answer.json() : null;
  if (!sample || sample.topic !== selected) return;
  byId("sample-info").textContent = sample.text === undefined ? "no sample has arrived yet" :
    `last sample: ${sample.bytes} bytes, received ${new Date(sample.reception_ns / 1e6).toISOString()}`;
  byId("sample").textContent = sample.text ?? "";
}

function draw() {
  byId("summary").textContent = `${state.participants.length} participants, ${state.topics.length} topics`;
  drawProblems();
  drawGraph();
  drawTopics();
  drawInspector();
  drawTables();
}

async function refresh() {
  const connection = byId("connection");
  try {
    const answer = await fetch(address("api/state"));
    if (!answer.ok) throw new Error(await answer.text());
    state = await answer.json();
    remember();
    const start = performance.now();
    draw();
    await inspect();
    connection.className = "good";
    connection.textContent = `live, drawn in ${(performance.now() - start).toFixed(0)} ms`;
  } catch (error) {
    connection.className = "bad";
    connection.textContent = `not connected: ${error.message}`;
  }
  setTimeout(refresh, 1000);
}

byId("topics").addEventListener("click", selectTopic);
byId("filter").addEventListener("input", () => { if (state) drawTopics(); });
for (const box of document.querySelectorAll(".box")) {
  box.addEventListener("scroll", () => { if (state) { drawTopics(); drawTables(); } }, { passive: true });
}
refresh();
