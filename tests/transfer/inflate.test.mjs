// Small entries of zip archives are unpacked by code of our own: it gives what zlib gives, or refuses.

import assert from "node:assert/strict";
import { test } from "node:test";
import { constants, crc32 as crcOfNode, deflateRawSync, inflateRawSync } from "node:zlib";
import { build } from "esbuild";

const { outputFiles } = await build({
  entryPoints: [new URL("../../ts/adapter/transfer/inflate.ts", import.meta.url).pathname],
  bundle: true,
  write: false,
  format: "esm",
});
const code = Buffer.from(outputFiles[0].contents).toString("base64");
const { crc32, inflated } = await import(`data:text/javascript;base64,${code}`);

let seed = 7;
const roll = (sides) => {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return Math.floor((seed / 2 ** 32) * sides);
};

/** Bytes of so many kinds, with repetitions near and far. */
function content(length, kinds) {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; ) {
    if (at > 0 && roll(3) === 0) {
      const back = 1 + roll(Math.min(at, 32_768));
      for (let left = 1 + roll(300); left > 0 && at < length; left--, at++) {
        bytes[at] = bytes[at - back];
      }
    } else bytes[at++] = roll(kinds);
  }
  return bytes;
}

const { Z_DEFAULT_STRATEGY, Z_FIXED, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE } = constants;

/** The ways in which zlib packs. */
const WAYS = [0, 1, 6, 9].flatMap((level) =>
  [Z_DEFAULT_STRATEGY, Z_FIXED, Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE].map((strategy) => ({
    level,
    strategy,
  })),
);

test("what zlib packs is unpacked, byte for byte", () => {
  for (const length of [0, 1, 2, 3, 100, 1_000, 70_000, 200_000]) {
    for (const kinds of [1, 2, 20, 256]) {
      const bytes = content(length, kinds);
      for (const way of WAYS) {
        const back = inflated(deflateRawSync(bytes, way), length);
        assert.ok(Buffer.compare(back, bytes) === 0, JSON.stringify({ length, kinds, ...way }));
      }
    }
  }
});

test("another size than it has is refused", () => {
  for (const length of [0, 1, 50, 5_000]) {
    const packed = deflateRawSync(content(length, 20));
    assert.throws(() => inflated(packed, length + 1), /fewer bytes/);
    if (length > 0) assert.throws(() => inflated(packed, length - 1), /more bytes/);
  }
});

test("damaged data is refused, or is what zlib makes of it", () => {
  let refused = 0;
  let same = 0;
  for (let round = 0; round < 4_000; round++) {
    const packed = new Uint8Array(
      deflateRawSync(content(1 + roll(400), 1 + roll(40)), WAYS[round % WAYS.length]),
    );
    for (let times = 1 + roll(3); times > 0; times--) packed[roll(packed.length)] ^= 1 << roll(8);
    const given = roll(4) === 0 ? packed.subarray(0, roll(packed.length)) : packed;
    let expected;
    try {
      expected = inflateRawSync(given);
    } catch {
      refused += 1;
      assert.throws(() => inflated(given, 400), `round ${round}`);
      continue;
    }
    let mine;
    try {
      mine = inflated(given, expected.length);
    } catch {
      // zlib does not mind what is behind the end.
      continue;
    }
    same += 1;
    assert.ok(Buffer.compare(mine, expected) === 0, `round ${round}`);
  }
  assert.ok(refused > 500 && same > 100, `${refused} refused, ${same} the same`);
});

test("noise ends", () => {
  for (let round = 0; round < 20_000; round++) {
    const noise = Uint8Array.from({ length: roll(60) }, () => roll(256));
    try {
      assert.equal(inflated(noise, 1_000).length, 1_000);
    } catch (error) {
      assert.match(error.message, /damaged|(more|fewer) bytes/);
    }
  }
});

test("the checksum is that of zip", () => {
  assert.equal(crc32(Buffer.from("123456789")), 0xcbf43926);
  assert.equal(crc32(new Uint8Array()), 0);
  const bytes = content(10_000, 256);
  assert.equal(crc32(bytes), crcOfNode(bytes));
});
