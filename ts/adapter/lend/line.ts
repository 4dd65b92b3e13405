// A socket that carries many calls at once, in frames: a kind, the number of the call, and bytes. What one
// side sends of a body waits until the other one has read what came before, so neither holds much of it.
// The other side may be anybody: a frame that cannot be ends the socket.

/** A call: what is asked, as JSON. */
export const ASK = 1;
/** The head of an answer, as JSON. */
export const ANSWER = 2;
/** A piece of the body of what is asked or answered. */
export const PIECE = 3;
/** The body is whole. */
export const END = 4;
/** The call is given up, or its answer breaks off. */
export const STOP = 5;
/** So many bytes of the body were read. */
export const MORE = 6;

/** Bytes of a body on their way; who sends waits then. */
export const WINDOW = 1 << 20;
/** Largest piece: some hosts take no message of more than 1 MiB. */
const LARGEST = 256 << 10;
/** Largest head: paths, headers, no content. */
const HEAD = 64 << 10;

/** A socket: a `WebSocket` of either side, or what behaves like one. */
export interface LendSocket {
  /** How binary messages arrive; it is set to `"arraybuffer"`. */
  binaryType?: string;
  /** 0 before it is open. */
  readonly readyState?: number | string;
  /** Sends a binary message. */
  send(data: Uint8Array<ArrayBuffer>): void;
  /** Ends it. */
  close(code?: number, reason?: string): void;
  /** Listens to `message`, `close`, `error` and `open`. Each host has a type of its own for what is heard. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  addEventListener(type: any, listener: (event: any) => void): void;
  /** Listens no more. */
  // biome-ignore lint/suspicious/noExplicitAny: see above
  removeEventListener(type: any, listener: (event: any) => void): void;
}

/** Thrown for a frame that no peer of ours sends. */
export class BadFrame extends Error {}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

export const headOf = (head: object) => encoder.encode(JSON.stringify(head));

/** Reads a head; it must be an object. */
export function readHead(bytes: Uint8Array): Record<string, unknown> {
  if (bytes.length > HEAD) throw new BadFrame("a head is too large");
  let head: unknown;
  try {
    head = JSON.parse(decoder.decode(bytes));
  } catch {
    throw new BadFrame("a head is no JSON");
  }
  if (typeof head !== "object" || head === null) throw new BadFrame("a head is no object");
  return head as Record<string, unknown>;
}

/** The headers of a head: an object of texts. */
export function readHeaders(given: unknown): [name: string, value: string][] {
  const all = Object.entries((given ?? {}) as object);
  if (all.some(([, value]) => typeof value !== "string")) throw new BadFrame("a header is no text");
  return all as [string, string][];
}

/** What hears frames, and the end of the socket. */
export interface Ends {
  heard(kind: number, id: number, bytes: Uint8Array): void;
  ended(): void;
}

/** One side of a socket. */
export class Line {
  readonly #socket: LendSocket;
  readonly #ends: Ends;
  #waiting: Uint8Array<ArrayBuffer>[] = [];
  #isOver = false;

