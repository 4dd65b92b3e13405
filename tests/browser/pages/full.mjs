// A database in an origin whose room has ended: what is deleted there, and what is seen of it.

import { backend } from "/pages/races.mjs";

const PLACE = "full-deletions";
const NAMESPACE = "n";
/** Ends of paths that are deleted, and stand in a sheet as they are. */
const DELETED = ["two.txt", "x/0.txt"];
const files = () => backend({ kind: "indexeddb", place: PLACE, namespace: NAMESPACE });

function random(length) {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += 50_000) {
    crypto.getRandomValues(bytes.subarray(at, Math.min(length, at + 50_000)));
  }
  return bytes;
}

/** What is there before room ends. Large ones cannot be packed, and stand in files of their own. */
export async function begin() {
  const text = new TextEncoder().encode("needle\n");
  const paths = [
    "/a/keep.txt",
    "/a/one.txt",
    "/a/two.txt",
    "/b.txt",
    "/c",
    "/c/x/0.txt",
    "/c/x/1.txt",
  ];
  const batch = paths.map((path) => [path, text]);
  for (let at = 0; at < 3; at++) batch.push([`/large/${at}.bin`, random(8_000_000)]);
  const answers = await files().uploadFiles(batch);
  return answers.filter(({ error }) => error);
}

export async function deleteWithoutRoom() {
  const here = files();
  const usage = async () => (await navigator.storage.estimate()).usageDetails.indexedDB;
  const written = await here.write("/new.txt", "new");
  const before = await usage();
  const deleted = [await here.delete("/large/0.bin"), await here.delete("/large/1.bin")];
  // The browser frees what was deleted a little later.
  let freed = before - (await usage());
  for (const end = Date.now() + 10_000; freed < 10_000_000 && Date.now() < end; ) {
    await new Promise((resolve) => setTimeout(resolve, 100));
    freed = before - (await usage());
  }
  deleted.push(await here.delete("/a/two.txt"), await here.delete("/c"));
  const gone = [
    await here.delete("/large/0.bin"),
    await here.delete("/c"),
    await here.read("/a/two.txt"),
    await here.edit("/a/two.txt", "needle", "pin"),
    await here.read("/c/x/1.txt"),
  ];
  const conflicting = await here.edit("/a/one.txt", "needle", "haystack");
  return { written, conflicting, deleted, freed, gone };
}

/** What every operation sees, and where they do not agree. */
export async function look() {
  const here = files();
  const bad = [];
  const { files: globbed = [], error } = await here.glob("**");
  if (error) bad.push(error);
  const left = globbed.map(({ path }) => path).sort();
  const same = (what, seen, wanted) => {
    if (String(seen) !== String(wanted)) bad.push(`${what}: ${seen}`);
  };
  const walked = [];
  for (const queue = ["/"]; queue.length > 0; ) {
    const { files: listed = [] } = await here.ls(queue.pop());
    for (const { path, is_dir } of listed) {
      if (is_dir) queue.push(path);
      else walked.push(path);
    }
  }
  same("ls", walked.sort(), left);
  const { matches = [] } = await here.grep("needle");
  const texts = left.filter((path) => !path.startsWith("/large/"));
  same("grep", [...new Set(matches.map(({ path }) => path))].sort(), texts);
  for (const path of texts) same(path, (await here.read(path)).content, "needle\n");
  const all = await here.downloadFiles([...left, "/c/x/0.txt"]);
  same(
    "downloads",
    all.map(({ error }) => error ?? ""),
    [...left.map(() => ""), "file_not_found"],
  );
  return { bad, left };
}

/** Writes where a deleted file was. */
export async function refill(path) {
  const answer = await files().write(path, "needle\n");
  return answer.error ? [answer] : [];
}

