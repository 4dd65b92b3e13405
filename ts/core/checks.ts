// Validation of arguments and options. A protocol method returns an error result for a wrong
// argument; a constructor throws a TypeError with the name of the option.

import type { CallOptions, ErrorText, Failure } from "../types.js";
import { needStack, noStack, ROOM } from "./instance.js";
import { begin, dropPending, NoRoom } from "./message.js";
import { instead, nearest, notEmpty } from "./nearest.js";
import { Op } from "./operations.js";
import { KitbagPanic, OutOfMemory } from "./panic.js";

/** A wrong argument of a method. */
export class BadArgument extends Error {
  override name = "BadArgument";
}

/** Names the type of a value for a message. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  try {
    if (Array.isArray(value)) return "an array";
    if (value instanceof Map) return "a Map";
    if (value instanceof Promise) return "a promise";
  } catch {
    return "a revoked proxy";
  }
  switch (typeof value) {
    case "object":
      return "an object";
    case "function":
      return "a function";
    case "string":
      return "a string";
    default:
      return `a ${typeof value}`;
  }
}

export function wrong(name: string, expected: string, value: unknown): never {
  throw new BadArgument(`${name} must be ${expected}, not ${kindOf(value)}`);
}

export function text(name: string, value: unknown): string {
  return typeof value === "string" ? value : wrong(name, "a string", value);
}

export function optionalText(name: string, value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  return text(name, value);
}

export function flag(name: string, value: unknown): boolean {
  if (value === undefined || value === null) return false;
  return typeof value === "boolean" ? value : wrong(name, "true or false", value);
}

/** A count: negative becomes zero; -1 stands for the default, also of a number not finite. */
export function count(name: string, value: unknown): number {
  if (value === undefined || value === null) return -1;
  if (typeof value !== "number") return wrong(name, "a number", value);
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : -1;
}

/** A place in a file, in bytes; -1 stands for none. */
export function place(name: string, value: unknown): number {
  if (value === undefined || value === null) return -1;
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  return wrong(name, "a whole number of bytes, not negative", value);
}

/** Bytes of any view. A detached buffer is refused and not stored as an empty file. */
export function bytesOf(
  name: string,
  value: unknown,
  expected = "a Uint8Array",
  instead = "",
): Uint8Array {
  try {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value)) {
      return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
  } catch {
    throw new BadArgument(`${name} is a view of a buffer that was detached`);
  }
  throw new BadArgument(`${name} must be ${expected}, not ${kindOf(value)}${instead}`);
}

/** The content of a file: a text or bytes. Of anything else the message says how to make one. */
export function contentOf(name: string, value: unknown): string | Uint8Array {
  if (typeof value === "string") return value;
  return bytesOf(name, value, "a string or a Uint8Array", wayTo(name, value));
}

function wayTo(name: string, value: unknown): string {
  if (value === undefined || value === null) return '; pass "" for an empty file';
  if (kindOf(value) === "a promise") return "; await it first";
  const isBlob = typeof value === "object" && "arrayBuffer" in value;
  return `; pass ${isBlob ? `new Uint8Array(await ${name}.arrayBuffer())` : `JSON.stringify(${name})`} instead`;
}

const CALL = ["signal", "timeoutMs"];

/** Options of single operations, beside those of every call. */
const OWN: Record<number, readonly string[]> = {
  [Op.grep]: ["maxCount", "regex", "ignoreCase", "before", "after", "maxPerFile", "stats"],
  [Op.readRaw]: ["start", "end"],
  [Op.write]: ["ifAbsent"],
  [Op.delete]: ["unchanged"],
  [Op.uploadFiles]: ["onlyFiles"],
  [Op.move]: ["overwrite"],
  [Op.copy]: ["overwrite"],
};

/**
 * Refuses options that an operation does not have, or a call with these options of its own, because a
 * misspelled one would do nothing.
 */
export function optionNames(operation: number | readonly string[], value: unknown): void {
  if (value === undefined || value === null) return;
  if (!isRecord(value)) throw new BadArgument(`options must be an object, not ${kindOf(value)}`);
  const own = typeof operation === "number" ? OWN[operation] : operation;
  const known = [...(own ?? []), ...CALL];
  for (const name of Object.keys(value)) {
    if (known.includes(name)) continue;
    throw new BadArgument(
      `There is no option ${shown(name)} here; ${instead(name, known, "options")}`,
    );
  }
}

