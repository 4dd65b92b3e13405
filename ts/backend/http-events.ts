// The changes that a server tells, for the listeners of an `HttpBackend`: one connection as long as somebody
// listens, which is made again when it breaks. What happened in between is not known, so listeners are then
// asked to list the files again.

import { lower, type Sending } from "../core/http.js";
import { Listeners, type Watch } from "../core/listeners.js";

/** The pause before a connection is made again; it doubles up to the longest. */
const PAUSE_MS = 500;
const LONGEST_MS = 30_000;
/** Letters of one event: twice what 1,000 paths can have. What goes on is no server of ours. */
const EVENT = 4 << 20;

/** Listens to a server. */
export class Events {
  readonly #url: string;
  readonly #how: Sending;
  readonly #listeners = new Listeners(
    () => void this.#listen(),
    () => this.#controller?.abort(),
  );
  #controller: AbortController | undefined;

  constructor(url: string, how: Sending) {
    this.#url = url;
    this.#how = how;
  }

  /** Adds a listener. */
  get add(): Watch {
    return this.#listeners.add;
  }

  /** Ends the connection and all listeners. */
  close(): void {
    this.#listeners.close();
  }

  async #listen(): Promise<void> {
    const controller = new AbortController();
    this.#controller = controller;
    let last: string | undefined;
    let pause = PAUSE_MS;
    while (!controller.signal.aborted) {
      try {
        const response = await this.#connect(controller.signal, last);
        if (response.status === 501) return this.#listeners.missed();
        if (response.ok && response.body) {
          pause = PAUSE_MS;
          last = await this.#read(response.body, controller.signal, last);
        } else await response.body?.cancel();
      } catch {
        // The connection broke; it is made again.
      }
      if (controller.signal.aborted) return;
      this.#listeners.missed();
      await slept(pause * (0.5 + Math.random() / 2), controller.signal);
      pause = Math.min(pause * 2, LONGEST_MS);
    }
  }

  async #connect(signal: AbortSignal, last: string | undefined): Promise<Response> {
    const headers = {
      ...lower((await this.#how.headers?.()) ?? {}),
      ...{ accept: "text/event-stream", ...(last === undefined ? {} : { "last-event-id": last }) },
    };
    const url = `${this.#url}/?watch=${encodeURIComponent("/")}`;
    return (this.#how.fetch ?? fetch)(url, { headers, signal, redirect: "error" });
  }

  /** Reads events until the connection ends; returns the id of the last one. */
  async #read(
    body: ReadableStream<Uint8Array>,
    signal: AbortSignal,
    before: string | undefined,
  ): Promise<string | undefined> {
    const reader = body.getReader();
    const decoder = new TextDecoder();
    let last = before;
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done || signal.aborted) return last;
      text += decoder.decode(value, { stream: true });
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      if (text.length > EVENT) {
        await reader.cancel();
        throw new Error("The server sends an event without end");
      }
      for (const event of events) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(event)?.[1];
        last = field("id") ?? last;
        const data = field("data");
        if (data !== undefined) this.#tell(data);
      }
    }
  }

  #tell(data: string): void {
    const { paths, rescan } = JSON.parse(data) as { paths?: unknown; rescan?: unknown };
    for (const path of Array.isArray(paths) ? paths : []) {
      if (typeof path === "string") this.#listeners.note(path);
    }
    if (rescan === true) this.#listeners.missed();
  }
}

/** Waits, at most until the signal aborts. */
function slept(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done);
  });
}
