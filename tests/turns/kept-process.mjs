// A process that is killed: it changes files in a kept turn, and prints how many calls have returned.

import { beginKept } from "../../pkg/dist/history.js";
import { FilesystemBackend } from "../lib/kitbag.mjs";

const [rootDir, kept] = process.argv.slice(2);
const files = new FilesystemBackend({ rootDir });
const turn = beginKept(files, {
  keepIn: { backend: new FilesystemBackend({ rootDir: kept }) },
  name: "killed",
});
await turn.edit("/a.txt", "one", "1");
for (let at = 0; ; at++) {
  const { error } = await turn.write(`/new/${at}`, `${at}\n`);
  if (error) throw new Error(error);
  process.stdout.write(`${at + 1}\n`);
}
