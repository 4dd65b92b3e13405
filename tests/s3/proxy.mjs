// A proxy on loopback between a backend and an S3 server: counts, delays, and does by a seeded
// script everything that networks and servers do wrong.

import { createServer, request } from "node:http";

/** A small generator of numbers from 0 up to 1 (mulberry32), the same for the same seed. */
export function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** What can go wrong, with how often among a thousand requests. */
const FAULTS = [
  ["dropBefore", 30],
  ["dropDuringRequest", 25],
  ["dropAfter", 40],
  ["dropDuringAnswer", 25],
  ["answer500", 20],
  ["answer503", 20],
  ["answer429", 20],
  ["forward503", 20],
  ["delay", 40],
  ["truncate", 25],
  ["corruptAnswer", 20],
  ["corruptRequest", 20],
  ["hang", 8],
];

/** A script of faults by a seed. */
export function seededFaults(seed) {
  const next = random(seed);
  const counts = {};
  const pick = () => {
    let at = next() * 1000;
    for (const [name, weight] of FAULTS) {
      at -= weight;
      if (at < 0) {
        counts[name] = (counts[name] ?? 0) + 1;
        return name;
      }
    }
    return "none";
  };
  return { pick, next, counts };
}

/** Starts a proxy before `endpoint`: `{ endpoint, log, faults, latencyMs, stop }`. */
export async function startProxy(endpoint) {
  const target = new URL(endpoint);
  const state = {
    log: [],
    spoiled: 0,
    faults: undefined,
    latencyMs: 0,
    stop: undefined,
    endpoint: "",
  };
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, outgoing) => {
    const chunks = [];
    incoming.on("data", (chunk) => chunks.push(chunk));
    incoming.on("error", () => {});
    outgoing.on("error", () => {});
    incoming.on("end", () => {
      const body = Buffer.concat(chunks);
      const line = `${incoming.method} ${incoming.url}`;
      state.log.push(line);
      handle(target, state, incoming, body, outgoing);
    });
  });
  server.on("clientError", (_, socket) => socket.destroy());
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.endpoint = `http://127.0.0.1:${server.address().port}`;
  state.stop = () => {
    server.closeAllConnections();
    return new Promise((resolve) => server.close(resolve));
  };
  return state;
}

function plain(outgoing, status, headers = {}) {
  outgoing.writeHead(status, {
    "content-length": "0",
    "access-control-allow-origin": "*",
    ...headers,
  });
  outgoing.end();
}

function flipped(body, next) {
  const copy = Buffer.from(body);
  if (copy.length > 0) copy[Math.floor(next() * copy.length)] ^= 1 << Math.floor(next() * 7);
  return copy;
}

function handle(target, state, incoming, body, outgoing) {
  const faults = state.faults;
  const fault = faults?.pick() ?? "none";
  const drop = () => outgoing.destroy();
  switch (fault) {
    case "dropBefore":
      return drop();
    case "answer500":
      return plain(outgoing, 500);
    case "answer503":
      return plain(outgoing, 503, { "retry-after": "0" });
    case "answer429":
      return plain(outgoing, 429, { "retry-after": "0" });
    case "hang":
      return undefined;
    default:
  }
  const wait = state.latencyMs + (fault === "delay" ? faults.next() * 150 : 0);
  const go = () => forward(state, target, fault, faults, incoming, body, outgoing, drop);
  return wait > 0 ? setTimeout(go, wait) : go();
}

function forward(state, target, fault, faults, incoming, body, outgoing, drop) {
  // A client that is gone gets nothing done any more.
  if (outgoing.destroyed) return;
  const sent = fault === "corruptRequest" ? flipped(body, faults.next) : body;
  const upstream = request({
    host: target.hostname,
    port: target.port,
    method: incoming.method,
    path: incoming.url,
    headers: incoming.headers,
    agent: undefined,
  });
  upstream.on("error", drop);
  upstream.on("response", (response) => {
    const chunks = [];
    response.on("data", (chunk) => chunks.push(chunk));
    response.on("error", drop);
    response.on("end", () => {
      if (fault === "dropAfter") return drop();
      if (fault === "forward503") return plain(outgoing, 503, { "retry-after": "0" });
      let answer = Buffer.concat(chunks);
      const headers = { ...response.headers };
      if (incoming.method !== "HEAD") delete headers["transfer-encoding"];
      if (fault === "corruptAnswer") {
        answer = flipped(answer, faults.next);
        if (/[?&]list-type=/.test(incoming.url)) state.spoiled += 1;
      }
      if (fault === "truncate") {
        // Cut short without a word: no length, a proper end.
        delete headers["content-length"];
        answer = answer.subarray(0, Math.floor(faults.next() * answer.length));
      }
      outgoing.writeHead(response.statusCode, headers);
      if (fault === "dropDuringAnswer" && answer.length > 1) {
        outgoing.write(answer.subarray(0, answer.length >> 1), drop);
        return undefined;
      }
      return outgoing.end(answer);
    });
  });
  if (fault === "dropDuringRequest" && sent.length > 1) {
    upstream.write(sent.subarray(0, sent.length >> 1), () => {
      upstream.destroy();
      drop();
    });
    return;
  }
  upstream.end(sent);
}
