// A tree that only backends of ours write to: whether what is noted and copied of it is what
// stands in it, and which files are looked at for an answer.

import { backend } from "/pages/races.mjs";

async function grepped(files, ...asked) {
  const { matches, error } = await files.grep(...asked);
  if (error) throw new Error(error);
  return matches.map(({ path, line, text }) => `grep ${path}:${line} ${text}`);
}

/** What a ledger tells, and what the files themselves tell, where the two are not the same. */
async function differences(place, when) {
  const told = async (exclusive) => {
    const of = backend({ kind: "opfs", place, exclusive });
    const lines = [];
    const tell = (how, { files, error }) => {
      if (error) throw new Error(error);
      for (const file of files) {
        lines.push(`${how} ${file.path} ${file.size} ${file.modified_at}`);
      }
    };
    tell("glob", await of.glob("**"));
    for (const dir of ["/", "/d1", "/d2", "/d3", "/d4", "/new/deep", "/s"]) {
      tell("ls", await of.ls(dir));
    }
    for (const some of ["1", "e", "ss"]) lines.push(...(await grepped(of, some)));
    return lines;
  };
  const [noted, found] = [await told(true), await told(false)];
  const strange = noted.filter((line) => !found.includes(line)).map((line) => `noted ${line}`);
  strange.push(...found.filter((line) => !noted.includes(line)).map((line) => `found ${line}`));
  return strange.map((line) => `${when}: ${line}`);
}

function failuresOf(answers) {
  return answers.filter(({ error }) => error).map(({ error }) => String(error));
}

/** Runs with a clock that says it is six seconds later than it is. */
async function later(run) {
  const { now } = Date;
  Date.now = () => now() + 6_000;
  try {
    return await run();
  } finally {
    Date.now = now;
  }
}

/** How often files were looked at meanwhile. */
async function counting(run) {
  const looked = FileSystemFileHandle.prototype.getFile;
  let looks = 0;
  FileSystemFileHandle.prototype.getFile = function () {
    looks++;
    return looked.call(this);
  };
  try {
    return [await run(), looks];
  } finally {
    FileSystemFileHandle.prototype.getFile = looked;
  }
}

/** Copies of small files: what grep finds, and how many files it looked at for that. */
export async function copies({ files: count, place }) {
  const ours = (name) => backend({ kind: "opfs", place: name, exclusive: true });
  const bytes = (text) => new TextEncoder().encode(text);
  const batch = Array.from({ length: count }, (_, at) => [
    `/d${at % 5}/f${at}.txt`,
    bytes(`one\nword ${at}\n`),
  ]);
  batch.push(["/d2/large.txt", bytes(`${"filler\n".repeat(10_000)}word of a large file\n`)]);
  batch.push(["/d3/a.png", Uint8Array.of(0x89, 0x50, 0x4e, 0x47, ...bytes("word"))]);
  const out = { bad: [], looks: {} };
  const same = async (when, name, ...asked) => {
    const plain = backend({ kind: "opfs", place: name });
    const expected = await grepped(plain, ...asked);
    const [found, looks] = await counting(() => grepped(ours(name), ...asked));
    out.looks[when] = looks;
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      out.bad.push(`${when}: ${found.length} found, ${expected.length} expected`);
    }
  };
  // Begun with the first change of an empty tree, so all of it was copied.
  const whole = `${place}-whole`;
  out.bad.push(...failuresOf(await ours(whole).uploadFiles(batch)));
  await same("whole", whole, "word");
  await same("narrowed", whole, "word", null, "d1/**");
  await same("beneath", whole, "word", "/d4");
  await same("one file", whole, "word", "/d1/f1.txt");
  await same("few", whole, "word", null, null, 3);
  await same("nothing", whole, "absent");
  out.bad.push(...failuresOf([await ours(whole).edit("/d1/f1.txt", "word 1", "another thing")]));
  await same("edited", whole, "another");
  await same("no longer", whole, "word 1\n");
  out.bad.push(...failuresOf([await ours(whole).delete("/d4")]));
  await same("deleted", whole, "word");
  // A tree that was there before: what a search reads is copied, once it is old enough.
  const before = `${place}-before`;
  const plain = backend({ kind: "opfs", place: before });
  out.bad.push(...failuresOf(await plain.uploadFiles(batch)));
  await same("just written", before, "word");
  await later(() => same("read and copied", before, "word"));
  await same("copied", before, "word");
  // What is written past it is told by `read` alone.
  const root = await navigator.storage.getDirectory();
  const dir = await (await root.getDirectoryHandle(before)).getDirectoryHandle("d1");
  const handle = await dir.getFileHandle("f1.txt");
  const writable = await handle.createWritable();
  await writable.write("past it");
  await writable.close();
  out.past = [
    (await ours(before).read("/d1/f1.txt")).content,
    (await grepped(ours(before), "past it")).length,
  ];
  return out;
}

