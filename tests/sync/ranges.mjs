// Syncs two folders in a process of its own: `node ranges.mjs A B`. Tells the result and the most memory that
// the process had. Options may be an S3Backend's, as JSON, in the place of B.

import { kept, kitbag, sync } from "./lib.mjs";

const [, , first, second] = process.argv;
const place = (given) =>
  given.startsWith("{")
    ? new kitbag.S3Backend(JSON.parse(given))
    : new kitbag.FilesystemBackend({ rootDir: given, maxFileBytes: 2 ** 31 - 1 });
const [a, b] = [place(first), place(second)];
process.stdout.write("begins\n");
const { error, changed, conflicts, refused, stats } = await sync(a, b, kept(a));
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ error, changed, conflicts, refused, stats, maxRSS }));
