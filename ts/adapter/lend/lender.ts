// The side whose files they are: each call is a request to the handler of `serveFiles`.

import { headersOf } from "../server/answers.js";
import { type BackendOf, handlerOf } from "../server/handler.js";
import { checkServer, type FilesServerOptions } from "../server/options.js";
import type { Incoming } from "../server/served.js";
import type { LendSocket } from "./line.js";
import {
  ANSWER,
  Arriving,
  ASK,
  BadFrame,
  END,
  headOf,
  Line,
  MORE,
  PIECE,
  readHead,
  readHeaders,
  Sending,
  STOP,
} from "./line.js";

/** Most calls at once, the handler's own limit apart: each may have a part of a body here. */
const MOST = 256;

interface Call {
  body: Arriving;
  answer: Sending;
  gone: AbortController;
}

/** Answers the calls of a socket; returns what ends that. */
export function lend(
  socket: LendSocket,
  backendOf: BackendOf<Incoming>,
  options: FilesServerOptions | undefined,
): () => void {
  const handle = handlerOf(backendOf, checkServer(options));
  const calls = new Map<number, Call>();
  let isOver = false;

  const begin = (id: number, bytes: Uint8Array) => {
    if (calls.has(id)) throw new BadFrame("a call has the number of another one");
    const { method, path, headers, body: hasBody } = readHead(bytes);
    const isPlain = typeof method === "string" && typeof path === "string" && path.startsWith("/");
    if (!isPlain) throw new BadFrame("a call has no method or path");
    const given = new Map(readHeaders(headers).map(([name, value]) => [name.toLowerCase(), value]));
    if (isOver || calls.size >= MOST) return line.send(STOP, id);
    const call = {
      ...{ body: new Arriving(line, id), answer: new Sending(line, id) },
      gone: new AbortController(),
    };
    calls.set(id, call);
    const { body, gone } = call;
    const cancel = async () => body.broken(new Error("Nothing more is read"));
    const request: Incoming = {
      ...{ method, url: `http://lent.invalid${path}`, signal: gone.signal },
      headers: { get: (name) => given.get(name) ?? null, has: (name) => given.has(name) },
      body: hasBody === true ? { getReader: () => ({ read: () => body.read(), cancel }) } : null,
    };
    void answered(id, call, request);
  };

  const answered = async (id: number, { answer }: Call, request: Incoming) => {
    let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
    try {
      const done = await handle(request);
      const isWhole = !(done instanceof Response);
      const headers = isWhole ? headersOf(done) : Object.fromEntries(done.headers);
      line.send(ANSWER, id, headOf({ status: done.status, headers }));
      if (isWhole) await answer.write(done.body ?? new Uint8Array(0));
      else reader = done.body?.getReader();
      for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
        if (!(await answer.write(next.value))) break;
      }
      line.send(END, id);
    } catch {
      line.send(STOP, id);
    } finally {
      calls.delete(id);
      await reader?.cancel().catch(() => {});
    }
  };

  const stop = (call: Call | undefined) => {
    call?.answer.stop();
    call?.body.broken(new Error("The call was given up"));
    call?.gone.abort();
  };

  const line = new Line(socket, {
    heard(kind, id, bytes) {
      const call = calls.get(id);
      if (kind === ASK) begin(id, bytes);
      else if (kind === PIECE) call?.body.push(bytes);
      else if (kind === END) call?.body.whole();
      else if (kind === MORE) call?.answer.more(bytes);
      else if (kind === STOP) stop(call);
      else throw new BadFrame("a kind of frame that only lenders send, or nobody");
    },
    ended() {
      for (const call of calls.values()) stop(call);
    },
  });
  return () => {
    isOver = true;
    for (const [id, call] of calls) {
      stop(call);
      line.send(STOP, id);
    }
  };
}
