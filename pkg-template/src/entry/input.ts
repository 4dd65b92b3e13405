// From what a caller of `init` has to a compiled module.

/** A compiled module, or bytes. */
export type ModuleInput = WebAssembly.Module | BufferSource;

/** What `init` takes: an address, an answer to a fetch, bytes, or a compiled module. */
export type InitInput =
  | string
  | URL
  | Request
  | Response
  | ModuleInput
  | PromiseLike<Response | ModuleInput>;

export function moduleFrom(input: ModuleInput): WebAssembly.Module {
  return input instanceof WebAssembly.Module ? input : new WebAssembly.Module(input);
}

export async function compiled(input: InitInput): Promise<WebAssembly.Module> {
  const given = await input;
  const source =
    typeof given === "string" || given instanceof URL || isRequest(given)
      ? await fetch(given)
      : given;
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

function isRequest(value: unknown): value is Request {
  return typeof Request === "function" && value instanceof Request;
}
