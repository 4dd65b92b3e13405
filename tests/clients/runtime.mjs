// Run by Deno and by Bun: `runtime.mjs PACKAGE JSON`.

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { conform } from "./client.mjs";

const load = (name) => import(pathToFileURL(join(process.argv[2], "dist", name)).href);
const kitbag = await load("node.js");
const { runConformance } = await load("conformance.js");
console.log(
  JSON.stringify(await conform({ ...kitbag, runConformance }, JSON.parse(process.argv[3]))),
);
