// The side that uses them: a `fetch` whose requests go through a socket.

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

interface Call {
  /** Bytes that its answer may still have. */
  room: number;
  asked: Sending;
  body: Arriving;
  answered(response: Response): void;
  failed(error: Error): void;
}

/** As a connection that is lost: whether a change was made is not known, and it is asked for. */
const gone = () =>
  Object.assign(new TypeError("The page that lends the files has gone away"), {
    code: "ECONNRESET",
  });

/** A `fetch` over a socket, whose answers have at most so many bytes. */
export function fetchOver(socket: LendSocket, most: number) {
  const calls = new Map<number, Call>();
  let last = 0;

  const responseOf = (id: number, call: Call, bytes: Uint8Array): Response => {
    const { status, headers } = readHead(bytes);
    const isBare = status === 204 || status === 304;
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          const { done, value } = await call.body.read();
          call.room -= value?.length ?? 0;
          if (call.room < 0) {
            drop(id);
            throw new TypeError("The answer is larger than maxResultBytes");
          }
          if (value) controller.enqueue(value);
          if (done) controller.close();
        },
        cancel: () => drop(id),
      },
      { highWaterMark: 0 },
    );
    try {
      const given = new Headers(readHeaders(headers));
      return new Response(isBare ? null : body, { status: status as number, headers: given });
    } catch {
      throw new BadFrame("an answer that cannot be");
    }
  };

  /** The answer is not wanted any more. */
  const drop = (id: number) => {
    if (!calls.delete(id)) return;
    line.send(STOP, id);
  };

  const line = new Line(socket, {
    heard(kind, id, bytes) {
      const call = calls.get(id);
      if (kind === ANSWER) call?.answered(responseOf(id, call, bytes));
      else if (kind === PIECE) call?.body.push(bytes);
      else if (kind === MORE) call?.asked.more(bytes);
      else if (kind === END) {
        calls.delete(id);
        call?.asked.stop();
        call?.body.whole();
        // Without a head it is no answer.
        call?.failed(gone());
      } else if (kind === STOP) {
        calls.delete(id);
        call?.failed(gone());
      } else throw new BadFrame("a kind of frame that only borrowers send, or nobody");
    },
    ended() {
      for (const call of calls.values()) call.failed(gone());
      calls.clear();
    },
  });

  return (url: string, init: RequestInit): Promise<Response> =>
    new Promise((resolve, reject) => {
      const { signal } = init;
      if (line.isOver) return reject(gone());
      signal?.throwIfAborted();
      const id = (last % 0xffffffff) + 1;
      last = id;
      const { pathname, search, searchParams } = new URL(url);
      const call: Call = {
        // Changes are told as long as somebody listens, who has a bound for each of them.
        room: searchParams.has("watch") ? Number.POSITIVE_INFINITY : most,
        ...{ asked: new Sending(line, id), body: new Arriving(line, id) },
        answered: resolve,
        failed(error) {
          call.asked.stop();
          call.body.broken(error);
          reject(error);
        },
      };
      calls.set(id, call);
      signal?.addEventListener("abort", () => {
        if (!calls.has(id)) return;
        drop(id);
        call.failed(gone());
      });
      const body = init.body as Uint8Array | Blob | ReadableStream<Uint8Array> | undefined;
      const head = {
        ...{ method: init.method ?? "GET", path: pathname + search, body: Boolean(body) },
        headers: Object.fromEntries(new Headers(init.headers)),
      };
      line.send(ASK, id, headOf(head));
      if (!body) return;
      sent(call.asked, body).then(
        (isWhole) => isWhole && line.send(END, id),
        (error) => {
          drop(id);
          call.failed(error);
        },
      );
    });
}

/** Sends a body; false if nothing more of it is wanted. */
async function sent(
  asked: Sending,
  body: Uint8Array | Blob | ReadableStream<Uint8Array>,
): Promise<boolean> {
  if (body instanceof Uint8Array) return asked.write(body);
  const reader = (body instanceof Blob ? body.stream() : body).getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      if (!(await asked.write(value))) return false;
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}
