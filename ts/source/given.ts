// `kitbag/slim`: the caller loads the WebAssembly with `init` or `initSync`.

/** The name of a file. */
export type Source = string;

/** URL of a file of the package; right only if no bundler has moved this module. */
export function addressOf(name: string): URL | undefined {
  const here = import.meta.url;
  return new URL(`../wasm/${name}.wasm`, here);
}

/** Reports that a module was not loaded. */
export function compile(name: string): WebAssembly.Module {
  const chunk = name === "kitbag" ? "" : `"${name}"`;
  throw new Error(
    `kitbag/slim: its WebAssembly "${name}" is not loaded: call \`await init(${chunk})\` or \`initSync(module)\` first`,
  );
}
