// A process that is killed in the midst of commits: `node killed-process.mjs KIND PLACE`. Each commit
// gives a hundred files the same new content.

import { begin } from "../lib/kitbag.mjs";
import { FILES, open } from "./killed.mjs";

const backend = await open(...process.argv.slice(2));
for (let round = 1; ; round++) {
  const turn = begin(backend);
  const body = new TextEncoder().encode(`${process.pid} ${round}\n`);
  // A read, so that other commits are kept away meanwhile, and a file that comes and goes.
  await turn.read("/f/0");
  await turn.uploadFiles(FILES.map((path) => [path, body]));
  if (round % 2 === 0) await turn.delete("/often");
  else await turn.uploadFiles([["/often", body]]);
  const { error } = await turn.commit();
  if (error) throw new Error(error);
  process.stdout.write(`${round}\n`);
}