/** Reads the options of a call; throws `BadArgument` if one is wrong. */
export function callOptions(value: unknown): CallOptions | undefined {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== "object") return wrong("options", "an object", value);
  const { signal, timeoutMs } = value as CallOptions;
  if (signal !== undefined && typeof signal?.addEventListener !== "function") {
    return wrong("options.signal", "an AbortSignal", signal);
  }
  if (timeoutMs !== undefined && !(typeof timeoutMs === "number" && timeoutMs >= 0)) {
    return wrong("options.timeoutMs", "a number of milliseconds", timeoutMs);
  }
  return { signal, timeoutMs };
}

/** Runs `check` and returns what it throws as an error result. */
export function refused(check: () => void): Failure | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error === noStack) {
      return {
        error:
          "There is too little stack left for this call; nothing was done. Call it from fewer functions inside one another",
        code: "unavailable",
      };
    }
    try {
      dropPending();
    } catch {
      // Without stack it cannot be dropped now; the next message drops it.
    }
    if (error instanceof BadArgument) {
      return { error: error.message as ErrorText, code: "invalid_argument" };
    }
    if (error instanceof NoRoom || error instanceof OutOfMemory) {
      return {
        error: "There is not enough memory for this argument; pass less at a time",
        code: "too_large",
      };
    }
    if (error instanceof KitbagPanic) throw error;
    // A getter, proxy or toString of the caller threw.
    return {
      error: `An argument could not be read: ${messageOf(error)}`,
      code: "invalid_argument",
    };
  }
}

/** A wrong argument, as a call answers it where a constructor throws. Other errors are thrown on. */
export function refusedAsResult(error: unknown): Failure {
  if (!(error instanceof TypeError)) throw error;
  return { error: error.message as ErrorText, code: "invalid_argument" };
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "something that has no text";
  }
}

/**
 * Validates arguments with `look`, then writes them as a message. All validation comes first,
 * because it may run a getter of the caller, which may call kitbag.
 */
export function encoded<T>(look: () => T, write: (seen: T) => void): Failure | undefined {
  return refused(() => {
    needStack(ROOM.plain);
    const seen = look();
    begin();
    write(seen);
  });
}

/**
 * A wrong name for a message. A text in its place may be an address with a password, or a key, so only
 * what looks like a name is shown.
 */
export function shown(name: unknown): string {
  if (typeof name !== "string") return kindOf(name);
  return /^[\w$.-]{0,64}$/.test(name) ? JSON.stringify(name) : "a text that is no name";
}

/** A wrong value for a message. A text is not shown: it may be a secret in the wrong option. */
function given(value: unknown): string {
  if (typeof value === "number") return String(value);
  return value === "" ? '""' : kindOf(value);
}

/** Whether a value has keys of the caller's. An array has numbers, and a Map has none. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  if (typeof value !== "object" || value === null) return false;
  try {
    return !(Symbol.iterator in value);
  } catch {
    return false;
  }
}

/** Reads the options of a constructor one by one. A wrong one throws a TypeError that names it. */
export class Options {
  readonly #of: string;
  readonly #given: Record<string, unknown>;
  readonly #known: Set<string> = new Set();

  constructor(of: string, given: unknown) {
    if (given !== undefined && !isRecord(given)) {
      throw new TypeError(`${of}: options must be an object, not ${kindOf(given)}`);
    }
    this.#of = of;
    this.#given = (given ?? {}) as Record<string, unknown>;
  }

  /** Name of the class or function that has the options. */
  get of(): string {
    return this.#of;
  }

