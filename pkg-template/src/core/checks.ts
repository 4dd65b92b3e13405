// What callers pass, looked at once. A protocol method answers a wrong argument with a result;
// a constructor throws a TypeError that names the option.

import type { CallOptions, Failure } from "../types.js";
import { FRAMES, needStack, noStack } from "./instance.js";
import { begin, dropPending, NoRoom } from "./message.js";
import { KitbagPanic } from "./panic.js";

/** A wrong argument of a method. */
export class BadArgument extends Error {
  override name = "BadArgument";
}

/** What a value is, in words. */
export function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "nothing";
  try {
    if (Array.isArray(value)) return "an array";
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

function wrong(name: string, expected: string, value: unknown): never {
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

/** A count as the protocol reads it: below zero is zero, not finite is the default, -1 here. */
export function count(name: string, value: unknown): number {
  if (value === undefined || value === null) return -1;
  if (typeof value !== "number") return wrong(name, "a number", value);
  return Number.isFinite(value) ? Math.max(0, Math.floor(value)) : -1;
}

/** Bytes of any sort; a detached buffer is refused and not stored as an empty file. */
export function bytesOf(name: string, value: unknown): Uint8Array {
  try {
    if (value instanceof ArrayBuffer) return new Uint8Array(value);
    if (ArrayBuffer.isView(value)) {
      return new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
    }
  } catch {
    throw new BadArgument(`${name} is a view of a buffer that was detached`);
  }
  return wrong(name, "a Uint8Array", value);
}

/** Reads call options; a wrong one is a wrong argument. */
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

/** Runs `check`; what is wrong comes back as a result. */
export function refused(check: () => void): Failure | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    if (error === noStack) {
      return {
        error:
          "There is too little stack left for this call, and nothing was done; call it from fewer functions inside one another",
        code: "unavailable",
      };
    }
    try {
      dropPending();
    } catch {
      // Where the stack ends, it waits for the next message.
    }
    if (error instanceof BadArgument) return { error: error.message, code: "invalid_argument" };
    if (error instanceof NoRoom) {
      return {
        error: "There is not enough memory for this argument; pass less at a time",
        code: "too_large",
      };
    }
    if (error instanceof KitbagPanic) throw error;
    // A getter, a proxy or a toString of the caller's threw.
    return {
      error: `An argument could not be read: ${messageOf(error)}`,
      code: "invalid_argument",
    };
  }
}

/** What was thrown, in words; whatever was thrown. */
export function messageOf(error: unknown): string {
  try {
    return error instanceof Error ? error.message : String(error);
  } catch {
    return "something that has no text";
  }
}

/**
 * Looks at arguments, then writes them as a message; a wrong one comes back as a result. All
 * looking comes first: it may run a caller's getter, which may call kitbag.
 */
export function encoded<T>(look: () => T, write: (seen: T) => void): Failure | undefined {
  return refused(() => {
    needStack(FRAMES.plain);
    const seen = look();
    begin();
    write(seen);
  });
}

/** Options of a constructor, read one by one; a wrong one throws a TypeError that names it. */
export class Options {
  readonly #of: string;
  readonly #given: Record<string, unknown>;
  readonly #known: Set<string> = new Set();

  constructor(of: string, given: unknown) {
    if (given !== undefined && (given === null || typeof given !== "object")) {
      throw new TypeError(`${of}: options must be an object, not ${kindOf(given)}`);
    }
    this.#of = of;
    this.#given = (given ?? {}) as Record<string, unknown>;
  }

  /** Whose options these are. */
  get of(): string {
    return this.#of;
  }

  /** The value of an option, whatever it is. */
  raw(name: string): unknown {
    this.#known.add(name);
    try {
      return this.#given[name] ?? undefined;
    } catch (error) {
      throw new TypeError(`${this.#of}: option "${name}" could not be read: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /** Refuses an option. */
  refuse(name: string, expected: string, value: unknown): never {
    throw new TypeError(
      `${this.#of}: option "${name}" must be ${expected}, not ${typeof value === "string" ? JSON.stringify(value) : typeof value === "number" ? String(value) : kindOf(value)}`,
    );
  }

  /** A check of one's own: `is` decides, `expected` says what was wanted. */
  checked<T>(name: string, expected: string, is: (value: unknown) => value is T): T | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    return is(value) ? value : this.refuse(name, expected, value);
  }

  oneOf<T extends string>(name: string, values: readonly T[], otherwise: T): T {
    const value = this.raw(name);
    if (value === undefined) return otherwise;
    if (values.includes(value as T)) return value as T;
    return this.refuse(name, values.map((v) => JSON.stringify(v)).join(" or "), value);
  }

  text(name: string): string | undefined {
    return this.checked(name, "a string", (value) => typeof value === "string");
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined || value === "") return this.refuse(name, "a non-empty string", value);
    return value;
  }

  boolean(name: string, otherwise: boolean): boolean {
    return this.checked(name, "true or false", (value) => typeof value === "boolean") ?? otherwise;
  }

  /** A whole number of bytes, milliseconds or pieces, zero or more. */
  amount(name: string): number | undefined {
    return this.checked(
      name,
      "a whole number, zero or more",
      (value): value is number => Number.isSafeInteger(value) && (value as number) >= 0,
    );
  }

  // biome-ignore lint/complexity/noBannedTypes: a callback of the host's, called with what its option says
  callback(name: string): Function | undefined {
    return this.checked(name, "a function", (value) => typeof value === "function");
  }

  object(name: string): Record<string, unknown> | undefined {
    return this.checked(
      name,
      "an object",
      (value): value is Record<string, unknown> => typeof value === "object" && value !== null,
    );
  }

  /** Refuses options that nobody asked for, since a typing mistake must not switch a rule off. */
  done(): void {
    let names: string[];
    try {
      names = Object.keys(this.#given);
    } catch {
      return;
    }
    for (const name of names) {
      if (!this.#known.has(name)) {
        throw new TypeError(
          `${this.#of}: there is no option "${name}"; known are ${[...this.#known].join(", ")}`,
        );
      }
    }
  }
}
