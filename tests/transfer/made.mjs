// Archives that no program would make.

import { deflateRawSync } from "node:zlib";

/** A block of a tar archive, with the fields that a test sets. */
export function tarEntry({ name, content = "", type = "0", link = "", size }) {
  const header = Buffer.alloc(512);
  header.write(name, 0, "latin1");
  header.write("0000644\0", 100);
  header.write(`${(size ?? content.length).toString(8).padStart(11, "0")}\0`, 124);
  header.write("00000000000\0", 136);
  header.write("        ", 148);
  header.write(type, 156);
  header.write(link, 157);
  header.write("ustar\u000000", 257);
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  const body = Buffer.alloc(Math.ceil(content.length / 512) * 512);
  body.write(content);
  return Buffer.concat([header, body]);
}

/** A tar archive. */
export const tarOf = (...entries) => Buffer.concat([...entries.map(tarEntry), Buffer.alloc(1024)]);

const crcTable = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
export const crc = (data) => {
  let c = 0xffffffff;
  for (const byte of data) c = crcTable[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};

/**
 * A zip archive; `size` is what it claims, `mode` the Unix mode, `raw` the name as bytes, `extra` a field of
 * the directory and the entry.
 */
export function zipOf(...entries) {
  const locals = [];
  const table = [];
  let at = 0;
  for (const given of entries) {
    const { name, raw, content = "", size, mode = 0o100644, flags = 0, offset } = given;
    const extra = given.extra ?? Buffer.alloc(0);
    const named = raw ?? Buffer.from(name);
    const data = Buffer.from(content);
    const packed = deflateRawSync(data);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(crc(data), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size ?? data.length, 18);
    shared.writeUInt16LE(named.length, 22);
    shared.writeUInt16LE(extra.length, 24);
    const magic = Buffer.from("PK\u0003\u0004", "latin1");
    const local = Buffer.concat([magic, shared, named, extra, packed]);
    const entry = Buffer.alloc(14);
    entry.writeUInt32LE((mode << 16) >>> 0, 6);
    entry.writeUInt32LE(offset ?? at, 10);
    const begin = Buffer.from("PK\u0001\u0002\u0014\u0003", "latin1");
    table.push(Buffer.concat([begin, shared, entry, named, extra]));
    locals.push(local);
    at += local.length;
  }
  const directory = Buffer.concat(table);
  const end = Buffer.alloc(22);
  end.write("PK\u0005\u0006", "latin1");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(at, 16);
  return Buffer.concat([...locals, directory, end]);
}
