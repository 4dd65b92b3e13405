// A relay on loopback between a backend and a server, of bytes and not of requests: it holds what
// a client sends back for a while, counts, and takes next to no time of its own. On a connection
// of HTTP/1.1 one request follows another, so what is held back is each request, and those on
// other connections do not wait for it.

import { once } from "node:events";
import { connect, createServer } from "node:net";
import { Worker } from "node:worker_threads";

const REQUEST = /^(?:GET|HEAD|PUT|POST|DELETE) \S+/;

/** Starts a relay before `endpoint`: `{ endpoint, log, received, stop }`. */
export async function startRelay(endpoint, latencyMs = 0) {
  const target = new URL(endpoint);
  const sockets = new Set();
  const state = { log: [], received: 0, endpoint: "", stop: undefined };
  const later = latencyMs > 0 ? (run) => setTimeout(run, latencyMs) : (run) => run();
  const server = createServer({ noDelay: true }, (client) => {
    const upstream = connect({ host: target.hostname, port: target.port, noDelay: true });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ]) {
      sockets.add(socket);
      socket.on("error", () => other.destroy());
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroySoon();
      });
    }
    client.on("data", (chunk) => {
      const request = REQUEST.exec(chunk.toString("latin1", 0, 4096));
      if (request) state.log.push(request[0]);
      later(() => upstream.writable && upstream.write(chunk));
    });
    upstream.on("data", (chunk) => {
      state.received += chunk.length;
      if (client.writable) client.write(chunk);
    });
  });
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  state.endpoint = `http://127.0.0.1:${server.address().port}`;
  state.stop = () => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => server.close(resolve));
  };
  return state;
}

/** A relay in a thread of its own, so that it costs the client nothing: `{ endpoint, log, stop }`. */
export async function startRelayThread(endpoint, latencyMs) {
  const source = `
    import { parentPort, workerData } from "node:worker_threads";
    import { startRelay } from ${JSON.stringify(import.meta.url)};
    const relay = await startRelay(workerData.endpoint, workerData.latencyMs);
    parentPort.on("message", () => parentPort.postMessage(relay.log.splice(0)));
    parentPort.postMessage(relay.endpoint);
  `;
  return thread(source, { endpoint, latencyMs });
}

/** A thread that names its endpoint first, and then, each time it is asked, its log. */
export async function thread(source, workerData) {
  const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(source)}`), {
    workerData,
  });
  const heard = async () => {
    const [answer] = await once(worker, "message");
    return answer;
  };
  const endpoint = await heard();
  return {
    endpoint,
    /** The requests since the last time. */
    log() {
      const answer = heard();
      worker.postMessage("log");
      return answer;
    },
    stop: () => worker.terminate(),
  };
}
