// `kitbag/slim`: for callers that load the WebAssembly themselves. The primary module is always
// needed, a chunk before the first object of its class is created.

import { addressOf } from "#source";
import { give } from "./core/modules.js";

/** A compiled module (`WebAssembly.Module`), or its bytes. */
type ModuleInput = object | ArrayBuffer | ArrayBufferView;

/**
 * Argument of `init`: a URL, a response of `fetch`, bytes, a compiled module, or the name of a file
 * of this package, such as `"s3"`.
 */
type InitInput =
  | string
  | URL
  | Request
  | Response
  | ModuleInput
  | PromiseLike<Response | ModuleInput>;

/**
 * Uses modules, compiled or as bytes: `kitbag.wasm` and the chunks of the classes in use. Throws for
 * a module that is not of this build of the package.
 */
export function initSync(...inputs: ModuleInput[]): void {
  for (const input of inputs) give(moduleFrom(input));
}

/**
 * Fetches and compiles modules, and uses them. Without arguments: `kitbag.wasm`. Rejects if one
 * cannot be fetched or is not of this build of the package.
 *
 * @example
 * await init("kitbag", "s3");
 * const backend = new S3Backend({ region, bucket, credentials });
 */
export async function init(...inputs: InitInput[]): Promise<void> {
  const wanted = inputs.length > 0 ? inputs : ["kitbag"];
  for (const module of await Promise.all(wanted.map(compiled))) if (module) give(module);
}

function moduleFrom(input: ModuleInput): WebAssembly.Module {
  return isModule(input)
    ? (input as WebAssembly.Module)
    : new WebAssembly.Module(input as BufferSource);
}

/** Also of a module from another realm. */
function isModule(value: unknown): boolean {
  return Object.prototype.toString.call(value) === "[object WebAssembly.Module]";
}

/** Compiles a module; undefined for a name whose file this runtime loads by itself. */
async function compiled(input: InitInput): Promise<WebAssembly.Module | undefined> {
  const named = typeof input === "string" && /^[a-z0-9-]+$/.test(input);
  const given = named ? addressOf(input) : await input;
  if (given === undefined) return undefined;
  const source: unknown =
    typeof given === "string" || given instanceof URL || isRequest(given)
      ? await fetch(given)
      : given;
  if (isModule(source)) return source as WebAssembly.Module;
  if (!(typeof Response === "function" && source instanceof Response)) {
    return WebAssembly.compile(source as BufferSource);
  }
  if (!source.ok) {
    throw new Error(`kitbag: ${source.url || "the wasm"} could not be fetched: ${source.status}`);
  }
  const type = source.headers.get("content-type") ?? "";
  return type.startsWith("application/wasm")
    ? WebAssembly.compileStreaming(source)
    : WebAssembly.compile(await source.arrayBuffer());
}

function isRequest(value: unknown): value is Request {
  return typeof Request === "function" && value instanceof Request;
}