/** How many files a second search looks at, after a first that paused in each large file. */
export async function pausing({ place }) {
  const bytes = (text) => new TextEncoder().encode(text);
  const large = bytes(`${"filler\n".repeat(20_000)}word\n`);
  const batch = [];
  for (let dir = 10; dir < 26; dir++) {
    for (let at = 0; at < 4; at++) batch.push([`/${dir}/${at}.txt`, bytes(`word ${at}\n`)]);
    if (dir % 2 === 0) batch.push([`/${dir}/large.txt`, large]);
  }
  const plain = backend({ kind: "opfs", place });
  const bad = failuresOf(await plain.uploadFiles(batch));
  const ours = backend({ kind: "opfs", place, exclusive: true });
  // Directories with copies alternate with those that have none.
  await later(async () => {
    for (let dir = 11; dir < 26; dir += 2) await grepped(ours, "word", `/${dir}`);
  });
  const { now } = Date;
  let passed = 6_000;
  // Six milliseconds pass between two questions.
  Date.now = () => {
    passed += 6;
    return now() + passed;
  };
  try {
    const found = await grepped(ours, "word");
    if (found.length !== batch.length) bad.push(`${found.length} of ${batch.length} found`);
  } finally {
    Date.now = now;
  }
  const [found, looks] = await counting(() => grepped(ours, "word"));
  if (found.length !== batch.length) bad.push(`then ${found.length} of ${batch.length} found`);
  return { bad, looks };
}

/** A ledger beside its files: after changes of every kind, by several backends at once. */
export async function ledger({ files: count, place }) {
  const files = backend({ kind: "opfs", place, exclusive: true, writeMode: "overwrite" });
  const other = backend({ kind: "opfs", place, exclusive: true });
  const bytes = (text) => new TextEncoder().encode(text);
  const batch = Array.from({ length: count }, (_, at) => [
    `/d${at % 7}/f${at}.txt`,
    bytes(`${at}`),
  ]);
  const bad = failuresOf(await files.uploadFiles(batch));
  bad.push(...(await differences(place, "begun")));
  const [counted, looks] = await counting(() => other.glob("**/*.txt"));
  const steps = {
    written: () => other.write("/new/deep/a.txt", "a"),
    replaced: () => files.write("/new/deep/a.txt", "longer than before"),
    edited: () => other.edit("/d1/f1.txt", "1", "one"),
    deleted: () => files.delete("/d2/f2.txt"),
    "a directory deleted": () => other.delete("/d3"),
    "written again": () => other.write("/d3/f3.txt", "back"),
  };
  for (const [when, step] of Object.entries(steps)) {
    bad.push(...failuresOf([await step()]), ...(await differences(place, when)));
  }
  // A refusal changes nothing, and nothing that is aside is noted.
  const refused = [
    await other.write("/d1/f1.txt", "no"),
    await files.write("/.kitbag-temp/x", "no"),
  ];
  bad.push(...(await differences(place, "refused")));
  // Writers of one file and of many, while others ask for the first list of another tree.
  const busy = `${place}-busy`;
  const few = batch.slice(0, Math.ceil(count / 20));
  const tabs = Array.from({ length: 4 }, () =>
    backend({ kind: "opfs", place: busy, exclusive: true, writeMode: "overwrite" }),
  );
  await Promise.all(
    tabs.flatMap((tab, number) => [
      tab.uploadFiles(few),
      tab.write("/one.txt", "x".repeat(number)),
      tab.glob("**"),
      tab.delete("/d4"),
      tab.write(`/d4/mine-${number}.txt`, "mine"),
      tab.glob("**/*.txt"),
    ]),
  );
  bad.push(...(await differences(busy, "busy")));
  // Where changes overlapped, rows are open; changes that are alone close them.
  for (const [path, content] of few) await tabs[0].uploadFiles([[path, content]]);
  bad.push(...(await differences(busy, "busy, and then quiet")));
  return { bad, looks, found: counted.files.length, refused: refused.map(({ code }) => code) };
}

