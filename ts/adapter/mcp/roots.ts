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
type DirectoryOf = (uri: string) => string | readonly string[] | undefined;

/** A backend that is narrowed to the directories of the client's roots. */
export interface Rooted {
  /** The backend of a request. Rejects while it is not known what the client may see. */
  source(extra: unknown): Promise<AnyBackend>;
  /** The same for tools that name changes, which need the turn or the history itself below. */
  changes(changes: ChangeTools): ChangeTools;
  /** What a call must end with, as it cannot know the roots yet; since 2026-07-28 each call asks for them. */
  question(extra: unknown): object | undefined;
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
  let narrowed = new WeakMap<object, { key: string; guarded: AnyBackend }>();
  const known = async (extra: unknown): Promise<string[] | undefined> => {
    const { capabilities } = askedBy(extra);
    if (capabilities) {
      if (!capabilities.roots) return undefined;
      return named(answerOf(extra), directoryOf);
    }
    if (directories !== undefined) return directories;
    const client: { roots?: unknown } | undefined = server.server.getClientCapabilities();
    if (client === undefined) throw new Error(UNKNOWN);
    if (!client.roots) return undefined;
    // The schema of the SDK refuses the whole list if one root is no file.
    const answer = ask(server, "roots/list").catch(() => {
      throw new Error("The client has roots, but did not tell them, so nothing is offered to it");
    });
    const asked = answer.then((told) => named(told, directoryOf));
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
    const key = JSON.stringify(within);
    let kept = narrowed.get(inner);
    if (kept?.key !== key) {
      const operations: Array<"read" | "write"> = ["read", "write"];
      const guarded = withPolicy(inner, {
        permissions: [
          { operations, paths: within.map((path) => `${exactly(path)}/**`), mode: "allow" },
          // Not the root itself: searches begin there.
          { operations, paths: ["/*", "/*/**"], mode: "deny" },
        ],
      });
      kept = { key, guarded };
      narrowed.set(inner, kept);
    }
    return kept.guarded;
  };
  const rooted: Rooted = {
    source: narrow(backend),
    question: (extra) =>
      askedBy(extra).capabilities?.roots && answerOf(extra) === undefined ? ROOTS : undefined,
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

const NAME = "roots";

/** Ends a call with the question for the roots; the client makes it again with them. */
export const ROOTS = {
  resultType: "input_required",
  inputRequests: { [NAME]: { method: "roots/list" } },
};

/** What a client of 2026-07-28 has sent with a call that it made again. */
const answerOf = (extra: unknown): unknown =>
  (askedBy(extra).answers as Record<string, unknown> | undefined)?.[NAME];

/** A URI for a message, without what may be a user name and a password in it. */
const shown = (uri: string) => JSON.stringify(uri.replace(/\/\/.*@/s, "//***@").slice(0, 200));

/** The directories that the client names. A root that is none here is ignored; if none is left, it throws. */
function named(answer: unknown, directoryOf: DirectoryOf): string[] {
  const { roots } = (answer ?? {}) as { roots?: Array<{ uri?: unknown } | null> };
  if (!Array.isArray(roots)) throw new Error("The client's answer names no roots");
  const found: string[] = [];
  const odd: string[] = [];
  const elsewhere: string[] = [];
  for (const root of roots) {
    const uri = typeof root?.uri === "string" ? root.uri : "";
    const directories = directoriesIn(directoryOf, uri);
    if (directories.length > 0) found.push(...directories);
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

/** The directories that a root is, without a slash at their ends. */
function directoriesIn(directoryOf: DirectoryOf, uri: string): string[] {
  try {
    return [directoryOf(uri)]
      .flat()
      .filter((one) => typeof one === "string" && one.startsWith("/"))
      .map((one) => String(one).replace(/(?<=.)\/+$/, ""));
  } catch {
    return [];
  }
}
