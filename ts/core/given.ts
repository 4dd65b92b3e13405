// Options and arguments as `descriptions.ts` describes them: how each kind of value is checked, and how
// it is packed into the message that Rust reads. Values of the host, such as functions, lie in their
// order in one array beside the message.

import type { CallOptions, Failure } from "../types.js";
import { madeHandle, type Unpack } from "./call.js";
import { called } from "./called.js";
import { kindOf, Options, refused } from "./checks.js";
import { enter } from "./instance.js";
import * as put from "./message.js";

/** What is known of a value that crosses. */
export interface Kind {
  /**
   * How it is packed. A `function` is any value of the host; as an option it must be a function. A `path`
   * is a short text; `bytes` can be a text, in UTF-8. A `call` is one of several forms, with its values.
   */
  readonly kind:
    | "flag"
    | "text"
    | "path"
    | "amount"
    | "words"
    | "list"
    | "group"
    | "function"
    | "bytes"
    | "handle"
    | "call";
  /** It can be left out, and then Rust is told so. */
  readonly maybe?: true;
  /** It is not the option of this name: the class says what it is. */
  readonly own?: true;
  /** What it is if it is left out; of a list, its only element. */
  readonly usual?: string | number | boolean;
  /** Of `words`: those that are allowed. */
  readonly words?: readonly string[];
  /** Of a list: its elements. */
  readonly of?: Kind;
  /** Of a group: its fields. */
  readonly fields?: Fields;
  /** The least amount, or the fewest elements; a list that needs some must be given. */
  readonly least?: number;
  /** The greatest amount. */
  readonly most?: number;
  /** What is allowed, if the kind does not say it. */
  readonly wanted?: string;
  /** Of a list: one element can be given without an array. */
  readonly single?: true;
  /** Of a list: its texts are lines. */
  readonly lines?: true;
  /** Without a value it would mean more than with one, so it must not be `undefined`. */
  readonly narrows?: true;
}

/** What is known of several values, in the order in which they cross. */
export type Fields = { readonly [name: string]: Kind };

type Whole<K> = K extends { kind: "flag" }
  ? boolean
  : K extends { kind: "text" | "path" }
    ? string
    : K extends { kind: "amount" | "handle" }
      ? number
      : K extends { kind: "bytes" }
        ? string | Uint8Array
        : K extends { kind: "words"; words: readonly (infer Word)[] }
          ? Word
          : K extends { kind: "list"; of: infer Of }
            ? ReadonlyArray<Whole<Of>>
            : K extends { kind: "group"; fields: infer Inner }
              ? Values<Inner>
              : K extends { kind: "call" }
                ? Formed
                : unknown;

type Value<K> = K extends { maybe: true } ? Whole<K> | undefined : Whole<K>;

/** All values of a description. */
export type Values<F> = { -readonly [Name in keyof F]: Value<F[Name]> };

/** The values that come from options of the same names. */
export type Taken<F> = {
  -readonly [Name in keyof F as F[Name] extends { own: true } ? never : Name]: Value<F[Name]>;
};

/** One of several forms of a value; made by `formed`. */
export interface Formed {
  readonly form: Call;
  readonly values: Record<string, unknown>;
}

/** A value in one of its forms. */
export function formed<C extends Call>(form: C, values: Values<C["fields"]>): Formed {
  return { form, values };
}

/** A call, by its number and its arguments. */
export interface Call {
  readonly call: number;
  readonly fields: Fields;
}

/** Reads the options that a description names. A wrong one throws a TypeError that says what is wrong. */
export function take<F extends Fields>(given: Options, fields: F): Taken<F> {
  const taken: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(fields)) {
    if (!kind.own) taken[name] = one(given, name, kind);
  }
  return taken as Taken<F>;
}

/** The same for an object in an option, all of whose options are described. */
export function takeAll<F extends Fields>(of: string, value: unknown, fields: F): Taken<F> {
  const inside = new Options(of, value);
  const taken = take(inside, fields);
  inside.done();
  return taken;
}