/** `ls` of files behind more than is asked for before their names are known: its looks at files. */
export async function farBehind({ files: count, place }) {
  const files = backend({ kind: "opfs", place, exclusive: true });
  const bytes = (size) => new Uint8Array(size).fill(0x61);
  // Long names, so that few of them fill what is kept as one record.
  const long = (at) => `/a/${at}-${(at % 36).toString(36).repeat(200)}`;
  const batch = Array.from({ length: count }, (_, at) => [long(at), bytes(at % 7)]);
  batch.push(["/.first", bytes(3)], ["/z1", bytes(11)], ["/z2", bytes(22)]);
  const bad = failuresOf(await files.uploadFiles(batch));
  const shown = ({ files }) => files.map(({ path, size, is_dir }) => [path, is_dir ? "" : size]);
  const [top, looks] = await counting(async () => shown(await files.ls("/")));
  const [inside, within] = await counting(async () => shown(await files.ls("/a")));
  const expected = batch.filter(([path]) => path.startsWith("/a/"));
  for (const [path, { length }] of expected) {
    if (!inside.some((row) => row[0] === path && row[1] === length)) bad.push(path);
  }
  return { bad, top, inside: inside.length, looks: [looks, within] };
}

/** Writes and deletes until its page is closed. */
export async function scribble({ place }) {
  const files = backend({ kind: "opfs", place, exclusive: true, writeMode: "overwrite" });
  await files.glob("**");
  globalThis.scribbling = (async () => {
    for (let step = 0; ; step++) {
      await files.write(`/s/${step % 5}.txt`, "s".repeat(step % 997));
      if (step % 3 === 0) await files.delete(`/s/${(step + 1) % 5}.txt`);
    }
  })();
}

/** Where its tree is not what is noted of it. */
export async function afterScribbling({ place, when }) {
  return differences(place, when);
}

/** Writes files where the database takes no more bytes, and searches them. */
export async function withoutRoom({ place, files: count }) {
  const { put } = IDBObjectStore.prototype;
  let refused = 0;
  IDBObjectStore.prototype.put = function (value, key) {
    if (this.name === "bodies") {
      refused++;
      throw new DOMException("there is no room", "QuotaExceededError");
    }
    return put.call(this, value, key);
  };
  try {
    const files = backend({ kind: "opfs", place, exclusive: true });
    const bytes = new TextEncoder().encode("old\n");
    const batch = Array.from({ length: count }, (_, at) => [`/s/${at}.txt`, bytes]);
    const bad = failuresOf(await files.uploadFiles(batch));
    bad.push(...failuresOf([await files.write("/s/one.txt", "old")]));
    const looks = [];
    // The first search tries to copy what it has read, once that is old enough.
    await later(async () => {
      for (let again = 0; again < 2; again++) {
        const [found, looked] = await counting(() => grepped(files, "old"));
        looks.push(looked);
        if (found.length !== count + 1) bad.push(`${found.length} found`);
      }
    });
    bad.push(...(await differences(place, "without room")));
    return { bad, looks, refused };
  } finally {
    IDBObjectStore.prototype.put = put;
  }
}

/** Writes until the quota is full, and deletes a file then. */
export async function fill({ place }) {
  const files = backend({ kind: "opfs", place, exclusive: true });
  let refused;
  let written = 0;
  for (; !refused && written < 1_000; written += refused ? 0 : 1) {
    const { error, code } = await files.write(`/s/${written}.txt`, "s".repeat(50_000));
    if (error) refused = code;
  }
  const bad = await differences(place, "full");
  bad.push(...failuresOf([await files.delete("/s/0.txt")]));
  bad.push(...(await differences(place, "deleted")));
  return { bad, written, refused };
}

/** Writes one file; what was wrong with that. */
export async function write({ place, path, text }) {
  const files = backend({ kind: "opfs", place, exclusive: true, writeMode: "overwrite" });
  return (await files.write(path, text)).error ?? null;
}

/** Begins to write two files of which one is there, and never ends. */
export async function getStuck({ place }) {
  const files = backend({ kind: "opfs", place, exclusive: true, writeMode: "overwrite" });
  let moves = 0;
  const stuck = new Promise((resolve) => {
    FileSystemFileHandle.prototype.move = () => {
      if (++moves === 2) resolve();
      return new Promise(() => {});
    };
  });
  globalThis.writing = [files.write("/there.txt", "never"), files.write("/not.txt", "never")];
  await stuck;
}

/** What searches find some seconds later, and how many files they look at for it. */
export async function searchedLater({ place }) {
  const files = backend({ kind: "opfs", place, exclusive: true });
  return later(async () => {
    const [{ files: named }, globLooks] = await counting(() => files.glob("**"));
    const [lines, grepLooks] = await counting(() => grepped(files, "old"));
    return { named: named.map(({ path }) => path), globLooks, lines, grepLooks };
  });
}