  constructor(socket: LendSocket, ends: Ends) {
    this.#socket = socket;
    this.#ends = ends;
    if ("binaryType" in socket) socket.binaryType = "arraybuffer";
    socket.addEventListener("message", this.#message);
    socket.addEventListener("close", this.end);
    socket.addEventListener("error", this.end);
    socket.addEventListener("open", this.#open);
  }

  /** Nothing more is sent or heard; the socket stays as it is. */
  readonly end = (): void => {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#waiting = [];
    this.#socket.removeEventListener("message", this.#message);
    this.#socket.removeEventListener("close", this.end);
    this.#socket.removeEventListener("error", this.end);
    this.#socket.removeEventListener("open", this.#open);
    this.#ends.ended();
  };

  get isOver(): boolean {
    return this.#isOver;
  }

  send(kind: number, id: number, bytes: Uint8Array = new Uint8Array(0)): void {
    if (this.#isOver) return;
    const frame = new Uint8Array(5 + bytes.length);
    frame[0] = kind;
    new DataView(frame.buffer).setUint32(1, id);
    frame.set(bytes, 5);
    const { readyState } = this.#socket;
    if (readyState === 0 || readyState === "connecting") this.#waiting.push(frame);
    else this.#now(frame);
  }

  #now(frame: Uint8Array<ArrayBuffer>): void {
    try {
      this.#socket.send(frame);
    } catch {
      this.end();
    }
  }

  readonly #open = (): void => {
    for (const frame of this.#waiting.splice(0)) this.#now(frame);
  };

  readonly #message = ({ data }: { data: unknown }): void => {
    // Texts are somebody else's, who shares the socket.
    if (typeof data === "string") return;
    try {
      const bytes = bytesOf(data);
      if (bytes.length < 5 || bytes.length > LARGEST + 5) throw new BadFrame("a frame's size");
      const id = new DataView(bytes.buffer, bytes.byteOffset).getUint32(1);
      this.#ends.heard(bytes[0] as number, id, bytes.subarray(5));
    } catch (error) {
      if (!(error instanceof BadFrame)) throw error;
      this.end();
      this.#socket.close(1002, "Not kitbag's frames");
    }
  };
}

function bytesOf(data: unknown): Uint8Array {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) {
    return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  }
  throw new BadFrame("a message is no bytes");
}

/** A body that is sent. */
export class Sending {
  readonly #line: Line;
  readonly #id: number;
  #room = WINDOW;
  #wake = () => {};
  #isOver = false;

  constructor(line: Line, id: number) {
    this.#line = line;
    this.#id = id;
  }

  /** The other side has read so much. */
  more(bytes: Uint8Array): void {
    const read = bytes.length === 4 ? new DataView(bytes.buffer, bytes.byteOffset).getUint32(0) : 0;
    this.#room += read;
    if (read === 0 || this.#room > WINDOW) throw new BadFrame("more was read than was sent");
    this.#wake();
  }

  /** Sends bytes, as far as they are wanted; returns whether they still are. */
  async write(bytes: Uint8Array): Promise<boolean> {
    for (let at = 0; at < bytes.length && !this.#isOver; ) {
      if (this.#room === 0) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        continue;
      }
      const piece = bytes.subarray(at, at + Math.min(LARGEST, this.#room));
      this.#room -= piece.length;
      at += piece.length;
      this.#line.send(PIECE, this.#id, piece);
    }
    return !this.#isOver;
  }

  /** Nothing more is wanted. */
  stop(): void {
    this.#isOver = true;
    this.#wake();
  }
}

/** A body that arrives. */
export class Arriving {
  readonly #line: Line;
  readonly #id: number;
  readonly #pieces: Uint8Array[] = [];
  #length = 0;
  #state: "open" | "whole" | Error = "open";
  #wake = () => {};

  constructor(line: Line, id: number) {
    this.#line = line;
    this.#id = id;
  }

  push(bytes: Uint8Array): void {
    if (this.#state !== "open") return;
    this.#length += bytes.length;
    if (this.#length > WINDOW) throw new BadFrame("more was sent than was read");
    if (bytes.length > 0) this.#pieces.push(bytes);
    this.#wake();
  }

  whole(): void {
    if (this.#state === "open") this.#state = "whole";
    this.#wake();
  }

  /** It breaks off; what arrived before is not read any more. */
  broken(error: Error): void {
    if (this.#state !== "open") return;
    this.#state = error;
    this.#pieces.length = 0;
    this.#wake();
  }

  async read(): Promise<{ done: boolean; value?: Uint8Array }> {
    for (;;) {
      const value = this.#pieces.shift();
      if (value) {
        this.#length -= value.length;
        const read = new Uint8Array(4);
        new DataView(read.buffer).setUint32(0, value.length);
        this.#line.send(MORE, this.#id, read);
        return { done: false, value };
      }
      if (this.#state === "whole") return { done: true };
      if (this.#state !== "open") throw this.#state;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}
