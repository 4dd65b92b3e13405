// Chromium keeps what it knows of databases and of files in LevelDB's logs, and appends to them in
// two steps: the seven bytes that head a record, and what it says. A browser that is killed before
// the second is over leaves part of a record, once in some hundred kills; here it is put there.

import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";

/** The head of a record of 200 bytes, and some of them. */
const PART = Buffer.from([0x5a, 0xa5, 0x5a, 0xa5, 200, 0, 1, ...Buffer.alloc(50, "so far")]);
const HEAD = 7;

/** Leaves part of a record at the end of each log of databases and of files; how many there were. */
export function tearLogs(profile) {
  const names = readdirSync(profile, { recursive: true }).map(String);
  const logs = names.filter((name) => /(IndexedDB|File ?System).*\d{6}\.log$/.test(name));
  for (const name of logs) {
    const length = Math.random() < 0.5 ? HEAD : PART.length;
    appendFileSync(join(profile, name), PART.subarray(0, length));
  }
  return logs.length;
}
