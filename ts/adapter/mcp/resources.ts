// Files as resources: listed in pages, read by their path, and watched where the backend can.

import { type BackendProtocolV2, type FileChanges, visibleName } from "kitbag";
import {
  announce,
  askedBy,
  beforeHandler,
  capabilitiesOf,
  handlersOf,
  type McpServer,
  onRequest,
  registerTemplate,
  updated,
} from "./sdk.js";

/** Resources in one page of `resources/list`. */
const LISTED = 1_000;

/** The backend of a request, with the rules of the tools. */
export type Current = (extra: unknown) => Promise<BackendProtocolV2>;

/** Code of the protocol for a resource that there is not (version 2 sends -32602), and for a wrong argument. */
const [NOT_FOUND, WRONG] = [-32002, -32602];

/** Why a resource is not given, with the code of the protocol. What is denied is not there either. */
function refusal(uri: string, { error, code }: { error?: unknown; code?: unknown }): Error {
  const absent = ["not_found", "permission_denied", "is_directory"].includes(String(code));
  const message = String(error ?? `There is no resource ${uri}`);
  if (absent) return Object.assign(new Error(message), { code: NOT_FOUND, data: { uri } });
  return code === "invalid_path"
    ? Object.assign(new Error(message), { code: WRONG })
    : new Error(message);
}

export const uriOf = (path: string) =>
  `kitbag://${path.split("/").map(encodeURIComponent).join("/")}`;

/** The path of a resource, or undefined for a URI of somebody else. */
export function pathOf(uri: string): string | undefined {
  try {
    const { protocol, host, pathname } = new URL(uri);
    return protocol === "kitbag:" && host === "" ? decodeURIComponent(pathname) : undefined;
  } catch {
    return undefined;
  }
}

export function base64(bytes: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < bytes.length; at += 8192) {
    binary += String.fromCharCode(...bytes.subarray(at, at + 8192));
  }
  return btoa(binary);
}

/** What watches files: kitbag's browser backends, for example. */
interface Watching {
  watch(callback: (changes: FileChanges) => void): () => void;
}

export function canWatch(backend: unknown): backend is Watching {
  return typeof (backend as Partial<Watching> | null)?.watch === "function";
}

/**
 * Registers the template that reads files, and the pages of the list. `used` is called by each with
 * what is known of the request, and the path that is read; `unknown` says what a call must end with to be asked
 * again.
 */
