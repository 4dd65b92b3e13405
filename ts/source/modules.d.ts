// Modules that the build provides under these names.

/** Source of the primary module. */
declare module "#primary" {
  import type { Source } from "#source";

  const source: Source;
  export default source;
}

/** The build that all modules must have. */
declare module "#build" {
  const build: string;
  export default build;
}

/** All chunks by name, for the tests. */
declare module "#chunks" {
  const chunks: Record<string, { load(): void }>;
  export default chunks;
}

/** A chunk by its name in `src/wasm`. */
declare module "#chunk/*" {
  const chunk: { load(): void };
  export default chunk;
}

/** The module that unpacks the others, as base64. */
declare module "#unpacker" {
  const text: string;
  export default text;
}

/** How this form of the package gets the chunk `regex`. */
declare module "#regex" {
  import type { Source } from "#source";

  /** Undefined where it is imported, or in a build without chunks. */
  export const regexSource: Source | undefined;
  export const regexIs: "always" | "given" | "imported";
}

/** The long texts about the tools, in forms that contain them. */
declare module "#guided" {
  import type { ToolPrompts } from "../tool/prompts.js";

  export const guidedHere: ToolPrompts | undefined;
}

/** What is kept of a folder between searches: only where kitbag reads its own files. */
declare module "#warm" {
  export const warmHere: typeof import("../disk/warm/here.js").warmHere | undefined;
}
