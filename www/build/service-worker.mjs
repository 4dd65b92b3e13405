// Writes `sw.js`: all files of a build under one version, so that the playground works offline and a
// new build replaces the old one as a whole.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const source = fileURLToPath(new URL("./sw.js", import.meta.url));

export function serviceWorker() {
  return {
    name: "kitbag-service-worker",
    apply: "build",
    enforce: "post",
    generateBundle(_, bundle) {
      const files = Object.keys(bundle).filter((name) => !name.endsWith(".map"));
      const hash = createHash("sha256");
      for (const name of files.sort()) {
        const file = bundle[name];
        hash.update(name).update(file.type === "chunk" ? file.code : file.source);
      }
      const head = `const VERSION = ${JSON.stringify(hash.digest("hex").slice(0, 16))};\nconst FILES = ${JSON.stringify(["./", ...files.filter((name) => name !== "index.html")])};\n`;
      this.emitFile({
        type: "asset",
        fileName: "sw.js",
        source: head + readFileSync(source, "utf8"),
      });
    },
  };
}
