// ignoring: searches that leave out what ignore files name. The rules are in Rust.

import chunk from "#chunk/ignore";
import { Options } from "../core/checks.js";
import { IgnoreCall, IgnoreGiven } from "../core/descriptions.js";
import { ask, create, type Taken, take } from "../core/given.js";
import { handleOf, sealClass } from "../core/handle.js";
import { glue } from "../core/instance.js";
import type { AnyBackend } from "../foreign/adapt.js";
import { withHandle } from "../foreign/calls.js";
import type { ExecuteResponse } from "../types.js";
import { addShell, Backend, type ExecuteOptions } from "./backend.js";
import { passWatch } from "./passing.js";

/** Options of `withIgnore`. */
export interface IgnoreOptions {
  /**
   * Names of ignore files, such as `[".gitignore", ".kitbagignore"]`. In one directory the later name
   * decides first. Default `[".gitignore"]`.
   */
  files?: readonly string[];
  /** Lines for the whole tree, such as `["node_modules/", "*.log"]`. Default: none. */
  patterns?: readonly string[];
}

function rulesOf(options?: IgnoreOptions): Taken<typeof IgnoreGiven> {
  const given = new Options("withIgnore", options);
  const rules = take(given, IgnoreGiven);
  given.done();
  return rules;
}

/** A backend whose searches leave out ignored files; the result of `withIgnore`. */
export class IgnoreBackend extends Backend {
  /** Identifies the machine of the backend, if it can run commands. */
  declare readonly id?: string;
  /** Runs a command, if the backend can. */
  declare readonly execute?: (
    command: string,
    options?: ExecuteOptions,
  ) => Promise<ExecuteResponse>;

  /** Throws a `TypeError` if the backend is none, or an option is wrong. Reads nothing yet. */
  constructor(inner: AnyBackend, options?: IgnoreOptions) {
    const rules = rulesOf(options);
    chunk.load();
    super(
      withHandle("withIgnore: the backend", inner, (handle) =>
        create("withIgnore", IgnoreGiven, { ...rules, inner: handle }, glue.ignoring_new),
      ),
    );
    addShell(this);
    passWatch(this, inner, {
      whole: true,
      shows: async (paths, below) => {
        const names = paths.map((path) => path.slice(path.lastIndexOf("/") + 1));
        // Its rules decide about files that were not changed.
        if (names.some((name) => rules.files.includes(name))) return;
        const answer = await ask(
          IgnoreCall.shown,
          () => ({ below, paths }),
          (length) => glue.ignoring_ask(handleOf(this), length),
          (reply) => Array.from({ length: reply.u32() }, () => reply.text()),
        );
        return Array.isArray(answer) ? answer : undefined;
      },
    });
  }
}

sealClass(IgnoreBackend);

/** Rules for the option `ignore` of the tools; made by `ignoreFiles`. */
export interface IgnoreRules {
  /** Returns a backend whose searches leave out ignored files; the same one for the same backend. */
  around(backend: AnyBackend): AnyBackend;
}

/**
 * For the option `ignore` of `createFileTools` and the adapters: their tools then work as over
 * `withIgnore(backend, options)`.
 *
 * @example
 * import { ignoreFiles } from "kitbag/ignore";
 * const ignore = ignoreFiles({ files: [".gitignore", ".kitbagignore"] });
 * const { tools } = createFileTools(new FilesystemBackend(), { ignore });
 */
export function ignoreFiles(options?: IgnoreOptions): IgnoreRules {
  rulesOf(options);
  const made = new WeakMap<object, AnyBackend>();
  return {
    around(backend) {
      const known = made.get(backend);
      if (known) return known;
      const wrapped = withIgnore(backend, options);
      made.set(backend, wrapped);
      return wrapped;
    },
  };
}

/**
 * Leaves out of `glob` and `grep` what ignore files name, by git's rules, and counts it as `ignored`.
 * An ignored file can still be read, and an ignored directory searched, by its path.
 *
 * @example
 * import { withIgnore } from "kitbag/ignore";
 * const files = withIgnore(new FilesystemBackend(), { files: [".gitignore", ".kitbagignore"] });
 * const { matches, ignored } = await files.grep("TODO");
 */
export function withIgnore(inner: AnyBackend, options?: IgnoreOptions): IgnoreBackend {
  return new IgnoreBackend(inner, options);
}
