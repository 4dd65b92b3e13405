// What bounds the rows of `npm run bench -- state`: for each, the least that any backend in WebAssembly
// does for the same answer, without all else. It runs in Node and in pages, so the module of
// `benches/native` is given, compiled to WebAssembly.

import { compare } from "./compare.mjs";
import { EDITED, PATTERNS, pageText, SMALL, SMALL_BYTES } from "./state-rows.mjs";

/** As in `src/storage/memory`: what a block has, a piece, and for how much text a byte is kept. */
const BLOCK = 32 << 10;
const GRAM = 4;
const PER_BYTE = 41;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The functions of the module, over texts that it has been given. */
function limitsOf(module) {
  const { exports } = new WebAssembly.Instance(module);
  const give = (text) => {
    const bytes = encoder.encode(text);
    const at = exports.room(bytes.length + 1);
    new Uint8Array(exports.memory.buffer, at, bytes.length).set(bytes);
    return [at, bytes.length];
  };
  return { exports, give };
}

/** The files of the blocks that have all pieces of a text: what an index of blocks cannot pass over. */
function admitted(files, pattern) {
  const grams = Array.from({ length: Math.max(0, pattern.length - GRAM + 1) }, (_, at) =>
    pattern.slice(at, at + GRAM).toLowerCase(),
  );
  const kept = [];
  let block = [];
  let bytes = 0;
  const flush = () => {
    const lower = block.map((text) => text.toLowerCase());
    if (grams.every((gram) => lower.some((text) => text.includes(gram)))) kept.push(...block);
    [block, bytes] = [[], 0];
  };
  for (const text of files) {
    if (bytes > 0 && bytes + text.length > BLOCK) flush();
    block.push(text);
    bytes += text.length;
  }
  flush();
  return kept;
}

/** Sorted texts of the files that end so. */
function texts(files, suffix = "") {
  const paths = Object.keys(files).filter((path) => path.endsWith(suffix));
  return paths.sort().map((path) => files[path]);
}

/** So many characters are decoded at a time: one letter beyond Latin-1 makes all of a text wide. */
const CHUNK = 32 << 10;

/** Makes the objects of an answer from bytes that have all of its texts, and from their lengths. */
function building(list, made) {
  const chunks = [];
  let [text, lengths] = ["", []];
  const flush = () => {
    chunks.push([encoder.encode(text), lengths]);
    [text, lengths] = ["", []];
  };
  for (const one of list) {
    text += one.text;
    lengths.push(one.text.length);
    if (text.length >= CHUNK) flush();
  }
  flush();
  return () => {
    const answer = new Array(list.length);
    let count = 0;
    for (const [bytes, lengths] of chunks) {
      const text = decoder.decode(bytes);
      let at = 0;
      for (const length of lengths) {
        answer[count] = made(text.slice(at, at + length), count);
        at += length;
        count += 1;
      }
    }
    return answer;
  };
}

/** Puts a text of ASCII letters there, which is faster than an encoder if it is short. */
function ascii(text, place, from) {
  for (let at = 0; at < text.length; at++) place[from + at] = text.charCodeAt(at);
  return from + text.length;
}

const megabytes = (bytes) => (bytes / 1e6).toFixed(1);

