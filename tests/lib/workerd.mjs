// A Worker in workerd, by way of miniflare: modules in, a function that fetches out.

import { Miniflare } from "miniflare";

/** No later than the binary knows. */
export const COMPATIBILITY_DATE = "2026-04-01";

/**
 * Starts a Worker whose modules are `[{ type: "ESModule" | "CompiledWasm", path, contents }]`, the
 * first being the entry. Gives `{ url, fetch, stop }`.
 */
export async function startWorker(modules, extra = {}) {
  const worker = new Miniflare({
    modules,
    modulesRoot: "/",
    compatibilityDate: COMPATIBILITY_DATE,
    host: "127.0.0.1",
    port: 0,
    ...extra,
  });
  const url = await worker.ready;
  return {
    url,
    async fetch(path = "/", init) {
      const answer = await worker.dispatchFetch(`http://worker.test${path}`, init);
      return { status: answer.status, text: await answer.text() };
    },
    stop: () => worker.dispose(),
  };
}
