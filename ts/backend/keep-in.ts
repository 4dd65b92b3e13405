// keepIn: where a wrapper keeps files of its own. All wrappers read the option here, so that it means
// the same everywhere.

import { isRecord, kindOf, Options } from "../core/checks.js";
import type { AnyBackend } from "../foreign/adapt.js";

/** Where a wrapper keeps files of its own; no call of a backend or tool reaches them there. */
export interface KeepIn {
  /** The backend that holds them. */
  backend: AnyBackend;
  /** Their directory in that backend; for labels of `withProvenance`, their file. */
  path?: string;
  /**
   * Proves what is kept there: 16 bytes or more, or a text that has as many. What somebody else has
   * written there is not believed then. Make it of random bytes, another one for each place, and keep
   * it where the agent cannot read it.
   */
  key?: string | Uint8Array;
}

/** How many bytes a key has at least. */
const LEAST_KEY = 16;

/** A `keepIn` that was read: `backend` is not checked yet, and undefined if it was left out. */
export interface Place {
  backend: unknown;
  path: string;
  key: Uint8Array | undefined;
}

/** Reads a `keepIn`; `of` is what has it, `path` the path if the caller names none. */
export function placeOf(of: string, keepIn: unknown, path: string): Place {
  const example = 'an object such as { backend, path: "/kept" }';
  if (isBackend(keepIn)) {
    throw new TypeError(`${of} must be ${example}, not a backend; write { backend: … }`);
  }
  if (!isRecord(keepIn)) {
    const instead = typeof keepIn === "string" ? "; write { path: … }" : "";
    throw new TypeError(`${of} must be ${example}, not ${kindOf(keepIn)}${instead}`);
  }
  const given = new Options(of, keepIn);
  const place = {
    backend: given.raw("backend"),
    path: given.text("path") ?? path,
    key: keyOf(given),
  };
  given.done();
  return place;
}

/** The bytes of the key. Nothing of it is shown, not even if it is wrong. */
function keyOf(given: Options): Uint8Array | undefined {
  const key = given.raw("key");
  if (key === undefined) return undefined;
  const bytes = typeof key === "string" ? new TextEncoder().encode(key) : key;
  if (!(bytes instanceof Uint8Array) || bytes.length < LEAST_KEY) {
    throw new TypeError(
      `${given.of}: option "key" must be a string or a Uint8Array of ${LEAST_KEY} bytes or more`,
    );
  }
  return bytes.slice();
}

/** The same where the caller must name the backend. */
export function placeElsewhere(given: Options, path: string): Place {
  const keepIn = given.raw("keepIn");
  if (keepIn === undefined) given.refuse("keepIn", "{ backend, path }", undefined);
  const place = placeOf(`${given.of}: keepIn`, keepIn, path);
  if (place.backend === undefined) {
    new Options(`${given.of}: keepIn`, keepIn).refuse("backend", "a backend", undefined);
  }
  return place;
}

/** Whether this is a backend, which was `keepIn` itself in earlier versions. */
function isBackend(value: unknown): boolean {
  const { read } = (value ?? {}) as { read?: unknown };
  return typeof read === "function";
}
