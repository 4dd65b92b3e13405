// Where a bundle finds the frameworks and the built package: in `tests/deps/agents`, and never in
// the packages of this repository.

import { at } from "../../../scripts/lib/paths.mjs";

const here = at("tests/tools/");

/** Resolves bare names in the files of `tests/tools`. */
export const frameworks = {
  name: "frameworks",
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) => {
      if (kind === "entry-point" || !importer.startsWith(here)) return undefined;
      return build.resolve(path, { kind, resolveDir: at("tests/deps/agents") });
    });
  },
};
