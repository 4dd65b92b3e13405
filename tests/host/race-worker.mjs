// One of several processes that change one file, each through a backend of its own.

import { kitbag, run } from "./lib.mjs";

const [kind, rootDir, name, edits] = process.argv.slice(2);
const it =
  kind === "sandbox"
    ? new kitbag.SandboxBackend({ id: "s", execute: run("/bin/sh"), rootDir })
    : new kitbag.FilesystemBackend({ rootDir });
process.send("ready");
process.once("message", async () => {
  const made = await it.write("/made.txt", `by ${name}`);
  const refused = [];
  for (let n = 0; n < Number(edits); n++) {
    const answer = await it.edit("/count.txt", "END", `<${name}.${n}>END`);
    if (answer.error) refused.push(`${n}: ${answer.error}`);
  }
  process.send({ made: made.error === undefined, code: made.code, refused }, () => process.exit(0));
});
