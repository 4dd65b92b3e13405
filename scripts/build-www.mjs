// `npm run build:www [-- --out DIR --base /path/]`: the playground as static files for any host.
// Without `--base` they work under any path. `--without-simulator` leaves out what takes minutes to
// compile; its view then says that it is not there.

import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { at } from "./lib/paths.mjs";
import { addSimulator } from "./lib/simulation.mjs";
import { buildWww } from "./lib/www.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    out: { type: "string" },
    base: { type: "string", default: "./" },
    "without-simulator": { type: "boolean", default: false },
  },
});
const out = resolve(at(), values.out ?? "www-dist");
try {
  await ensureAll(["npm", "build", "www"]);
  await buildWww(out, values.base);
  const trouble = values["without-simulator"] ? undefined : await addSimulator(out);
  if (trouble) throw trouble;
  console.log(`The playground is in ${out}`);
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}