/** The least work of each row by its name, as `[what it is, work, what is done before it]`. */
export function works({ StateBackend, files, module, searched, listed }) {
  const { exports, give } = limitsOf(module);
  const [start, bytes] = give(texts(files).join(""));
  /** The other contender reads all bytes before each of our searches, so caches have little. */
  const before = () => exports.sum(start, bytes);
  const all = {};
  for (const { name, pattern, suffix, matches } of searched) {
    const blocks = admitted(texts(files, suffix), pattern).join("");
    const [given, text] = [give(blocks), give(pattern)];
    const matched = [...new Set(matches.map(({ path }) => path))].map((path) => files[path]);
    const counted = give(matched.join(""));
    const build = building(matches, (text, at) => {
      const { path, line } = matches[at];
      return { path, line, text };
    });
    const sets = Math.floor(texts(files, suffix).join("").length / PER_BYTE);
    all[name] = [
      `an index of ${megabytes(sets)} MB read, memmem in WebAssembly over the ${megabytes(given[1])} MB of blocks with all pieces, lines counted in ${megabytes(counted[1])} MB, ${matches.length} objects made`,
      () => {
        exports.sum(start, sets);
        exports.found(...given, ...text);
        exports.lines(...counted);
        build();
      },
      before,
    ];
  }
  const paths = listed.map((file) => ({ ...file, text: file.path }));
  all["glob **/*.ts"] = [
    `${paths.length} objects made of one decoded text`,
    building(paths, (path, at) => {
      const { is_dir, size, modified_at } = paths[at];
      return { path, is_dir, size, modified_at };
    }),
  ];
  const paged = encoder.encode(pageText(1));
  const page = [exports.room(paged.length), paged.length];
  const lines = [{ text: pageText(1).slice(0, 3_100) }];
  const build = building(lines, (text) => ({ content: text }));
  all["read 100 lines amid 1 MB, first"] = [
    "the ends of lines counted in 1 MB that was just stored, one page decoded",
    () => {
      exports.lines(...page);
      build();
    },
    () => new Uint8Array(exports.memory.buffer, ...page).set(paged),
  ];
  const edited = give(EDITED);
  const only = give("the only one");
  all["edit a unique string in 1 MB"] = [
    "memmem in WebAssembly over 1 MB",
    () => exports.found(...edited, ...only),
  ];
  all["edit a unique string in 1 MB, longer"] = [
    "memmem over 1 MB, which is copied to new memory",
    () => {
      exports.found(...edited, ...only);
      exports.copied(...edited);
    },
  ];
  const at = exports.room(256);
  all["write 1,000 small files"] = [
    "path and text put into the memory of WebAssembly, kept in a sorted map by one call, an object made",
    () => {
      exports.clear();
      return SMALL.map(([path, text]) => {
        const place = new Uint8Array(exports.memory.buffer, at, 256);
        const behind = ascii(path, place, 0);
        exports.keep(at, behind, at + behind, ascii(text, place, behind) - behind);
        return { path };
      });
    },
  ];
  const message = exports.room(SMALL.length * 128);
  all["upload 1,000 small files"] = [
    "paths and bytes put into the memory of WebAssembly, kept in a sorted map by one call, objects made",
    () => {
      exports.clear();
      const { buffer } = exports.memory;
      const [place, view] = [new Uint8Array(buffer), new DataView(buffer)];
      let end = message;
      for (const [path, bytes] of SMALL_BYTES) {
        view.setUint32(end, path.length, true);
        view.setUint32(end + 4, bytes.length, true);
        end = ascii(path, place, end + 8);
        place.set(bytes, end);
        end += bytes.length;
      }
      exports.keep_all(message, end - message);
      return SMALL_BYTES.map(([path]) => ({ path, error: null }));
    },
  ];
  const empty = new StateBackend();
  all["write 1,000 small files, calls alone"] = [
    "1,000 calls of `ls` in a backend without files",
    () => {
      for (const [path] of SMALL) empty.ls(path);
    },
  ];
  return all;
}

/** The first search, which no index helps: memmem in WebAssembly over all bytes, end to end. */
export async function whole({ files, module, effort = 1 }) {
  const { exports, give } = limitsOf(module);
  const given = give(texts(files).join(""));
  const text = give(PATTERNS.none);
  const rounds = Math.max(3, Math.round(9 * effort));
  const { peer, ours } = await compare(
    () => exports.sum(...given),
    () => exports.found(...given, ...text),
    rounds,
  );
  return { sum: peer, memmem: ours };
}

/** Milliseconds: what a page's clock can tell. Work that cannot be repeated takes no less here. */
const TICK = 0.005;

/** The time of a piece of work, which is repeated until the clock can tell it. */
async function timed(work, rounds, before) {
  if (before) return Math.max(TICK, (await compare(before, work, rounds)).ours);
  const { ours: once } = await compare(() => {}, work, 3, 5);
  const times = Math.min(200, Math.ceil(1 / Math.max(once, 0.001)));
  const repeated = () => {
    for (let n = 0; n < times; n++) work();
  };
  const { ours } = await compare(() => {}, repeated, rounds, 2);
  return ours / times;
}

/** Times the least work of the rows. */
export async function bounds({ rows, effort = 1, ...given }) {
  const all = works(given);
  const rounds = Math.max(3, Math.round(15 * effort));
  const answer = [];
  for (const row of rows) {
    const name = row.name.replace(/ \(.*\)$/, "");
    for (const suffix of ["", ", calls alone"]) {
      const [what, work, before] = all[`${name}${suffix}`] ?? [];
      if (work) answer.push({ ...row, least: await timed(work, rounds, before), what });
    }
  }
  return answer;
}

/** Prints the table of the bounds: what the ratios would be if there were nothing but the least work. */
export function printBounds(list, print) {
  print(
    "| operation | kitbag ms | least ms | times | goal | ratio, at best | share, at best | the least |",
  );
  print("|---|---:|---:|---:|---:|---:|---:|---|");
  const short = (value) => (value >= 1000 ? value.toFixed(0) : value.toPrecision(3));
  for (const { name, peer, ours, goal, share, least, what } of list) {
    const at = (value) => `${short(value)}, ${short((value * ours) / least)}`;
    const cells = [short(ours), short(least), (ours / least).toFixed(2), `≥ ${goal}`];
    cells.push(at(peer / ours), share === undefined ? "" : at(share), what);
    print(`| ${name} | ${cells.join(" | ")} |`);
  }
}
