// `kitbag/lend`: a page lends its files to a server's agent through a socket, under the page's own rules. The
// page answers as a server of `serveFiles` does; the server has a backend.

import { type AnyBackend, HttpBackend } from "kitbag";
import { onlyKnown } from "../core/nearest.js";
import { fetchOver } from "./lend/borrower.js";
import { lend } from "./lend/lender.js";
import type { LendSocket } from "./lend/line.js";
import type { FilesServerOptions } from "./server/options.js";

/**
 * Lends files through a socket until it closes, or until the function that this returns is called; it leaves
 * the socket open, and further calls are refused. What a borrower may do is what the rules of the backend
 * allow; a question of a policy is asked here.
 *
 * @param socket An end of a connection to who borrows: a `WebSocket`.
 * @param backend The files, typically with a policy.
 * @example
 * const stop = lendFiles(new WebSocket("wss://agent.example/files"), withPolicy(folder, {
 *   permissions: [{ operations: ["write"], paths: ["/**"], mode: "ask" }],
 *   onAsk: ({ called, path }) => confirm(`${called} ${path}?`),
 * }));
 */
export function lendFiles(
  socket: LendSocket,
  backend: AnyBackend,
  options?: Pick<
    FilesServerOptions,
    "maxBodyBytes" | "maxResultBytes" | "maxParallel" | "timeoutMs" | "onError"
  >,
): () => void {
  checkSocket("lendFiles", socket);
  if (typeof backend !== "object" || backend === null) {
    throw new TypeError("lendFiles: the second argument must be a backend, the files to lend");
  }
  onlyKnown("lendFiles", options, [
    ...["maxBodyBytes", "maxResultBytes", "maxParallel", "timeoutMs", "onError"],
  ]);
  return lend(socket, () => backend, options);
}

/**
 * The files that are lent at the other end of a socket, as a backend. When the socket closes, its calls are
 * `unavailable`: make another one for the next socket.
 *
 * @param socket An end of a connection to who lends: of `ws`, or of a Worker's `WebSocketPair`.
 * @example
 * wss.on("connection", (socket) => {
 *   const agent = createDeepAgent({ model, backend: borrowFiles(socket) });
 * });
 */
export function borrowFiles(
  socket: LendSocket,
  options: {
    /** Time limit of one attempt, in milliseconds; a person may have to answer in it. Default 60,000. */
    timeoutMs?: number;
    /** Largest answer, in bytes. Default 64 MiB. */
    maxResultBytes?: number;
    /** Adds `watch`. Default false. */
    watch?: boolean;
  } = {},
): HttpBackend {
  checkSocket("borrowFiles", socket);
  onlyKnown("borrowFiles", options, ["timeoutMs", "maxResultBytes", "watch"]);
  const { maxResultBytes = 64 << 20, ...rest } = options;
  if (!Number.isSafeInteger(maxResultBytes) || maxResultBytes < 1) {
    throw new TypeError('borrowFiles: option "maxResultBytes" must be a whole number, one or more');
  }
  const fetch = fetchOver(socket, maxResultBytes);
  return new HttpBackend({ ...rest, url: "http://lent.invalid", fetch });
}

function checkSocket(of: string, given: unknown): void {
  const { send, close, addEventListener } = (given ?? {}) as Partial<LendSocket>;
  if ([send, close, addEventListener].some((method) => typeof method !== "function")) {
    throw new TypeError(
      `${of}: the first argument must be a WebSocket, or an object with its send, close and addEventListener`,
    );
  }
}
