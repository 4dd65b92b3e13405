// The body of a large `PUT`, which is read while it is stored. It may take long in all, but each piece of it
// has a time limit, and so has the storage when the last one is there.

import { NEW } from "../../core/parts.js";
import type { Arriving, Incoming } from "./served.js";
import { PIECE } from "./stored.js";
import { BadRequest, joined } from "./wire.js";

interface Limits {
  maxBodyBytes: number;
  maxUploadBytes: number;
  timeoutMs: number;
}

/** Whether a file is stored only where there is none. */
const isNew = (headers: Incoming["headers"]) => headers.get("if-none-match")?.trim() === "*";

/** The size of a body that may be read while it is stored; undefined for one that is read at once. */
function sizeOf({ headers }: Incoming): number | undefined {
  // Whether a version is still there is judged by the whole file.
  if (headers.has("if-match") || (headers.has("if-none-match") && !isNew(headers)))
    return undefined;
  const [announced, told] = ["content-length", "x-kitbag-size"].map((name) => headers.get(name));
  const given = told ?? announced;
  if (given === null || given === undefined) return undefined;
  if (!/^\d{1,15}$/.test(given) || (told && announced && told !== announced)) {
    throw new BadRequest(
      "The headers x-kitbag-size and content-length must be one number of bytes",
    );
  }
  return Number(given);
}

/** The body of a request that stores a large file; undefined for one that is read at once. */
export function arriving(request: Incoming, limits: Limits): Arriving | undefined {
  const size = sizeOf(request);
  if (size === undefined || size <= PIECE || !request.body) return undefined;
  const { maxBodyBytes, maxUploadBytes, timeoutMs } = limits;
  if (size > maxUploadBytes) {
    throw new BadRequest(`A file must have at most ${maxUploadBytes} bytes here`, "too_large");
  }
  const controller = new AbortController();
  const { signal } = controller;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isOver = false;
  const wait = () => {
    clearTimeout(timer);
    if (!isOver) timer = setTimeout(() => controller.abort(), timeoutMs);
  };
  let reader: ReturnType<NonNullable<Incoming["body"]>["getReader"]> | undefined;
  let isWhole = false;
  const stop = () => void reader?.cancel().catch(() => {});
  signal.addEventListener("abort", stop);
  const stream = () => {
    if (reader) throw new Error("The body of a request can be read once");
    const from = request.body?.getReader();
    reader = from;
    let [read, since] = [0, 0];
    return new ReadableStream<Uint8Array>(
      {
        async pull(to) {
          const { done, value } = (await from?.read()) ?? {};
          if (done || !value || signal.aborted) {
            isWhole = read === size;
            wait();
            to.close();
            return;
          }
          read += value.length;
          if (read > size) throw new BadRequest("The body is larger than was said");
          since += value.length;
          if (since >= PIECE) {
            since = 0;
            wait();
          }
          to.enqueue(value);
        },
        cancel: stop,
      },
      { highWaterMark: 0 },
    );
  };
  return {
    ...{ size, most: maxBodyBytes, stream },
    ...(isNew(request.headers) ? { [NEW]: true } : {}),
    get isWhole() {
      return isWhole;
    },
    get isLate() {
      return signal.aborted;
    },
    begin() {
      wait();
      const end = () => {
        isOver = true;
        clearTimeout(timer);
        signal.removeEventListener("abort", stop);
      };
      return { signal, end };
    },
  };
}

/** All of its bytes, for a backend that answers at once. */
export async function gathered(body: Arriving): Promise<Uint8Array<ArrayBuffer>> {
  if (body.size > body.most) {
    throw new BadRequest(`The body must be at most ${body.most} bytes here`, "too_large");
  }
  const pieces: Uint8Array[] = [];
  const reader = body.stream().getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value);
  }
  if (body.isLate) throw new BadRequest("The body did not arrive in time", "timeout");
  if (!body.isWhole) throw new BadRequest("The body did not arrive whole");
  return joined(pieces);
}
