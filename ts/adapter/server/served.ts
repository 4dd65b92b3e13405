// The backend behind a request, with all of kitbag's methods: an object of another library gets those that
// it lacks from a policy without rules.

import {
  type AnyBackend,
  adaptBackendProtocol,
  type Backend,
  type CallOptions,
  type Capability,
  withPolicy,
} from "kitbag";

/** What the routes call. A `StateBackend` answers at once, the others later. */
export interface Served extends Pick<Backend, Exclude<keyof Backend, "capability" | "watch">> {
  readonly capability: Capability;
  readonly watch?: Backend["watch"];
}

/** What was found for each backend: one of kitbag makes its capability anew whenever it is asked. */
const known = new WeakMap<object, Served>();

/** The backend of a request. */
export function servedBy(backend: AnyBackend): Served {
  let served = known.get(backend);
  if (!served) {
    const own = backend as Partial<Served>;
    const isWhole = own.capability && typeof own.append === "function";
    served = (isWhole ? backend : withPolicy(adaptBackendProtocol(backend), {})) as Served;
    known.set(backend, served);
  }
  return served;
}

/** What is asked of a request; a `Request` is one. */
export interface Incoming {
  /** The method. */
  readonly method: string;
  /** The whole address. */
  readonly url: string;
  /** The headers, by names in lower case. */
  readonly headers: {
    /** The values of a header, or null. */
    get(name: string): string | null;
    /** Whether there is such a header. */
    has(name: string): boolean;
  };
  /** Aborts when the client has gone away. */
  readonly signal: AbortSignal;
  /** Aborts it, if that is nobody else's. */
  readonly abort?: () => void;
  /** The request that the owner's functions see, if it is another object. */
  readonly view?: Request;
  /** The body, if there is one. */
  readonly body: {
    /** Reads it. */
    getReader(): {
      /** The next piece. */
      read(): Promise<{ done?: boolean; value?: Uint8Array | undefined }>;
      /** Nothing more is read. */
      cancel(): Promise<void>;
    };
  } | null;
}

/** A body that arrives. `kitbag` takes it as the bytes of a file. */
export interface Arriving {
  readonly size: number;
  readonly most: number;
  stream(): ReadableStream<Uint8Array>;
  /** Whether all of it was read. If not, nothing was stored, and it may be sent again. */
  readonly isWhole: boolean;
  /** Whether its time was over before. */
  readonly isLate: boolean;
  /** It is stored from now on: a signal that aborts when the time is over, and what says that nothing more is read. */
  begin(): { signal: AbortSignal; end(): void };
}

/** What a route needs to know of its call. */
export interface Call {
  /** The body, if it is read while it is stored; it is empty elsewhere then. */
  arrives?: Arriving | undefined;
  request: Incoming;
  backend: Served;
  /** Ends the work: the client has gone away, or the time is over. */
  options: CallOptions;
  /** Who asks. */
  client: string;
  /** Whether a search is answered line by line. */
  asLines?: boolean;
  /** What the addresses of this server begin with. */
  base: string;
  limits: { maxBodyBytes: number; maxResultBytes: number; timeoutMs: number };
}
