// Workers: the runtime compiles imported `.wasm` files to modules, and refuses to compile bytes.

/** A compiled module. */
export type Source = WebAssembly.Module;

/** Returns the module, which is compiled already. */
export function compile(_name: string, source: Source): WebAssembly.Module {
  return source;
}

/** No URL is needed: the modules are imported. */
export function addressOf(_name: string): URL | undefined {
  return undefined;
}
