// Whether a LevelDB log goes on behind half a record: Chromium keeps what it knows of IndexedDB and
// of files in such logs. A record is seven bytes, which are the checksum, the length and the kind,
// and behind them what it says; none reaches over a block's end.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const BLOCK = 32_768;
const HEADER = 7;

const TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let sum = byte;
  for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? 0x82f63b78 ^ (sum >>> 1) : sum >>> 1;
  return sum;
});

/** CRC-32C, turned and shifted as LevelDB does with those that it stores. */
export function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) sum = TABLE[(sum ^ byte) & 0xff] ^ (sum >>> 8);
  sum = ~sum >>> 0;
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0;
}

/** Where the record that begins there ends; 0 where it is none, or where the log ends before it. */
function endOf(log, at) {
  if (at + HEADER > log.length) return 0;
  const end = at + HEADER + log.readUInt16LE(at + 4);
  if (end > log.length || end > at + BLOCK - (at % BLOCK)) return 0;
  return checksum(log.subarray(at + 6, end)) === log.readUInt32LE(at) ? end : 0;
}

/** Whether records stand behind one that cannot be read. A log that ends early is not damaged. */
export function isDamaged(log) {
  for (let at = 0; at + HEADER <= log.length; ) {
    const left = BLOCK - (at % BLOCK);
    const empty = left < HEADER || (log.readUInt16LE(at + 4) === 0 && log[at + 6] === 0);
    const end = empty ? at + left : endOf(log, at);
    if (end === 0) return endOf(log, at + HEADER) > 0;
    at = end;
  }
  return false;
}

/** The damaged logs in a folder, by their paths within. */
export function damagedLogs(folder) {
  const names = readdirSync(folder, { recursive: true }).map(String);
  const logs = names.filter((name) => /(^|[\\/])\d{6}\.log$/.test(name));
  return logs.filter((name) => isDamaged(readFileSync(join(folder, name))));
}
