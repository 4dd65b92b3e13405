// A process that updates an index and kills itself before a statement: `node killed.mjs FILE N`.

import { withIndex } from "../../pkg/dist/indexed.js";
import * as kitbag from "../lib/kitbag.mjs";
import { sqlite } from "./store.mjs";

const [path, last] = process.argv.slice(2);
const files = await sqlite(kitbag, path, (sent) => {
  if (sent === Number(last)) process.kill(process.pid, "SIGKILL");
});
const done = await withIndex(files, { keepIn: { path: "/.index/" } }).updateIndex();
if (done.error) throw new Error(done.error);
