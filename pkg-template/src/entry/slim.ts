// `kitbag/slim`: for those who load the wasm themselves, streaming or not.

import { attached } from "../core/instance.js";
import { load } from "./load.js";

/** What `init` takes: an address, an answer to a fetch, bytes, or a compiled module. */
export type InitInput =
  | string
  | URL
  | Request
  | Response
  | BufferSource
  | WebAssembly.Module
  | PromiseLike<Response | BufferSource | WebAssembly.Module>;

/** Takes a compiled module, or bytes to compile here and now, into use. */
export function initSync(input: WebAssembly.Module | BufferSource): void {
  load(input instanceof WebAssembly.Module ? input : new WebAssembly.Module(input));
}

/** Fetches and compiles the wasm and takes it into use; `kitbag.wasm` beside this file by default. */
export async function init(input?: InitInput): Promise<void> {
  if (attached()) return;
  const given = await (input ?? new URL("./kitbag.wasm", import.meta.url));
  const source =
    typeof given === "string" || given instanceof URL || isRequest(given)
      ? await fetch(given)
      : given;
  load(await compiled(source));
}

function isRequest(value: unknown): value is Request {
  return typeof Request === "function" && value instanceof Request;
}

async function compiled(
  source: Response | BufferSource | WebAssembly.Module,
): Promise<WebAssembly.Module> {
  if (source instanceof WebAssembly.Module) return source;
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

export * from "../index.js";
