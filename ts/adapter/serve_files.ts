// `kitbag/server`: the files of a backend over HTTP, as a function from a `Request` to a `Response`, for
// Workers, Next.js, Deno, Bun and Node. `HttpBackend` is the other end.

import type { AnyBackend } from "kitbag";
import { responseOf } from "./server/answers.js";
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
 */
export function serveFiles(
  backendOf: BackendOf,
  options?: FilesServerOptions,
): (request: Request) => Promise<Response> {
  const handle = serving(backendOf, options);
  return async (request) => {
    const answer = await handle(request);
    return answer instanceof Response ? answer : responseOf(answer);
  };
}
