// The client's roots: the directories that it works in. They only narrow what the server offers, and
// until a client that has roots has told them, it is offered nothing.

import {
  type AnyBackend,
  type BackendOrFactory,
  type ChangeTools,
  resolveBackend,
  withPolicy,
} from "kitbag";
import { exactly } from "../../core/paths.js";
import { ask, askedBy, type McpServer, onNotification } from "./sdk.js";

/** What a root is in the tree. */
type DirectoryOf = (uri: string) => string | undefined;

/** A backend that is narrowed to the directories of the client's roots. */
export interface Rooted {
  /** The backend of a request. Rejects while it is not known what the client may see. */
  source(extra: unknown): Promise<AnyBackend>;
  /** The same for tools that name changes, which need the turn or the history itself below. */
  changes(changes: ChangeTools): ChangeTools;
  /** Is called when the roots have changed. */
  onchange?: () => void;
}

export function withinRoots(
  server: McpServer,
  backend: BackendOrFactory,
  directoryOf: DirectoryOf,
): Rooted {
  /** The directories, as the client has told them last. */
  let directories: Promise<string[]> | undefined;
  let narrowed = new WeakMap<object, AnyBackend>();
  const known = (extra: unknown): Promise<string[] | undefined> => {
    if (directories !== undefined) return directories;
    const { capabilities, stateless } = askedBy(extra);
    const client: { roots?: unknown } | undefined =
      capabilities ?? server.server.getClientCapabilities();
    if (client === undefined || (capabilities && stateless)) throw new Error(UNKNOWN);
    if (!client.roots) return Promise.resolve(undefined);
    if (capabilities) throw new Error(NEVER_TOLD);
    const asked = named(server, directoryOf);
    directories = asked;
    // After a failure the next call asks again.
    asked.catch(() => {
      if (directories === asked) directories = undefined;
    });
    return asked;
  };
  const narrow = (source: BackendOrFactory) => async (extra: unknown) => {
    // Asked for before the first wait, as `changeTools` needs it.
    const inner = (await resolveBackend(source, extra)) as AnyBackend & object;
    const within = await known(extra);
    if (within === undefined || within.includes("/")) return inner;
    let guarded = narrowed.get(inner);
    if (guarded === undefined) {
      const operations: Array<"read" | "write"> = ["read", "write"];
      guarded = withPolicy(inner, {
        permissions: [
          { operations, paths: within.map((path) => `${exactly(path)}/**`), mode: "allow" },
          // Not the root itself: searches begin there.
          { operations, paths: ["/*", "/*/**"], mode: "deny" },
        ],
      });
      narrowed.set(inner, guarded);
    }
    return guarded;
  };
  const rooted: Rooted = {
    source: narrow(backend),
    changes: ({ around }) => ({
      around: (_, options, create) =>
        around(backend, options, (source, rest) => create(narrow(source), rest)),
    }),
  };
  onNotification(server, "notifications/roots/list_changed", () => {
    directories = undefined;
    narrowed = new WeakMap();
    rooted.onchange?.();
  });
  return rooted;
}

const UNKNOWN =
  "This server follows the roots of its client, and the client has not said yet whether it has any: initialize first. A server without sessions cannot know them";

const NEVER_TOLD =
  "This server follows the roots of its client, and the client has some, but its version of the protocol (2026-07-28) has no way to ask for them, so nothing is offered to it; start the server without roots (kitbag serve --ignore-roots)";

/** A URI for a message, without what may be a user name and a password in it. */
const shown = (uri: string) => JSON.stringify(uri.replace(/\/\/.*@/s, "//***@").slice(0, 200));

/** The directories that the client names. A root that is none here is ignored; if none is left, it throws. */
async function named(server: McpServer, directoryOf: DirectoryOf): Promise<string[]> {
  // The schema of the SDK refuses the whole list if one root is no file.
  const answer = await ask(server, "roots/list").catch(() => {
    throw new Error("The client has roots, but did not tell them, so nothing is offered to it");
  });
  const { roots } = answer as { roots?: Array<{ uri?: unknown } | null> };
  if (!Array.isArray(roots)) throw new Error("The client's answer names no roots");
  const found: string[] = [];
  const odd: string[] = [];
  const elsewhere: string[] = [];
  for (const root of roots) {
    const uri = typeof root?.uri === "string" ? root.uri : "";
    const directory = directoryIn(directoryOf, uri);
    if (directory !== undefined) found.push(directory.replace(/(?<=.)\/+$/, ""));
    else (/^file:\/\//i.test(uri) ? elsewhere : odd).push(shown(uri));
  }
  const ignored = [
    odd.length > 0 && `are no files and were ignored: ${odd.join(", ")}`,
    elsewhere.length > 0 && `are not in this tree and were ignored: ${elsewhere.join(", ")}`,
  ].flatMap((why) => why || []);
  const said = `kitbag/mcp: these roots of the client ${ignored.join("; these ")}`;
  if (found.length > 0) {
    if (ignored.length > 0) console.warn(said);
    return found;
  }
  const why = ignored.length > 0 ? said : "kitbag/mcp: the client has roots, and names none";
  throw new Error(
    `${why}. No other root is left, so nothing is offered; open a folder that this server has, or start it without roots (kitbag serve --ignore-roots)`,
  );
}

function directoryIn(directoryOf: DirectoryOf, uri: string): string | undefined {
  try {
    const directory = directoryOf(uri);
    return typeof directory === "string" && directory.startsWith("/") ? directory : undefined;
  } catch {
    return undefined;
  }
}
