// What becomes of imports of Node's own modules in a bundle. A page and a plain Worker have none:
// who may import one all the same is listed here, gets an empty module, and must do without. That
// kitbag is not on the list is part of what is tested.

import { builtinModules } from "node:module";

const BUILTIN = new RegExp(`^(node:)?(${builtinModules.join("|")})$`);

/** Packages that import Node's modules in their builds for browsers, and run without them. */
const EXCUSED = {
  // Matching of patterns: `util.inspect` in messages, and separators of paths.
  micromatch: ["util"],
  "fill-range": ["util"],
  picomatch: ["path"],
  // Copies of local files into a sandbox.
  langsmith: ["node:fs/promises", "node:path"],
  // `gzip` and its like.
  "just-bash": ["node:zlib"],
};

const packageOf = (file) => /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(file)?.[1];

/** For pages, and Workers without flags. */
export const withoutBuiltins = {
  name: "without-builtins",
  setup(build) {
    build.onResolve({ filter: BUILTIN }, ({ path, importer }) => {
      if (EXCUSED[packageOf(importer)]?.includes(path)) return { path, namespace: "empty" };
      return { errors: [{ text: `${importer} imports ${path}` }] };
    });
    build.onLoad({ filter: /./, namespace: "empty" }, () => ({ contents: "module.exports = {};" }));
  },
};

/** For Workers with `nodejs_compat`, which has them under names that begin with `node:`. */
export const workersBuiltins = {
  name: "workers-builtins",
  setup(build) {
    build.onResolve({ filter: BUILTIN }, ({ path, importer, kind }) => {
      if (packageOf(importer) === "kitbag") {
        return { errors: [{ text: `${importer} imports ${path}` }] };
      }
      const named = `node:${path.replace(/^node:/, "")}`;
      if (kind === "require-call") return { path: named, namespace: "required" };
      return { path: named, external: true };
    });
    build.onLoad({ filter: /./, namespace: "required" }, ({ path }) => ({
      contents: `import all from ${JSON.stringify(path)}; module.exports = all;`,
    }));
  },
};