  /** Returns an option without validation; `narrows` is whether it must not be `undefined`. */
  raw(name: string, narrows?: boolean): unknown {
    this.#known.add(name);
    let value: unknown;
    let empty = false;
    try {
      value = this.#given[name] ?? undefined;
      empty = value === undefined && name in this.#given;
    } catch (error) {
      throw new TypeError(`${this.#of}: option "${name}" could not be read: ${messageOf(error)}`, {
        cause: error,
      });
    }
    if (empty) notEmpty(this.#of, name, narrows);
    return value;
  }

  /** Throws a TypeError about an option. */
  refuse(name: string, expected: string, value: unknown): never {
    if (value !== undefined) {
      throw new TypeError(`${this.#of}: option "${name}" must be ${expected}, not ${given(value)}`);
    }
    return this.missing([name], `it must be ${expected}`);
  }

  /** Throws a TypeError about an option that must not be given: "where …" or "because …". */
  excess(name: string, why: string): never {
    throw new TypeError(`${this.#of}: option "${name}" must be left out ${why}`);
  }

  /** Throws a TypeError about an option that is not there, of several one; names those that are. */
  missing(options: string[], how: string): never {
    for (const name of options) this.#misspelled(name);
    const names = Object.keys(this.#given);
    const among = names.length === 0 ? "" : ` among ${names.map(shown).join(", ")}`;
    const missing = options.map(shown).join(" or ");
    throw new TypeError(`${this.#of}: option ${missing} is missing${among}; ${how}`);
  }

  /** Validates an option with `is`; `expected` describes valid values in the message. */
  checked<T>(
    name: string,
    expected: string,
    is: (value: unknown) => value is T,
    narrows?: boolean,
  ): T | undefined {
    const value = this.raw(name, narrows);
    if (value === undefined) return undefined;
    return is(value) ? value : this.refuse(name, expected, value);
  }

  oneOf<T extends string | undefined>(name: string, values: readonly T[], otherwise: T): T {
    const value = this.raw(name);
    if (value === undefined) return otherwise;
    if (values.includes(value as T)) return value as T;
    const meant =
      typeof value === "string" ? nearest(value, values as readonly string[]) : undefined;
    if (meant !== undefined) {
      throw new TypeError(
        `${this.#of}: option "${name}" must be ${values.map((v) => JSON.stringify(v)).join(" or ")}; is "${meant}" meant?`,
      );
    }
    return this.refuse(name, values.map((v) => JSON.stringify(v)).join(" or "), value);
  }

  text(name: string): string | undefined {
    return this.checked(name, "a string", (value) => typeof value === "string");
  }

  requiredText(name: string, expected = "a non-empty string"): string {
    const value = this.text(name);
    return value || this.refuse(name, expected, value);
  }

  boolean(name: string, otherwise: boolean): boolean {
    return this.checked(name, "true or false", (value) => typeof value === "boolean") ?? otherwise;
  }

  /** A number of bytes, milliseconds or items: whole, zero or more. */
  amount(name: string, narrows?: boolean): number | undefined {
    return this.checked(
      name,
      "a whole number, zero or more",
      (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
      narrows,
    );
  }

  // biome-ignore lint/complexity/noBannedTypes: callbacks have different parameters
  callback(name: string, narrows?: boolean): Function | undefined {
    return this.checked(name, "a function", (value) => typeof value === "function", narrows);
  }

  object(name: string): Record<string, unknown> | undefined {
    return this.checked(
      name,
      "an object",
      (value): value is Record<string, unknown> =>
        typeof value === "object" && value !== null && kindOf(value) !== "an array",
    );
  }

  /** An object whose keys are the caller's, such as files by path; `example` shows one. */
  record(name: string, example: string): Record<string, unknown> | undefined {
    return this.checked(name, `an object such as ${example}`, isRecord);
  }

  /** Refuses unknown options, because a misspelled name must not turn a rule off. */
  done(): void {
    for (const name of this.#unknown()) this.#none(name, [...this.#known]);
  }

  /** An option is missing: if one with a similar name is there, that is the mistake. */
  #misspelled(name: string): void {
    const wrong = this.#unknown().find((one) => nearest(one, [name]) !== undefined);
    if (wrong !== undefined) this.#none(wrong, [name]);
  }

  #none(name: string, known: string[]): never {
    throw new TypeError(
      `${this.#of}: there is no option ${shown(name)}; ${instead(name, known, "options")}`,
    );
  }

  #unknown(): string[] {
    try {
      return Object.keys(this.#given).filter((name) => !this.#known.has(name));
    } catch {
      return [];
    }
  }
}

/**
 * Options of a constructor that takes them first, or behind deepagents' older argument `older`.
 * Those that are in the other place would have no effect.
 */
export function olderForm(
  of: string,
  older: object | undefined,
  first: unknown,
  second: unknown,
  names: readonly string[],
): Options {
  if (older === undefined) {
    if (second !== undefined) {
      throw new TypeError(
        `${of}: options are the first argument; a second one is only for ${of}({ state }, options)`,
      );
    }
    return new Options(of, first);
  }
  const misplaced = names.find((name) => Object.hasOwn(older, name));
  if (misplaced !== undefined) {
    throw new TypeError(
      `${of}: option "${misplaced}" belongs into the second argument, behind { state }`,
    );
  }
  return new Options(of, second);
}
