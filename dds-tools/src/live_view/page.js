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

function row(cells, isBad) {
  const made = element("tr", undefined, isBad ? "bad" : undefined);
  for (const cell of cells) {
    const [text, isNumeric] = Array.isArray(cell) ? cell : [cell, false];
    made.append(element("td", String(text), isNumeric ? "number" : undefined));
  }
  return made;
}

function drawTopics() {
  const wanted = byId("filter").value;
  const rows = [], found = state.topics.filter(topic => topic.topic.includes(wanted));
  byId("topics-limit").textContent = limitText(found.length, TOPICS_SHOWN);
  for (const topic of found.slice(0, TOPICS_SHOWN)) {
    const made = row([topic.topic, topic.types.join(" "), [count(topic, "writer"), true], [count(topic, "reader"), true],
      [topic.rate_hz.toFixed(1), true], [bytes(topic.bytes_per_second), true], [topic.lost, true], [topic.lost_total, true],
      [milliseconds(topic.delay_p50_ns), true], [milliseconds(topic.delay_p99_ns), true]], topic.lost > 0);
    if (topic.topic === selected) made.classList.add("selected");
    made.addEventListener("click", () => { selected = topic.topic; location.hash = encodeURIComponent(selected); draw(); inspect(); });
    rows.push(made);
  }
  byId("topics").replaceChildren(...rows);
}

function drawTables() {
  byId("participants").replaceChildren(...state.participants.map(found => row([found.participant, found.vendor,
    [found.writers, true], [found.readers, true], [found.socket_dropped ?? "-", true]], found.socket_dropped > 0)));
  byId("client-section").hidden = state.clients.length === 0;
  byId("clients").replaceChildren(...state.clients.map(client => row([client.address, [client.sent, true],
    [client.dropped, true]], client.dropped > 0)));
}

// Participants with writers stand left, topics in the middle, participants with readers right.
function drawGraph() {
  const bad = new Map();
  for (const pair of state.pairs) {
    const text = pair.report.obstacles.map(obstacle => `${obstacle.reason}; ${obstacle.next_step}`).join("\n");
    for (const guid of pair.endpoints) bad.set(guid, text);
  }
  const unmatched = topic => topic.endpoints.some(endpoint => bad.has(endpoint.guid));
  const topics = [...state.topics].sort((a, b) => unmatched(b) - unmatched(a)).slice(0, GRAPH_TOPICS);
  byId("graph-limit").textContent = limitText(state.topics.length, GRAPH_TOPICS);
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

byId("filter").addEventListener("input", () => { if (state) drawTopics(); });
refresh();
