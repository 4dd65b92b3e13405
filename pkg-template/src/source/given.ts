// `kitbag/slim`: the caller loads the WebAssembly, by `init` or `initSync`.

/** The name of a file. */
export type Source = string;

/** Where a file of the package is, as long as no bundler has moved this one. */
export function addressOf(name: string): URL | undefined {
  const here = import.meta.url;
  return new URL(`../wasm/${name}.wasm`, here);
}

/** What was not given cannot be had. */
export function compile(name: string): WebAssembly.Module {
  const chunk = name === "kitbag" ? "" : `"${name}"`;
  throw new Error(
    `kitbag/slim: its WebAssembly "${name}" is not loaded: call \`await init(${chunk})\` or \`initSync(module)\` first`,
  );
}
