// `npm run build:www [-- --out DIR --base /path/]`: the playground as static files for any host.
// Without `--base` they work under any path.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { at } from "./lib/paths.mjs";
import { buildWww } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: { out: { type: "string" }, base: { type: "string", default: "./" } },
});
const out = resolve(at(), values.out ?? "www-dist");
try {
  await ensureAll(["npm", "build", "www"]);
  await buildWww(out, values.base);
  console.log(`The playground is in ${out}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
