// `npm run docs`: builds the documentation as a site of static files. The sources are `docs/*.md`
// and a few pages of the root; `docs/pages.mjs` orders them; the API reference is made from the
// type declarations of the built package.
//
//   npm run docs                      into www-dist/docs, beside the playground, for the address /docs/
//   npm run docs -- --base /kitbag/   for another address
//   npm run docs -- --out DIR         into another directory
//   npm run docs -- --serve           a server that shows each change of a page

import { parseArgs } from "node:util";
import { buildSite } from "./docs/build.mjs";
import { at } from "./lib/paths.mjs";
import { ensureAll } from "./setup.mjs";

const { values } = parseArgs({
  options: {
    base: { type: "string", default: "/docs/" },
    out: { type: "string", default: at("www-dist/docs") },
    serve: { type: "boolean", default: false },
    dev: { type: "boolean", default: false },
  },
});
if (values.dev) process.env.KITBAG_DEV_BUILD = "1";

await ensureAll(["npm", "build", "npm:docs"]);
const began = performance.now();
const { pages } = await buildSite(values);
if (!values.serve) {
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${pages} pages in ${values.out}, built in ${seconds} s`);
}
