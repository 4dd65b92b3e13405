// Provides what suites need while other suites run: programs are compiled in one lane, packages and
// browsers are installed in another, so that neither waits for the other.

import { ensure, ensurePrograms } from "../setup.mjs";

/** Programs that are compiled. The package needs the first of them. */
export const TOOLS = new Set(["splitter", "wasm-bindgen", "wasm-pack"]);

/** What is built of the sources; the Python package contains the component. */
export const BUILT = new Set(["build", "build:testing", "build:named", "component", "python"]);

/** What is compiled; it keeps a processor busy. */
const COMPILED = new Set([...TOOLS, ...BUILT]);

/** Starts to provide everything that these suites need, in their order. */
export function prepare(suites) {
  const outcomes = new Map();
  const needed = [...new Set(suites.flatMap(({ needs }) => needs))];
  // What fails here is tried again by each need, whose error then says what is missing.
  const installed = ensurePrograms(needed).catch(() => {});
  const lanes = { compile: Promise.resolve(), install: installed };
  let compiles = 0;
  let signal;
  const preparation = {
    /** Whether something is being compiled. */
    get compiling() {
      return compiles > 0;
    },
    /** Ends with the next thing that was provided or failed. */
    step: undefined,
    /** Whether nothing of what the suite needs is still to come. */
    over: ({ needs }) => needs.every((need) => outcomes.has(need)),
    /** Why something that the suite needs is not there. */
    missing: ({ needs }) => needs.map((need) => outcomes.get(need).error).find(Boolean),
  };
  const next = () => {
    signal?.();
    preparation.step = new Promise((resolve) => {
      signal = resolve;
    });
  };
  next();
  for (const need of needed) {
    const lane = COMPILED.has(need) ? "compile" : "install";
    if (lane === "compile") compiles += 1;
    lanes[lane] = lanes[lane].then(async () => {
      const outcome = await ensure(need).then(
        () => ({}),
        (error) => ({ error }),
      );
      outcomes.set(need, outcome);
      if (lane === "compile") compiles -= 1;
      next();
    });
  }
  return preparation;
}
