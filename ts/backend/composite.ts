// CompositeBackend: several backends in one tree.

import router from "#chunk/router";
import { made } from "../core/call.js";
import { isRecord } from "../core/checks.js";
import { CompositeGiven } from "../core/descriptions.js";
import { pack } from "../core/given.js";
import { sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { addWatch, type Heard, listener, lostIn, missedIn } from "../core/listeners.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { Capability, ExecuteResponse } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";

/** Creates the router; returns its handle and the prefixes in canonical form. */
function make(defaultBackend: unknown, routes: unknown): { handle: number; rest: string[] } {
  if (!isRecord(routes)) {
    throw new TypeError(
      'CompositeBackend: routes must be an object such as { "/memories/": backend }',
    );
  }
  const entries = Object.entries(routes);
  const handles: number[] = [];
  const mounts = (at: number): { handle: number; rest: string[] } => {
    const entry = entries[at];
    if (entry) {
      const name = `CompositeBackend: routes[${JSON.stringify(entry[0])}]`;
      return withHandle(name, entry[1], (handle) => {
        handles.push(handle);
        return mounts(at + 1);
      });
    }
    return withHandle("CompositeBackend: the default backend", defaultBackend, (handle) => {
      const mounts = entries.map(([prefix], at) => ({ prefix, backend: handles[at] as number }));
      const values = { fallback: handle, mounts };
      const { length } = pack("CompositeBackend", CompositeGiven, values);
      enter(() => glue.composite_new(length));
      return made("CompositeBackend", (reply) => entries.map(() => reply.text()));
    });
  };
  router.load();
  return mounts(0);
}

/** Several backends in one tree. The longest prefix that matches a path selects the backend. */
export class CompositeBackend extends Backend {
  /** The mounted prefixes, in canonical form, such as `/memories/`. */
  readonly routePrefixes: string[];
  /** Identifies the machine of the default backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command in the default backend, if it can run commands. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  /**
   * @param defaultBackend Backend of all paths below no prefix.
   * @param routes Backends by path prefix, such as `{ "/memories/": backend }`.
   */
  constructor(defaultBackend: AnyBackend, routes: Record<string, AnyBackend>) {
    const { handle, rest } = make(defaultBackend, routes);
    super(handle);
    this.routePrefixes = rest;
    addShell(this);
    const parts: Part[] = Object.values(routes).map((backend, at) => [rest[at] ?? "/", backend]);
    const all: Part[] = [["/", defaultBackend], ...parts];
    if (all.some(([, backend]) => canWatch(backend))) {
      const watch = (first: unknown, second?: unknown) => watched(all, listener(first, second));
      addWatch(
        this,
        watch,
        all.every(([, { capability }]) => (capability as Capability)?.watch),
      );
    }
  }
}

type Part = [prefix: string, backend: AnyBackend & { capability?: unknown }];
type Watching = { watch(callback: Heard): () => void };

const canWatch = (backend: object): backend is Watching =>
  typeof (backend as Partial<Watching>).watch === "function";

/** Watches all parts that can be watched; each tells of the files that it shows below the path. */
function watched(parts: Part[], { path: below, hear }: ReturnType<typeof listener>): () => void {
  const owner = (path: string) =>
    parts.reduce(
      (best, [prefix]) => (path.startsWith(prefix) && prefix.length > best.length ? prefix : best),
      "/",
    );
  const stops = parts.flatMap(([prefix, backend]) => {
    const concerned = `${below}/`.startsWith(prefix) || prefix.startsWith(`${below}/`);
    if (!concerned || !canWatch(backend)) return [];
    const stop = backend.watch((changes) => {
      const { paths, rescan } = changes;
      const outer = (path: string) => prefix.slice(0, -1) + path;
      const all = prefix === "/" ? undefined : [prefix.slice(0, -1)];
      const shown = paths.map(outer).filter((path) => owner(path) === prefix);
      const told = { paths: shown, ...(rescan && { rescan }) };
      hear(missedIn(told, rescan && (lostIn(changes)?.map(outer) ?? all)));
    });
    return [stop];
  });
  return () => {
    for (const stop of stops) stop();
  };
}

sealClass(CompositeBackend);
