// Writes app.wasm: app.js with a JavaScript engine, as a component.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { componentize } from "@bytecodealliance/componentize-js";

const { resolve } = createRequire(import.meta.url);

/** A package of types as a part of a text that has several. */
function typesOf(name) {
  const text = readFileSync(resolve(`kitbag-component/${name}`), "utf8");
  return `${text.replace(/^(package [^;]+);/m, "$1 {")}}\n`;
}

const types = ["kitbag.wit", "kitbag-wasi.wit"].map(typesOf);
const witWorld = [readFileSync("wit/edge.wit", "utf8"), ...types].join("\n");
const { component } = await componentize({ sourcePath: "app.js", witWorld, worldName: "edge" });
writeFileSync("app.wasm", component);
