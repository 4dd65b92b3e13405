// `kitbag/slim`: the caller loads the WebAssembly with `init` or `initSync`.

/** The name of a file. */
export type Source = string;

/** URL of a file of the package; right only if no bundler has moved this module. */
export function addressOf(name: string): URL | undefined {
  const here = import.meta.url;
  return new URL(`../wasm/${name}.wasm`, here);
}

/** Reports that a module was not loaded, and with it all that are missing. */
export function compile(
  name: string,
  _: Source,
  missing: readonly string[] = [name],
): WebAssembly.Module {
  const names = name === "kitbag" ? "" : missing.map((one) => `"${one}"`).join(", ");
  throw new Error(
    `kitbag/slim: its WebAssembly "${name}" is not loaded: call \`await init(${names})\` or \`initSync(module)\` first`,
  );
}
