// A process that is killed while it syncs: `node killed-process.mjs KIND PLACE`.

import { kept, open, sync } from "./lib.mjs";

const { a, b } = await open(...process.argv.slice(2));
process.stdout.write("begins\n");
const done = await sync(a, b, kept(a));
if (done.error) throw new Error(done.error);
process.stdout.write("ends\n");
