// CompositeBackend: several backends in one tree.

import router from "#chunk/router";
import { madeHandle } from "../core/call.js";
import { refused } from "../core/checks.js";
import { sealClass } from "../core/handle.js";
import { enter, glue } from "../core/instance.js";
import { begin, finish, putText, putU32, sent } from "../core/message.js";
import type { AnyBackend as Any } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { ExecuteResponse } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";

/** Any object with the methods of a backend, kitbag's or another, of either protocol version. */
export type AnyBackend = Any;

function make(defaultBackend: unknown, routes: unknown): { handle: number; prefixes: string[] } {
  if (typeof routes !== "object" || routes === null || Array.isArray(routes)) {
    throw new TypeError(
      'CompositeBackend: routes must be an object such as { "/memories/": backend }',
    );
  }
  const entries = Object.entries(routes);
  const handles: number[] = [];
  const mounts = (at: number): number => {
    const entry = entries[at];
    if (entry) {
      const name = `CompositeBackend: routes[${JSON.stringify(entry[0])}]`;
      return withHandle(name, entry[1], (handle) => {
        handles.push(handle);
        return mounts(at + 1);
      });
    }
    return withHandle("CompositeBackend: the default backend", defaultBackend, (handle) => {
      const bad = refused(() => {
        begin();
        putU32(handle);
        putU32(entries.length);
        entries.forEach(([prefix], which) => {
          putU32(handles[which] as number);
          putText(prefix);
        });
      });
      if (bad) throw new TypeError(`CompositeBackend: ${bad.error}`);
      const length = finish();
      sent();
      enter(() => glue.composite_new(length));
      return madeHandle("CompositeBackend");
    });
  };
  router.load();
  const handle = mounts(0);
  return { handle, prefixes: entries.map(([prefix]) => shown(prefix)) };
}

/** A prefix in the router's canonical form. */
function shown(prefix: string): string {
  const segments = prefix.split("/").filter((segment) => segment !== "" && segment !== ".");
  return `/${segments.join("/")}/`;
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
    const made = make(defaultBackend, routes);
    super(made.handle);
    this.routePrefixes = made.prefixes;
    addShell(this);
  }
}

sealClass(CompositeBackend);