function one(given: Options, name: string, kind: Kind): unknown {
  const { usual, maybe } = kind;
  switch (kind.kind) {
    case "flag": {
      const flag = given.checked(name, "true or false", (value) => typeof value === "boolean");
      return flag ?? (maybe ? undefined : usual === true);
    }
    case "text":
      if (!maybe && usual === undefined) return given.requiredText(name, kind.wanted);
      return given.text(name) ?? usual;
    case "words": {
      const words = kind.words ?? [];
      const word = given.oneOf<string | undefined>(name, words, usual as string | undefined);
      if (word !== undefined || maybe) return word;
      return given.refuse(name, words.map((one) => JSON.stringify(one)).join(" or "), undefined);
    }
    case "amount":
      return amount(given, name, kind);
    case "list":
      return texts(given, name, kind);
    case "group":
      return group(given, name, kind);
    default: {
      const value = given.callback(name);
      if (value === undefined && !maybe) given.refuse(name, kind.wanted ?? "a function", value);
      return value;
    }
  }
}

function amount(given: Options, name: string, kind: Kind): number | undefined {
  const { least = 0, most = Number.POSITIVE_INFINITY, wanted, narrows } = kind;
  const value = given.amount(name, narrows) ?? (kind.usual as number | undefined);
  if (value === undefined) {
    if (kind.maybe) return undefined;
    return given.refuse(name, wanted ?? "a whole number, zero or more", undefined);
  }
  if (value < least || value > most) given.refuse(name, wanted ?? `at least ${least}`, value);
  return value;
}

/** A list of texts; which of them is wrong is in the message. */
function texts(given: Options, name: string, kind: Kind): string[] | undefined {
  const value = given.raw(name);
  const { usual, least = 0, maybe, wanted = "an array of strings" } = kind;
  if (value === undefined) {
    if (maybe) return undefined;
    if (usual !== undefined) return [usual as string];
    return least > 0 ? given.refuse(name, wanted, undefined) : [];
  }
  const all: unknown[] | undefined = Array.isArray(value)
    ? value
    : kind.single && typeof value === "string"
      ? [value]
      : undefined;
  if (!all || all.length < least) return given.refuse(name, wanted, value);
  return Array.from(all, (text, at) => {
    if (typeof text !== "string") return given.refuse(`${name}[${at}]`, "a string", text ?? null);
    if (kind.lines && /[\r\n]/.test(text)) {
      return given.refuse(`${name}[${at}]`, "a string without line breaks", text);
    }
    return text;
  });
}

function group(given: Options, name: string, kind: Kind): unknown {
  const value = given.object(name);
  if (value === undefined && kind.maybe) return undefined;
  return takeAll(`${given.of}: ${name}`, value, kind.fields ?? {});
}

/** Reads a list of objects, each with options of its own. */
export function each<T>(given: Options, name: string, read: (rule: Options) => T): T[] {
  const list = given.raw(name) ?? [];
  if (!Array.isArray(list)) return given.refuse(name, "an array of rules", list);
  return Array.from(list, (rule: unknown, at) => {
    const of = `${given.of}: ${name}[${at}]`;
    if (typeof rule !== "object" || rule === null) {
      throw new TypeError(`${of} must be a rule, not ${kindOf(rule)}`);
    }
    const options = new Options(of, rule);
    const taken = read(options);
    options.done();
    return taken;
  });
}

/** Packs the values of a description; values of the host are added to `hosts`. */
function putFields(fields: Fields, values: Record<string, unknown>, hosts: unknown[]): void {
  // The descriptions are plain objects. Every operation comes here, and entries would be objects, too.
  for (const name in fields) putValue(fields[name] as Kind, values[name], hosts);
}

