// Two ends of a socket in this process. Messages arrive later, in order, as copies.

import { setTimeout as later } from "node:timers/promises";

class End extends EventTarget {
  binaryType = "blob";
  readyState = 1;
  other;
  /** What was sent, without the contents of bodies: kind, call, length. */
  sent = [];

  send(data) {
    if (this.readyState !== 1) throw new Error("The socket is not open");
    if (typeof data !== "string") this.sent.push([data[0], data.length - 5]);
    const copy = typeof data === "string" ? data : data.slice().buffer;
    const { other } = this;
    setImmediate(() => {
      if (other.readyState !== 1) return;
      other.dispatchEvent(Object.assign(new Event("message"), { data: copy }));
    });
  }

  /** Sends frames that arrive together, so that nothing is done between them. */
  burst(frames) {
    setImmediate(() => {
      for (const one of frames) {
        const data = one.slice().buffer;
        this.other.dispatchEvent(Object.assign(new Event("message"), { data }));
      }
    });
  }

  close(code) {
    this.code = code;
    for (const end of [this, this.other]) {
      if (end.readyState === 3) continue;
      end.readyState = 3;
      setImmediate(() => end.dispatchEvent(new Event("close")));
    }
  }
}

/** Two ends of a socket. */
export function pair() {
  const [one, other] = [new End(), new End()];
  one.other = other;
  other.other = one;
  return [one, other];
}

/** A frame. */
export function frame(kind, id, body = new Uint8Array(0)) {
  const bytes =
    typeof body === "string"
      ? new TextEncoder().encode(body)
      : body instanceof Uint8Array
        ? body
        : new TextEncoder().encode(JSON.stringify(body));
  const all = new Uint8Array(5 + bytes.length);
  all[0] = kind;
  new DataView(all.buffer).setUint32(1, id);
  all.set(bytes, 5);
  return all;
}

/** Waits until something is so, at most ten seconds. */
export async function until(what) {
  for (const end = Date.now() + 10_000; Date.now() < end; await later(5)) if (await what()) return;
  throw new Error(`not within ten seconds: ${what}`);
}
