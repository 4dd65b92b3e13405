// The client's roots: the directories that it works in. They only narrow what the server offers.

import type { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { RootsListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js";
import { type AnyBackend, type BackendOrFactory, resolveBackend, withPolicy } from "kitbag";

/** A backend that is narrowed to the directories of the client's roots. */
export function withinRoots(
  server: McpServer,
  backend: BackendOrFactory,
  directoryOf: (uri: string) => string | undefined,
): (extra: unknown) => Promise<AnyBackend> {
  let directories: Promise<string[] | undefined> = Promise.resolve(undefined);
  let narrowed = new WeakMap<object, AnyBackend>();
  const ask = () => {
    if (!server.server.getClientCapabilities()?.roots) return;
    directories = named(server, directoryOf);
    narrowed = new WeakMap();
  };
  const before = server.server.oninitialized;
  server.server.oninitialized = () => {
    ask();
    before?.();
  };
  server.server.setNotificationHandler(RootsListChangedNotificationSchema, ask);
  return async (extra) => {
    const inner = (await resolveBackend(backend, extra)) as AnyBackend & object;
    const within = await directories;
    if (within === undefined || within.includes("/")) return inner;
    let guarded = narrowed.get(inner);
    if (guarded === undefined) {
      const operations: Array<"read" | "write"> = ["read", "write"];
      guarded = withPolicy(inner, {
        permissions: [
          { operations, paths: within.map((path) => `${escaped(path)}/**`), mode: "allow" },
          // Not the root itself: searches begin there.
          { operations, paths: ["/*", "/*/**"], mode: "deny" },
        ],
      });
      narrowed.set(inner, guarded);
    }
    return guarded;
  };
}

/** The characters of a path that are not those of a pattern. */
const escaped = (path: string) => path.replace(/[\\*?[\]{}!]/g, "\\$&");

/** The directories that the client names, or undefined if none of them is in the tree. */
async function named(
  server: McpServer,
  directoryOf: (uri: string) => string | undefined,
): Promise<string[] | undefined> {
  try {
    const { roots } = await server.server.listRoots();
    const found = roots.flatMap(({ uri }) => directoryOf(uri) ?? []);
    return found.length === 0 ? undefined : found.map((path) => path.replace(/(?<=.)\/+$/, ""));
  } catch {
    // A client that says that it has roots and does not tell them gets nothing.
    return [];
  }
}