export function registerResources(
  server: McpServer,
  current: Current,
  used: (extra: unknown, path?: string) => Promise<void> | undefined,
  unknown: (extra: unknown) => object | undefined,
): void {
  registerTemplate(
    server,
    "files",
    "kitbag:///{+path}",
    (uri) => {
      const path = pathOf(uri)?.slice(1);
      return path ? { path } : null;
    },
    { description: "The files" },
    async (uri, extra) => {
      const needed = unknown(extra);
      if (needed) return needed;
      const path = pathOf(uri.href);
      if (path === undefined) throw refusal(uri.href, { code: "not_found" });
      const { data, ...answer } = await (await current(extra)).readRaw(path);
      if (data === undefined) throw refusal(uri.href, answer);
      await used(extra, path);
      const mimeType = "mimeType" in data ? data.mimeType : "text/plain";
      const content = Array.isArray(data.content) ? data.content.join("\n") : data.content;
      const body = typeof content === "string" ? { text: content } : { blob: base64(content) };
      return { contents: [{ uri: uri.href, mimeType, ...body }] };
    },
  );
  // The server's own list has no pages. What else the program has registered is on the first one.
  type Listing = (request: unknown, extra: unknown) => Promise<{ resources?: object[] }>;
  const others = handlersOf<Listing>(server)?.get?.("resources/list");
  onRequest(server, "resources/list", async ({ cursor }, extra, request) => {
    const after = cursor as string | undefined;
    const rest = after === undefined ? ((await others?.(request, extra))?.resources ?? []) : [];
    // A list cannot ask a client for its roots.
    if (unknown(extra)) return { resources: rest };
    await used(extra);
    const found = await (await current(extra)).glob("**", "/");
    if (found.error !== undefined) throw new Error(found.error);
    const paths = (found.files ?? []).map(({ path, size }) => ({ path, size }));
    // By name, so that a page begins where the last one ended although files come and go.
    paths.sort((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
    const from = after === undefined ? 0 : paths.findIndex(({ path }) => path > after);
    const page = from < 0 ? [] : paths.slice(from, from + LISTED);
    const more = from >= 0 && from + LISTED < paths.length;
    const own = page.map(({ path, size }) => ({
      uri: uriOf(path),
      name: visibleName(path),
      ...(size !== undefined && { size }),
    }));
    return {
      resources: [...rest, ...own],
      ...(more && { nextCursor: page.at(-1)?.path }),
    };
  });
}

type Greeting = { capabilities?: { resources?: object } };
type Greet = (request: unknown, extra: unknown) => Greeting | Promise<Greeting>;

/**
 * A client of a server without sessions is told that it will hear of nothing; since 2026-07-28 the program may
 * tell itself, by the notifier of its handler, and promise that with its own capabilities.
 */
function greetTruly(server: McpServer): void {
  const { resources: own } = capabilitiesOf(server);
  const truly = (greet: Greet, promised: object) => async (request: unknown, extra: unknown) => {
    const greeting = await greet(request, extra);
    if (!askedBy(extra).stateless) return greeting;
    return { ...greeting, capabilities: { ...greeting.capabilities, resources: promised } };
  };
  const handlers = handlersOf<Greet>(server);
  const greet = handlers?.get?.("initialize");
  if (greet) handlers?.set("initialize", truly(greet, {}));
  beforeHandler<Greet>(server, "server/discover", (greet) =>
    truly(greet, own?.subscribe ? own : {}),
  );
}

/**
 * Tells clients what changes: the files that they have subscribed to, and the list. The list is told
 * of any change that the rules show, because a notification of another writer does not say what it
 * was. A file that a client may not read cannot be subscribed to. Watching begins when a client first lists or
 * subscribes, since a large folder takes a while.
 */
export function watchResources(
  server: McpServer,
  current: Current,
  guarded: (extra: unknown) => Promise<unknown>,
) {
  const subscribed = new Set<string>();
  /** The client listens by `subscriptions/listen`, which the SDK answers and filters. */
  let listens = false;
  greetTruly(server);
  announce(server, { resources: { subscribe: true, listChanged: true } });
  onRequest(server, "resources/subscribe", async (params, extra) => {
    const uri = String(params.uri);
    const path = pathOf(uri);
    if (path === undefined) throw refusal(uri, { code: "not_found" });
    if (askedBy(extra).stateless) {
      throw new Error(
        "This server has no sessions, so it cannot tell of changes: read the file again",
      );
    }
    const answer = await (await current(extra)).read(path, 0, 1);
    if (answer.error !== undefined) throw refusal(uri, answer);
    await begin(extra);
    subscribed.add(path);
    return {};
  });
  onRequest(server, "resources/unsubscribe", ({ uri }) => {
    subscribed.delete(pathOf(String(uri)) ?? "");
    return {};
  });
  /** Tells of changes; with `extra`, of those that this request made. */
  const changed = (paths: readonly string[], extra?: unknown) => {
    if (!server.isConnected()) return;
    if (extra !== undefined) {
      const { stateless, capabilities } = askedBy(extra);
      if (stateless) return;
      listens ||= capabilities !== undefined;
    }
    for (const path of paths) {
      if (!listens && !subscribed.has(path)) continue;
      updated(server, uriOf(path)).catch(() => {});
    }
    server.server.sendResourceListChanged().catch(() => {});
  };
  let watching: Promise<() => void> | undefined;
  let last: unknown;
  async function begin(extra: unknown): Promise<void> {
    if (askedBy(extra).stateless) return;
    last = extra;
    watching ??= watched(extra);
    // Without what it may see, the client hears of nothing; the next call tries again.
    await watching.catch(() => {
      watching = undefined;
    });
  }
  /** Something was listed or read. */
  async function used(extra: unknown, path?: string): Promise<void> {
    const { capabilities, stateless } = askedBy(extra);
    listens ||= capabilities !== undefined;
    if (path !== undefined && (!listens || stateless)) return;
    await begin(extra);
    // Told of if it is not known what has changed.
    if (path !== undefined) subscribed.add(path);
  }
  async function watched(extra: unknown): Promise<() => void> {
    // With the rules, so that nobody hears of what they hide.
    const shown = await guarded(extra);
    if (!canWatch(shown)) return () => {};
    return shown.watch(({ paths, rescan }) => {
      if (!rescan) changed(paths);
      else if (!listens) changed([...subscribed]);
      else void all(extra).then((files) => changed([...subscribed, ...paths, ...files]));
    });
  }
  /** Every file, where only the SDK knows what the client listens to. */
  async function all(extra: unknown): Promise<string[]> {
    const found = await current(extra)
      .then((backend) => backend.glob("**", "/"))
      .catch(() => undefined);
    return (found?.files ?? []).map(({ path }) => path);
  }
  function end(): boolean {
    const before = watching;
    watching = undefined;
    before?.then((stop) => stop()).catch(() => {});
    return before !== undefined;
  }
  /** What the client may see is another now. */
  const again = () => {
    if (!end()) return;
    changed([]);
    void begin(last);
  };
  const before = server.server.onclose;
  server.server.onclose = () => {
    end();
    before?.();
  };
  return { changed, used, again };
}
