// Changes as server-sent events. An event's id says up to where a client has heard: one that comes back
// with the id of another connection may have missed changes, and is told to list the files again.

import { safe } from "./answers.js";
import type { Incoming, Served } from "./served.js";
import { BadRequest, utf8 } from "./wire.js";

/** A line without meaning is sent as often, so that proxies keep the connection open. */
const HEARTBEAT_MS = 15_000;
/** Bytes that wait for a client that reads slowly; with more the connection is closed. */
const WAITING_BYTES = 1 << 20;

/** The answer to `GET ?watch=PATH`; `ended` is called once, when nobody listens any more. */
export function watched(
  request: Incoming,
  backend: Served,
  path: string,
  ended: () => void,
): Response | undefined {
  const { watch } = backend;
  if (!watch) return undefined;
  if (!path.startsWith("/") || path.split("/").includes("..")) {
    throw new BadRequest("The path to watch must begin with / and have no ..", "invalid_path");
  }
  const name = crypto.randomUUID();
  let stop = () => {};
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        let count = 0;
        let over = false;
        const send = (text: string) => {
          if (over) return;
          if ((controller.desiredSize ?? 0) <= 0) {
            stop();
            controller.close();
          } else controller.enqueue(utf8(text));
        };
        const tell = (changes: object) => {
          send(`id: ${name}.${count}\ndata: ${JSON.stringify(changes)}\n\n`);
          count += 1;
        };
        const forget = watch(path, ({ paths, rescan }) =>
          tell(rescan ? { paths, rescan } : { paths }),
        );
        const timer = setInterval(() => send(":\n\n"), HEARTBEAT_MS);
        // It is the connection that keeps a process alive, not what is sent over it.
        (timer as { unref?: () => void }).unref?.();
        const away = () => {
          stop();
          controller.close();
        };
        stop = () => {
          if (over) return;
          over = true;
          clearInterval(timer);
          forget();
          request.signal.removeEventListener("abort", away);
          ended();
        };
        request.signal.addEventListener("abort", away);
        const missed = request.headers.get("last-event-id") !== null;
        tell({ paths: [], ...(missed ? { rescan: true } : {}) });
        if (request.signal.aborted) away();
      },
      cancel: () => stop(),
    },
    new ByteLengthQueuingStrategy({ highWaterMark: WAITING_BYTES }),
  );
  return new Response(body, {
    headers: { ...safe(), "cache-control": "no-store", "content-type": "text/event-stream" },
  });
}
