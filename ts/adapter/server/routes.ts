// Which request is which call: a table, in whose order the routes are tried. A route reads what it is given
// before anything is done, and says whether it changes files, because the answer to a change can be kept.

import { answered, failed, shownFailure } from "./answers.js";
import { deleteFile, getFile, listDirectory, putFile } from "./files.js";
import type { Kept } from "./memory.js";
import { argumentsOf, OPERATIONS, type Outcome } from "./operations.js";
import type { Pieces } from "./pieces.js";
import type { Call, Incoming } from "./served.js";
import { BadRequest, decode, fieldsIn, type Given, JSON_TYPE, LINES, PACKED } from "./wire.js";

/** The header with an operation that reads, as the body of a `POST` would have it. */
const QUERY_HEADER = "x-kitbag-query";

const NOTHING = new Uint8Array();

/** What a route is given. */
export interface Asked {
  request: Incoming;
  /** The file or directory: the path of the address below that of the server, decoded once. */
  path: string;
  body: Uint8Array<ArrayBuffer>;
}

/** An answer that is sent while it is made. */
export interface Rows {
  outcome: Outcome;
  list: "matches" | "files";
  isApart?: boolean;
}

/** A call that was understood. */
export interface Planned {
  readonly changes?: boolean;
  /** The fields of an operation that changes files. */
  readonly posted?: Record<string, unknown>;
  run(call: Call): Promise<Kept | Rows | Pieces>;
}

/** A kind of request. */
export interface Route {
  readonly methods: readonly string[];
  /** Whether a large body is read while it is stored. */
  readonly arrives?: boolean;
  /** A header without which it is another route. */
  readonly header?: string;
  /** Whether it is for this path. That of a directory ends with `/`; the server's own is `/`. */
  fits(path: string): boolean;
  plan(asked: Asked): Planned;
}

/** The operation that the body of a `POST` names. */
function posted({ request, body }: Asked): Planned {
  const type = request.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
  if (type !== JSON_TYPE && type !== PACKED) {
    throw new BadRequest(`The content-type of a POST must be ${JSON_TYPE} or ${PACKED}`);
  }
  return understood(decode(body, type === PACKED), request);
}

/** A read that is short enough for a header. An answer to it is not to be taken for one to the address alone. */
function asked({ request }: Asked): Planned {
  const text = request.headers.get(QUERY_HEADER) ?? "";
  if (!/^[ -~]{1,4096}$/.test(text)) {
    throw new BadRequest(`${QUERY_HEADER} must be JSON in ASCII, of at most 4096 characters`);
  }
  const { changes, run } = understood({ fields: fieldsIn(text), tail: NOTHING }, request);
  if (changes) throw new BadRequest("A GET changes nothing; send this as a POST");
  return { run: async (call) => ({ ...(await run(call)), isApart: true }) };
}

/** An operation with its fields. */
function understood(given: Given, request: Incoming): Planned {
  const { op } = given.fields;
  const operation =
    typeof op === "string" && Object.hasOwn(OPERATIONS, op) ? OPERATIONS[op] : undefined;
  if (typeof op !== "string" || !operation) {
    throw new BadRequest(
      `"op" must be one of ${Object.keys(OPERATIONS).join(", ")}`,
      "unsupported",
    );
  }
  const values = argumentsOf(op, operation, given);
  const accepts = request.headers.get("accept") ?? "";
  const packed = accepts.includes(PACKED);
  const { lines } = operation;
  const asLines = lines !== undefined && accepts.includes(LINES);
  const run = async (call: Call) => {
    const outcome = await operation.run({ ...call, asLines }, values);
    if (outcome.error !== undefined) {
      const { conflicts } = outcome;
      const failure = shownFailure(outcome);
      return failed(conflicts ? Object.assign(failure, { conflicts }) : failure, packed);
    }
    if (asLines) return { outcome, list: lines };
    return answered(outcome, packed);
  };
  const changes = operation.changes === true;
  return { changes, run, ...(changes ? { posted: { ...values, op } } : {}) };
}

const isFile = (path: string) => !path.endsWith("/");
const isDirectory = (path: string) => path.endsWith("/");

/** The route that comes before all others. */
export const FIRST: Route = {
  ...{ methods: ["GET"], header: QUERY_HEADER, plan: asked },
  fits: (path) => path === "/",
};

/** The routes. */
export const ROUTES: readonly Route[] = [
  { methods: ["POST"], fits: (path) => path === "/", plan: posted },
  {
    methods: ["GET", "HEAD"],
    fits: isFile,
    plan: ({ path }) => ({ run: (call) => getFile(call, path) }),
  },
  {
    methods: ["GET", "HEAD"],
    fits: isDirectory,
    plan: ({ path }) => ({ run: (call) => listDirectory(call, path) }),
  },
  {
    methods: ["PUT"],
    arrives: true,
    fits: isFile,
    plan: ({ path, body }) => ({ changes: true, run: (call) => putFile(call, path, body) }),
  },
  {
    methods: ["DELETE"],
    fits: isFile,
    plan: ({ path }) => ({ changes: true, run: (call) => deleteFile(call, path) }),
  },
];