function putValue(kind: Kind, value: unknown, hosts: unknown[]): void {
  if (kind.maybe) {
    put.putBool(value !== undefined);
    if (value === undefined) return;
  }
  switch (kind.kind) {
    case "flag":
      put.putBool(value as boolean);
      break;
    case "text":
      put.putLongText(value as string);
      break;
    case "path":
      put.putText(value as string);
      break;
    case "amount":
      put.putF64(value as number);
      break;
    case "words":
      put.putU8(kind.words?.indexOf(value as string) ?? 0);
      break;
    case "bytes":
      if (typeof value === "string") put.putLongText(value);
      else put.putBytes(value as Uint8Array);
      break;
    case "handle":
      put.putU32(value as number);
      break;
    case "group":
      putFields(kind.fields ?? {}, value as Record<string, unknown>, hosts);
      break;
    case "list":
      put.putU32((value as unknown[]).length);
      for (const element of value as unknown[]) putValue(kind.of as Kind, element, hosts);
      break;
    case "call": {
      const { form, values } = value as Formed;
      put.putU8(form.call);
      putFields(form.fields, values, hosts);
      break;
    }
    default:
      hosts.push(value);
  }
}

/** Packs values in the midst of a message that has no values of the host. */
export function write<F extends Fields>(fields: F, values: Values<F>): void {
  putFields(fields, values, []);
}

/** A message in the memory of WebAssembly, and what lies beside it. */
export interface Packed {
  length: number;
  hosts: unknown[];
}

/** Packs a message; a TypeError says why that is not possible. */
function packed(of: string, write: (hosts: unknown[]) => void): Packed {
  const hosts: unknown[] = [];
  const bad = refused(() => {
    put.begin();
    write(hosts);
  });
  if (bad) throw new TypeError(`${of}: ${bad.error}`);
  const length = put.finish();
  put.sent();
  return { length, hosts };
}

/** Packs options. They were checked: nothing of the caller's may run between this and the call. */
export function pack<F extends Fields>(of: string, fields: F, values: Values<F>): Packed {
  return packed(of, (hosts) => putFields(fields, values, hosts));
}

/** Makes something of options; returns its handle. A failure of Rust is thrown as a TypeError. */
export function create<F extends Fields>(
  of: string,
  fields: F,
  values: Values<F>,
  make: (length: number, hosts: unknown[]) => void,
): number {
  const { length, hosts } = pack(of, fields, values);
  enter(() => make(length, hosts));
  return madeHandle(of);
}

/** Packs a call that replies at once; returns the length of its message. */
export function packCall<C extends Call>(of: string, call: C, values: Values<C["fields"]>): number {
  return packed(of, (hosts) => {
    put.putU8(call.call);
    putFields(call.fields, values, hosts);
  }).length;
}

/**
 * Starts a call. `look` checks and returns its arguments; what it throws is an error result, as are wrong
 * options. `own` names those that the call has beside the options of every call.
 */
export function ask<C extends Call, T>(
  call: C,
  look: () => Values<C["fields"]>,
  start: (length: number, limit: number) => number,
  unpack: Unpack<T>,
  options?: CallOptions,
  own?: readonly string[],
): Promise<T | Failure> {
  return asked(
    look,
    (values) => {
      put.putU8(call.call);
      putFields(call.fields, values, []);
    },
    start,
    unpack,
    options,
    own,
  );
}

/** The same for a call that is the only one of its kind. */
export function askOnly<F extends Fields, T>(
  fields: F,
  look: () => Values<F>,
  start: (length: number, limit: number) => number,
  unpack: Unpack<T>,
  options?: CallOptions,
  own?: readonly string[],
): Promise<T | Failure> {
  return asked(look, (values) => putFields(fields, values, []), start, unpack, options, own);
}

function asked<V extends object, T>(
  look: () => V,
  write: (values: Record<string, unknown>) => void,
  start: (length: number, limit: number) => number,
  unpack: Unpack<T>,
  options: CallOptions | undefined,
  own: readonly string[] | undefined,
): Promise<T | Failure> {
  let values: V | undefined;
  const refusal = refused(() => {
    values = look();
  });
  if (refusal) return Promise.resolve(refusal);
  const message = () => write(values as Record<string, unknown>);
  return called(options, (limit, length) => start(length, limit), unpack, own, message);
}