/** Numbers that look like chance, and are the same each time. */
function chance(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** Changes of all kinds, while room comes and goes; where they differ from a map's. */
export async function comesAndGoes({ seed, steps }) {
  const here = backend({ kind: "indexeddb", place: `full-${seed}-${crypto.randomUUID()}` });
  const { put } = IDBObjectStore.prototype;
  let hasRoom = true;
  IDBObjectStore.prototype.put = function (...values) {
    if (!hasRoom) throw new DOMException("there is no room", "QuotaExceededError");
    return put.apply(this, values);
  };
  const random = chance(seed);
  const model = new Map();
  const bad = [];
  const agree = (what, seen, wanted) => {
    if (String(seen) === String(wanted)) return;
    bad.push(`${what}: ${String(seen).slice(0, 300)}, not ${String(wanted).slice(0, 300)}`);
  };
  const aPath = () => `/${random(3)}/${random(5)}/${random(80)}.txt`;
  const beneath = (dir) => [...model.keys()].filter((path) => path.startsWith(`${dir}/`));
  try {
    const files = Array.from({ length: 900 }, aPath);
    await here.uploadFiles(files.map((path) => [path, new TextEncoder().encode("old")]));
    for (const path of files) model.set(path, "old");
    for (let step = 0; step < steps && bad.length < 5; step++) {
      if (random(8) === 0) hasRoom = !hasRoom;
      const path = aPath();
      const there = model.has(path);
      const says = `${step} ${hasRoom ? "" : "full "}${path}`;
      const done = hasRoom ? undefined : "quota_exceeded";
      const kind = random(9);
      if (kind < 3) {
        const { code } = await here.write(path, "new");
        agree(`write ${says}`, code, there ? "already_exists" : done);
        if (hasRoom && !there) model.set(path, "new");
      } else if (kind < 4) {
        const { code } = await here.edit(path, model.get(path) ?? "new", `step ${step}`);
        agree(`edit ${says}`, code, there ? done : "not_found");
        if (hasRoom && there) model.set(path, `step ${step}`);
      } else if (kind < 8) {
        agree(`delete ${says}`, (await here.delete(path)).code, there ? undefined : "not_found");
        model.delete(path);
      } else {
        const dir = path.slice(0, 4);
        const gone = beneath(dir);
        if (gone.length < 40) {
          const { code } = await here.delete(dir);
          agree(`delete ${dir} ${says}`, code, gone.length > 0 ? undefined : "not_found");
          for (const path of gone) model.delete(path);
        }
      }
      agree(`read ${says}`, (await here.read(path)).content, model.get(path));
      const dir = aPath().slice(0, 4);
      const { files: listed = [] } = await here.ls(dir);
      agree(`ls ${dir} ${says}`, listed.map(({ path }) => path).sort(), beneath(dir).sort());
      if (step % 20 === 0) {
        const { files: found = [] } = await here.glob("**");
        agree(`glob ${says}`, found.map(({ path }) => path).sort(), [...model.keys()].sort());
        const { matches = [] } = await here.grep("old");
        const old = [...model].filter(([, text]) => text === "old").map(([path]) => path);
        agree(`grep ${says}`, matches.map(({ path }) => path).sort(), old.sort());
      }
    }
    return { bad, left: model.size };
  } finally {
    IDBObjectStore.prototype.put = put;
  }
}

/** By the database's own records: whether it is marked as one without gaps, and which it has. */
export async function gaps() {
  const database = await new Promise((resolve, reject) => {
    const request = indexedDB.open(PLACE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
  const store = database.transaction("sheets").objectStore("sheets");
  const ask = (what, key) =>
    new Promise((resolve) => {
      const request = store[what](key);
      request.onsuccess = () => resolve(request.result);
    });
  const marks = await ask("getAllKeys", IDBKeyRange.upperBound(`${NAMESPACE}\0/`, true));
  const sheets = await ask("getAll", IDBKeyRange.lowerBound(`${NAMESPACE}\0/`));
  database.close();
  const texts = sheets.map((sheet) => new TextDecoder("latin1").decode(sheet)).join();
  return { marked: marks.length === 1, named: DELETED.filter((name) => texts.includes(name)) };
}
