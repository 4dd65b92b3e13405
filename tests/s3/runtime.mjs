// Run by Deno and by Bun: what every host does, on an S3 server. Arguments: the package's folder,
// where the bucket is, and the names of what to do, as JSON; the last line out is the answers.

import { pathToFileURL } from "node:url";
import { work } from "./work.mjs";

const [folder, location, names] = process.argv.slice(2);
const load = (name) => import(pathToFileURL(`${folder}/${name}`).href);
const { begin, S3Backend, undo } = await load("node.js");
const { runConformance } = await load("conformance.js");

const make = (options) => new S3Backend({ ...JSON.parse(location), ...options });
const answers = {};
for (const what of JSON.parse(names)) {
  const more = { suite: { runConformance, turns: { begin, undo } } }[what];
  answers[what] = (await work[what](make, more)) ?? null;
}
console.log(JSON.stringify(answers));
