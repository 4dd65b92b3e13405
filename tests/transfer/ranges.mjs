// Copies one tree in a process of its own, and tells the result and the most memory that the process had. What nobody
// uses any more is collected all the time: on a busy machine it would else be there for long.
//
//     node ranges.mjs FROM TO      two folders
//     node ranges.mjs FROM JSON    a folder and the options of an S3Backend, or the reverse

import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

const dist =
  process.env.KITBAG_TEST_DIST ?? join(process.env.KITBAG_TEST_PROJECT, "node_modules/kitbag/dist");
const entry = (name) => import(pathToFileURL(join(dist, `${name}.js`)).href);
const { FilesystemBackend, S3Backend } = await entry("node");
const { copyTree } = await entry("transfer");

const place = (given) =>
  given.startsWith("{")
    ? new S3Backend(JSON.parse(given))
    : new FilesystemBackend({ rootDir: given, maxFileBytes: 2 ** 31 - 1 });
const [, , from, to] = process.argv;
setFlagsFromString("--expose-gc");
setInterval(runInNewContext("gc"), 20).unref();
const { error, copied, bytes } = await copyTree(place(from), place(to));
const { maxRSS } = process.resourceUsage();
process.stdout.write(JSON.stringify({ error, copied, bytes, maxRSS }));
