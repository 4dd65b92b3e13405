// `kitbag/server`: the files of a backend over HTTP, as a function from a `Request` to a `Response`, for
// Workers, Next.js, Deno, Bun and Node. `HttpBackend` is the other end.

import type { AnyBackend } from "kitbag";
import { responseOf } from "./server/answers.js";
import { readable } from "./server/bodies.js";
import { answerNode } from "./server/node.js";
import type { FilesServerOptions } from "./server/options.js";
import { serving } from "./server/serving.js";

export type { FilesServerOptions } from "./server/options.js";

/** What says whose files a request is about. */
type BackendOf = (
  request: Request,
) => AnyBackend | Response | null | undefined | Promise<AnyBackend | Response | null | undefined>;

/**
 * Serves the files of a backend over HTTP. The promise of a response never rejects.
 *
 * @param backendOf Says whose backend a request is about, typically with a policy for the user. Without a
 *   backend the answer is 401, or the `Response` that it returns.
 * @example
 * export default {
 *   fetch: serveFiles(async (request) => withPolicy(backendOf(await userOf(request)), rules)),
 * };
 * @example
 * createServer(serveFiles(() => files).listener).listen(8080); // node:http
 */
export function serveFiles(
  backendOf: BackendOf,
  options?: FilesServerOptions,
): ((request: Request) => Promise<Response>) & {
  /** Answers requests of Node's own server, without the time that a `Request` and a `Response` take. */
  listener: (request: object, response: object) => void;
} {
  const handle = serving<Request>(backendOf, options);
  const serve = async (request: Request) => {
    const answer = await handle(readable(request));
    return answer instanceof Response ? answer : responseOf(answer);
  };
  type Given = Parameters<typeof answerNode>;
  const listener = (request: object, response: object) => {
    void answerNode(request as Given[0], response as Given[1], handle, true);
  };
  return Object.assign(serve, { listener });
}
